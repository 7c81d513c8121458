package kernel

import (
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"math"
)

// Normal is a stream of standard normals, all fixed by its key: value i is a
// function of the key and i. The same key gives the same bits on every
// machine, so a replayed step repeats its noise; two steps, layers or workers
// that must differ need two keys, or ranges of values that do not overlap.
//
// Values 128b to 128b+127 come from 64 blocks of AES-256 in counter mode, from
// counter 64b on, by the Box–Muller transform (Box and Muller 1958) in float32:
// √(−2 ln u)·cos 2πv and √(−2 ln u)·sin 2πv, with u uniform on the odd multiples
// of 2⁻⁶² and v on those of 2⁻⁶³ of a turn. Both keep their leading 24 bits, u
// as distance from the nearer of 0 and 1, so that neither tail nor centre is
// coarse: |value| reaches 9.27, its law is that of a normal up to there within
// a relative error of 1e-6 of the value, and zero has no atom. Uniforms of 24
// bits would stop at 5.77.
//
// The values are float32, whose low bits tell what they were added to: they hide
// nothing. Use them for weights to start from and for simulations; what hides a row
// comes from core/noise.
//
// A Normal is never written to: many goroutines may fill from it at once.
type Normal struct{ keys *KeyStream }

// normalBlock is how many values come from normalBytes of key stream.
const (
	normalBlock = 128
	normalBytes = 8 * normalBlock
	chunkBlocks = 8
)

// NewNormal returns the stream of a key, which must be secret, uniform and used
// for nothing else.
func NewNormal(key [32]byte) *Normal {
	return &Normal{NewKeyStream(key)}
}

// Fill sets dst[i] = stdDev·z, z being value first+i of the stream. stdDev is
// rounded up to float32. It panics when stdDev is negative or NaN: noise that
// is not there must not go unseen.
func (s *Normal) Fill(dst []float32, first uint64, stdDev float64) {
	s.each(active, dst, first, stdDev, false)
}

// Add sets dst[i] += stdDev·z, as Fill.
func (s *Normal) Add(dst []float32, first uint64, stdDev float64) {
	s.each(active, dst, first, stdDev, true)
}

func (s *Normal) each(x *machine, dst []float32, first uint64, stdDev float64, add bool) {
	if !(stdDev >= 0) {
		panic(fmt.Sprintf("kernel: standard deviation %v", stdDev))
	}
	if first > math.MaxUint64-uint64(len(dst)) {
		panic("kernel: normal stream ends before the last value asked for")
	}
	scale := roundUp(stdDev)
	// Key stream and values stay in the first-level cache.
	bytes, values := streams.borrow(chunkBlocks*normalBytes), normals.borrow(chunkBlocks*normalBlock)
	defer streams.giveBack(bytes)
	defer normals.giveBack(values)
	for len(dst) > 0 {
		skip := int(first % normalBlock)
		n := min(len(dst), chunkBlocks*normalBlock-skip)
		blocks := (skip + n + normalBlock - 1) / normalBlock
		stream := bytes[:blocks*normalBytes]
		s.keys.keyStream(x, stream, first/normalBlock*(normalBytes/aes.BlockSize))
		if z := values[:blocks*normalBlock]; add {
			x.normals(z, stream, scale)
			x.addScaled(dst[:n], z[skip:skip+n], 1)
		} else if n == len(z) {
			x.normals(dst[:n], stream, scale)
		} else {
			x.normals(z, stream, scale)
			copy(dst[:n], z[skip:])
		}
		dst, first = dst[n:], first+uint64(n)
	}
}

// roundUp returns the least float32 that is not below x.
func roundUp(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// normalsPortable turns blocks of normalBytes random bytes into normalBlock
// values each, times scale. A block is 64 words each of: radius high, radius
// low, angle high, angle low; then come 64 cosines and 64 sines.
func normalsPortable(dst []float32, words []byte, scale float32) {
	const pairs = normalBlock / 2
	for ; len(dst) >= normalBlock; dst, words = dst[normalBlock:], words[normalBytes:] {
		for i := range pairs {
			word := func(j int) uint32 { return binary.LittleEndian.Uint32(words[4*(pairs*j+i):]) }
			r := float32(radius(word(0)>>1, word(1)>>1) * scale)
			angle := word(2)
			c, s := direction(angle, word(3)>>1)
			dst[i] = withSign(float32(c*r), angle)
			dst[pairs+i] = withSign(float32(s*r), angle<<1)
		}
	}
}

const (
	radiusSplit  = 0x5a827999 // √½·2³¹, rounded down
	sqrtHalfBits = 0x3f3504f3 // √½ as a float32
)

// radius returns √(−2 ln u) for u = (high + (low|1)/2³¹)/2³¹ and 31-bit words.
// u·2³¹ = 2ᵉ(1+f) with 1+f in [√½, √2); from √½ on, e = 0 and f = −(1−u), of
// which 1−u is taken from the bits before they are rounded.
func radius(high, low uint32) float32 {
	near := high >= radiusSplit
	if near {
		high, low = high^0x7fffffff, low^0x7fffffff
	}
	u := fraction(high, low)
	bits := math.Float32bits(u) + (0x3f800000 - sqrtHalfBits)
	e := float32(int32(bits>>23) - 127 - 31)
	f := math.Float32frombits(bits&0x7fffff+sqrtHalfBits) - 1
	if near {
		e, f = 0, u*-0x1p-31
	}
	z := float32(f * f)
	y := float32(polynomial(logPolynomialTwice[:], f) * float32(f*z))
	y = fused(e, -2*ln2Lo, y)
	y += z
	y = fused(f, -2, y)
	y = fused(e, -2*ln2Hi, y)
	return float32(math.Sqrt(float64(y)))
}

// logPolynomialTwice is −2 times logPolynomial.
var logPolynomialTwice = func() (c [len(logPolynomial)]float32) {
	for i, v := range logPolynomial {
		c[i] = -2 * v
	}
	return c
}()

// direction returns cosine and sine of an angle in the first quadrant: 29 bits
// of high and 31 of low below π/4, mirrored when bit 29 of high is set.
func direction(high, low uint32) (c, s float32) {
	a := fraction(high&0x1fffffff, low) * 0x1p-29
	z := float32(a * a)
	s = float32(polynomial(sinPolynomial[:], z) * a)
	c = fused(polynomial(cosPolynomial[:], z), z, 1)
	if high>>29&1 == 1 {
		c, s = s, c
	}
	return c, s
}

// fraction returns high + (low|1)·2⁻³¹ for integers below 2³¹; each part and the
// sum are rounded to 24 bits, relative to their size, so a small fraction keeps
// all the bits below its first.
func fraction(high, low uint32) float32 {
	return fused(float32(int32(low|1)), 0x1p-31, float32(int32(high)))
}

// withSign flips x when bit 31 of word is set.
func withSign(x float32, word uint32) float32 {
	return math.Float32frombits(math.Float32bits(x) ^ word&(1<<31))
}
