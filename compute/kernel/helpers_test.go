package kernel

import (
	"fmt"
	"math/rand/v2"
)

func testKey(n byte) [32]byte {
	var k [32]byte
	for i := range k {
		k[i] = n + byte(i)*7
	}
	return k
}

// draw gives n numbers of a stream, from number first on.
func draw(key [32]byte, first, n int) []float32 {
	rng := rand.New(rand.NewChaCha8(key))
	z := make([]float32, first+n)
	for i := range z {
		z[i] = float32(rng.NormFloat64())
	}
	return z[first:]
}

// partOf returns the range lo to hi−1 of n things that belongs to part i of parts:
// sizes differ by one at most, larger parts come first, and parts beyond n are
// empty. It panics unless 0 ≤ i < parts.
func partOf(n, parts, i int) (lo, hi int) {
	if n < 0 || i < 0 || i >= parts {
		panic(fmt.Sprintf("kernel: part %d of %d of %d things", i, parts, n))
	}
	size, larger := n/parts, n%parts
	lo = i*size + min(i, larger)
	hi = lo + size
	if i < larger {
		hi++
	}
	return lo, hi
}

// packConv packs the weights of all groups, one after another.
func (x *machine) packConv(c *Conv, w *ConvWeights, weights []float32) {
	for g := range c.s.Groups {
		x.packGroup(c, w, g, c.groupWeights(weights, g).Data, true)
	}
}
