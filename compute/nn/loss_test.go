package nn

import (
	"math"
	"testing"
)

// Scores that would overflow a naive exponential still have finite gradients, each
// at most 1 (or the threshold) in size.
func TestLossesAtTheEnds(t *testing.T) {
	huge := []float32{0, 1e-30, -1e-30, 90, -90, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32}
	for _, a := range huge {
		for _, b := range huge {
			for class := range 2 {
				g := make([]float32, 2)
				Loss{}.Gradients(g, []float32{a, b}, []float32{float32(class)})
				if !(g[class] <= 0 && g[class] >= -1 && g[1-class] >= 0 && g[1-class] <= 1) || math.Abs(float64(g[0]+g[1])) > 1e-6 {
					t.Fatalf("softmax at %g, %g for class %d: %v", a, b, class, g)
				}
				// The smaller of two far scores: value and gradient stay right.
				v := Loss{}.Value([]float32{a, b}, float32(class))
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Fatalf("softmax at %g, %g has the value %g", a, b, v)
				}
			}
		}
		for _, c := range []struct {
			loss  Loss
			bound float32
		}{{Loss{Kind: Logistic}, 1}, {Loss{Kind: Absolute}, 1}, {Loss{Kind: Huber}, 1}, {Loss{Kind: Huber, Threshold: 0.25}, 0.25}} {
			for _, y := range []float32{0, 1} {
				g := make([]float32, 1)
				c.loss.Gradients(g, []float32{a}, []float32{y})
				if !(g[0] >= -c.bound && g[0] <= c.bound) {
					t.Fatalf("%s at %g for %g: %g", c.loss.Kind, a, y, g[0])
				}
				if v := c.loss.Value([]float32{a}, y); !(v >= 0) {
					t.Fatalf("%s at %g for %g has the value %g", c.loss.Kind, a, y, v)
				}
			}
		}
	}
}

// A class that is nearly certain keeps its gradient: p − 1 would be 0 in float32.
func TestSmallResidualIsNotLost(t *testing.T) {
	g := make([]float32, 2)
	Loss{}.Gradients(g, []float32{20, 0}, []float32{0})
	if want := -math.Exp(-20); math.Abs(float64(g[0])/want-1) > 1e-5 {
		t.Errorf("gradient %g, want %g", g[0], want)
	}
}

func TestLossOfNoClass(t *testing.T) {
	for _, y := range []float32{-1, 2, 0.5, float32(math.NaN()), float32(math.Inf(1))} {
		if v := (Loss{}).Value([]float32{1, 2}, y); v == v {
			t.Errorf("class %g has the loss %g", y, v)
		}
	}
}

// Equal scores and no example are ordinary: no NaN, zero where it should be.
func TestFlatScores(t *testing.T) {
	g := make([]float32, 1)
	for _, k := range []LossKind{Squared, Absolute, Huber} {
		Loss{Kind: k}.Gradients(g, []float32{2}, []float32{2})
		if g[0] != 0 {
			t.Errorf("%s at its least: gradient %g", k, g[0])
		}
	}
	for _, k := range LossKinds() {
		Loss{Kind: k}.Gradients(nil, nil, nil)
	}
}
