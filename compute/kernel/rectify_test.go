package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rectifiers and derivatives have the same bits on every kernel, for every length
// and in place, and are what their names say.
func TestRectifiersAndDerivatives(t *testing.T) {
	x := grid()
	rng := rand.New(rand.NewPCG(5, 6))
	dy := make([]float32, len(x))
	for i := range dy {
		dy[i] = rng.Float32() - 0.5
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, f := range []struct {
		name string
		run  func(m *machine, dst, src []float32)
		want func(d, x float32) float32
	}{
		{"relu", func(m *machine, dst, src []float32) { m.rectify(dst, src, inf) }, func(_, x float32) float32 { return max(x, 0) }},
		{"bounded", func(m *machine, dst, src []float32) { m.rectify(dst, src, 2) }, func(_, x float32) float32 { return min(max(x, 0), 2) }},
		{"relu chain", func(m *machine, dst, src []float32) { m.rectifyChain(dst, src, nan) }, func(d, x float32) float32 {
			if x <= 0 {
				return 0
			}
			return d
		}},
		{"bounded chain", func(m *machine, dst, src []float32) { m.rectifyChain(dst, src, 2) }, func(d, x float32) float32 {
			if x <= 0 || x >= 2 {
				return 0
			}
			return d
		}},
		{"tanh chain", func(m *machine, dst, src []float32) { m.tanhChain(dst, src) }, func(d, x float32) float32 { return d * (1 - float32(x*x)) }},
		{"sigmoid chain", func(m *machine, dst, src []float32) { m.sigmoidChain(dst, src) }, func(d, x float32) float32 { return d * float32(x*(1-x)) }},
	} {
		onEach(t, func(t *testing.T, m *machine) {
			for _, n := range []int{0, 1, 7, 8, 9, 31, len(x)} {
				from := rng.IntN(len(x) - n + 1)
				got := append([]float32(nil), dy[from:from+n]...)
				f.run(m, got, x[from:from+n])
				for i, g := range got {
					want := f.want(dy[from+i], x[from+i])
					if math.Float32bits(g) != math.Float32bits(want) && (g == g || want == want) {
						t.Fatalf("%s of %v (gradient %v) is %v, want %v", f.name, x[from+i], dy[from+i], g, want)
					}
				}
			}
		})
	}
}

func TestRectifyInPlaceAndWithoutABound(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{-1, 0, 3, inf, float32(math.Copysign(0, -1)), 5, -inf, 7, 9}
	Rectify(x, x, inf)
	for i, want := range []float32{0, 0, 3, inf, 0, 5, 0, 7, 9} {
		if x[i] != want || math.Signbit(float64(x[i])) {
			t.Errorf("%d: %v, want %v", i, x[i], want)
		}
	}
	dy := []float32{1, 1, 1, 1, 1, 1, 1, 1, 1}
	RectifyChain(dy, x, inf)
	for i, want := range []float32{0, 0, 1, 1, 0, 1, 0, 1, 1} {
		if dy[i] != want {
			t.Errorf("derivative %d is %v, want %v", i, dy[i], want)
		}
	}
}
