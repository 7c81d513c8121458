package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
	"pawl/data/encode"
)

// AMP is one fit of binary logistic regression by approximate minima perturbation
// (Iyengar, Near, Song, Thakkar, Thakurta and Wang, S&P 2019, Algorithm 1), (ε, δ)-DP.
// Every field is required.
//
// The published form divides the loss by n; n cancels from everything but γ. With
// ε_out = 0.01·ε, δ_out = 0.01·δ, ε_obj and δ_obj the rest, ε_p = Share·ε_obj, and j rows in which
// neighbours differ, it finds w with ‖∇J(w)‖ <= γ = 1/n (within [1e-6, 1e-3]) for
//
//	J_D(w) = Σ ℓ_i(w) + (a/2)‖w‖² + b·w,   a = j·β/(ε_obj − ε_p),   β = 1/4,
//	b ~ N(0, s²I),   s = j·(1 + √(2·ln(1/δ_obj)))/ε_p,
//
// and returns w + N(0, t²I), t = (2γ/a)·(1 + √(2·ln(1/δ_out)))/ε_out.
//
// # Guarantee
//
// For units of one row: j = 1 under AddOrRemoveOne and ZeroOut, 2 under ReplaceOne, which is the
// relation of the paper (its 2L and r = 2). A permit for more rows per unit is refused, because the
// argument below needs at most two directions.
//
// Given the data, b ↦ w* is a bijection with inverse b_D (see Objective). Neighbours have
// b_D(w) − b_D'(w) = u of norm at most j, in the span of the rows x (and x') that differ,
// whatever w is. So the loss of ν is (2⟨b, u⟩ + ‖u‖²)/2s² <= (j/s)·‖Pb/s‖ + j²/2s², P the projection on
// that span of dimension at most 2, where ‖Pb/s‖ exceeds √(2·ln(1/δ_obj)) with probability at
// most δ_obj. Below that it is at most ε_p by the choice of s, as long as ε_p <= 2(1 + √(2·ln(1/δ_obj))),
// beyond which parameters are refused. The determinants differ by a factor within
// (1 + β/a)^{±1}, that is e^{±(ε_obj − ε_p)}. So w* is (ε_obj, δ_obj)-DP. Given w*, the
// solver's error has norm at most γ/a on either side: a release of sensitivity 2γ/a, (ε_out, δ_out)-DP.
// (Our copy of the paper takes γ/a there; we use twice, because the errors of two data
// sets may point in opposite directions. It is 1 % of the budget either way.)
//
// If γ is missed, it doubles on the public schedule of Objective; how often it doubled is not
// covered.
type AMP struct {
	Scope          dp.Scope
	Epsilon, Delta float64
	// ExpectedRows is n, a public number. It determines γ and nothing else.
	ExpectedRows float64
	// Share in (0, 1) of ε_obj goes to b, the rest to the regularization; see
	// linear.AMPShare.
	Share    float64
	Encoding *encode.Encoding
	// Target maps a row's cells to 0 or 1; any other value, including NaN, leaves the row out.
	Target func(cells []float64) float64
}

// Event returns the cost of one fit.
func (a AMP) Event() dp.Event { return dp.Approximate{Epsilon: a.Epsilon, Delta: a.Delta} }

// Validate returns an error for the first invalid parameter.
func (a AMP) Validate() error {
	if !(a.Delta > 0 && a.Delta < 1) {
		return fmt.Errorf("convex: delta must lie in (0, 1), got %g", a.Delta)
	}
	if !(a.Share > 0 && a.Share < 1) {
		return fmt.Errorf("convex: share must lie in (0, 1), got %g", a.Share)
	}
	return errors.Join(sum.Positive("epsilon", a.Epsilon), sum.Positive("expected rows", a.ExpectedRows), validate(a.Scope, a.Encoding, a.Target))
}

// ampCalibration holds what is computed from public parameters.
type ampCalibration struct {
	regularization float64 // a
	objective      float64 // s
	finishing      float64 // t/γ
	gamma          float64
}

func (a AMP) calibrate(permit *sealed.Permit) (ampCalibration, error) {
	switch {
	case permit.MaxRows() != 1:
		return ampCalibration{}, errors.New("convex: approximate minima perturbation has a proof for units of one row only; use objective perturbation")
	case permit.RowsApart() > 2:
		return ampCalibration{}, fmt.Errorf("convex: approximate minima perturbation has no proof under %v", permit.Relation())
	}
	j := float64(permit.RowsApart()) * rounding
	epsilonOut, deltaOut := finishingShare*a.Epsilon, finishingShare*a.Delta
	epsilonObj, deltaObj := (1-finishingShare)*a.Epsilon, (1-finishingShare)*a.Delta
	epsilonP := a.Share * epsilonObj
	reach := func(delta float64) float64 { return 1 + math.Sqrt(2*math.Log(1/delta)) }
	if !(epsilonP <= 2*reach(deltaObj)) || !(epsilonOut <= 2*reach(deltaOut)) {
		return ampCalibration{}, errors.New("convex: epsilon is too large for the Gaussian bound of approximate minima perturbation")
	}
	c := ampCalibration{
		regularization: j * 0.25 / (epsilonObj - epsilonP) * rounding,
		objective:      j * reach(deltaObj) / epsilonP * rounding,
		// Less than certificate would leave the rounding of ∇J no room.
		gamma: min(max(1/a.ExpectedRows, certificate), 1e-3),
	}
	c.finishing = 2 / c.regularization * reach(deltaOut) / epsilonOut * rounding
	for _, v := range []float64{c.regularization, c.objective, c.finishing, c.gamma} {
		if !(v > 0) || math.IsInf(v, 0) {
			return c, errors.New("convex: parameters are out of the range of a 64-bit float")
		}
	}
	return c, nil
}

// PerturbMinimum fits a on the rows of its scope and returns the weights (Dim). permit
// must hold a.Event() on a.Scope, unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted and ErrNotCertified.
func PerturbMinimum(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, a AMP) (w []float64, err error) {
	defer sealed.Contain(&err)
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	c, err := a.calibrate(permit)
	if err != nil {
		return nil, err
	}
	view, err := sealed.OpenUnless(rows, permit, a.Scope, a.Event(), sealed.HasTarget(a.Target))
	if err != nil {
		return nil, err
	}
	return c.fit(ctx, fitterOf(design.New(view, a.Encoding, a.Target)), streamsOf(view.Noise()))
}

// fit draws both noises and solves. It is the only way to weights.
func (c ampCalibration) fit(ctx context.Context, f *fitter, from streams) ([]float64, error) {
	clear(f.problem.Linear())
	noise.AddGaussian(from.objective, f.problem.Linear(), c.objective)
	w, gamma, err := f.minimise(ctx, nil, 1, c.regularization, c.gamma)
	if err != nil {
		return nil, err
	}
	if err := noise.Perturb(from.finishing, w, c.finishing*gamma); err != nil {
		return nil, err
	}
	return w, nil
}
