package stattest

import "math"

// Impossible says that y is not the rounded sum of s and any noise, where both have so
// many binary digits: such a sum is a multiple of the last place of one of them.
func Impossible(y, s float64, digits int) bool {
	z := y - s
	if z == 0 || s == 0 {
		return false
	}
	_, exponent := math.Frexp(z * (1 - 0x1p-20)) // y was rounded: z may be a little less
	last := math.Ldexp(1, exponent-digits)
	for math.Mod(s, last) != 0 {
		last /= 2
	}
	return math.Mod(y, last) != 0
}
