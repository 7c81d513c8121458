package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/logistic"
	"pawl/core/internal/newton"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
	"pawl/data/encode"
)

const (
	// finishingShare of epsilon pays for the noise that covers the solver.
	finishingShare = 0.01
	// certificate is γ: the gradient norm that the solver must reach. One row
	// contributes at most 1 to that gradient. It is far above what float64 can
	// reach: the rounding of the sum is below γ/2 in the worst case up to about a
	// million rows, and the solver was seen to come to rest at 1e-12 on 600,000. It
	// is far below what matters: the finishing noise has scale 2γ/(a·0.01ε), which
	// is 1e-4 in the weights at a = 2/ε.
	certificate = 1e-6
	// A miss doubles γ, at most so many times.
	certificateDoublings = 12
	// minCapped is the least regularization beside a cap on residuals.
	minCapped = 0.01
)

// ErrNotCertified is returned if the solver reached no gradient norm of the public schedule.
// Nothing is released and the charge stays.
var ErrNotCertified = errors.New("convex: no certified minimiser; raise the regularization")

// Objective is one fit of binary logistic regression by objective perturbation
// (Chaudhuri, Monteleoni and Sarwate, JMLR 12, 2011, Sec. 3.3), in the form for
// adding or removing a unit. Every field is required.
//
// It minimises, with a public constant a that does not depend on the number of rows,
//
//	J_D(w) = Σ_{i∈D} ℓ_i(w) + (a/2)‖w‖² + b·w,   b of density ∝ exp(−‖b‖₂/s),
//
// and adds a finishing noise to the minimiser. ℓ is the logistic loss; with
// ResidualCap r < 1 it is its convex continuation by straight lines from where
// |σ(w·x)−y| reaches r. Constants of one row with ‖x‖ <= 1: gradient at most r,
// second derivative along the score at most c = 1/4, or r(1−r) when r < 1/2.
//
// # Guarantee
//
// A unit owns at most k rows (the permit's MaxRows). Let ε_o = 0.99·ε and
//
//	ε' = ε_o − k·ln(1+c/a),   s = k·r/ε'.
//
// If ε' <= 0 then a is raised to c/(e^{ε_o/2k}−1) and ε' = ε_o/2. The minimiser w*
// is ε_o-DP under AddOrRemoveOne. Proof. J is strongly convex, so b ↦ w* is a
// bijection of ℝ^d with inverse b_D(w) = −Σ∇ℓ_i(w) − a·w, and w* has the density
// p_D(w) = ν(b_D(w))·det H_D(w), H_D = Σ∇²ℓ_i + a·I. (With a cap, b_D is
// Lipschitz and the formula holds almost everywhere, by the area formula.) Let Z
// be the rows of one unit, |Z| <= k.
//
//   - b_D(w) − b_{D∪Z}(w) = Σ_{z∈Z}∇ℓ_z(w) has norm at most k·r, so the two values
//     of ν differ by a factor within e^{±k·r/s} = e^{±ε'}.
//   - det H_{D∪Z}/det H_D = det(I + H_D^{-1/2}(Σ_Z κ_z·zzᵀ)H_D^{-1/2}) >= 1,
//     0 <= κ_z <= c. The added matrix is positive semidefinite, of rank at most k and
//     trace at most k·c/a, so by the inequality of the means the determinant is at
//     most (1 + c/a)^k.
//
// Together |ln p_D/p_{D∪Z}| <= ε' + k·ln(1+c/a) = ε_o. The one-row mechanism at ε_o/k with k steps
// between neighbours gives the same numbers.
//
// ZeroOut costs the same, the null unit being one without a target. Under ReplaceOne, with A the
// common rows, the gradients differ by at most 2k·r while det(H_A+Z)/det(H_A+Z') still lies within
// (1+c/a)^{±k}: s doubles, and nothing else changes. Rows outside Scope and rows whose target is
// not 0 or 1 do not enter J.
//
// # Finishing noise
//
// The exact w* is never computed. The solver returns w with ‖∇J(w)‖ <= γ, public,
// so ‖w−w*‖ <= γ/a. Let the error be any function e_D(w*) of data and minimiser
// (given D, w* fixes b). For equal w*, w*+e_D and w*+e_{D∪Z} differ by at most
// 2γ/a, and noise of density ∝ exp(−‖·‖₂·0.01ε·a/2γ) makes the output 0.01ε-DP
// given w*. Integrating over w* adds up to ε. The solver may therefore start
// anywhere, earlier fits included.
//
// # Assumptions
//
//   - γ = 1e-6 is reached for every data set: in exact arithmetic the solver
//     converges for all of them, and float64 leaves a wide margin. If a fit does not reach it within 300 iterations,
//     γ doubles along 1e-6·2^j; the j used, and the error after 12 doublings, then depend on the rows and are not
//     covered by ε.
//   - The norm of the gradient is itself computed in float64; half of γ is reserved for its rounding.
//   - Continuous noise is represented in float64: its lowest bits are not those of a real number. The result is
//     rounded to the grid of the finishing noise, a defence against the known attacks and not a proof. The duration
//     of a fit is not hidden either.
type Objective struct {
	Scope dp.Scope
	// Epsilon is the total, including the finishing noise.
	Epsilon float64
	// Regularization is a; see linear.Regularization.
	Regularization float64
	// ResidualCap r in (0, 1]; 1 is the logistic loss. A cap multiplies the noise by r and needs a
	// regularization smaller by the factor r. With that, 1/2 was never worse than 1: accuracy at ε =
	// 0.1, 1, 3 on 32,561 census rows (158 coordinates) 82.7, 85.2, 85.6 against 81.8, 85.1, 85.5; on
	// 380 rows of WDBC (31 coordinates) 66, 87.0, 93.4 against 62, 83.1, 91.3 (both sets chose it, so
	// it is optimistic). A cap makes the loss flat where it is large, and the solver is known to be
	// fast only from a Regularization of 0.01 on; a smaller one is refused.
	ResidualCap float64
	Encoding    *encode.Encoding
	// Target maps a row's cells to 0 or 1; any other value, including NaN, leaves the row out.
	Target func(cells []float64) float64
}

// Event returns the cost of one fit.
func (o Objective) Event() dp.Event { return dp.Pure{Epsilon: o.Epsilon} }

// Validate returns an error for the first invalid parameter.
func (o Objective) Validate() error {
	if !(o.ResidualCap > 0 && o.ResidualCap <= 1) {
		return fmt.Errorf("convex: residual cap must lie in (0, 1], got %g", o.ResidualCap)
	}
	if o.ResidualCap < 1 && !(o.Regularization >= minCapped) {
		return fmt.Errorf("convex: a residual cap below 1 needs a regularization of at least %g, got %g", minCapped, o.Regularization)
	}
	return errors.Join(sum.Positive("epsilon", o.Epsilon), sum.Positive("regularization", o.Regularization),
		validate(o.Scope, o.Encoding, o.Target))
}

// calibration holds the two noises and the regularization in force: functions of
// public parameters only.
type calibration struct {
	regularization float64 // a
	scale          float64 // s of the random linear term
	// finishing is the scale of the finishing noise per unit of γ: 2/(a·0.01ε).
	finishing float64
}

func (o Objective) calibrate(relation dp.Relation, rowsPerUnit int) (calibration, error) {
	k := float64(rowsPerUnit)
	r := o.ResidualCap
	c := 0.25 * rounding
	if r < 0.5 {
		c = r * (1 - r) * rounding
	}
	budget := (1 - finishingShare) * o.Epsilon
	cal := calibration{regularization: o.Regularization}
	rest := budget - k*math.Log1p(c/cal.regularization)
	if !(rest > 0) {
		cal.regularization = max(cal.regularization, c/math.Expm1(budget/(2*k)))
		rest = budget / 2
	}
	gradient := k * r
	switch relation {
	case dp.AddOrRemoveOne, dp.ZeroOut:
	case dp.ReplaceOne:
		gradient *= 2
	default:
		return cal, fmt.Errorf("convex: objective perturbation has no proof under %v", relation)
	}
	cal.scale = gradient / rest * rounding
	cal.finishing = 2 / (cal.regularization * finishingShare * o.Epsilon) * rounding
	for _, v := range []float64{cal.regularization, cal.scale, cal.finishing} {
		if !(v > 0) || math.IsInf(v, 0) {
			return cal, errors.New("convex: epsilon and regularization are out of the range of a 64-bit float")
		}
	}
	return cal, nil
}

// PerturbObjective fits o on the rows of its scope and returns the weights (Dim).
// permit must hold o.Event() on o.Scope, unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted and ErrNotCertified.
func PerturbObjective(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, o Objective) ([]float64, error) {
	all, err := PerturbObjectives(ctx, permit, rows, []Objective{o})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// PerturbObjectives fits several objectives of one scope and encoding, each with fresh noise and
// each against its own event of the permit. Rows are encoded once. A fit starts where the one
// before ended; many fits that differ only in noise start from their common minimum without noise.
// The guarantee allows both, and many fits together are several times faster than one by one. If
// one fails, none is returned and all stay charged.
func PerturbObjectives(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, objectives []Objective) ([][]float64, error) {
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	return perturb(ctx, objectives, permit.Relation(), permit.MaxRows(), func(i int) (*sealed.View, *entropy.Source, error) {
		view, err := sealed.OpenUnless(rows, permit, objectives[i].Scope, objectives[i].Event(), sealed.HasTarget(objectives[i].Target))
		if err != nil {
			return nil, nil, err
		}
		return view, view.Noise(), nil
	})
}

// PerturbObjectivesPublic does the same on a public data set without a permit, for simulations with
// many repetitions; the noise is that of relation with one row per unit. Its results carry no
// guarantee, because the rows are public.
func PerturbObjectivesPublic(ctx context.Context, rows *sealed.Rows, relation dp.Relation, objectives []Objective, src *entropy.Source) ([][]float64, error) {
	if src == nil {
		return nil, errors.New("convex: a source of randomness is required")
	}
	return perturb(ctx, objectives, relation, 1, func(i int) (*sealed.View, *entropy.Source, error) {
		view, err := sealed.OpenPublic(rows, objectives[0].Scope)
		return view, src.Split("fit", uint64(i)), err
	})
}

// perturb fits objectives, of which open opens the rows and says where noise comes from.
func perturb(ctx context.Context, objectives []Objective, relation dp.Relation, rowsPerUnit int, open func(i int) (*sealed.View, *entropy.Source, error)) (all [][]float64, err error) {
	defer sealed.Contain(&err)
	if len(objectives) == 0 {
		return nil, nil
	}
	first := objectives[0]
	cals, from := make([]calibration, len(objectives)), make([]streams, len(objectives))
	for i, o := range objectives {
		if err := o.Validate(); err != nil {
			return nil, err
		}
		if o.Scope != first.Scope || o.Encoding != first.Encoding {
			return nil, errors.New("convex: objectives fitted together must share scope and encoding")
		}
		if cals[i], err = o.calibrate(relation, rowsPerUnit); err != nil {
			return nil, err
		}
	}
	var view *sealed.View
	for i := range objectives {
		var src *entropy.Source
		if view, src, err = open(i); err != nil {
			return nil, err
		}
		from[i] = streamsOf(src)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := fitterOf(design.New(view, first.Encoding, first.Target))
	out := make([][]float64, len(objectives))
	var near *newton.Center
	for i, o := range objectives {
		if i > 0 {
			same := f.problem.Retarget(view, o.Target) && cals[i].regularization == cals[i-1].regularization && o.ResidualCap == objectives[i-1].ResidualCap
			if near, err = f.solver.Start(ctx, near, same, len(objectives)-i); err != nil {
				return nil, err
			}
		}
		if out[i], err = cals[i].fit(ctx, f, near, o.ResidualCap, from[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// streams are the origins of the two noises of a fit.
type streams struct{ objective, finishing *entropy.Source }

func streamsOf(src *entropy.Source) streams {
	return streams{src.Split("objective"), src.Split("finishing")}
}

// fit draws both noises and solves. It is the only way to weights, so none leave
// without the finishing noise.
func (c calibration) fit(ctx context.Context, f *fitter, start *newton.Center, cap float64, from streams) ([]float64, error) {
	clear(f.problem.Linear())
	noise.L2Laplace(from.objective, f.problem.Linear(), c.scale)
	w, gamma, err := f.minimise(ctx, start, cap, c.regularization, certificate)
	if err != nil {
		return nil, err
	}
	noise.L2Laplace(from.finishing, w, c.finishing*gamma)
	noise.OnGrid(w, c.finishing*gamma)
	return w, nil
}

// fitter is a problem on opened rows and what finds its minimisers. The solver is not trusted: the
// problem says how large the gradient is at what it found.
type fitter struct {
	problem *logistic.Problem
	solver  *newton.Solver
}

func fitterOf(m *design.Matrix) *fitter {
	p := logistic.New(m)
	return &fitter{p, newton.New(p)}
}

// minimise finds weights of the problem with the linear term that stands, and γ of the public
// schedule that begins with gamma: ‖∇J‖ is at most γ there. The weights are the caller's own.
func (f *fitter) minimise(ctx context.Context, start *newton.Center, cap, regularization, gamma float64) ([]float64, float64, error) {
	if f.problem.Set(cap, regularization) {
		f.solver.Forget() // secant pairs outlive a new b only
	}
	if err := f.solver.Solve(ctx, start, gamma/2); err != nil {
		return nil, 0, err
	}
	w := slices.Clone(f.solver.Weights)
	gamma, err := certifyFrom(gamma, f.problem.GradientNorm(w))
	return w, gamma, err
}

// certifyFrom returns the smallest γ of the public schedule that starts at gamma and covers a
// computed gradient norm, with half of γ kept back for the rounding of that norm.
func certifyFrom(gamma, norm float64) (float64, error) {
	for range certificateDoublings {
		if norm <= gamma/2 {
			return gamma, nil
		}
		gamma *= 2
	}
	if norm <= gamma/2 {
		return gamma, nil
	}
	return math.Inf(1), ErrNotCertified // NaN ends here too
}
