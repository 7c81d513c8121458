package meaning

import (
	"math"
	"math/big"
	"strconv"
)

// RoundUp writes an epsilon with the given number of digits after the point, rounded up, so that
// the text never shows less than was spent: 0.1201 with 2 digits is "0.13". The shortest decimal
// form counts, so 0.1 stays "0.10". +Inf and NaN are "inf"; 0 and below is zero.
func RoundUp(epsilon float64, digits int) string {
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 1) {
		return "inf"
	}
	digits = min(max(0, digits), 300)
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Max(0, epsilon), 'g', -1, 64))
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	r.Mul(r, new(big.Rat).SetInt(scale))
	up := new(big.Int).Add(r.Num(), r.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, r.Denom())
	return new(big.Rat).SetFrac(up, scale).FloatString(digits)
}
