package audit

import (
	"context"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/linear"
)

func convexFits() []design {
	return []design{objective, output, minimum, adaSSP}
}

// fitOf is a fit of one weight on rows that are all the number 1: common rows of class 0
// and one of class 1, whose gradient is then near the largest there is.
func fitOf(m Mechanism, common int, fit func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error)) (Mechanism, error) {
	b, err := addOrRemove(repeat(common, row{class: 0}), one, m.Event)
	m.Relation = dp.AddOrRemoveOne
	m.Score = scored(b, fit, func(weights []float64) float64 { return weights[0] })
	return m, err
}

// About 0.8 of ε: the regularization takes a share, and the residual is below 1.
func objective(noise float64) (Mechanism, error) {
	enc, err := constant()
	if err != nil {
		return Mechanism{}, err
	}
	o := convex.Objective{Scope: dp.WholeScope, Epsilon: 1 / noise, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: target}
	m := Mechanism{Name: "objective perturbation", Entry: "convex.PerturbObjective", Neighbours: "40 rows of one class and one of the other more", Event: o.Event()}
	return fitOf(m, 40, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return convex.PerturbObjective(ctx, permit, rows, o)
	})
}

// 0.98: with the residual capped at 1/2 and a strong regularization the minimiser moves by
// nearly the bound.
func output(noise float64) (Mechanism, error) {
	enc, err := constant()
	if err != nil {
		return Mechanism{}, err
	}
	o := convex.Output{Scope: dp.WholeScope, NoiseMultiplier: noise, Regularization: 20, ResidualCap: 0.5, Encoding: enc, Target: target}
	m := Mechanism{Name: "output perturbation", Entry: "convex.PerturbOutput", Neighbours: "no row and one", Event: o.Event(), Delta: 1e-5}
	return fitOf(m, 0, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return convex.PerturbOutput(ctx, permit, rows, o)
	})
}

// A third of ε: the noise is that of a bound on Gaussian tails which is far from tight.
func minimum(noise float64) (Mechanism, error) {
	enc, err := constant()
	if err != nil {
		return Mechanism{}, err
	}
	a := convex.AMP{Scope: dp.WholeScope, Epsilon: 4 / noise, Delta: 1e-2, ExpectedRows: 1000, Share: linear.AMPShare(4 / noise), Encoding: enc, Target: target}
	m := Mechanism{Name: "minima perturbation", Entry: "convex.PerturbMinimum", Neighbours: "40 rows of one class and one of the other more", Event: a.Event(), Delta: a.Delta}
	return fitOf(m, 40, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return convex.PerturbMinimum(ctx, permit, rows, a)
	})
}

// sign is the target of least squares: −1 or 1.
func sign(cells []float64) float64 { return 2*cells[classCell] - 1 }

// 0.8: of three releases the least eigenvalue does not show.
func adaSSP(noise float64) (Mechanism, error) {
	enc, err := constant()
	if err != nil {
		return Mechanism{}, err
	}
	a := linear.AdaSSP{Scope: dp.WholeScope, NoiseMultiplier: noise, Encoding: enc, Target: sign}
	m := Mechanism{Name: "adaptive sufficient statistics", Entry: "linear.SolveAdaSSP", Neighbours: "200 rows of one sign and one of the other more", Event: a.Event(), Delta: 1e-5}
	return fitOf(m, 200, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return linear.SolveAdaSSP(ctx, permit, rows, a)
	})
}
