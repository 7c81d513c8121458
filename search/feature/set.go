package feature

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// Set is a subset of features, one bit each. Two sets of as many words are equal exactly
// if they hold the same features, so a set is its own canonical form.
type Set []uint64

// NewSet returns the subset of m features with the given indices; repetitions do not
// matter, an index outside [0, m) panics.
func NewSet(m int, indices ...int) Set {
	s := make(Set, (m+63)/64)
	for _, i := range indices {
		if i < 0 || i >= m {
			panic(fmt.Sprintf("feature: index %d of %d features", i, m))
		}
		s[i>>6] |= 1 << (i & 63)
	}
	return s
}

// Has says whether feature i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }

// Size is the number of features in the set.
func (s Set) Size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Indices returns the features in rising order.
func (s Set) Indices() []int { return s.appendTo(make([]int, 0, s.Size())) }

func (s Set) appendTo(out []int) []int {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, i<<6+bits.TrailingZeros64(w))
		}
	}
	return out
}

// Key is a short text that is equal exactly for equal sets of as many features.
func (s Set) Key() string {
	var b strings.Builder
	for _, w := range s {
		fmt.Fprintf(&b, "%016x", w)
	}
	return b.String()
}

func (s Set) flip(i int) { s[i>>6] ^= 1 << (i & 63) }

// DrawSubset draws a subset of m features without looking at data: its size is log-uniform on
// 1..m, P(size = s) = ln(1 + 1/s)/ln(1 + m), and every subset of that size is equally
// likely. So sizes 1, 2–3, 4–7, … have about equal chances, and small subsets, which
// cost the least under noise, are tried at all among many features. It panics for m < 1.
func DrawSubset(rng *rand.Rand, m int) Set {
	size := int(math.Exp(rng.Float64() * math.Log(float64(m+1))))
	return drawOfSize(rng, m, min(max(size, 1), m))
}

// drawOfSize draws a subset of one size uniformly (Floyd's algorithm).
func drawOfSize(rng *rand.Rand, m, size int) Set {
	s := NewSet(m)
	for j := m - size; j < m; j++ {
		if i := rng.IntN(j + 1); s.Has(i) {
			s.flip(j)
		} else {
			s.flip(i)
		}
	}
	return s
}

// drawEach takes every feature with chance ½: all subsets are equally likely.
func drawEach(rng *rand.Rand, m int) Set {
	s := NewSet(m)
	for i := range s {
		s[i] = rng.Uint64()
	}
	if tail := m & 63; tail != 0 {
		s[len(s)-1] &= 1<<tail - 1
	}
	return s
}

// crossTwoPoints swaps a random interval of features between two sets.
func crossTwoPoints(rng *rand.Rand, m int, a, b Set) (Set, Set) {
	from, to := rng.IntN(m+1), rng.IntN(m+1)
	if from > to {
		from, to = to, from
	}
	c, d := slices.Clone(a), slices.Clone(b)
	for w := range c {
		low, high := max(from-64*w, 0), min(to-64*w, 64)
		if low >= high {
			continue
		}
		// Shifts of 64 give 0 in Go, which is what a whole word needs.
		mask := (uint64(1)<<high - 1) &^ (uint64(1)<<low - 1)
		swap := (c[w] ^ d[w]) & mask
		c[w] ^= swap
		d[w] ^= swap
	}
	return c, d
}

// flipEach returns a copy with every feature flipped with the given chance.
func flipEach(rng *rand.Rand, m int, s Set, chance float64) Set {
	out := slices.Clone(s)
	for i := range m {
		if rng.Float64() < chance {
			out.flip(i)
		}
	}
	return out
}

// shrink drops random members of s, in place, until size remain.
func shrink(rng *rand.Rand, s Set, size int) {
	if size <= 0 || s.Size() <= size {
		return
	}
	members := s.Indices()
	for len(members) > size {
		i := rng.IntN(len(members))
		s.flip(members[i])
		members[i] = members[len(members)-1]
		members = members[:len(members)-1]
	}
}
