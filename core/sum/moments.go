package sum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
)

// Moments is a sum over the vectors of rows: by group their number, the vectors x and their squares
// x∘x; and their products xxᵀ. One Gaussian event pays for all requested parts.
//
// A row's x, minus Centre, is scaled down to norm R = Norm if it is longer. In the units 1, R, R²
// and R² it then adds parts of norm 1, u, at most u², and u² in the Frobenius norm, u = ‖x‖/R ≤ 1.
// If P parts are requested, the L2 sensitivity to one row is √P, and noise of NoiseMultiplier·k·√P
// in these units makes it one Gaussian mechanism. Noise is drawn in float64 and every sum is
// rounded to a public grid (noise.Perturb); core/README.md states the remaining risk.
//
// Products carry noise of s on the diagonal and s/√2 off it. In the coordinates M_jj and √2·M_jl (j
// < l), whose Euclidean norm is the Frobenius norm of M, this is N(0, s²) everywhere. Noise of s on
// every entry of the triangle would suffice as well, with twice the variance off the diagonal.
// Products alone need less under ReplaceOne than the rows of two units: see StdDev.
type Moments struct {
	Scope dp.Scope
	Event dp.Gaussian
	// Groups is the number of groups; with Products there is one.
	Groups int
	// Features is the length of a row's vector, Norm the bound on its L2 norm.
	Features int
	Norm     float64
	// What is released.
	Counts, Sums, Squares, Products bool
	// Row fills x, Features zeros, with a row's vector and returns its group. If Row is nil, the
	// vector is the dense input and the group is 0. A row is left out if its group is outside [0,
	// Groups) or its vector is not finite.
	Row func(x, cells []float64) (group int)
	// Centre, if not nil, is subtracted from every vector before it is scaled. It is public, or was
	// released before.
	Centre []float64
}

// Sums is the release of Moments; parts that were not requested are nil.
type Sums struct {
	// Counts[a] is the noisy number of rows of group a; it may be negative.
	Counts []float64
	// Sums[a][j] adds up coordinate j over group a, Squares[a][j] its squares.
	Sums, Squares [][]float64
	// Products is Features×Features, row-major and symmetric. Noise may give it negative
	// eigenvalues.
	Products []float64
}

func (m Moments) parts() (n float64) {
	for _, asked := range []bool{m.Counts, m.Sums, m.Squares, m.Products} {
		if asked {
			n++
		}
	}
	return n
}

// StdDev returns the standard deviation of the noise in the units above, which is that on counts.
// It is +Inf, with an error, for a relation without a bound.
//
// The at most k rows of a unit add to the products a positive semidefinite A of norm at most k·R².
// Under ReplaceOne A is replaced by B, and as tr(AB) ≥ 0 for such matrices, ‖A−B‖² = ‖A‖² + ‖B‖² −
// 2·tr(AB) ≤ 2·(k·R²)²: √2·k instead of 2k, attained by orthogonal rows.
func (m Moments) StdDev(relation dp.Relation, rowsPerUnit int) (float64, error) {
	s := m.Event.NoiseMultiplier * math.Sqrt(m.parts()) * float64(rowsPerUnit) * rounding
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
		return s, nil
	case dp.ReplaceOne:
		if m.Products && m.parts() == 1 {
			return s * math.Sqrt2, nil
		}
		return s * 2, nil
	}
	return math.Inf(1), fmt.Errorf("sum: the sensitivity of moments is unknown under %v", relation)
}

func (m Moments) check(rows *sealed.Rows) error {
	switch {
	case m.Features < 1 || m.Groups < 1 || m.Groups > MostCells/m.Features || m.Products && m.Features > MostCells/m.Features:
		return fmt.Errorf("sum: moments of %d features in %d groups", m.Features, m.Groups)
	case m.Products && m.Groups != 1:
		return errors.New("sum: products have one group")
	case m.parts() == 0:
		return errors.New("sum: no moment is asked for")
	case m.Row == nil && rows.InputDim() != m.Features:
		return fmt.Errorf("sum: inputs of %d numbers, want %d", rows.InputDim(), m.Features)
	case m.Centre != nil && len(m.Centre) != m.Features:
		return fmt.Errorf("sum: a centre of %d numbers for %d features", len(m.Centre), m.Features)
	}
	for _, v := range m.Centre {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("sum: the centre is not finite")
		}
	}
	// Squares of entries must stay in the range of a float64.
	for _, v := range []float64{m.Norm, m.Norm * m.Norm} {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("sum: norm and its square must be finite numbers > 0, got %g", v)
		}
	}
	return nil
}

// Release returns the noisy sums. permit must hold Event on Scope, unused.
//
// Errors: before any row is read, a missing permit and invalid parameters; afterwards, with the
// charge kept, ctx.Err() when interrupted and sealed.ErrFault if Row panics.
func (m Moments) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (sums *Sums, err error) {
	defer sealed.Contain(&err)
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	std, err := m.StdDev(permit.Relation(), permit.MaxRows())
	if err := errors.Join(err, m.check(rows), Positive("noise multiplier", m.Event.NoiseMultiplier), noise.InRange(std, std*m.Norm, std*m.Norm*m.Norm), ctx.Err()); err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, m.Scope, m.Event, m.counts)
	if err != nil {
		return nil, err
	}
	return m.noisy(ctx, view, std, view.Noise())
}

// counts reports whether a row of these cells, and of an input of zeros, adds anything.
func (m Moments) counts(cells []float64) bool {
	x, group := make([]float64, m.Features), 0
	if m.Row != nil {
		group = m.Row(x, cells)
	}
	if !m.takes(x, group) {
		return false
	}
	return m.Counts || slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}

// takes centres and bounds a row's vector, and reports whether the row counts.
func (m *Moments) takes(x []float64, group int) bool {
	for j, v := range m.Centre {
		x[j] -= v
	}
	return group >= 0 && group < m.Groups && Bound(x, m.Norm)
}

// SimulatePublic is Release on public rows without a permit, for one row per unit: what a job on
// such rows would release, used to choose on other data. It returns an error for any data set that
// is not public.
func (m Moments) SimulatePublic(rows *sealed.Rows, src *entropy.Source) (sums *Sums, err error) {
	defer sealed.Contain(&err)
	std, err := m.StdDev(dp.AddOrRemoveOne, 1)
	if err := errors.Join(err, m.check(rows), Positive("noise multiplier", m.Event.NoiseMultiplier)); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, m.Scope)
	if err != nil {
		return nil, err
	}
	return m.noisy(context.Background(), view, std, src)
}

// Public returns the exact sums of a public data set, with vectors scaled to the bound, and an
// error for any other.
func (m Moments) Public(ctx context.Context, rows *sealed.Rows) (sums *Sums, err error) {
	defer sealed.Contain(&err)
	if err := m.check(rows); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, m.Scope)
	if err != nil {
		return nil, err
	}
	if sums, err = m.add(ctx, view); err != nil {
		return nil, err
	}
	if m.Products {
		mirror(sums.Products, m.Features)
	}
	return sums, nil
}

// noisy returns the sums with noise of std in their units, or an error and nothing.
func (m Moments) noisy(ctx context.Context, view *sealed.View, std float64, src *entropy.Source) (*Sums, error) {
	s, err := m.add(ctx, view)
	if err != nil {
		return nil, err
	}
	if m.Counts {
		err = noise.Perturb(src, s.Counts, std)
	}
	for _, x := range s.Sums {
		err = errors.Join(err, noise.Perturb(src, x, std*m.Norm))
	}
	for _, x := range s.Squares {
		err = errors.Join(err, noise.Perturb(src, x, std*m.Norm*m.Norm))
	}
	if m.Products {
		err = errors.Join(err, noise.PerturbSymmetric(src, s.Products, m.Features, std*m.Norm*m.Norm))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// batch is how many rows go into one product of matrices: enough for it to work from
// the caches.
const batch = 128

// add adds up what the rows contribute, of products the upper triangle.
func (m Moments) add(ctx context.Context, view *sealed.View) (*Sums, error) {
	dim := m.Features
	table := func(asked bool) (t [][]float64) {
		for range m.Groups {
			if asked {
				t = append(t, make([]float64, dim))
			}
		}
		return t
	}
	s := &Sums{Sums: table(m.Sums), Squares: table(m.Squares)}
	if m.Counts {
		s.Counts = make([]float64, m.Groups)
	}
	size := 1
	if m.Products {
		s.Products, size = make([]float64, dim*dim), batch
	}
	rows, held := make([]float64, size*dim), 0
	flush := func() {
		if m.Products && held > 0 {
			blas64.Syrk(blas.Trans, 1, blas64.General{Rows: held, Cols: dim, Stride: dim, Data: rows},
				1, blas64.Symmetric{N: dim, Stride: dim, Data: s.Products, Uplo: blas.Upper})
		}
		held = 0
	}
	at := Vectors(view, m.Row)
	for i := range view.Len() {
		x := rows[held*dim : (held+1)*dim]
		a := at(i, x)
		if !m.takes(x, a) {
			continue
		}
		if m.Counts {
			s.Counts[a]++
		}
		if m.Sums {
			for j, v := range x {
				s.Sums[a][j] += v
			}
		}
		if m.Squares {
			for j, v := range x {
				s.Squares[a][j] += v * v
			}
		}
		if held++; held == size {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			flush()
		}
	}
	flush()
	return s, nil
}

// mirror copies the upper triangle to the lower one.
func mirror(upper []float64, n int) {
	for j := range n {
		for l := range j {
			upper[j*n+l] = upper[l*n+j]
		}
	}
}

// Vectors returns a function for a row's vector and group: those that row computes from its cells
// or, if row is nil, the row's dense input and 0. x is set to zero before row sees it, so an entry
// that row leaves unset is not that of another row.
func Vectors(view *sealed.View, row func(x, cells []float64) int) (at func(i int, x []float64) (group int)) {
	if row != nil {
		cells := view.Rows()
		return func(i int, x []float64) int {
			clear(x)
			return row(x, cells(i))
		}
	}
	input := make([]float32, view.InputDim())
	return func(i int, x []float64) int {
		view.Input(i, input)
		for j, v := range input {
			x[j] = float64(v)
		}
		return 0
	}
}

// Bound scales x down to norm most if it is longer, and reports whether it is finite. It factors
// out the largest entry first, so that no square overflows, and enlarges the root by what the sum
// of squares may have lost to rounding, so that long vectors keep the bound too.
func Bound(x []float64, most float64) bool {
	largest := 0.0
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return true
	}
	square := 0.0
	for _, v := range x {
		square += (v / largest) * (v / largest)
	}
	if root := math.Sqrt(square) * (1 + float64(len(x))*0x1p-53); largest > most/root {
		for j := range x {
			x[j] = x[j] / largest * (most / root)
		}
	}
	return true
}

// Positive returns an error unless x is finite and above 0: a multiplier of 0 would add no noise.
func Positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must be a finite number > 0, got %g", name, x)
	}
	return nil
}

// OneGroup returns row as a function of rows that are all in group 0, nil for nil.
func OneGroup(row func(x, cells []float64)) func(x, cells []float64) int {
	if row == nil {
		return nil
	}
	return func(x, cells []float64) int { row(x, cells); return 0 }
}
