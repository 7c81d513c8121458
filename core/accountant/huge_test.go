package accountant

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
)

// Any epsilon that a float64 holds is answered, without a panic.
func TestDeltaAtHugeEpsilon(t *testing.T) {
	e := dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1}}}
	for _, epsilon := range []float64{1e9, 1e18, 1e100, 1e300} {
		r, err := Delta(e, dp.AddOrRemoveOne, epsilon, MethodMin)
		if err != nil || !(r.Delta >= 0 && r.Delta <= 1e-9) {
			t.Errorf("ε %g: δ %v, %v", epsilon, r.Delta, err)
		}
	}
}

// Discrete Gaussian noise of so little deviation costs more than the distribution of its privacy loss reaches: that
// method fails closed, and the others answer.
func TestLittleDiscreteNoiseIsLeftToOtherMethods(t *testing.T) {
	e := dp.Compose{Events: []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: 0.03}, dp.DiscreteGaussian{NoiseMultiplier: 0.1}}}
	if r, err := Epsilon(e, dp.AddOrRemoveOne, 1e-6, MethodPLD); err == nil && !math.IsInf(r.Epsilon, 1) {
		t.Errorf("pld: %v", r.Epsilon)
	}
	r, err := Epsilon(e, dp.AddOrRemoveOne, 1e-6, MethodMin)
	if err != nil || !(r.Epsilon > 500 && r.Epsilon < 1000) {
		t.Errorf("min: %v by %s, %v", r.Epsilon, r.Method, err)
	}
}

// No number of steps and groups makes a run that costs nothing: steps + groups may be no int64.
func TestRoundsOfHugeRuns(t *testing.T) {
	for _, c := range []struct {
		steps, groups int64
		rounds        int64
	}{
		{0, 3, 0}, {1, 3, 1}, {3, 3, 1}, {4, 3, 2}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, 2, 1 << 62},
		{math.MaxInt64, math.MaxInt64, 1}, {1 << 62, math.MaxInt64, 1}, {math.MaxInt64 - 1, math.MaxInt64, 1},
	} {
		e := dp.Banded{Steps: c.steps, Groups: int(c.groups), Rate: 0.5, NoiseMultiplier: 1, Coefficients: []float64{1}}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := e.Rounds().Count; got != c.rounds {
			t.Errorf("%d steps of %d groups are %d rounds, want %d", c.steps, c.groups, got, c.rounds)
		}
		r, err := Upper(e, addRemove, 1e-6, MethodQuick)
		if err != nil || (r.Epsilon > 0) != (c.steps > 0) {
			t.Errorf("%d steps of %d groups cost %v (%v)", c.steps, c.groups, r.Epsilon, err)
		}
	}
}

// extreme draws events of numbers that overflow and underflow.
func extreme(t *rapid.T, depth int) dp.Event {
	of := func(name string, xs ...float64) float64 { return rapid.SampledFrom(xs).Draw(t, name) }
	size := func() float64 {
		return of("size", 0, 5e-324, 1e-310, 1e-200, 1e-160, 1e-20, 1e-3, 0.3, 1, 20, 750, 1e4, 1e20, 1e160, 1e308)
	}
	share := func() float64 { return of("share", 0, 5e-324, 1e-300, 1e-200, 1e-20, 1e-3, 0.5, 1-1e-16, 1) }
	count := func() int64 {
		return rapid.SampledFrom([]int64{0, 1, 3, 1000, 1 << 53, 1 << 62, math.MaxInt64}).Draw(t, "count")
	}
	if depth == 0 {
		return rapid.SampledFrom([]dp.Event{dp.NoOp{}, dp.NonPrivate{}, dp.Gaussian{NoiseMultiplier: size()}, dp.Laplace{NoiseMultiplier: size()},
			dp.DiscreteGaussian{NoiseMultiplier: size()}, dp.RandomizedResponse{NoiseProbability: share(), Categories: 3}, dp.ZCDP{Rho: size()},
			dp.ExponentialMechanism{Epsilon: size()}, dp.Pure{Epsilon: size()}, dp.Approximate{Epsilon: size(), Delta: share()},
			dp.Banded{Steps: count(), Groups: int(max(1, count())), Rate: share(), NoiseMultiplier: size(), Coefficients: []float64{1}}}).Draw(t, "leaf")
	}
	in := func() dp.Event { return extreme(t, depth-1) }
	switch rapid.IntRange(0, 6).Draw(t, "node") {
	case 0:
		return dp.Compose{Events: []dp.Event{in(), in()}}
	case 1:
		return dp.PoissonSampled{Rate: share(), Event: in()}
	case 2:
		return dp.FixedSizeSampled{SampleSize: 1, SourceSize: int(max(1, count())), Event: in()}
	case 3:
		return dp.Shuffled{Epochs: int(count()), Event: in()}
	case 4:
		return dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: of("eta", -1+1e-15, 0, 1e10), Mean: 1 + of("mean", 1e-9, 5, 1e100)}, Event: in()}
	}
	return dp.Repeat{Count: count(), Event: in()}
}

// free reports whether an event costs nothing by what it says.
func free(e dp.Event) bool {
	inner, all := 0, true
	dp.Rebuild(e, func(x dp.Event) dp.Event { inner, all = inner+1, all && free(x); return x })
	switch e := e.(type) {
	case dp.Pure:
		return e.Epsilon == 0
	case dp.ExponentialMechanism:
		return e.Epsilon == 0
	case dp.Approximate:
		return e.Epsilon == 0 && e.Delta == 0
	case dp.RandomizedResponse:
		return e.NoiseProbability == 1
	case dp.PoissonSampled:
		return e.Rate == 0 || all
	case dp.Banded:
		return e.Steps == 0 || e.Rate == 0
	case dp.Repeat:
		return e.Count == 0 || all
	case dp.Shuffled:
		return e.Epochs == 0 || all
	case dp.NoOp:
		return true
	}
	return inner > 0 && all
}

// Nothing that touches data reads as free, and no cost as negative or none, whatever overflows or underflows.
func TestExtremeEventsCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := extreme(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		rel := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ReplaceOne}).Draw(t, "relation")
		r, err := RDP(e, rel, 2)
		if errors.Is(err, ErrRelation) {
			return
		}
		if err != nil || !(r >= 0) || r == 0 && !free(e) {
			t.Fatalf("%#v under %v: a divergence of %v (%v)", e, rel, r, err)
		}
		if twice, err := RDP(dp.Compose{Events: []dp.Event{e, e}}, rel, 2); err != nil || !(twice >= r) {
			t.Fatalf("%#v under %v: a divergence of %v, and of %v twice (%v)", e, rel, r, twice, err)
		}
		if x, err := Upper(e, rel, 1e-6, MethodQuick); err != nil || !(x.Epsilon >= 0) {
			t.Fatalf("%#v under %v: epsilon is %v (%v)", e, rel, x.Epsilon, err)
		}
	})
}
