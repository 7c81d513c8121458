package space

import (
	"math/big"
	"math/bits"
)

// Source is where draws come from: *rand.Rand and rand.Source of math/rand/v2, or
// any stream of uniform words. Equal streams give equal points.
type Source interface{ Uint64() uint64 }

// below is uniform in [0, n), n > 0, without bias (Lemire, arXiv:1805.10941, Sec. 4).
func below(src Source, n uint64) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}

// unit is uniform on the multiples of 2⁻⁵³ in [0, 1).
func unit(src Source) float64 { return float64(src.Uint64()>>11) / (1 << 53) }

// belowBig is uniform in [0, n) without bias: words of n's length until one is below.
func belowBig(src Source, n *big.Int) *big.Int {
	length := n.BitLen()
	for {
		x := new(big.Int)
		for have := 0; have < length; have += 64 {
			x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(src.Uint64()))
		}
		if extra := (64 - length%64) % 64; extra > 0 {
			x.Rsh(x, uint(extra))
		}
		if x.Cmp(n) < 0 {
			return x
		}
	}
}
