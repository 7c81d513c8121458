package noise

import (
	"math"
	"math/big"
	"math/bits"

	"pawl/core/entropy"
)

// AddDiscreteLaplace adds to every element of dst an independent integer x with probability
//
//	P(x) = (e^(1/scale) − 1)/(e^(1/scale) + 1) · exp(−|x|/scale)
//
// exactly, where scale is the rational number that the float64 represents: the draw uses no
// floating-point operation (Canonne, Kamath and Steinke, arXiv:2004.00010, sampling of the discrete
// Laplace). Added to an integer of sensitivity Δ with scale Δ/ε it is ε-DP. The caller must round a
// scale of Δ/ε up.
//
// A scale that is NaN, infinite, not positive or above 2^55 gives an error that wraps ErrScale and
// leaves dst unchanged. Draws beyond ±(2^63−1), probability below e^-255, and sums beyond int64 are
// clamped to these limits, which is a function of the exact draw and costs no privacy.
func AddDiscreteLaplace(src *entropy.Source, dst []int64, scale float64) error {
	if err := checkScale("scale", scale); err != nil {
		return err
	}
	l := newLaplaceSampler(scale)
	for i := range dst {
		dst[i] = saturatingAdd(dst[i], l.draw(src))
	}
	return nil
}

// laplaceSampler has scale numerator/2^shift in lowest terms.
type laplaceSampler struct {
	numerator uint64
	shift     uint
}

func newLaplaceSampler(scale float64) laplaceSampler {
	odd, exponent := dyadic(scale)
	if exponent >= 0 {
		return laplaceSampler{numerator: odd << exponent}
	}
	return laplaceSampler{numerator: odd, shift: uint(-exponent)}
}

// draw builds X >= 0 with P(X) ∝ exp(−X/numerator) from its remainder (below
// numerator, by rejection) and its quotient (geometric, rate 1/e), divides by
// 2^shift, and gives it a sign; −0 is refused, or 0 would count twice.
func (l laplaceSampler) draw(src *entropy.Source) int64 {
	for {
		remainder := src.Uint64n(l.numerator)
		if !bernoulliExp(src, ratio(remainder, l.numerator)) {
			continue
		}
		var quotient uint64
		for bernoulliExpOne(src) {
			quotient++
		}
		hi, x := bits.Mul64(quotient, l.numerator)
		x, carry := bits.Add64(x, remainder, 0)
		if hi+carry != 0 {
			x = math.MaxUint64 // needs a quotient of 2^9 at least: e^-512
		}
		x = min(x>>l.shift, math.MaxInt64)
		if src.Uint64()>>63 == 0 {
			return int64(x)
		}
		if x != 0 {
			return -int64(x)
		}
	}
}

// ratio returns a/b, a < b, as a fraction.
func ratio(a, b uint64) fraction {
	digit, _ := bits.Div64(a, 0, b)
	return fraction{digit, func() (*big.Int, *big.Int) {
		return new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
	}}
}

func saturatingAdd(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}
