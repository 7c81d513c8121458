// Package newton minimises strongly convex functions of many terms, again and again, from where
// it stands. It opens no row and draws no noise; whoever uses it holds what it returns to a
// bound on the gradient, which it computes itself (logistic.Problem).
package newton

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

const (
	// maxIterations is out of reach: a fit takes about ten.
	maxIterations = 300
	// memory is the number of secant pairs that correct an old Hessian.
	memory = 12
	// slow is the contraction of the gradient norm above which a new Hessian pays:
	// it costs about as much as six gradients, less where few rows have changed.
	slow = 0.5
)

// Problem is J(w) = Σ ℓ_i(w) + (a/2)‖w‖² + b·w.
type Problem interface {
	// Len is the number of terms ℓ_i, Dim that of coordinates.
	Len() int
	Dim() int
	// Linear is b, which the solver may clear, and Regularization a.
	Linear() []float64
	Regularization() float64
	// Gradient sets g to ∇J(w) and curvature to the second derivative of each term, and returns ‖g‖₂.
	Gradient(g, curvature, w []float64) float64
	// Hessian sets h to the sum of the terms' Hessians, of every term or of one in every,
	// scaled up, at these second derivatives.
	Hessian(h, curvature []float64, every int)
}

// Solver minimises one Problem. It measures progress by ‖∇J‖ alone: that is
// what the certificate needs, it stays meaningful when differences of J drown in
// rounding, and J is strongly convex, so ‖∇J‖ → 0 is convergence.
//
// A step is quasi-Newton: the Cholesky factor of a Hessian taken at some earlier
// point, corrected by secant pairs (L-BFGS with that factor as its initial
// metric). When a step contracts too little the Hessian is taken anew, first from a
// sample of the rows and then from all, and the Newton step is halved until ‖∇J‖
// falls; the last resort is a gradient step of length 1/L, which shrinks ‖∇J‖ by
// the factor 1−a/L for every convex J with a <= ∇²J <= L. So every data set
// converges.
type Solver struct {
	p Problem

	// Weights are where it stands.
	Weights []float64

	grad                []float64
	curvature           []float64 // ℓ'' of every row at weights
	trialWeights, trial []float64
	trialCurvature      []float64
	direction           []float64
	hessian             []float64 // without a
	// taken holds the curvature of every row in hessian; empty where hessian is an
	// estimate from a sample. part and change are scratch of an update.
	taken, part, change   []float64
	origin                *Center           // whose Hessian this one is, not yet copied
	factor                blas64.Triangular // U with UᵀU = the metric; empty before the first
	exact                 bool              // take metrics from all rows from now on
	complete              bool              // the present metric did
	steps, changes        [][]float64       // secant pairs, oldest first
	products, projections []float64
}

// New returns a solver of p that stands at 0.
func New(p Problem) *Solver {
	d, n := p.Dim(), p.Len()
	vector := func(n int) []float64 { return make([]float64, n) }
	return &Solver{
		p: p, Weights: vector(d), grad: vector(d), curvature: vector(n),
		trialWeights: vector(d), trial: vector(d), trialCurvature: vector(n),
		direction: vector(d), hessian: vector(d * d), part: vector(d * d), change: vector(n), projections: vector(memory),
	}
}

// Minimize moves Weights until ‖∇J‖ <= aim or float64 allows no progress. The error is that of ctx.
func (s *Solver) Minimize(ctx context.Context, aim float64) error {
	return s.improve(ctx, aim, s.p.Gradient(s.grad, s.curvature, s.Weights))
}

// improve is Minimize from weights whose gradient, of norm size, and curvature are
// known.
func (s *Solver) improve(ctx context.Context, aim, size float64) error {
	fresh, stale := false, s.factor.N == 0
	for range maxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		if size <= aim {
			break
		}
		if stale {
			s.refactor()
			fresh, stale = true, false
		}
		s.descend()
		next := s.try(1)
		if !(next <= slow*size) {
			stale = true
			// Few rows may carry all the curvature; then a sample is no metric.
			s.exact = s.exact || fresh
		}
		if next < size {
			size = s.accept(next)
			fresh = false
			continue
		}
		if !fresh || !s.complete {
			stale = true
			continue
		}
		// A Newton step at its own Hessian overshot: shorten it.
		moved := false
		for t := 0.5; t > 1e-4; t /= 2 {
			if next = s.try(t); next <= (1-0.1*t)*size {
				moved = true
				break
			}
		}
		if !moved {
			// L <= rows/4 + a.
			for j, g := range s.grad {
				s.direction[j] = -g / (float64(s.p.Len())/4 + s.p.Regularization())
			}
			if next = s.try(1); !(next < size) {
				break
			}
		}
		size = s.accept(next)
		fresh, stale = false, true
	}
	return nil
}

// Center is the minimiser without a linear term, from which many problems start that
// differ in that term only: with the Hessian of all rows there, as their metric, they
// need about half as many gradients as from each other's minimisers.
type Center struct {
	weights, grad, curvature []float64 // grad without the linear term
	hessian                  []float64 // at curvature, without a
	factor                   blas64.Triangular
}

// centre finds the Center of the present problem. A rough minimum will do.
func (s *Solver) centre(ctx context.Context) (*Center, error) {
	clear(s.p.Linear())
	if err := s.Minimize(ctx, 1e-3); err != nil {
		return nil, err
	}
	exact := s.exact
	s.exact, s.origin, s.taken = true, nil, s.taken[:0]
	s.refactor()
	s.exact = exact
	return &Center{slices.Clone(s.Weights), slices.Clone(s.grad), slices.Clone(s.taken), slices.Clone(s.hessian), s.factor}, nil
}

// worthACenter is the number of fits from which a Center is not slower.
const worthACenter = 6

// Start returns the Center for the next of left fits, nil for none. same says that the
// problem is that of the fit before, which left its cap and regularization here.
func (s *Solver) Start(ctx context.Context, from *Center, same bool, left int) (*Center, error) {
	switch {
	case !same:
		return nil, nil
	case from == nil && left >= worthACenter:
		return s.centre(ctx)
	}
	return from, nil
}

// Solve is Minimize for the present linear term, from c if there is one.
func (s *Solver) Solve(ctx context.Context, c *Center, aim float64) error {
	if c == nil {
		return s.Minimize(ctx, aim)
	}
	s.Forget()
	s.factor, s.complete, s.exact = c.factor, true, false
	copy(s.Weights, c.weights)
	copy(s.curvature, c.curvature)
	s.origin = c
	copy(s.grad, c.grad)
	floats.Add(s.grad, s.p.Linear())
	return s.improve(ctx, aim, floats.Norm(s.grad, 2))
}

func (s *Solver) try(t float64) float64 {
	for j, w := range s.Weights {
		s.trialWeights[j] = w + t*s.direction[j]
	}
	return s.p.Gradient(s.trial, s.trialCurvature, s.trialWeights)
}

// accept makes the tried point the current one and remembers the secant pair.
func (s *Solver) accept(size float64) float64 {
	var step, change []float64
	if len(s.steps) == memory {
		step, change = s.steps[0], s.changes[0]
		copy(s.steps, s.steps[1:])
		copy(s.changes, s.changes[1:])
		copy(s.products, s.products[1:])
		s.steps, s.changes, s.products = s.steps[:memory-1], s.changes[:memory-1], s.products[:memory-1]
	} else {
		step, change = make([]float64, len(s.grad)), make([]float64, len(s.grad))
	}
	product := 0.0
	for j := range step {
		step[j] = s.trialWeights[j] - s.Weights[j]
		change[j] = s.trial[j] - s.grad[j]
		product += step[j] * change[j]
	}
	if product > 0 { // always in exact arithmetic
		s.steps, s.changes, s.products = append(s.steps, step), append(s.changes, change), append(s.products, product)
	}
	s.Weights, s.trialWeights = s.trialWeights, s.Weights
	s.grad, s.trial = s.trial, s.grad
	s.curvature, s.trialCurvature = s.trialCurvature, s.curvature
	return size
}

// refactor takes the Hessian at weights and drops the secant pairs. Fifty rows per
// coordinate are enough for most metrics: the pairs make up for the rest. From a
// Hessian of all rows on it adds what has changed.
func (s *Solver) refactor() {
	s.Forget()
	every := 1
	if !s.exact {
		every = max(1, s.p.Len()/(50*len(s.Weights)))
	}
	if s.origin != nil {
		s.taken = append(s.taken[:0], s.origin.curvature...)
		copy(s.hessian, s.origin.hessian)
		s.origin = nil
	}
	switch {
	case len(s.taken) > 0 && s.update():
	case every == 1:
		s.p.Hessian(s.hessian, s.curvature, 1)
		s.taken = append(s.taken[:0], s.curvature...)
	default:
		s.p.Hessian(s.hessian, s.curvature, every)
		s.taken = s.taken[:0]
	}
	s.complete = len(s.taken) > 0
	// Rounding can make a tiny a vanish beside many rows. The metric may be
	// anything positive: only speed depends on it.
	factor, ok := cholesky(s.hessian, s.p.Regularization())
	for ridge := math.Max(s.p.Regularization(), float64(s.p.Len())*1e-16); !ok; ridge *= 10 {
		factor, ok = cholesky(s.hessian, ridge)
	}
	s.factor = factor
}

// unchanged is the share by which a row's curvature may differ from that in the
// metric. If no row differs by more, the metric lies within that share of the Hessian
// in every direction, so a step contracts by it.
const unchanged = 0.2

// update brings a Hessian of all rows up to date where their curvature has changed. It
// reports false, having done nothing, if that is most of them.
func (s *Solver) update() bool {
	changed := 0
	for i, c := range s.curvature {
		d := c - s.taken[i]
		if math.Abs(d) <= unchanged*max(c, s.taken[i]) {
			d = 0
		} else {
			changed++
		}
		s.change[i] = d
	}
	if 3*changed > 2*len(s.curvature) {
		return false
	}
	s.p.Hessian(s.part, s.change, 1)
	floats.Add(s.hessian, s.part)
	for i, d := range s.change {
		s.taken[i] += d
	}
	return true
}

func (s *Solver) Forget() {
	s.steps, s.changes, s.products = s.steps[:0], s.changes[:0], s.products[:0]
}

// descend sets direction to −B∇J, with B the inverse of the metric updated by the
// secant pairs (two-loop recursion of L-BFGS).
func (s *Solver) descend() {
	p := s.direction
	for j, g := range s.grad {
		p[j] = -g
	}
	for i := len(s.steps) - 1; i >= 0; i-- {
		f := floats.Dot(s.steps[i], p) / s.products[i]
		s.projections[i] = f
		floats.AddScaled(p, -f, s.changes[i])
	}
	solve(s.factor, p)
	for i := range s.steps {
		floats.AddScaled(p, s.projections[i]-floats.Dot(s.changes[i], p)/s.products[i], s.steps[i])
	}
}

// cholesky returns U with UᵀU = h + ridge·I, or false when that is not positive
// definite in float64. It leaves h (row-major, symmetric) as it is.
func cholesky(h []float64, ridge float64) (blas64.Triangular, bool) {
	d := int(math.Sqrt(float64(len(h))))
	data := append([]float64(nil), h...)
	for j := range d {
		data[j*d+j] += ridge
	}
	return lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: d, Data: data, Stride: d})
}

// solve replaces x by (UᵀU)⁻¹x.
func solve(u blas64.Triangular, x []float64) {
	v := blas64.Vector{N: len(x), Data: x, Inc: 1}
	blas64.Trsv(blas.Trans, u, v)
	blas64.Trsv(blas.NoTrans, u, v)
}
