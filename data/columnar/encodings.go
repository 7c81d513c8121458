package columnar

import (
	"encoding/binary"
	"math/bits"
)

// The encodings of Parquet (Encodings.md of the published format, 2.10), read a few
// thousand values at a time, so that a count which a page claims takes no memory. What
// is asked for beyond the end of the bytes panics here, for guard.

// numbers reads whole numbers, and floats as their bits.
type numbers interface{ next(into []int64) }

// strings reads texts, which stay valid.
type texts interface{ next(into []string) }

// hybrid reads numbers of a few bits: runs of one number, and groups of eight packed
// one after another.
type hybrid struct {
	b      []byte
	width  int // bits; at most 32
	run    int // of value that are left
	value  uint32
	packed int // that are left
	bit    int // of the next of them
}

func newHybrid(b []byte, width int) *hybrid {
	if width > 32 {
		panic("columnar: numbers of more than 32 bits")
	}
	return &hybrid{b: b, width: width}
}

func (h *hybrid) next(into []uint32) {
	for len(into) > 0 {
		switch {
		case h.run > 0:
			n := min(h.run, len(into))
			for i := range into[:n] {
				into[i] = h.value
			}
			h.run, into = h.run-n, into[n:]
		case h.packed > 0:
			n := min(h.packed, len(into))
			for i := range into[:n] {
				into[i] = uint32(unpackBits(h.b, h.bit, h.width))
				h.bit += h.width
			}
			if h.packed, into = h.packed-n, into[n:]; h.packed == 0 {
				// The last group may be cut short where no value stands in it.
				h.b = h.b[min((h.bit+7)/8, len(h.b)):]
			}
		default:
			h.head()
		}
	}
}

// head begins the next run or groups.
func (h *hybrid) head() {
	v, n := binary.Uvarint(h.b)
	if n <= 0 || v>>1 > 1<<31 {
		panic("columnar: a run without a length")
	}
	h.b = h.b[n:]
	if v&1 == 1 {
		// Groups beyond the end of the bytes are noticed where they are read.
		h.packed, h.bit = int(v>>1)*8, 0
		return
	}
	h.run, h.value = int(v>>1), 0
	for i := range (h.width + 7) / 8 {
		h.value |= uint32(h.b[i]) << (8 * i)
	}
	h.b = h.b[(h.width+7)/8:]
}

// unpackBits returns width bits that begin at a bit of b, least significant first.
func unpackBits(b []byte, bit, width int) uint64 {
	at, shift := bit/8, bit%8
	if at+8 < len(b) {
		v := binary.LittleEndian.Uint64(b[at:]) >> shift
		if width+shift > 64 {
			v |= uint64(b[at+8]) << (64 - shift)
		}
		return v & (1<<width - 1)
	}
	var v uint64
	for i := 0; i < width; i++ {
		v |= uint64(b[(bit+i)/8]>>((bit+i)%8)&1) << i
	}
	return v
}

// oldLevels reads the levels of old writers: packed, most significant bit first.
type oldLevels struct {
	b          []byte
	width, bit int
}

func (o *oldLevels) next(into []uint32) {
	for i := range into {
		v := uint32(0)
		for range o.width {
			v = v<<1 | uint32(o.b[o.bit/8]>>(7-o.bit%8)&1)
			o.bit++
		}
		into[i] = v
	}
}

// plain reads numbers of 4 or 8 bytes.
type plain struct {
	b     []byte
	width int
}

func (p *plain) next(into []int64) {
	b := p.b[:len(into)*p.width]
	if p.width == 4 {
		for i := range into {
			into[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	} else {
		for i := range into {
			into[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	p.b = p.b[len(b):]
}

// plainBits reads booleans.
type plainBits struct {
	b   []byte
	bit int
}

func (p *plainBits) next(into []int64) {
	for i := range into {
		into[i] = int64(p.b[p.bit/8] >> (p.bit % 8) & 1)
		p.bit++
	}
}

// runs reads booleans in runs.
type runs struct {
	in  *hybrid
	buf []uint32
}

func (r *runs) next(into []int64) {
	r.buf = append(r.buf[:0], make([]uint32, len(into))...)
	r.in.next(r.buf)
	for i, v := range r.buf {
		into[i] = int64(v)
	}
}

// looked reads positions in a dictionary.
type looked[T any] struct {
	in     *hybrid
	values []T
	buf    []uint32
}

func newLooked[T any](b []byte, values []T) *looked[T] {
	return &looked[T]{in: newHybrid(b[1:], int(b[0])), values: values}
}

func (l *looked[T]) next(into []T) {
	if cap(l.buf) < len(into) {
		l.buf = make([]uint32, len(into))
	}
	at := l.buf[:len(into)]
	l.in.next(at)
	for i, v := range at {
		into[i] = l.values[v]
	}
}

// split reads numbers whose first bytes stand together, then their second ones, ...
type split struct {
	b            []byte
	width, at, n int
}

func newSplit(b []byte, width int) *split { return &split{b: b, width: width, n: len(b) / width} }

func (s *split) next(into []int64) {
	if len(into) > s.n-s.at {
		panic("columnar: values are missing")
	}
	for i := range into {
		var v uint64
		for k := range s.width {
			v |= uint64(s.b[k*s.n+s.at]) << (8 * k)
		}
		if s.width == 4 {
			v = uint64(int32(v))
		}
		into[i] = int64(v)
		s.at++
	}
}

// delta reads the differences of consecutive numbers, in blocks with a least
// difference, of parts that are packed with as many bits as each needs.
type delta struct {
	b           []byte
	short       bool // numbers of 32 bits, whose differences wrap around
	block, part int  // values of a block, and of a part of it
	left        int  // values of all, the first included
	first       bool
	value       int64
	least       int64
	widths      []byte
	inPart, bit int // left of the part, and where its next stands in b
	width       int
}

func newDelta(b []byte, short bool) *delta {
	d := &delta{b: b, short: short, first: true}
	block, parts, n := d.uvarint(), d.uvarint(), d.uvarint()
	d.value = d.varint()
	if block == 0 || block > 1<<20 || parts == 0 || parts > block || block%parts != 0 || n > 1<<40 {
		panic("columnar: blocks of no size")
	}
	d.block, d.part, d.left = int(block), int(block/parts), int(n)
	return d
}

func (d *delta) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		panic("columnar: a number is cut")
	}
	d.b = d.b[n:]
	return v
}

func (d *delta) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// open begins the next part, and the next block where all of one have been read.
func (d *delta) open() {
	if len(d.widths) == 0 {
		d.least = d.varint()
		n := d.block / d.part
		d.widths, d.b = d.b[:n], d.b[n:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		panic("columnar: differences of more than 64 bits")
	}
	d.inPart, d.bit = d.part, 0
}

// closed passes over the bytes of a part. Those of the last may be cut where no
// value stands in them.
func (d *delta) closed() { d.b = d.b[min((d.part*d.width+7)/8, len(d.b)):] }

func (d *delta) next(into []int64) {
	if len(into) > d.left {
		panic("columnar: values are missing")
	}
	for i := range into {
		if d.first {
			d.first = false
		} else {
			if d.inPart == 0 {
				d.open()
			}
			d.value += d.least
			if d.width > 0 {
				d.value += int64(unpackBits(d.b, d.bit, d.width))
			}
			d.bit += d.width
			if d.inPart--; d.inPart == 0 {
				d.closed()
			}
		}
		if d.short {
			d.value = int64(int32(d.value))
		}
		into[i] = d.value
	}
	d.left -= len(into)
}

// rest returns the bytes behind all values, by the heads of the blocks alone.
func (d *delta) rest() []byte {
	e := *d
	for n := e.left - 1; n > 0; n -= e.part {
		e.open()
		size := (e.part*e.width + 7) / 8
		if size > len(e.b) {
			// A writer may leave out what belongs to no value, at the very end only.
			panic("columnar: a part is cut")
		}
		e.b = e.b[size:]
		// Parts behind the last value have a width and no bytes.
	}
	return e.b
}

// plainTexts reads texts with their lengths before them; fixed is the length of all,
// where they have none.
type plainTexts struct {
	b     []byte
	fixed int
}

func (p *plainTexts) next(into []string) {
	if p.fixed > 0 {
		all := string(p.b[:len(into)*p.fixed])
		p.b = p.b[len(all):]
		for i := range into {
			into[i] = all[i*p.fixed : (i+1)*p.fixed]
		}
		return
	}
	// One block of memory for all, which holds the lengths too.
	at := 0
	for range into {
		n := binary.LittleEndian.Uint32(p.b[at:])
		if uint64(n) > uint64(len(p.b)-at-4) {
			panic("columnar: a text is longer than its page")
		}
		at += 4 + int(n)
	}
	all := string(p.b[:at])
	at = 0
	for i := range into {
		n := int(binary.LittleEndian.Uint32(p.b[at:]))
		into[i] = all[at+4 : at+4+n]
		at += 4 + n
	}
	p.b = p.b[at:]
}

// splitTexts reads texts of one length whose bytes stand apart as those of split do.
type splitTexts struct {
	b            []byte
	fixed, at, n int
}

func (s *splitTexts) next(into []string) {
	if len(into) > s.n-s.at {
		panic("columnar: values are missing")
	}
	for i := range into {
		t := make([]byte, s.fixed)
		for k := range t {
			t[k] = s.b[k*s.n+s.at]
		}
		into[i] = string(t)
		s.at++
	}
}

// deltaTexts reads lengths as delta does, then the texts without gaps.
type deltaTexts struct {
	lengths *delta
	b       []byte
	buf     []int64
}

func newDeltaTexts(b []byte) *deltaTexts {
	lengths := newDelta(b, true)
	return &deltaTexts{lengths: lengths, b: lengths.rest()}
}

func (d *deltaTexts) next(into []string) {
	d.buf = append(d.buf[:0], make([]int64, len(into))...)
	d.lengths.next(d.buf)
	at := 0
	for _, n := range d.buf {
		if n < 0 || n > int64(len(d.b)-at) {
			panic("columnar: a text is longer than its page")
		}
		at += int(n)
	}
	all := string(d.b[:at])
	d.b, at = d.b[at:], 0
	for i, n := range d.buf {
		into[i] = all[at : at+int(n)]
		at += int(n)
	}
}

// maxTexts bounds the bytes of the texts that are made at once where each shares its
// beginning with the one before it.
const maxTexts = 256 << 20

// frontCoded reads how much of the text before begins each text, then the rests.
type frontCoded struct {
	shared *delta
	rests  *deltaTexts
	buf    []int64
	last   string
}

func newFrontCoded(b []byte) *frontCoded {
	shared := newDelta(b, true)
	return &frontCoded{shared: shared, rests: newDeltaTexts(shared.rest())}
}

func (f *frontCoded) next(into []string) {
	f.buf = append(f.buf[:0], make([]int64, len(into))...)
	f.shared.next(f.buf)
	f.rests.next(into)
	made := 0
	for i, n := range f.buf {
		if n < 0 || n > int64(len(f.last)) {
			panic("columnar: a text shares more than there is")
		}
		if made += int(n) + len(into[i]); made > maxTexts {
			panic("columnar: texts of more than 256 MiB")
		}
		f.last = f.last[:n] + into[i]
		into[i] = f.last
	}
}

// bitsFor is how many bits levels up to max take.
func bitsFor(max int) int { return bits.Len(uint(max)) }
