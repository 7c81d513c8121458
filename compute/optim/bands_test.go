package optim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The error is that of its definition: the noise of iterates of a run that takes y as its gradients,
// by simulation, with and without momentum.
func TestBandsErrorIsThatOfIterates(t *testing.T) {
	for _, b := range []Bands{{Bands: 4, Steps: 30}, {Bands: 3, Steps: 25, Momentum: 0.9}} {
		c := []float64{1, 0.7, 0.4, 0.2}[:b.Bands]
		norm := 0.0
		for _, x := range c {
			norm += x * x
		}
		const runs = 40_000
		src, square := rand.New(rand.NewPCG(1, 2)), 0.0
		y := make([]float64, b.Steps)
		for range runs {
			o := Momentum{LearningRate: 1, Momentum: b.Momentum, Dampened: true}
			w := []float32{0}
			for s := range y {
				y[s] = src.NormFloat64()
				for j := 1; j < len(c) && j <= s; j++ {
					y[s] -= c[j] * y[s-j]
				}
				o.Step(w, []float32{float32(y[s] * math.Sqrt(norm))})
				square += float64(w[0]) * float64(w[0])
			}
		}
		want := math.Sqrt(square / runs / float64(b.Steps))
		if got := b.Error(c); math.Abs(got/want-1) > 0.02 {
			t.Errorf("%+v: error %g, simulated %g", b, got, want)
		}
	}
}

// Measured elsewhere with another optimiser (L-BFGS): 8 bands, 256 steps, and the error of the start and of
// independent noise.
func TestBandsCoefficients(t *testing.T) {
	b := Bands{Bands: 8, Steps: 256}
	root := []float64{1, 0.5, 0.375, 0.3125, 0.2734375, 0.24609375, 0.2255859375, 0.20947265625}
	c := b.Coefficients()
	for _, x := range []struct {
		name      string
		got, want float64
	}{{"best", b.Error(c), 4.55}, {"root", b.Error(root), 4.91}, {"independent", b.Error([]float64{1}), 11.34}} {
		if math.Abs(x.got-x.want) > 0.006 {
			t.Errorf("%s: error %.4f, want %.2f", x.name, x.got, x.want)
		}
	}
	for j, want := range []float64{1, .681, .597, .549, .512, .481, .449, .41} {
		if math.Abs(c[j]-want) > 0.02 {
			t.Errorf("coefficient %d is %.3f, want about %.3f", j, c[j], want)
		}
	}
	if c := (Bands{Bands: 1, Steps: 10}).Coefficients(); len(c) != 1 || c[0] != 1 {
		t.Errorf("one band has %v", c)
	}
}

// Derivatives against central differences, and no neighbour of the result is better by more than rounding.
func TestBandsGradient(t *testing.T) {
	for _, b := range []Bands{{Bands: 5, Steps: 60}, {Bands: 5, Steps: 60, Momentum: 0.9}, {Bands: 16, Steps: 300, Momentum: 0.9}} {
		c := []float64{1, 0.6, 0.5, 0.2, 0.3}
		_, g := b.gradient(c)
		best := b.Coefficients()
		for j := 1; j < 5; j++ {
			const h = 1e-6
			at := func(of []float64, d float64) float64 {
				x := append([]float64(nil), of...)
				x[j] += d
				v, _ := b.gradient(x)
				return v
			}
			if want := (at(c, h) - at(c, -h)) / (2 * h); math.Abs(g[j]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%+v: derivative %d is %g, want %g", b, j, g[j], want)
			}
			for _, d := range []float64{1e-3, -1e-3} {
				if x := best[j] + d; x >= 0 && x <= 1 && at(best, d) < at(best, 0)-1e-5 {
					t.Errorf("%+v: coefficient %d moved by %g is better: %g, %g", b, j, d, at(best, d), at(best, 0))
				}
			}
		}
	}
}
