package audit

import (
	"context"
	"math"

	"pawl/core/dp"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/linear"
)

func gradients() []design {
	return []design{descent, descentSteps, descentSampled, training, trainingQuantile, boosting}
}

func target(cells []float64) float64 { return cells[classCell] }

// descentOf is logistic regression on a constant, of which a step moves the weight by the
// clipped residual: half of what the row would add is cut.
func descentOf(name, neighbours string, p gradient.Privacy, rate float64) (Mechanism, error) {
	enc, err := constant()
	if err != nil {
		return Mechanism{}, err
	}
	d := linear.Descent{Privacy: p, Encoding: enc, Loss: linear.Logistic, Outputs: 1, Target: target, ExpectedRows: 1, LearningRate: rate}
	b, err := addOrRemove(nil, one, d.Event())
	return Mechanism{
		Name: name, Entry: "linear.Descend", Neighbours: neighbours, Event: d.Event(), Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			w, err := linear.Descend(ctx, permit, rows, d)
			if err != nil {
				return 0, err
			}
			return w[0], nil
		}),
	}, err
}

// The whole power: the weight is the noisy sum.
func descent(noise float64) (Mechanism, error) {
	return descentOf("descent", "no row and one whose gradient is clipped",
		gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.25, NoiseMultiplier: noise, Steps: 1, SamplingRate: 1}, 1)
}

// 0.97: at a small rate the gradient is the same in all steps, and the mean of the last
// two of four iterates weighs them 1, 1, 1, 1/2.
func descentSteps(noise float64) (Mechanism, error) {
	return descentOf("descent, 4 steps", "no row and one whose gradient is clipped",
		gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.25, NoiseMultiplier: 2 * noise, Steps: 4, SamplingRate: 1}, 1e-3)
}

// The whole power: one step of DP-SGD with a Poisson lot.
func descentSampled(noise float64) (Mechanism, error) {
	return descentOf("descent, sampled", "no row and one that joins half of the lots",
		gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.25, NoiseMultiplier: 0.6 * noise, Steps: 1, SamplingRate: 0.5}, 1)
}

// scalar is the network y = w·x under the squared error, of one parameter.
type scalar struct{}

func (scalar) Parameters() int { return 1 }
func (scalar) Inputs() int     { return 1 }

// PerExample is nil: a gradient is that of one example.
func (scalar) PerExample() error { return nil }

func (scalar) Backprop(_ int, params, inputs, targets []float32, _ []uint64, record func(gradient.Trace)) {
	g := make([]float32, len(targets))
	for i, y := range targets {
		g[i] = params[0]*inputs[i] - y
	}
	record(gradient.Trace{T: 1, M: 1, N: 1, A: inputs[:len(targets)], G: g})
}

// The whole power: one step of DP-SGD on a network, with a lot that holds everyone.
func training(noise float64) (Mechanism, error) {
	t := gradient.Training{
		Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: 0.5, NoiseMultiplier: noise, Steps: 1, SamplingRate: 1},
		Clipping: gradient.Flat, Network: scalar{}, Target: target, ExpectedRows: 1, Microbatch: 4, Multiplicity: 1,
		Update: func(_ int, params, g []float32) { params[0] -= g[0] },
	}
	b, err := addOrRemove([]row{{input: []float32{0.1}}}, row{class: 1, input: []float32{5}}, t.Event())
	return Mechanism{
		Name: "training", Entry: "gradient.Train", Neighbours: "one example more, with a gradient of ten times the clipping norm", Event: t.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			params := make([]float32, 1)
			err := gradient.Train(ctx, permit, rows, t, params)
			return float64(params[0]), err
		}),
	}, err
}

// The whole power: the released count gives the denominator of the step, and so the
// noisy sum of residuals back.
func boosting(noise float64) (Mechanism, error) {
	const clip, share, floor, rate = 0.5, 0.3, 1, 1
	t := linear.Boost{
		Scope: dp.WholeScope, NoiseMultiplier: noise, ClippingNorm: clip, CountShare: share, Epochs: 1, Tail: 1, Outputs: 1,
		Terms: []linear.Term{{Name: "all", Levels: 1, Level: func([]float64) int { return 0 }}},
		Loss:  linear.Residual, Target: target, LearningRate: rate, Floor: floor,
	}
	b, err := addOrRemove([]row{{class: 0}}, one, t.Event())
	counts, sums := noise/math.Sqrt(share), noise/math.Sqrt(1-share)*clip
	return Mechanism{
		Name: "boosting", Entry: "linear.TrainBoost", Neighbours: "one row more, with a residual that is clipped", Event: t.Event(),
		Relation: dp.AddOrRemoveOne, Delta: 1e-5,
		Score: b.score(func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
			m, err := linear.TrainBoost(ctx, permit, rows, t)
			if err != nil {
				return 0, err
			}
			n := m.Counts[0][0]
			sum := m.Tables[0][0] * max(n, floor*sums, 1) / rate
			return n/(counts*counts) + clip*sum/(sums*sums), nil
		}),
	}, err
}
