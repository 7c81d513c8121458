package accountant

import (
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
