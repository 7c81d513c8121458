package noise

import (
	"math"
	"math/big"

	"pawl/core/entropy"
)

// AddDiscreteGaussian adds to every element of dst an independent integer x with probability P(x) ∝
// exp(−x²/(2·stdDev²)) exactly, where stdDev is the rational number that the float64 represents (Canonne, Kamath
// and Steinke, arXiv:2004.00010, sampling of the discrete Gaussian). The variance is at most stdDev², and equal
// to it up to a relative 3·10^-7 from stdDev 1 on. Added to integer vectors of L2 sensitivity Δ it is
// Δ²/(2·stdDev²)-zCDP. Sums beyond int64 are clamped to its limits (post-processing of the exact sum).
//
// A stdDev that is NaN, infinite, not positive or above 2^55 gives an error that wraps ErrScale and
// leaves dst unchanged. One draw costs about 1 µs; the time depends on the value drawn.
func AddDiscreteGaussian(src *entropy.Source, dst []int64, stdDev float64) error {
	if err := checkScale("standard deviation", stdDev); err != nil {
		return err
	}
	g := newGaussianSampler(stdDev)
	for i := range dst {
		dst[i] = saturatingAdd(dst[i], g.draw(src))
	}
	return nil
}

// gaussianSampler proposes Y from the discrete Laplace of integer scale t =
// floor(σ)+1 and keeps it with probability exp(−γ), γ = (|Y| − σ²/t)²/(2σ²). With
// σ² = a/b in integers, γ = (|Y|·t·b − a)²/(2·a·b·t²).
type gaussianSampler struct {
	proposal    laplaceSampler
	a, tb       *big.Int
	denominator *big.Int // 2·a·b·t²
	// Scratch space: a draw would otherwise allocate six integers.
	numerator, whole, rest, digit *big.Int
}

func newGaussianSampler(stdDev float64) *gaussianSampler {
	odd, exponent := dyadic(stdDev)
	a := new(big.Int).SetUint64(odd)
	a.Mul(a, a)
	b := big.NewInt(1)
	if exponent >= 0 {
		a.Lsh(a, uint(2*exponent))
	} else {
		b.Lsh(b, uint(-2*exponent))
	}
	scale := uint64(math.Floor(stdDev)) + 1
	t := new(big.Int).SetUint64(scale)
	tb := new(big.Int).Mul(t, b)
	denominator := new(big.Int).Mul(a, tb)
	denominator.Mul(denominator, t).Lsh(denominator, 1)
	return &gaussianSampler{
		proposal: laplaceSampler{numerator: scale},
		a:        a, tb: tb, denominator: denominator,
		numerator: new(big.Int), whole: new(big.Int), rest: new(big.Int), digit: new(big.Int),
	}
}

func (g *gaussianSampler) draw(src *entropy.Source) int64 {
	for {
		y := g.proposal.draw(src)
		if g.keep(src, y) {
			return y
		}
	}
}

// keep returns true with probability exp(−γ(y)): one factor exp(−1) for each whole
// unit of γ, then the factor of its fractional part.
func (g *gaussianSampler) keep(src *entropy.Source, y int64) bool {
	magnitude := uint64(y)
	if y < 0 {
		magnitude = -magnitude
	}
	g.rest.SetUint64(magnitude)
	g.numerator.Mul(g.rest, g.tb)
	g.numerator.Sub(g.numerator, g.a)
	g.numerator.Mul(g.numerator, g.numerator)
	g.whole.QuoRem(g.numerator, g.denominator, g.rest)

	// A whole part beyond 64 bits stands for a chance below exp(−2^64): the loop
	// ends long before it counts that far.
	units := uint64(math.MaxUint64)
	if g.whole.IsUint64() {
		units = g.whole.Uint64()
	}
	for ; units > 0; units-- {
		if !bernoulliExpOne(src) {
			return false
		}
	}
	g.digit.Lsh(g.rest, 64)
	g.digit.Quo(g.digit, g.denominator)
	return bernoulliExp(src, fraction{g.digit.Uint64(), func() (*big.Int, *big.Int) {
		return g.rest, g.denominator
	}})
}
