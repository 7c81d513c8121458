package accountant

import (
	"math"
	"testing"

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
