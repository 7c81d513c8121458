package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"pawl/core/entropy"
)

// ErrScale is wrapped by every error about a scale of the exact samplers.
var ErrScale = errors.New("noise scale out of range")

// maxScale keeps every reachable value inside int64: beyond 2^63 lie 256 scales,
// a probability of e^-256 for the Laplace and e^-32768 for the Gaussian tail.
const maxScale = 0x1p55

func checkScale(name string, scale float64) error {
	if !(scale > 0 && scale <= maxScale) {
		return fmt.Errorf("%s %v is not in (0, 2^55]: %w", name, scale, ErrScale)
	}
	return nil
}

// dyadic splits a positive finite float64 into an odd integer times a power of
// two, its exact value.
func dyadic(x float64) (odd uint64, exponent int) {
	fraction, exponent := math.Frexp(x)
	odd = uint64(fraction * 0x1p53)
	zeros := bits.TrailingZeros64(odd)
	return odd >> zeros, exponent - 53 + zeros
}

// fraction is an exact rational in [0, 1). digit is floor(2^64·value), enough to
// decide nearly every comparison with a random word; exact gives numerator and
// denominator for the rest and is called with probability 2^-64 per comparison.
type fraction struct {
	digit uint64
	exact func() (numerator, denominator *big.Int)
}

// bernoulli returns true with probability exactly f/k, k >= 1. A uniform real
// U = (word + rest)/2^64 is compared with f/k; floor(digit/k) is the first digit
// of f/k in base 2^64, so the word decides unless it equals that digit.
func bernoulli(src *entropy.Source, f fraction, k uint64) bool {
	word, digit := src.Uint64(), f.digit/k
	if word != digit {
		return word < digit
	}
	return bernoulliRest(src, f, k, word)
}

// bernoulliRest decides rest < 2^64·f/k − word for a uniform rest in [0, 1).
func bernoulliRest(src *entropy.Source, f fraction, k, word uint64) bool {
	numerator, denominator := f.exact()
	divisor := new(big.Int).Mul(denominator, new(big.Int).SetUint64(k))
	left := new(big.Int).Lsh(numerator, 64)
	left.Sub(left, new(big.Int).Mul(divisor, new(big.Int).SetUint64(word)))
	return src.BigIntn(divisor).Cmp(left) < 0
}

// bernoulliExp returns true with probability exactly exp(−f), f in [0, 1):
// the first failure of Bernoulli(f/1), Bernoulli(f/2), ... falls on an odd place
// with probability 1 − f + f²/2! − ... (Canonne, Kamath and Steinke,
// arXiv:2004.00010, sampling of Bernoulli(exp(−γ))).
func bernoulliExp(src *entropy.Source, f fraction) bool {
	k := uint64(1)
	for bernoulli(src, f, k) {
		k++
	}
	return k%2 == 1
}

// bernoulliExpOne is bernoulliExp at f = 1, where the comparisons are with 1/k.
func bernoulliExpOne(src *entropy.Source) bool {
	k := uint64(2) // Bernoulli(1/1) always succeeds
	for src.Uint64n(k) == 0 {
		k++
	}
	return k%2 == 1
}
