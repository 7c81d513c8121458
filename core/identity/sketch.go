package identity

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Sizes of the sketches. The share of a table that lies in another is known from a sketch with a standard
// deviation of at most 1/(2√records): .008 of equal tables, .055 of one that is 50 times the other.
const (
	records = 4096 // distinct records of a table
	cells   = 1024 // distinct cells of a column
	// maxColumns bounds the columns that are sketched, so that time does not grow with the width of a table.
	// They are those whose names have the smallest keyed hashes: two tables choose the same of what they share.
	maxColumns = 32
)

// item is one distinct value: its keyed hash, and how often it was seen.
type item struct {
	value uint64
	count uint32
	// number is that of a cell that is a whole number; whole says that it is one.
	whole  bool
	number int64
}

// sketch keeps the size smallest of the values that were added, with exact multiplicities: a value that was
// once beyond the smallest never comes back. It does not depend on the order of values.
type sketch struct {
	size  int
	bound uint64 // values above it were left out
	slots []item // open addressing; 0 is no value
	used  int
}

func newSketch(size int) sketch {
	return sketch{size: size, bound: math.MaxUint64, slots: make([]item, 64)}
}

// add counts a value; it returns the item when the value is new.
func (s *sketch) add(value uint64) *item { return s.addMany(value, 1) }

func (s *sketch) addMany(value uint64, times uint32) *item {
	if value > s.bound {
		return nil
	}
	if value == 0 {
		value = 1
	}
	mask := uint64(len(s.slots) - 1)
	at := (value * 0x9e3779b97f4a7c15 >> 20) & mask
	for s.slots[at].value != value {
		if s.slots[at].value == 0 {
			if 2*s.used >= len(s.slots) {
				s.grow()
				return s.addMany(value, times)
			}
			s.used++
			s.slots[at] = item{value: value, count: times}
			return &s.slots[at]
		}
		at = (at + 1) & mask
	}
	s.slots[at].count += min(times, math.MaxUint32-s.slots[at].count)
	return nil
}

// join counts what another sketch counted. Beneath both bounds both are complete, so it becomes the sketch of the
// values of both.
func (s *sketch) join(o *sketch) {
	s.bound = min(s.bound, o.bound)
	for i, x := range s.slots {
		if x.value > s.bound {
			s.slots[i] = item{}
		}
	}
	s.rehash(len(s.slots), s.items())
	for _, x := range o.slots {
		if x.value == 0 {
			continue
		}
		if fresh := s.addMany(x.value, x.count); fresh != nil {
			fresh.whole, fresh.number = x.whole, x.number
		}
	}
}

// grow makes room: more slots up to four times the size, and from then on by leaving out the largest values.
func (s *sketch) grow() {
	kept, slots := s.smallest(), 2*len(s.slots)
	if slots > 4*s.size {
		slots = len(s.slots)
	}
	s.rehash(slots, kept)
}

// rehash puts items into so many slots.
func (s *sketch) rehash(slots int, kept []item) {
	s.slots, s.used = make([]item, slots), len(kept)
	mask := uint64(slots - 1)
	for _, x := range kept {
		at := (x.value * 0x9e3779b97f4a7c15 >> 20) & mask
		for s.slots[at].value != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = x
	}
}

// items are those that are there, in no order.
func (s *sketch) items() []item {
	kept := make([]item, 0, s.used)
	for _, x := range s.slots {
		if x.value != 0 {
			kept = append(kept, x)
		}
	}
	return kept
}

// smallest returns the items in the order of their values and lowers the bound to the last one of a full sketch.
func (s *sketch) smallest() []item {
	kept := s.items()
	slices.SortFunc(kept, func(a, b item) int {
		if a.value < b.value {
			return -1
		}
		return 1
	})
	if len(kept) > s.size {
		kept = kept[:s.size]
		s.bound = kept[len(kept)-1].value
	}
	return kept
}

// distinct estimates the number of distinct values beneath a bound that holds n of them.
func distinct(n int, bound uint64) float64 {
	if bound == math.MaxUint64 {
		return float64(n)
	}
	return float64(n-1) * (math.MaxUint64 / float64(bound))
}

// secret holds the words of a keyed 64-bit hash of short texts, by multiplication. It is no cryptographic
// function: it decides what is sketched, and its key is kept as its values are.
type secret [4]uint64

func newSecret(key [32]byte) (s secret) {
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(key[8*i:]) | 1
	}
	return s
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hash is the keyed hash of b.
func (s *secret) hash(b []byte) uint64 {
	h := s[0] ^ uint64(len(b))*0x9e3779b97f4a7c15
	for len(b) > 16 {
		h = mix(binary.LittleEndian.Uint64(b)^s[1], binary.LittleEndian.Uint64(b[8:])^h)
		b = b[16:]
	}
	var x, y uint64
	switch {
	case len(b) >= 8:
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[len(b)-8:])
	case len(b) >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	case len(b) > 0:
		x = uint64(b[0])<<16 | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])
	}
	return mix(mix(x^s[1], y^h)^s[2], s[3]^h)
}
