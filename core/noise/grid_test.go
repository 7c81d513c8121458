package noise

import (
	"math"
	"slices"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"
)

func TestOnGrid(t *testing.T) {
	for _, std := range []float64{1e-200, 1e-3, 0.7, 1, 10.95, 1e9} {
		low, high := std/0x1p13, std/0x1p12
		for _, v := range []float64{0, math.Pi * std, -std / 3, 1e7 * std, 1e9 * std, 1e20 * std, std * 0x1p-60} {
			got := []float64{v}
			OnGrid(got, std)
			cell := math.Exp2(math.Floor(math.Log2(std)) - 12)
			if cell < low || cell > high || math.Abs(got[0]-v) > cell/2 || math.Mod(got[0], cell) != 0 {
				t.Errorf("deviation %g: %g became %g, cell %g", std, v, got[0], cell)
			}
		}
	}
	x := []float64{math.Pi}
	if OnGrid(x, 0); x[0] != math.Pi {
		t.Errorf("without noise: %g", x[0])
	}
}

// Noise whose scale left the range of a float64 is refused, not left out.
func TestNoiseOutOfRange(t *testing.T) {
	for _, std := range []float64{0, 1e-310, 1e300, math.Inf(1), math.NaN(), -1} {
		x := []float64{1}
		if err := Perturb(entropy.Seeded(20), x, std); err == nil || x[0] != 1 {
			t.Errorf("scale %g: %v, %v", std, x, err)
		}
	}
}

// Null: what leaves is N(0, s²) about the value, on multiples of a power of two between
// s/2^13 and s/2^12; a value far beyond the grid stays near itself.
func TestGaussianNoiseLeavesOnAGrid(t *testing.T) {
	for _, std := range []float64{1, 0.7, 3e-200, 5e120} {
		x := slices.Repeat([]float64{std / 3}, 20_000)
		if err := Perturb(entropy.Seeded(20), x, std); err != nil {
			t.Fatal(err)
		}
		_, e := math.Frexp(std)
		z := make([]float64, len(x))
		for i, v := range x {
			if cells := math.Ldexp(v, 13-e); cells != math.Trunc(cells) {
				t.Fatalf("scale %g: %g is %g cells", std, v, cells)
			}
			z[i] = v/std - 1.0/3
		}
		stattest.Accept(t, stattest.Variance("on the grid", z, stattest.Moments{Variance: 1, Kurtosis: 3}))
		stattest.Accept(t, stattest.Mean("on the grid", z, stattest.Moments{Variance: 1, Kurtosis: 3}))
	}
	x := []float64{1e300, -1e300}
	if err := Perturb(entropy.Seeded(21), x, 1e-280); err != nil || x[0] != 1e300 || x[1] != -1e300 {
		t.Errorf("%v, %v", x, err)
	}
}
