package design

import "math"

// powers[j] = 2^(j/64).
var powers = func() (t [64]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / 64)
	}
	return t
}()

// Sigmoids replaces every x by 1/(1+e^(−x)) with relative error below 1e-15 for
// |x| <= 700, NaN for NaN; beyond 700 it stays at the value of ±700 (1e-304). It is
// faster than math.Exp in a loop: there is no call, and neighbouring elements
// overlap. The exponential is a third of the work of a fit.
//
// e^z = 2^(k/64)·e^f with k = round(64·z/ln 2), so |f| <= ln 2/128, where the Taylor
// polynomial of degree 5 is exact to f⁶/720 < 4e-17.
func Sigmoids(v []float64) {
	const (
		inverse = 64 / math.Ln2
		high    = 0x1.62e42fefap-1 / 64 // 33 bits of ln 2: k·high is exact
		low     = math.Ln2/64 - high
		// Adding 1.5·2^52 rounds to an integer and leaves it in the low bits.
		shift = 0x1.8p52
	)
	for i, x := range v {
		z := -x
		if z > 700 {
			z = 700
		} else if z < -700 {
			z = -700
		}
		t := z*inverse + shift
		k := t - shift
		f := (z - k*high) - k*low
		n := int64(math.Float64bits(t)<<12) >> 12
		e := 1 + f*(1+f*(1.0/2+f*(1.0/6+f*(1.0/24+f*(1.0/120)))))
		e *= powers[n&63]
		// The exponent is at most 1010 in size: no subnormal and no overflow.
		e = math.Float64frombits(math.Float64bits(e) + uint64(n>>6)<<52)
		v[i] = 1 / (1 + e)
	}
}
