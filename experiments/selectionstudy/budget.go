package selectionstudy

import (
	"math"
	"strconv"

	"pawl/core/accountant"
	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/workflow"
)

// share of the budget, in zero-concentrated terms, that a release for choosing takes: the
// one that earlier measurements used.
const share = 0.2

// budget is a total (ε, δ) and what becomes of it where a part pays for choosing.
type budget struct {
	epsilon, delta float64
	// whole is the multiplier of one Gaussian release at the total. One of multiplier
	// chooses and one of multiplier trains are together exactly that one.
	whole, chooses, trains float64
}

// newBudget takes the δ that a plan would: the largest power of ten up to 1/(10n).
func newBudget(epsilon float64, rows int) budget {
	b := budget{epsilon: epsilon}
	b.delta, _ = workflow.DefaultDelta(int64(rows))
	b.whole = must(accountant.GaussianNoiseMultiplier(epsilon, b.delta))
	b.chooses, b.trains = b.whole/math.Sqrt(share), b.whole/math.Sqrt(1-share)
	return b
}

// epsilonOf is the ε of one Gaussian release at the budget's δ, as a decimal that a plan reads, never more than the number.
func (b budget) epsilonOf(multiplier float64) string {
	v := accountant.AnalyticGaussianEpsilon(multiplier, b.delta)
	return strconv.FormatFloat(math.Nextafter(v*(1-1e-9), 0), 'f', 12, 64)
}

// meanRuns is the expected number of models that a private search trains.
const meanRuns = 8

// searched is the multiplier of every training, and of every score on rows of its own,
// in a Papernot–Steinke selection at the total.
func (b budget) searched() (float64, error) {
	x, _, err := calibrate.To(calibrate.Target{Epsilon: b.epsilon, Delta: b.delta}, dp.AddOrRemoveOne, accountant.MethodMin, calibrate.Search{
		Event: func(x float64) dp.Event {
			return dp.Select{
				Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: meanRuns},
				Event: dp.Compose{Events: []dp.Event{
					dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: .8}, Event: dp.Gaussian{NoiseMultiplier: x}},
					dp.Scoped{Scope: dp.Scope{Lower: .8, Upper: 1}, Event: dp.Gaussian{NoiseMultiplier: x}},
				}},
			}
		},
		Decreasing: true,
	})
	return x, err
}
