package columnar

import (
	"math/big"
	"strings"
)

// decimal writes unscaled · 10^−scale with all of its digits, so that no rounding
// stands between the file and the schema.
func decimal(unscaled *big.Int, scale int) string {
	digits, sign := unscaled.String(), ""
	if unscaled.Sign() < 0 {
		digits, sign = digits[1:], "-"
	}
	if scale <= 0 {
		if unscaled.Sign() == 0 {
			return "0"
		}
		return sign + digits + strings.Repeat("0", -scale)
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - scale
	return sign + digits[:at] + "." + digits[at:]
}

// bigEndian reads a number in two's complement, most significant byte first.
func bigEndian(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
