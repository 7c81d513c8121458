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
