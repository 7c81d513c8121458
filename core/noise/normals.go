package noise

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"pawl/compute/kernel"
	"pawl/core/entropy"
)

// Piece is the largest number of values in one piece of Normals.
const Piece = 1024

// Normals is a stream of independent draws of N(0, 1) with random access by piece: value i of a
// piece is a function of the key, the piece's number and i, the same on every machine. The draws are
// those of Gaussian, in float64. It is not safe for concurrent use; another Normals of the same
// Source gives the same values.
type Normals struct {
	bytes [8 * Piece]byte
	spare spareWords
	// beyond marks the values of a piece that need more than their word.
	beyond [Piece / 8]uint8
}

// Each piece has a range of blocks of the key stream: one word for each value, then the spare
// words of those that need more.
const (
	pieceBlocks = 1 << 20
	spareFrom   = 8 * Piece / 16
	pieces      = 1 << 43
)

// NewNormals takes the key from src.
func NewNormals(src *entropy.Source) *Normals {
	var key [32]byte
	if _, err := src.Read(key[:]); err != nil {
		panic(err) // a Source never fails
	}
	return &Normals{spare: spareWords{keys: kernel.NewKeyStream(key)}}
}

// Fill sets dst, at most Piece long, to the first values of a piece; there are 2^43 pieces. A
// longer dst or a larger piece panics.
func (n *Normals) Fill(dst []float64, piece uint64) {
	if len(dst) > Piece || piece >= pieces {
		panic(fmt.Sprintf("noise: %d values of piece %d", len(dst), piece))
	}
	const unit = kernel.KeyStreamUnit
	first := piece * pieceBlocks
	bytes := n.bytes[:(8*len(dst)+unit-1)/unit*unit]
	n.spare.keys.Read(bytes, first)
	n.spare.begin(first+spareFrom, first+pieceBlocks)
	kernel.Strips(dst, bytes, &normal.strips, n.beyond[:])
	clear(n.beyond[(len(dst)+7)/8:])
	for i := 0; i < len(dst); i += 64 {
		for marks := binary.LittleEndian.Uint64(n.beyond[i/8:]); marks != 0; marks &= marks - 1 {
			at := i + bits.TrailingZeros64(marks)
			dst[at] = draw(binary.LittleEndian.Uint64(bytes[8*at:]), &n.spare)
		}
	}
}

// Release sets dst to the release of the sum a+b: with the noise stdDev·z, in float64, rounded to the grid of that noise
// and divided by a public divisor. z are draws that no other release has, from Fill or Banded.Step. An empty sum is treated
// like any other.
func Release(dst, a, b []float32, z []float64, stdDev float64, divisor float32) {
	grid := GridOf(stdDev)
	for {
		i := kernel.SumOnGrid(dst, a, b, z, stdDev, grid.shift, grid.near, divisor)
		if i == len(z) {
			return
		}
		// The product is rounded by itself: a fused one would have other bits.
		dst[i] = float32(grid.far(float64(a[i]+b[i])+float64(stdDev*z[i]))) / divisor
		dst, a, b, z = dst[i+1:], a[i+1:], b[i+1:], z[i+1:]
	}
}

// spareWords are the words of a range of a key stream.
type spareWords struct {
	keys      *kernel.KeyStream
	bytes     [kernel.KeyStreamUnit]byte
	next      int // first unread byte
	from, end uint64
}

func (s *spareWords) begin(from, end uint64) { s.from, s.end, s.next = from, end, len(s.bytes) }

// Uint64 returns the next word. A piece has two million, of which it needs some thirty.
func (s *spareWords) Uint64() uint64 {
	if s.next == len(s.bytes) {
		if s.from+uint64(len(s.bytes)/16) > s.end {
			panic("noise: a piece has no more words")
		}
		s.keys.Read(s.bytes[:], s.from)
		s.from, s.next = s.from+uint64(len(s.bytes)/16), 0
	}
	v := binary.LittleEndian.Uint64(s.bytes[s.next:])
	s.next += 8
	return v
}
