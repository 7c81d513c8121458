package sum

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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
		if Bound(got, most) != finite {
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
