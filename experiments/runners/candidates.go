package runners

import (
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/accountant/meaning"
	"pawl/core/dp"
	"pawl/experiments"
)

// candidates are trainings of which the best is chosen: noise 4, lots of 250, 10,000 iterations on so many rows. Its
// methods are prices of k of them.
type candidates struct{ rows, delta float64 }

func candidatesOf(rows, delta float64) candidates { return candidates{rows, delta} }

func (s candidates) training() dp.Event {
	return dp.Repeat{Count: 10000, Event: dp.PoissonSampled{Rate: 250 / s.rows, Event: dp.Gaussian{NoiseMultiplier: 4}}}
}

// PublishedComposition and PublishedStopping are those of composition and of random stopping as published.
func (s candidates) PublishedComposition(k int) (float64, error) {
	return meaning.Replay{Relation: dp.AddOrRemoveOne, Event: s.training()}.ComposedCandidates(k, s.delta)
}

// PublishedStopping is that of random stopping; it is finite.
func (s candidates) PublishedStopping(k int) float64 {
	return finite(k, must(meaning.Replay{Relation: dp.AddOrRemoveOne, Event: s.training()}.LiuTalwar(k, s.delta)))
}

// Composition is that of all by our accountant.
func (s candidates) Composition(k int) float64 {
	return s.price(dp.Repeat{Count: int64(k), Event: s.training()})
}

// Stopping and Selection are those of random stopping and of private selection by our accountant; they are finite.
func (s candidates) Stopping(k int) float64 {
	return finite(k, s.price(dp.Select{Runs: dp.RandomStopping{Gamma: 1 / float64(k), Delta2: s.delta / 2}, Event: s.training()}))
}

// Selection has k runs on average.
func (s candidates) Selection(k int) float64 {
	return finite(k, s.price(dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: float64(k)}, Event: s.training()}))
}

func (s candidates) price(e dp.Event) float64 {
	return must(accountant.Epsilon(e, dp.AddOrRemoveOne, s.delta, accountant.MethodRDP)).Epsilon
}

// finite refuses a price that is no bound: it is none to compare with.
func finite(k int, v float64) float64 {
	if math.IsInf(v, 1) {
		experiments.Check(fmt.Errorf("no finite price for %d candidates", k))
	}
	return v
}
