package learn

import (
	"context"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/model"
)

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

// oneAgainstRest returns one target for two classes and one for each of more: 1 for a
// row of the class, 0 for another, NaN for an unknown one.
func (t Task) oneAgainstRest() []func(cells []float64) float64 {
	column, classes := t.column(), t.Levels()
	first := 0
	if classes == 2 {
		first = 1
	}
	var out []func(cells []float64) float64
	for k := first; k < classes; k++ {
		out = append(out, func(cells []float64) float64 {
			switch y := cells[column]; {
			case y != y:
				return y
			case y == float64(k):
				return 1
			}
			return 0
		})
	}
	return out
}

// binaries puts the weights of fits one against the rest into one model.
func (t Task) binaries(enc *encode.Encoding, columns [][]float64) *model.Model {
	m := t.model(model.Linear)
	m.Encoding, m.Outputs = enc, len(columns)
	m.Weights = make([]float64, enc.Dim*len(columns))
	for k, w := range columns {
		for j, v := range w {
			m.Weights[j*len(columns)+k] = v
		}
	}
	return m
}

// together is the event of several fits.
func together[C interface{ Event() dp.Event }](fits []C) dp.Event {
	var events []dp.Event
	for _, f := range fits {
		events = append(events, f.Event())
	}
	if len(events) == 1 {
		return events[0]
	}
	return dp.Compose{Events: events}
}

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
			Regularization: max(least, residual*convex.DefaultRegularization(o.Encoding.Dim, epsilon/float64(o.Schema.Unit.MaxRows))),
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

// NormalEquations is ridge regression from one noisy release of second moments.
type NormalEquations struct {
	Task
	NoiseMultiplier float64
	Encoding        *encode.Encoding
}

// Name implements Learner.
func (n *NormalEquations) Name() string { return "ridge regression from noisy normal equations" }

func (n *NormalEquations) config() convex.NormalEquations {
	return convex.NormalEquations{Scope: n.Scope, NoiseMultiplier: n.NoiseMultiplier, Encoding: n.Encoding, Target: n.value()}
}

// Event implements Learner.
func (n *NormalEquations) Event() dp.Event { return n.config().Event() }

// Fit implements Learner.
func (n *NormalEquations) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	w, err := convex.SolveNormalEquations(ctx, permit, rows, n.config())
	if err != nil {
		return nil, err
	}
	m := n.model(model.Linear)
	m.Encoding, m.Outputs, m.Weights = n.Encoding, 1, w
	return m, nil
}

// AdaSSP is ridge regression from noisy second moments with a ridge that adapts to
// how well conditioned the rows are.
type AdaSSP struct {
	Task
	// NoiseMultiplier is that of the three releases together.
	NoiseMultiplier float64
	Encoding        *encode.Encoding
}

// Name implements Learner.
func (a *AdaSSP) Name() string { return "adaptive ridge regression from noisy second moments" }

func (a *AdaSSP) config() convex.AdaSSP {
	return convex.AdaSSP{Scope: a.Scope, NoiseMultiplier: a.NoiseMultiplier, Encoding: a.Encoding, Target: a.value()}
}

// Event implements Learner.
func (a *AdaSSP) Event() dp.Event { return a.config().Event() }

// Fit implements Learner.
func (a *AdaSSP) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	w, err := convex.SolveAdaSSP(ctx, permit, rows, a.config())
	if err != nil {
		return nil, err
	}
	m := a.model(model.Linear)
	m.Encoding, m.Outputs, m.Weights = a.Encoding, 1, w
	return m, nil
}
