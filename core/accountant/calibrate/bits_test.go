package calibrate

import (
	"runtime"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Seeded runs and stored results repeat bit for bit only if a calibrated noise multiplier keeps all of its digits. Who changes
// them stores all results of replays anew. Other processors have other last digits.
func TestCalibratedNumbersKeepTheirDigits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digits are those of amd64")
	}
	for _, c := range []struct {
		epsilon, rate   float64
		steps           int64
		rel             dp.Relation
		by              accountant.Method
		train, selected float64
	}{
		{0.5, 1, 15, dp.AddOrRemoveOne, accountant.MethodMin, 27.239145652270018, 53.20513411974771},
		{1, 0.07, 100, dp.AddOrRemoveOne, accountant.MethodMin, 2.8535136706876556, 5.132417670924178},
		{1, 0.07, 100, dp.AddOrRemoveOne, accountant.MethodRDP, 3.0943546096705585, 5.132417670924178},
		{8, 0.01, 1500, dp.ReplaceOne, accountant.MethodMin, 23.25272718480061, 35.9491488956168},
	} {
		train := func(x float64) dp.Event {
			return dp.Repeat{Count: c.steps, Event: dp.PoissonSampled{Rate: c.rate, Event: dp.Gaussian{NoiseMultiplier: x}}}
		}
		for want, event := range map[float64]func(float64) dp.Event{
			c.train: train,
			c.selected: func(x float64) dp.Event {
				return dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: 10}, Event: train(x)}
			},
		} {
			got, _, err := To(Target{c.epsilon, 1e-5}, c.rel, c.by, Search{Decreasing: true, Event: event})
			if err != nil || got != want {
				t.Errorf("%+v: a noise multiplier of %v, want %v (%v)", c, got, want, err)
			}
		}
	}
	for _, c := range [][3]float64{{0.02, 1e-6, 161.93837059228852}, {0.03, 1e-3, 44.07378506041552}, {0.48, 1e-5, 7.300113514349968}, {2.9, 1e-5, 1.4327939024477472}} {
		if got, err := accountant.GaussianNoiseMultiplier(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("one Gaussian at (%g, %g): a noise multiplier of %v, want %v (%v)", c[0], c[1], got, c[2], err)
		}
	}
	mixed := Search{Decreasing: true, Upper: 1e6, Event: func(x float64) dp.Event {
		return dp.Compose{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: x}, dp.Laplace{NoiseMultiplier: 5 * x}}}
	}}
	if got, _, err := To(Target{0.3, 1e-6}, dp.AddOrRemoveOne, accountant.MethodQuick, mixed); err != nil || got != 13.61986540609595 {
		t.Errorf("a Gaussian beside a pure release: a noise multiplier of %v (%v)", got, err)
	}
}
