package nn

import (
	"errors"
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

// A class weight multiplies the gradient of each example of the class, whatever the
// network, and nothing else.
func TestClassWeights(t *testing.T) {
	for _, c := range []tried{
		{in: Vector(4), outputs: 3, layers: []Layer{units(5), kind("tanh"), units(3)}},
		{in: Vector(4), outputs: 1, layers: []Layer{units(5), kind("tanh"), units(1)}, loss: Loss{Kind: Logistic}},
	} {
		weights := []float64{0.25, 1, 2}[:max(c.outputs, 2)]
		spec := c.spec()
		plain := mustCompile(t, spec, c.in, c.outputs)
		spec.ClassWeights = weights
		net := mustCompile(t, spec, c.in, c.outputs)
		params, inputs, targets, seeds := c.batch(plain, 12, 5)
		targets[3] = float32(math.NaN())
		want, got := gradients(plain, params, inputs, targets, seeds), gradients(net, params, inputs, targets, seeds)
		behind := gradients(net.Rest(), params, inputs, targets, seeds)
		for i, y := range targets {
			w := 0.0
			if y == y {
				w = weights[int(y)]
			}
			for j, v := range want[i] {
				if math.Abs(got[i][j]-w*v) > 1e-6 || behind[i][j] != got[i][j] {
					t.Fatalf("example %d of class %g: %g and %g, want %g times %g", i, y, got[i][j], behind[i][j], w, v)
				}
			}
		}
		short := func(w ...float64) []float64 { return w[:len(weights)] }
		for _, bad := range [][]float64{{1}, {1, 1, 1, 1}, {}, short(1, 0, 1), short(1, math.NaN(), 1), short(1, math.Inf(1), 1)} {
			spec.ClassWeights = bad
			var e *LayerError
			if _, err := Compile(spec, c.in, c.outputs); !errors.As(err, &e) || e.Key != "class_weights" {
				t.Errorf("weights %v: %v", bad, err)
			}
		}
	}
	if _, err := Compile(Spec{Layers: []Layer{units(1)}, Loss: Loss{Kind: Squared}, ClassWeights: []float64{1, 1}}, Vector(2), 1); err == nil {
		t.Error("weights of the classes of a number")
	}
}
