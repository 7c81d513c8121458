package learn

import (
	"context"
	"math"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/encode"
	"pawl/model"
)

// OutputPerturbation is logistic regression whose exact minimiser gets Gaussian noise.
// More than two classes are fitted one against the rest.
type OutputPerturbation struct {
	Task
	// NoiseMultiplier is that of all fits together.
	NoiseMultiplier float64
	// Regularization is a = n·Λ for a public n; see DefaultOutputRegularization.
	Regularization float64
	Encoding       *encode.Encoding
}

// DefaultOutputRegularization is a for a noise multiplier: the score of a row then
// carries noise of deviation 1/outputNoise.
func DefaultOutputRegularization(noiseMultiplier float64) float64 {
	return max(outputNoise*noiseMultiplier, 0.01)
}

// outputNoise lies between the best two of 1, 2, 5 and 10 on Adult: with 2 and 5, 83.6 and
// 82.5 % at ε 0.1, 85.0 and 84.8 at 1, 85.3 and 85.4 at 3.
const outputNoise = 3

// Name implements Learner.
func (o *OutputPerturbation) Name() string { return "logistic model by output perturbation" }

func (o *OutputPerturbation) config() []convex.Output {
	targets := o.oneAgainstRest()
	all := make([]convex.Output, len(targets))
	for k := range all {
		all[k] = convex.Output{
			Scope: o.Scope, NoiseMultiplier: o.NoiseMultiplier * math.Sqrt(float64(len(targets))), Regularization: o.Regularization,
			ResidualCap: 1, Encoding: o.Encoding, Target: targets[k],
		}
	}
	return all
}

// Event implements Learner.
func (o *OutputPerturbation) Event() dp.Event { return together(o.config()) }

// Fit implements Learner.
func (o *OutputPerturbation) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	columns, err := byClass(o.config(), func(c convex.Output) ([]float64, error) {
		return convex.PerturbOutput(ctx, permit, rows, c)
	})
	if err != nil {
		return nil, err
	}
	return o.binaries(o.Encoding, columns), nil
}

// MinimaPerturbation is logistic regression by approximate minima perturbation,
// (ε, δ), for units of one row. More than two classes are fitted one against the rest
// at an equal share of both.
type MinimaPerturbation struct {
	Task
	Epsilon, Delta float64
	Encoding       *encode.Encoding
}

// Name implements Learner.
func (m *MinimaPerturbation) Name() string {
	return "logistic model by approximate minima perturbation"
}

func (m *MinimaPerturbation) config() []convex.AMP {
	targets := m.oneAgainstRest()
	n := float64(len(targets))
	all := make([]convex.AMP, len(targets))
	for k := range all {
		all[k] = convex.AMP{
			Scope: m.Scope, Epsilon: m.Epsilon / n, Delta: m.Delta / n, ExpectedRows: m.ExpectedRows,
			Share: convex.DefaultAMPShare(m.Epsilon / n), Encoding: m.Encoding, Target: targets[k],
		}
	}
	return all
}

// Event implements Learner.
func (m *MinimaPerturbation) Event() dp.Event { return together(m.config()) }

// Fit implements Learner.
func (m *MinimaPerturbation) Fit(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (*model.Model, error) {
	columns, err := byClass(m.config(), func(c convex.AMP) ([]float64, error) {
		return convex.PerturbMinimum(ctx, permit, rows, c)
	})
	if err != nil {
		return nil, err
	}
	return m.binaries(m.Encoding, columns), nil
}

// byClass fits the problems one after another, each with randomness of its own.
func byClass[C any](problems []C, fit func(C) ([]float64, error)) ([][]float64, error) {
	var columns [][]float64
	for _, c := range problems {
		w, err := fit(c)
		if err != nil {
			return nil, err
		}
		columns = append(columns, w)
	}
	return columns, nil
}
