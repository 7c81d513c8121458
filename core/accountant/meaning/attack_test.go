package meaning

import (
	"math"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// A Gaussian has an exact trade-off curve: TPR = Φ(Φ⁻¹(FPR) + 1/σ).
func TestTruePositiveRateOfGaussian(t *testing.T) {
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for _, sigma := range []float64{0.7, 1, 5} {
		for _, z := range []float64{-3, -1.3, 0, 1} {
			fpr, want := cdf(z), cdf(z+1/sigma)
			got, err := TruePositiveRate(dp.Gaussian{NoiseMultiplier: sigma}, dp.AddOrRemoveOne, fpr, accountant.MethodMin)
			if err != nil || got < want-1e-9 || got > want+0.01 {
				t.Errorf("sigma %g, FPR %g: %v, %v; want %v", sigma, fpr, got, err, want)
			}
		}
	}
}

func TestTruePositiveRateEdges(t *testing.T) {
	for _, c := range []struct {
		name   string
		event  dp.Event
		fpr    float64
		lo, hi float64
	}{
		{"nothing is released", dp.NoOp{}, 0.1, 0.1, 0.1},
		{"no protection", dp.NonPrivate{}, 0.1, 1, 1},
		{"pure, small rate", dp.Pure{Epsilon: 1}, 0.01, 0.01 * math.E, 0.01*math.E + 1e-3},
		{"always positive", dp.Pure{Epsilon: 1}, 1, 1, 1},
	} {
		got, err := TruePositiveRate(c.event, dp.AddOrRemoveOne, c.fpr, accountant.MethodMin)
		if err != nil || got < c.lo-1e-12 || got > c.hi+1e-12 {
			t.Errorf("%s: %v, %v; want in [%v, %v]", c.name, got, err, c.lo, c.hi)
		}
	}
	for _, fpr := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := TruePositiveRate(dp.NoOp{}, dp.AddOrRemoveOne, fpr, accountant.MethodMin); err == nil {
			t.Errorf("FPR %v: no error", fpr)
		}
	}
}

func TestPosterior(t *testing.T) {
	for _, c := range []struct{ epsilon, prior, want float64 }{
		{0, 0.5, 0.5}, {1, 0.5, math.E / (1 + math.E)}, {0, 0.1, 0.1}, {math.Inf(1), 0.01, 1}, {5, 0, 0}, {5, 1, 1}, {math.Log(9), 0.1, 0.5},
	} {
		if got := Posterior(c.epsilon, c.prior); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Posterior(%v, %v) = %v, want %v", c.epsilon, c.prior, got, c.want)
		}
	}
	for _, bad := range [][2]float64{{-1, 0.5}, {math.NaN(), 0.5}, {1, -0.1}, {1, 1.1}, {1, math.NaN()}} {
		if got := Posterior(bad[0], bad[1]); !math.IsNaN(got) {
			t.Errorf("Posterior(%v) = %v, want NaN", bad, got)
		}
	}
}
