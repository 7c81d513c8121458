package convex

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"pawl/core/internal/design"
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

// solver minimises J(w) = Σ ℓ_i(w) + (a/2)‖w‖² + b·w on one encoded matrix, again
// and again, from where it stands. It measures progress by ‖∇J‖ alone: that is
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
type solver struct {
	m *design.Matrix

	// The problem: b, a, and the cap on residuals.
	linear         []float64
	regularization float64
	cap            float64

	weights, grad       []float64
	curvature           []float64 // ℓ'' of every row at weights
	trialWeights, trial []float64
	trialCurvature      []float64
	direction           []float64
	packed              *design.Packed
	moments             design.Moments
	hessian             []float64 // without a
	// taken holds the curvature of every row in hessian; empty where hessian is an
	// estimate from a sample. part and change are scratch of an update.
	taken, part, change   []float64
	origin                *center           // whose Hessian this one is, not yet copied
	factor                blas64.Triangular // U with UᵀU = the metric; empty before the first
	exact                 bool              // take metrics from all rows from now on
	complete              bool              // the present metric did
	steps, changes        [][]float64       // secant pairs, oldest first
	products, projections []float64
}

func newSolver(m *design.Matrix) *solver {
	d := m.Dim()
	vector := func(n int) []float64 { return make([]float64, n) }
	return &solver{
		m: m, packed: m.Pack(), linear: vector(d), weights: vector(d), grad: vector(d), curvature: vector(m.Len()),
		trialWeights: vector(d), trial: vector(d), trialCurvature: vector(m.Len()),
		direction: vector(d), hessian: vector(d * d), part: vector(d * d), change: vector(m.Len()), projections: vector(memory),
	}
}

// gradient sets g to ∇J(w) and curvature to the rows' second derivatives, and
// returns ‖g‖₂.
func (s *solver) gradient(g, curvature, w []float64) float64 {
	for j := range g {
		g[j] = s.linear[j] + s.regularization*w[j]
	}
	limit := s.cap
	s.packed.Sum(g, w, func(first int, scores []float64) {
		target, curvature := s.m.Target[first:][:len(scores)], curvature[first:][:len(scores)]
		sigmoids(scores)
		for i, p := range scores {
			y := target[i]
			// A product, because a branch on y itself would be a coin toss.
			if y*(1-y) != 0 { // true for NaN as well
				scores[i], curvature[i] = 0, 0
				continue
			}
			r := p - y
			second := p * (1 - p)
			if math.Abs(r) > limit {
				r, second = math.Copysign(limit, r), 0
			}
			scores[i], curvature[i] = r, second
		}
	})
	return norm(g)
}

// minimize moves weights until ‖∇J‖ <= aim or float64 allows no progress, and
// returns ‖∇J‖.
func (s *solver) minimize(ctx context.Context, aim float64) (float64, error) {
	return s.improve(ctx, aim, s.gradient(s.grad, s.curvature, s.weights))
}

// improve is minimize from weights whose gradient, of norm size, and curvature are
// known.
func (s *solver) improve(ctx context.Context, aim, size float64) (float64, error) {
	fresh, stale := false, s.factor.N == 0
	for range maxIterations {
		if err := ctx.Err(); err != nil {
			return math.Inf(1), err
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
				s.direction[j] = -g / (float64(s.m.Len())/4 + s.regularization)
			}
			if next = s.try(1); !(next < size) {
				break
			}
		}
		size = s.accept(next)
		fresh, stale = false, true
	}
	return size, nil
}

// center is the minimiser without a linear term, from which many problems start that
// differ in that term only: with the Hessian of all rows there, as their metric, they
// need about half as many gradients as from each other's minimisers.
type center struct {
	weights, grad, curvature []float64 // grad without the linear term
	hessian                  []float64 // at curvature, without a
	factor                   blas64.Triangular
}

// centre finds the center of the present problem. A rough minimum will do.
func (s *solver) centre(ctx context.Context) (*center, error) {
	clear(s.linear)
	if _, err := s.minimize(ctx, 1e-3); err != nil {
		return nil, err
	}
	exact := s.exact
	s.exact, s.origin, s.taken = true, nil, s.taken[:0]
	s.refactor()
	s.exact = exact
	return &center{clone(s.weights), clone(s.grad), clone(s.taken), clone(s.hessian), s.factor}, nil
}

// worthACenter is the number of fits from which a center is not slower.
const worthACenter = 6

// start returns the center for the next of left fits, nil for none. same says that the
// problem is that of the fit before, which left its cap and regularization here.
func (s *solver) start(ctx context.Context, from *center, same bool, left int) (*center, error) {
	switch {
	case !same:
		return nil, nil
	case from == nil && left >= worthACenter:
		return s.centre(ctx)
	}
	return from, nil
}

// solve is minimize for the present linear term, from c if there is one.
func (s *solver) solve(ctx context.Context, c *center, aim float64) (float64, error) {
	if c == nil {
		return s.minimize(ctx, aim)
	}
	s.forget()
	s.factor, s.complete, s.exact = c.factor, true, false
	copy(s.weights, c.weights)
	copy(s.curvature, c.curvature)
	s.origin = c
	copy(s.grad, c.grad)
	axpy(1, s.linear, s.grad)
	return s.improve(ctx, aim, norm(s.grad))
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

func (s *solver) try(t float64) float64 {
	for j, w := range s.weights {
		s.trialWeights[j] = w + t*s.direction[j]
	}
	return s.gradient(s.trial, s.trialCurvature, s.trialWeights)
}

// accept makes the tried point the current one and remembers the secant pair.
func (s *solver) accept(size float64) float64 {
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
		step[j] = s.trialWeights[j] - s.weights[j]
		change[j] = s.trial[j] - s.grad[j]
		product += step[j] * change[j]
	}
	if product > 0 { // always in exact arithmetic
		s.steps, s.changes, s.products = append(s.steps, step), append(s.changes, change), append(s.products, product)
	}
	s.weights, s.trialWeights = s.trialWeights, s.weights
	s.grad, s.trial = s.trial, s.grad
	s.curvature, s.trialCurvature = s.trialCurvature, s.curvature
	return size
}

// refactor takes the Hessian at weights and drops the secant pairs. Fifty rows per
// coordinate are enough for most metrics: the pairs make up for the rest. From a
// Hessian of all rows on it adds what has changed.
func (s *solver) refactor() {
	s.forget()
	every := 1
	if !s.exact {
		every = max(1, s.m.Len()/(50*len(s.weights)))
	}
	if s.origin != nil {
		s.taken = append(s.taken[:0], s.origin.curvature...)
		copy(s.hessian, s.origin.hessian)
		s.origin = nil
	}
	switch {
	case len(s.taken) > 0 && s.update():
	case every == 1:
		s.m.Weighted(&s.moments, s.hessian, s.curvature, 1)
		s.taken = append(s.taken[:0], s.curvature...)
	default:
		s.m.Weighted(&s.moments, s.hessian, s.curvature, every)
		s.taken = s.taken[:0]
	}
	s.complete = len(s.taken) > 0
	// Rounding can make a tiny a vanish beside many rows. The metric may be
	// anything positive: only speed depends on it.
	factor, ok := cholesky(s.hessian, s.regularization)
	for ridge := math.Max(s.regularization, float64(s.m.Len())*1e-16); !ok; ridge *= 10 {
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
func (s *solver) update() bool {
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
	s.m.Weighted(&s.moments, s.part, s.change, 1)
	axpy(1, s.part, s.hessian)
	for i, d := range s.change {
		s.taken[i] += d
	}
	return true
}

func (s *solver) forget() {
	s.steps, s.changes, s.products = s.steps[:0], s.changes[:0], s.products[:0]
}

// descend sets direction to −B∇J, with B the inverse of the metric updated by the
// secant pairs (two-loop recursion of L-BFGS).
func (s *solver) descend() {
	p := s.direction
	for j, g := range s.grad {
		p[j] = -g
	}
	for i := len(s.steps) - 1; i >= 0; i-- {
		f := dot(s.steps[i], p) / s.products[i]
		s.projections[i] = f
		axpy(-f, s.changes[i], p)
	}
	solve(s.factor, p)
	for i := range s.steps {
		axpy(s.projections[i]-dot(s.changes[i], p)/s.products[i], s.steps[i], p)
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

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func axpy(f float64, x, y []float64) {
	for i, v := range x {
		y[i] += f * v
	}
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
