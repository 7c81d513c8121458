package model

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/evidence/quality"
)

// A calibration of more than two classes moves probabilities and no labels: the predicted class has what
// the calibration makes of its log odds, no other has more, and all together have 1.
func TestSpreadKeepsTheLabel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(-40, 40), 3, 12).Draw(t, "scores")
		c := quality.Calibration{Intercept: rapid.Float64Range(-5, 5).Draw(t, "intercept"), Slope: rapid.Float64Range(0.05, 4).Draw(t, "slope")}
		best, z, n := first(scores), odds(scores), len(scores)
		raw := append([]float64(nil), scores...)
		softmax(raw)
		if p := quality.None.Probability(z); math.Abs(p-raw[best]) > 1e-12 {
			t.Fatalf("log odds %g of %v say %g, softmax %g", z, scores, p, raw[best])
		}
		p := append([]float64(nil), scores...)
		spread(p, c)
		total := 0.0
		for k, x := range p {
			total += x
			if !(x >= 0) || x > p[best]+1e-12 {
				t.Fatalf("class %d has %g, the predicted %d has %g", k, x, best, p[best])
			}
		}
		if want := math.Max(c.Probability(z), 1/float64(n)); math.Abs(p[best]-want) > 1e-12 || math.Abs(total-1) > 1e-9 {
			t.Fatalf("the predicted class has %g, want %g; all have %g", p[best], want, total)
		}
		// A calibration that is none leaves softmax.
		p = append(p[:0], scores...)
		spread(p, quality.None)
		for k := range p {
			if math.Abs(p[k]-raw[k]) > 2e-6 {
				t.Fatalf("class %d has %g without a calibration, softmax %g", k, p[k], raw[k])
			}
		}
	})
}
