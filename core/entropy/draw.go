package entropy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Uint64 returns 64 uniform bits. With it *Source also serves as the Source of
// math/rand/v2.
func (s *Source) Uint64() uint64 {
	st := *s.state // a zero Source stops here: nil has no buffer
	if st.next == bufferBytes {
		st.refill()
	}
	v := binary.LittleEndian.Uint64(st.buffer[st.next:])
	st.next += 8
	return v
}

// Buffered returns the next unread words of the stream, at least one, as 8 little-endian bytes
// each, without consuming them: a loop that uses some and then Discards them draws the same as that
// many calls of Uint64, without their overhead. The slice is a view: read it before the next call
// on s, and never write to it.
func (s *Source) Buffered() []byte {
	st := s.must()
	if st.next == bufferBytes {
		st.refill()
	}
	return st.buffer[st.next:]
}

// Discard consumes words that Buffered returned. A larger or a negative number panics.
func (s *Source) Discard(words int) {
	st := s.must()
	if words < 0 || words > (bufferBytes-st.next)/8 {
		panic(fmt.Sprintf("entropy: Discard of %d words, %d buffered", words, (bufferBytes-st.next)/8))
	}
	st.next += 8 * words
}

// Read fills p with uniform bytes and never fails. It consumes whole words of
// the stream: the rest of a last, partial word is dropped.
func (s *Source) Read(p []byte) (int, error) {
	s.must()
	n := len(p)
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, s.Uint64())
		p = p[8:]
	}
	if len(p) > 0 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], s.Uint64())
		copy(p, word[:])
	}
	return n, nil
}

// Uint64n returns a uniform integer in [0, n), without bias: values that would cause bias are drawn
// again (Lemire, arXiv:1805.10941). n = 0 panics.
func (s *Source) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("entropy: Uint64n of an empty range")
	}
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		// 2^64 mod n products per result are too many; -n%n is that number.
		for surplus := -n % n; lo < surplus; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// BigIntn returns a uniform integer in [0, n), without bias. n <= 0 panics.
func (s *Source) BigIntn(n *big.Int) *big.Int {
	if n.Sign() <= 0 {
		panic("entropy: BigIntn of an empty range")
	}
	width := new(big.Int).Sub(n, big.NewInt(1)).BitLen()
	buf := make([]byte, (width+7)/8)
	v := new(big.Int)
	for {
		_, _ = s.Read(buf)
		if excess := 8*len(buf) - width; excess > 0 {
			buf[0] >>= excess // big.Int reads big-endian: the first byte is the highest
		}
		if v.SetBytes(buf).Cmp(n) < 0 {
			return v
		}
	}
}

// Float64 returns a multiple of 2^-53, uniform in [0, 1).
func (s *Source) Float64() float64 { return Float64(s) }

// Words are uniform words, from a Source or from a stream keyed by one.
type Words interface{ Uint64() uint64 }

// Float64 returns Source.Float64 from the next word of w.
func Float64(w Words) float64 { return float64(int64(w.Uint64()>>11)) * 0x1p-53 }

// Open01 returns a real number uniform in (0, 1), rounded down to a float64: every binade [2^-k-1,
// 2^-k) has its exact probability and 53 significant bits inside, down to 2^-1022. Tails computed
// from it (−ln U, inversions) therefore do not stop at 2^-53, whereas multiples of 2^-53 end a
// normal tail near 8.2σ and leave gaps before that.
func (s *Source) Open01() float64 { return Open01(s) }

// Open01 returns Source.Open01 from the next words of w.
func Open01(w Words) float64 {
	u := w.Uint64()
	zeros := bits.LeadingZeros64(u)
	if zeros <= 11 {
		// The 52 bits after the leading one are uniform and independent of it.
		return math.Float64frombits(uint64(1022-zeros)<<52 | u<<(zeros+1)>>12)
	}
	for u == 0 { // probability 2^-64
		u = w.Uint64()
		zeros += bits.LeadingZeros64(u)
		if zeros > 1021 {
			zeros = 1021 // probability 2^-1021: the smallest normal number stands for all below
			break
		}
	}
	return math.Float64frombits(uint64(1022-zeros)<<52 | w.Uint64()>>12)
}

// Bernoulli returns true with probability exactly p (as a float64; below 2^-1022 it is never true):
// Open01 rounds a real uniform number down to a grid that contains p, so comparing the rounded
// number equals comparing the real one. p outside [0, 1], or NaN, panics.
func (s *Source) Bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("entropy: Bernoulli probability %v is outside [0, 1]", p))
	}
	return s.Open01() < p
}
