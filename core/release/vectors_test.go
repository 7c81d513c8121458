package release

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/internal/stattest"
)

// Noise whose scale left the range of a float64 is refused, not left out.
func TestNoiseOutOfRange(t *testing.T) {
	for _, std := range []float64{0, 1e-310, 1e300, math.Inf(1), math.NaN(), -1} {
		x := []float64{1}
		if err := addGaussian(source("range", 0), x, std); err == nil || x[0] != 1 {
			t.Errorf("scale %g: %v, %v", std, x, err)
		}
	}
	c := someMoments(1e-200)
	c.Norm = 1e-100
	if got, err := c.Release(background, permitWith(t, source("range", 1), dp.AddOrRemoveOne, 1, c.Event()), rowsOf(1, [2]float64{})); got != nil || err == nil {
		t.Errorf("no noise by underflow: %v, %v", got, err)
	}
}

// Null: what leaves is N(0, s²) about the value, on multiples of a power of two between
// s/2^13 and s/2^12; a value far beyond the grid stays near itself.
func TestGaussianNoiseLeavesOnAGrid(t *testing.T) {
	for _, std := range []float64{1, 0.7, 3e-200, 5e120} {
		x := slices.Repeat([]float64{std / 3}, 20_000)
		if err := addGaussian(source("grid", 0), x, std); err != nil {
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
	if err := addGaussian(source("grid", 1), x, 1e-280); err != nil || x[0] != 1e300 || x[1] != -1e300 {
		t.Errorf("%v, %v", x, err)
	}
}

// A bounded vector has norm most, or its own where that is less; its direction stays,
// and one that is not finite is refused.
func TestBound(t *testing.T) {
	value := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64(), rapid.SampledFrom([]float64{0, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1), math.NaN()}))
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(value, 0, 6).Draw(t, "x")
		most := rapid.SampledFrom([]float64{1e-100, 0.5, 1, 3, 1e100}).Draw(t, "most")
		finite := true
		norm := 0.0 // over 2^1000, so that it does not overflow
		for _, v := range x {
			finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
			norm = math.Hypot(norm, v*0x1p-1000)
		}
		got := slices.Clone(x)
		if bound(got, most) != finite {
			t.Fatalf("%v: finite %v", x, finite)
		}
		if !finite {
			return
		}
		length := 0.0
		for _, v := range got {
			length = math.Hypot(length, v)
		}
		if !(length <= most*(1+1e-15)) {
			t.Fatalf("%v became as long as %g, more than %g", x, length, most)
		}
		if norm < most*0x1p-1000*(1-1e-12) && !slices.Equal(got, x) {
			t.Fatalf("%v is short enough and became %v", x, got)
		}
		if norm > most*0x1p-1000*(1+1e-12) && !(length >= most*(1-1e-12)) {
			t.Fatalf("%v became as short as %g, less than %g", x, length, most)
		}
	})
}
