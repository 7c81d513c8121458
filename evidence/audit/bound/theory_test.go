package bound

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMaxSuccess(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, prior, want float64 }{
		{0, 0, 0.5, 0.5},
		{1, 0, 0.5, math.E / (1 + math.E)},
		{1, 1e-2, 0.5, (math.E + 1e-2) / (1 + math.E)},
		{math.Inf(1), 0, 0.5, 1},
		{0, 1, 0.5, 1},
		{1, 0, 0, 1}, {1, 0, 1, 1}, // no attack needed
		{1, 0, 0.1, 0.9}, // e < 9: guessing "out" is best
		{800, 0, 0.5, 1},
		{3, 0, 0.1, 0.1*0.9525741 + 0.9*(1-0.0474259)},
		{math.NaN(), 0, 0.5, 1}, {1, 0, math.NaN(), 1}, {-1, 0, 0.5, 1}, {1, 2, 0.5, 1},
	} {
		if got := MaxSuccess(c.epsilon, c.delta, c.prior); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("MaxSuccess(%v, %v, %v) = %v, want %v", c.epsilon, c.delta, c.prior, got, c.want)
		}
	}
}

func TestMaxTruePositiveRate(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, fpr, want float64 }{
		{1, 0, 0, 0}, {1, 0.1, 0, 0.1}, {1, 0, 1, 1}, {1, 0, 0.1, 0.1 * math.E}, {0, 0, 0.3, 0.3},
		{math.Inf(1), 0, 0, 1}, {math.Inf(1), 0, 0.1, 1}, {1000, 0, 1e-300, 1}, {1, 0, math.NaN(), 1}, {-1, 0, 0.5, 1},
	} {
		if got := MaxTruePositiveRate(c.epsilon, c.delta, c.fpr); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("MaxTruePositiveRate(%v, %v, %v) = %v, want %v", c.epsilon, c.delta, c.fpr, got, c.want)
		}
	}
}

// No point of the trade-off curve beats MaxSuccess, and one reaches it.
func TestMaxSuccessIsTheBestPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0, 8).Draw(t, "epsilon")
		d := rapid.SampledFrom([]float64{0, 1e-5, 0.05, 0.9}).Draw(t, "delta")
		prior := rapid.Float64Range(0, 1).Draw(t, "prior")
		best, most := 0.0, MaxSuccess(e, d, prior)
		for i := range 20001 {
			f := float64(i) / 20000
			best = max(best, prior*MaxTruePositiveRate(e, d, f)+(1-prior)*(1-f))
		}
		if best > most+1e-12 || best < most-1e-3*(1+math.Exp(e)/20) {
			t.Fatalf("best of the curve %v, MaxSuccess %v", best, most)
		}
	})
}
