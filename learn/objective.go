package learn

import (
	"context"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/model"
)

var _ = register(Kind{
	Name: "objective-perturbation", Classes: true, Pure: true,
	New: func(s Settings) Learner {
		return &Objective{Task: s.Task, Epsilon: s.Epsilon, Encoding: s.Encoding}
	},
})

// Objective is logistic regression by objective perturbation, pure epsilon. More
// than two classes are fitted one against the rest at an equal share of epsilon
// each.
type Objective struct {
	Task
	Epsilon  float64
	Encoding *encode.Encoding
}

// Name implements Learner.
func (o *Objective) Name() string { return "logistic model by objective perturbation" }

func (o *Objective) config() []convex.Objective {
	targets := o.oneAgainstRest()
	epsilon := o.Epsilon / float64(len(targets))
	// Half a residual with half the regularization: less noise per row, and better
	// than the plain loss on every set tried (Adult at ε 0.1: 82.7 against 81.8 %,
	// WDBC at ε 1: 87.0 against 83.1 %).
	const residual = 0.5
	// The least regularization that convex takes beside a cap; met from ε 100 on.
	const least = 0.01
	all := make([]convex.Objective, len(targets))
	for k := range all {
		all[k] = convex.Objective{
			Scope: o.Scope, Epsilon: epsilon, ResidualCap: residual, Encoding: o.Encoding,
			Regularization: max(least, residual*linear.Regularization(o.Encoding.Dim, epsilon/float64(o.Schema.Unit.MaxRows))),
			Target:         targets[k],
		}
	}
	return all
}

// Event implements Learner.
func (o *Objective) Event() dp.Event { return together(o.config()) }

// Fit implements Learner.
func (o *Objective) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	columns, err := convex.PerturbObjectives(ctx, permit, rows, o.config())
	if err != nil {
		return nil, err
	}
	return o.binaries(o.Encoding, columns), nil
}
