package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Strip is one of the 256 layers of a ziggurat for Strips: a random word has a point Unit·s of the layer, s its upper 53
// bits, and the point lies within if s is below Inside.
type Strip struct {
	Inside uint64
	Unit   float64
}

// Strips sets dst[i] to the point that word i, 8 bytes with the lowest first, has of its layer: bits 0–7 choose the layer,
// bit 8 the sign, the others the point; a point of 0 is +0. Bit i%8 of beyond[i/8] says that it is not within, and bits
// behind len(dst) are 0. It panics when words or beyond are shorter than dst needs.
func Strips(dst []float64, words []byte, table *[256]Strip, beyond []uint8) {
	if len(words) < 8*len(dst) || len(beyond) < (len(dst)+7)/8 {
		panic(fmt.Sprintf("kernel: %d points of %d bytes of words, with room for %d marks", len(dst), len(words), 8*len(beyond)))
	}
	active.points(dst, words, table, beyond)
}

func (x *machine) points(dst []float64, words []byte, table *[256]Strip, beyond []uint8) {
	done := 0
	if x.strips != nil && len(dst) >= 8 {
		done = len(dst) / 8
		x.strips(&dst[0], &words[0], &table[0].Inside, &beyond[0], done)
	}
	stripsPortable(dst[8*done:], words[64*done:], table, beyond[done:])
}

func stripsPortable(dst []float64, words []byte, table *[256]Strip, beyond []uint8) {
	clear(beyond[:(len(dst)+7)/8])
	for i := range dst {
		u := binary.LittleEndian.Uint64(words[8*i : 8*i+8])
		strip, step := &table[u&255], u>>11
		x := float64(int64(step)) * strip.Unit // the conversion from uint64 would branch
		dst[i] = 0 + math.Float64frombits(math.Float64bits(x)^u>>8<<63)
		if step >= strip.Inside {
			beyond[i/8] |= 1 << (i % 8)
		}
	}
}

// SumOnGrid sets dst[i] = float32(r(a[i]+b[i] + scale·z[i])) / divisor, with the first sum in float32, product and second
// sum in float64, each rounded, and r(v) = v + shift − shift. It returns the first i at which |v| < near is false, NaN
// too, and has set what comes before, or len(dst). It panics when the lengths differ.
func SumOnGrid(dst, a, b []float32, z []float64, scale, shift, near float64, divisor float32) int {
	sameLength(len(dst), len(a))
	sameLength(len(dst), len(b))
	sameLength(len(dst), len(z))
	return active.gridded(dst, a, b, z, scale, shift, near, divisor)
}

func (x *machine) gridded(dst, a, b []float32, z []float64, scale, shift, near float64, divisor float32) int {
	done := 0
	if x.sumOnGrid != nil && len(dst) >= 8 {
		done = 8 * x.sumOnGrid(&dst[0], &a[0], &b[0], &z[0], scale, shift, near, divisor, len(dst)/8)
	}
	return done + sumOnGridPortable(dst[done:], a[done:], b[done:], z[done:], scale, shift, near, divisor)
}

func sumOnGridPortable(dst, a, b []float32, z []float64, scale, shift, near float64, divisor float32) int {
	a, b, dst = a[:len(z)], b[:len(z)], dst[:len(z)]
	for i, v := range z {
		// The product is rounded by itself: a fused one would have other bits.
		sum := float64(a[i]+b[i]) + float64(scale*v)
		if !(sum < near && sum > -near) {
			return i
		}
		dst[i] = float32(sum+shift-shift) / divisor
	}
	return len(z)
}
