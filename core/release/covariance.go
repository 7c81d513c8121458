package release

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// Covariance releases the second moments of a scope's rows (Dwork, Talwar, Thakurta
// and Zhang, "Analyze Gauss", STOC 2014):
//
//	M = Σ_i x_i x_iᵀ + E
//
// x_i is a row's vector less Centre, scaled down to norm R = Norm where it is longer. E
// is symmetric, of standard deviation s = NoiseMultiplier·Δ on the diagonal and s/√2 off
// it. In the coordinates M_jj and √2·M_jl (j < l), whose Euclidean norm is the Frobenius
// norm of M, that is N(0, s²) everywhere: one Gaussian mechanism on a vector of L2
// sensitivity Δ. Noise of s on every entry of the triangle would do as well, and
// would be twice the variance off the diagonal.
//
// # Sensitivity
//
// One row adds xxᵀ of Frobenius norm ‖x‖² <= R². A unit owns at most k rows (the
// permit's MaxRows); they add a positive semidefinite A with ‖A‖ <= k·R², so
//
//	Δ = k·R²     under AddOrRemoveOne and ZeroOut.
//
// Under ReplaceOne A leaves and B enters, and as tr(AB) >= 0 for positive semidefinite
// matrices, ‖A−B‖² = ‖A‖² + ‖B‖² − 2·tr(AB) <= 2·(k·R²)²:
//
//	Δ = √2·k·R²  under ReplaceOne, attained by orthogonal rows.
//
// Sum and noise are in float64 and leave on a public grid (see addGaussian); what remains
// of the risk that gradients have too is in core/README.md.
type Covariance struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Features is the length of a row's vector, Norm the bound on its length.
	Features int
	Norm     float64
	// Row fills x, Features zeros, with a vector made of a row's cells; where it is nil,
	// the dense input is the vector. One that is not finite leaves the row out.
	Row func(x, cells []float64)
	// Centre, when not nil, is taken off every vector before it is scaled: a public
	// vector, or one that was released, such as an InputMean.
	Centre []float64
}

// SecondMoments is what Covariance releases.
type SecondMoments struct {
	Features int
	// Matrix is Features×Features, row-major and symmetric. Noise may give it negative
	// eigenvalues.
	Matrix []float64
	// StdDev is the standard deviation of the noise on the diagonal, StdDev/√2 that off
	// it; 0 where the data set is public.
	StdDev float64
}

// SpectralNoise is √(2·Features)·StdDev, the limit of the noise's spectral norm for many
// features: an eigenvalue below it may be noise alone.
func (m *SecondMoments) SpectralNoise() float64 { return m.StdDev * math.Sqrt(2*float64(m.Features)) }

// Event is what Release costs.
func (c Covariance) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: c.NoiseMultiplier} }

// StdDev is the standard deviation s of the noise on the diagonal, which is public. It is
// +Inf with an error for a relation without a bound.
func (c Covariance) StdDev(relation dp.Relation, rowsPerUnit int) (float64, error) {
	s := c.NoiseMultiplier * c.Norm * c.Norm * float64(rowsPerUnit) * (1 + 1e-12)
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
		return s, nil
	case dp.ReplaceOne:
		return s * math.Sqrt2, nil
	}
	return math.Inf(1), fmt.Errorf("release: the sensitivity of second moments is unknown under %v", relation)
}

func (c Covariance) validate() error {
	if c.Features < 1 || c.Features > mostCells/c.Features {
		return fmt.Errorf("release: second moments of %d features", c.Features)
	}
	if c.Centre != nil && len(c.Centre) != c.Features {
		return fmt.Errorf("release: a centre of %d numbers for %d features", len(c.Centre), c.Features)
	}
	for _, v := range c.Centre {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("release: the centre is not finite")
		}
	}
	// Squares of entries must stay in the range of a float64.
	return errors.Join(positive("norm", c.Norm), positive("square of the norm", c.Norm*c.Norm))
}

// Release returns the noisy second moments.
func (c Covariance) Release(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows) (moments *SecondMoments, err error) {
	defer sealed.Contain(&err)
	if err := c.validate(); err != nil {
		return nil, err
	}
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	std, err := c.StdDev(permit.Relation(), permit.MaxRows())
	if err != nil {
		return nil, err
	}
	view, err := open(ctx, permit, rows, c.Scope, c.Event(), c.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	upper, err := c.sum(ctx, view)
	if err != nil {
		return nil, err
	}
	if err := perturb(view.Noise(), upper, c.Features, std); err != nil {
		return nil, err
	}
	return &SecondMoments{Features: c.Features, Matrix: mirror(upper, c.Features), StdDev: std}, nil
}

// Public returns the exact second moments of a public data set; it fails for every
// other.
func (c Covariance) Public(ctx context.Context, rows *sealed.Rows) (moments *SecondMoments, err error) {
	defer sealed.Contain(&err)
	if err := c.validate(); err != nil {
		return nil, err
	}
	view, err := sealed.OpenPublic(rows, c.Scope)
	if err != nil {
		return nil, err
	}
	upper, err := c.sum(ctx, view)
	if err != nil {
		return nil, err
	}
	return &SecondMoments{Features: c.Features, Matrix: mirror(upper, c.Features)}, nil
}

// momentRows is how many rows go into one product of matrices: enough for it to work from
// the caches.
const momentRows = 128

// sum adds xxᵀ over the rows, in the upper triangle of a Features×Features matrix.
func (c Covariance) sum(ctx context.Context, view *sealed.View) ([]float64, error) {
	dim, at := vectors(view, c.Features, c.Row)
	if dim != c.Features {
		return nil, fmt.Errorf("release: inputs of %d numbers, want %d", dim, c.Features)
	}
	upper := make([]float64, dim*dim)
	block := make([]float64, momentRows*dim)
	held := 0
	flush := func() {
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: held, Cols: dim, Stride: dim, Data: block},
			1, blas64.Symmetric{N: dim, Stride: dim, Data: upper, Uplo: blas.Upper})
		held = 0
	}
	for i := range view.Len() {
		x := block[held*dim : (held+1)*dim]
		at(i, x)
		for j, v := range c.Centre {
			x[j] -= v
		}
		if !bound(x, c.Norm) {
			continue
		}
		if held++; held == momentRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			flush()
		}
	}
	if held > 0 {
		flush()
	}
	return upper, nil
}

// perturb adds the noise of one Gaussian release to an upper triangle. The noisy sums go
// to the grid, not the noise alone: what a sum is beyond a multiple of a cell would then
// leave without noise.
func perturb(src *entropy.Source, upper []float64, n int, std float64) error {
	for j := range n {
		row := upper[j*n+j : (j+1)*n]
		if err := addGaussian(src, row[:1], std); err != nil {
			return err
		}
		if err := addGaussian(src, row[1:], std/math.Sqrt2); err != nil {
			return err
		}
	}
	return nil
}

// mirror copies the upper triangle to the lower one. Both hold one draw: two would
// average to half the variance.
func mirror(upper []float64, n int) []float64 {
	for j := range n {
		for l := range j {
			upper[j*n+l] = upper[l*n+j]
		}
	}
	return upper
}
