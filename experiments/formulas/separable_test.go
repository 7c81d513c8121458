package formulas

import (
	"math"
	"testing"
)

// The engineered data of [B] Table III: x uniform in [0,1]^10, label 1[Σx > 5]. They
// are separable, so the logistic loss has no minimizer to be unique: it falls towards
// 0 as the separating weights grow. Split into equal parts, a feature's copies are
// collinear, and any split of a weight among them has one loss: the loss is not
// strictly convex either. Directions can be compared, weights cannot.
func TestEngineeredDataHaveNoUniqueOptimum(t *testing.T) {
	rng := seeded(1)
	type row struct {
		x     []float64
		label float64
	}
	var rows []row
	for range 2000 {
		x, sum := make([]float64, 10), 0.0
		for j := range x {
			x[j] = rng.Float64()
			sum += x[j]
		}
		rows = append(rows, row{x, math.Copysign(1, sum-5)})
	}
	loss := func(score func(x []float64) float64) float64 {
		sum := 0.0
		for _, r := range rows {
			sum += math.Log1p(math.Exp(-r.label * score(r.x)))
		}
		return sum / float64(len(rows))
	}
	sum := func(x []float64) float64 {
		s := 0.0
		for _, v := range x {
			s += v
		}
		return s
	}
	last := math.Inf(1)
	for scale := 1.0; scale <= 1e6; scale *= 10 {
		l := loss(func(x []float64) float64 { return scale * (sum(x) - 5) })
		if !(l < last) {
			t.Fatalf("loss %v at scale %v, %v before", l, scale, last)
		}
		last = l
	}
	near(t, "loss in the limit", last, 0, 1e-4)

	// Each of the ten in two halves: weights (1, 1) and (2, 0) on the halves.
	even := loss(func(x []float64) float64 { return sum(x)/2 + sum(x)/2 - 5 })
	uneven := loss(func(x []float64) float64 { return 2*(sum(x)/2) - 5 })
	near(t, "two splits of one weight", even, uneven, 1e-12)
}
