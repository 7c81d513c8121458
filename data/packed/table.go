// Package packed holds rows of numbers in little room. Each number is kept in the narrowest form from which it
// comes back bit by bit: a whole number, or one of few decimals, as a code of one, two or four bytes above the least
// of its column, others as a float32 or a float64. Rows lie in blocks, each with forms of its own, and blocks beyond
// a share of memory in an encrypted file (Store).
//
// It knows neither schemas nor whose rows they are.
package packed

import (
	"encoding/binary"
	"math"
	"sort"
)

// kind is how the numbers of a column are written in a block.
type kind uint8

const (
	same     kind = iota // all are the base, which takes no room
	code8                // (base + code) / divisor; the largest code is NaN
	code16               // the same in two bytes
	code32               // the same in four
	float32s             // rounded to nothing
	float64s
)

var widths = [...]int{same: 0, code8: 1, code16: 2, code32: 4, float32s: 4, float64s: 8}

// form is that of a column in a block.
type form struct {
	kind          kind
	at            int // of the column in a row
	base, divisor float64
}

// block is a run of rows, one after the other, each of stride bytes.
type block struct {
	forms        []form
	rows, stride int
	piece
}

// Table is rows of float64s. One goroutine at a time may append to it; when it is closed, any number may read it.
type Table struct {
	width  int
	rows   int
	store  *Store // nil where rows are wide
	blocks []block
	ends   []int     // of blocks, in rows; of wide rows, in raw
	raw    []float64 // rows that are not packed yet; all where they are wide
	kept   []int32   // the rows that there are, nil for all
}

// New is an empty table of width numbers a row whose blocks lie in store.
func New(width int, store *Store) *Table { return &Table{width: width, store: store} }

// NewWide is an empty table of rows of at least width numbers each, which are not packed.
func NewWide(width int) *Table { return &Table{width: width} }

// Of is the closed table of rows of width numbers that lie one after the other in all.
func Of(all []float64, width int) *Table {
	t := New(width, NewStore(math.MaxInt64))
	for i := 0; i < len(all); i += width {
		t.Append(all[i:]) // in memory, which does not fail
	}
	t.Close()
	return t
}

// Part is an empty table to be joined to t. Goroutines may fill parts side by side.
func (t *Table) Part() *Table { return &Table{width: t.width, store: t.store} }

// Len is the number of rows.
func (t *Table) Len() int {
	if t.kept != nil {
		return len(t.kept)
	}
	return t.rows
}

// last is the end of the last block or wide row.
func (t *Table) last() int {
	if len(t.ends) == 0 {
		return 0
	}
	return t.ends[len(t.ends)-1]
}

// blockRows is the number of rows in a full block: at most half a MiB of float64s, or 4096 rows.
func (t *Table) blockRows() int { return min(max((1<<16)/max(t.width, 1), 16), 4096) }

// Append adds a row, which it copies. The error is of a file that could not be written.
func (t *Table) Append(row []float64) error {
	t.rows++
	if t.store == nil {
		if len(row) < t.width {
			panic("packed: a row is too short")
		}
		t.raw = append(t.raw, row...)
		t.ends = append(t.ends, len(t.raw))
		return nil
	}
	t.raw = append(t.raw, row[:t.width]...)
	if len(t.raw) < t.blockRows()*max(t.width, 1) {
		return nil
	}
	return t.flush()
}

// Close packs what was appended last, and keeps it in memory: a few rows.
func (t *Table) Close() {
	t.pack(func(data []byte) (piece, error) { return piece{data, 0, len(data)}, nil })
}

func (t *Table) flush() error { return t.pack(t.store.put) }

// pack makes a block of raw, which put takes.
func (t *Table) pack(put func(data []byte) (piece, error)) error {
	if len(t.raw) == 0 || t.store == nil {
		return nil
	}
	b := block{rows: len(t.raw) / t.width, forms: make([]form, t.width)}
	for c := range b.forms {
		f := formOf(t.raw[c:], t.width)
		f.at = b.stride
		b.forms[c], b.stride = f, b.stride+widths[f.kind]
	}
	data := make([]byte, b.rows*b.stride)
	for c, f := range b.forms {
		f.write(data, b.stride, t.raw[c:], t.width)
	}
	var err error
	if b.piece, err = put(data); err != nil {
		return err
	}
	t.raw = t.raw[:0]
	t.blocks, t.ends = append(t.blocks, b), append(t.ends, t.last()+b.rows)
	return nil
}

// Join appends the rows of a part, which ends.
func (t *Table) Join(o *Table) error {
	if err := o.flush(); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	n := t.last()
	t.rows += o.rows
	t.blocks = append(t.blocks, o.blocks...)
	for _, end := range o.ends {
		t.ends = append(t.ends, n+end)
	}
	t.raw = append(t.raw, o.raw...) // of wide rows
	*o = Table{}
	return nil
}

// Only leaves the rows i with keep[i], under new numbers; nil leaves all.
func (t *Table) Only(keep []bool) {
	if keep != nil {
		t.kept = []int32{}
	}
	for i, ok := range keep {
		if ok {
			t.kept = append(t.kept, int32(i))
		}
	}
}

// Reader returns a function that shows row i, until its next call; each goroutine needs its own. The table has to be
// closed. A file that cannot be read is a panic: where rows are read, no error may depend on them.
func (t *Table) Reader() func(i int) []float64 {
	if t.kept != nil {
		all := *t
		all.kept = nil
		row := all.Reader()
		return func(i int) []float64 { return row(int(t.kept[i])) }
	}
	if t.store == nil {
		return func(i int) []float64 {
			from := 0
			if i > 0 {
				from = t.ends[i-1]
			}
			return t.raw[from:t.ends[i]:t.ends[i]]
		}
	}
	row := make([]float64, t.width)
	var of *block
	var data, space []byte
	first, end := 0, 0
	return func(i int) []float64 {
		if t.width == 0 {
			return row
		}
		if i < first || i >= end {
			k := sort.SearchInts(t.ends, i+1)
			of, first, end = &t.blocks[k], 0, t.ends[k]
			first = end - of.rows
			data, space = t.store.get(of.piece, space)
		}
		of.read(row, data[(i-first)*of.stride:])
		return row
	}
}

// nan is the only NaN that codes stand for.
var nan = math.Float64bits(math.NaN())

// divisors are those of decimals; a quotient of two whole numbers below 2^53 is rounded as the decimal itself is.
var divisors = [...]float64{1, 10, 100, 1000, 10000}

// formOf is the narrowest form of the numbers at 0, step, 2·step …
func formOf(v []float64, step int) form {
	first, alike := math.Float64bits(v[0]), true
	for i := step; i < len(v) && alike; i += step {
		alike = math.Float64bits(v[i]) == first
	}
	if alike {
		return form{kind: same, base: v[0]}
	}
	best := form{kind: float64s}
	if exact32(v, step) {
		best.kind = float32s
	}
	for _, d := range divisors {
		low, high, ok := whole(v, step, d)
		if !ok {
			continue
		}
		f := form{base: low, divisor: d}
		switch span := high - low; {
		case span < math.MaxUint8:
			f.kind = code8
		case span < math.MaxUint16:
			f.kind = code16
		case span < math.MaxUint32 && best.kind == float64s:
			f.kind = code32
		default:
			return best
		}
		return f
	}
	return best
}

// whole says that numbers times d are whole numbers from low to high, or NaN, and that they come back from them.
func whole(v []float64, step int, d float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := 0; i < len(v); i += step {
		x := v[i]
		bits := math.Float64bits(x)
		if bits == nan {
			continue
		}
		k := math.RoundToEven(x * d)
		if !(k >= -1<<52 && k <= 1<<52) || math.Float64bits(k/d) != bits || bits == 1<<63 {
			return 0, 0, false
		}
		low, high = min(low, k), max(high, k)
	}
	return low, high, true
}

func exact32(v []float64, step int) bool {
	for i := 0; i < len(v); i += step {
		if bits := math.Float64bits(v[i]); bits != nan && math.Float64bits(float64(float32(v[i]))) != bits {
			return false
		}
	}
	return true
}

// write puts numbers into their place in rows of stride bytes.
func (f form) write(data []byte, stride int, v []float64, step int) {
	at := f.at
	for i := 0; i < len(v); i, at = i+step, at+stride {
		x := v[i]
		switch f.kind {
		case code8:
			data[at] = uint8(f.code(x, math.MaxUint8))
		case code16:
			binary.LittleEndian.PutUint16(data[at:], uint16(f.code(x, math.MaxUint16)))
		case code32:
			binary.LittleEndian.PutUint32(data[at:], uint32(f.code(x, math.MaxUint32)))
		case float32s:
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(x)))
		case float64s:
			binary.LittleEndian.PutUint64(data[at:], math.Float64bits(x))
		}
	}
}

func (f form) code(x float64, missing uint64) uint64 {
	if x != x {
		return missing
	}
	return uint64(math.RoundToEven(x*f.divisor) - f.base)
}

// read takes the numbers of the row that data begins with.
func (b *block) read(row []float64, data []byte) {
	for c := range b.forms {
		f := &b.forms[c]
		var code float64
		switch f.kind {
		case same:
			row[c] = f.base
			continue
		case code8:
			n := data[f.at]
			if n == math.MaxUint8 {
				row[c] = math.NaN()
				continue
			}
			code = float64(n)
		case code16:
			n := binary.LittleEndian.Uint16(data[f.at:])
			if n == math.MaxUint16 {
				row[c] = math.NaN()
				continue
			}
			code = float64(n)
		case code32:
			n := binary.LittleEndian.Uint32(data[f.at:])
			if n == math.MaxUint32 {
				row[c] = math.NaN()
				continue
			}
			code = float64(n)
		case float32s:
			x := math.Float32frombits(binary.LittleEndian.Uint32(data[f.at:]))
			if row[c] = float64(x); x != x {
				row[c] = math.NaN()
			}
			continue
		case float64s:
			row[c] = math.Float64frombits(binary.LittleEndian.Uint64(data[f.at:]))
			continue
		}
		if row[c] = f.base + code; f.divisor != 1 {
			row[c] /= f.divisor
		}
	}
}
