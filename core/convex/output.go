package convex

import (
	"context"
	"errors"
	"math"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/design"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/core/sum"
	"pawl/data/encode"
)

// Output is one fit of binary logistic regression by output perturbation (Chaudhuri,
// Monteleoni and Sarwate, JMLR 12, 2011, Sec. 3.2) with Gaussian noise. Every field is
// required.
//
// It minimises, with a public constant a,
//
//	J_D(w) = Σ_{i∈D} ℓ_i(w) + (a/2)‖w‖²
//
// and adds N(0, (σΔ)²) to every coordinate of the minimiser. ℓ is the loss of
// Objective, with the same cap r on residuals. The usual statement divides J by n and
// writes a = n·Λ.
//
// # Guarantee
//
// The gradients of all rows of a unit have norm at most k·r together, so at the minimiser w of D
// the gradient of J_D' is at most k·r for a unit that is added or removed, and 2k·r for one that is
// replaced. J_D' is strongly convex with constant a, hence ‖w − w'‖ <= k·r/a or 2k·r/a. The solver
// stops at ‖∇J‖ <= γ on either side:
//
//	Δ = (k·r + 2γ)/a under AddOrRemoveOne and ZeroOut, (2k·r + 2γ)/a under ReplaceOne.
//
// The literature states the second, 2R/(n·Λ), for a public n. The first holds as well
// as long as a is a constant: n in a = n·Λ must be declared, not counted.
//
// γ is 1e-6. If it is missed, it doubles on the public schedule of Objective; how often it doubled
// is not covered.
type Output struct {
	Scope           dp.Scope
	NoiseMultiplier float64
	// Regularization is a.
	Regularization float64
	// ResidualCap r in (0, 1]; 1 is the logistic loss.
	ResidualCap float64
	Encoding    *encode.Encoding
	// Target maps a row's cells to 0 or 1; any other value, including NaN, leaves the row out.
	Target func(cells []float64) float64
}

// Event returns the cost of one fit.
func (o Output) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: o.NoiseMultiplier} }

// Validate returns an error for the first invalid parameter.
func (o Output) Validate() error {
	// Epsilon plays no part here; the other rules are those of Objective.
	like := Objective{Scope: o.Scope, Epsilon: 1, Regularization: o.Regularization, ResidualCap: o.ResidualCap, Encoding: o.Encoding, Target: o.Target}
	return errors.Join(sum.Positive("noise multiplier", o.NoiseMultiplier), like.Validate())
}

// sensitivity is Δ for a certificate γ.
func (o Output) sensitivity(rowsApart int, gamma float64) float64 {
	return (float64(rowsApart)*o.ResidualCap + 2*gamma) / o.Regularization * rounding
}

// PerturbOutput fits o on the rows of its scope and returns the weights (Dim). permit
// must hold o.Event() on o.Scope, unused.
//
// Errors: before any row is read, invalid parameters and a missing permit; afterwards, with the
// charge kept, ctx.Err() when interrupted and ErrNotCertified.
func PerturbOutput(ctx context.Context, permit *sealed.Permit, rows *sealed.Rows, o Output) (w []float64, err error) {
	defer sealed.Contain(&err)
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if permit == nil {
		return nil, sealed.ErrNotReserved
	}
	if math.IsInf(o.NoiseMultiplier*o.sensitivity(permit.RowsApart(), 1), 0) {
		return nil, errors.New("convex: noise multiplier and regularization are out of the range of a 64-bit float")
	}
	view, err := sealed.OpenUnless(rows, permit, o.Scope, o.Event(), sealed.HasTarget(o.Target))
	if err != nil {
		return nil, err
	}
	return o.fit(ctx, fitterOf(design.New(view, o.Encoding, o.Target)), permit.RowsApart(), view.Noise())
}

// fit is the only way to weights, so none leave without noise.
func (o Output) fit(ctx context.Context, f *fitter, rowsApart int, src *entropy.Source) ([]float64, error) {
	w, gamma, err := f.minimise(ctx, nil, o.ResidualCap, o.Regularization, certificate)
	if err != nil {
		return nil, err
	}
	if err := noise.Perturb(src, w, o.NoiseMultiplier*o.sensitivity(rowsApart, gamma)); err != nil {
		return nil, err
	}
	return w, nil
}
