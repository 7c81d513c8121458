package identity

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"math/bits"
	"slices"
	"strings"

	"pawl/data/memo"
)

// Kind is the kind of data that a print describes: a table or vectors.
type Kind byte

// Prints of different kinds are not alike.
const (
	Table   Kind = 1
	Vectors Kind = 2 // behind keys: embeddings
)

// Print is a summary of a table: enough to recognise the table and tables that hold most of its
// records.
type Print struct {
	Kind Kind
	// Identity identifies the multiset of records with the names of the columns. Two prints under one key are of
	// the same multiset exactly if their Identity is equal; see Builder.
	Identity [32]byte
	// Rows is the number of records that are not blank. It is as private as the table.
	Rows int64

	records sample
	columns []sample // of columns that mostly hold different values
}

// sample is a finished sketch.
type sample struct {
	rows  int64
	bound uint64 // every value up to it is there
	items []item // by value
}

// Builder collects the records of one table.
//
// Identity is the sum modulo 2²⁵⁶ of HMAC-SHA256 over records (AdHash of Bellare and Micciancio 1997, with a key),
// hashed once more with the number of records. Without the key the terms are independent and uniform, as far as
// HMAC is a pseudo-random function. Two different multisets collide when Σ (m(r) − m'(r))·h(r) = 0 over their
// multiplicities m and m'. If 2^j is the largest power of two that divides all differences, the probability is
// 2^(j−256); tables of fewer than 2⁴⁰ rows have j < 40. Terms are added because under exclusive or two copies of a
// record would cancel, whatever the record. Somebody with the key can construct collisions (Wagner 2002) but gains
// nothing: a difference hides a copy, a collision does not.
type Builder struct {
	kind    Kind
	key     [32]byte
	order   []int    // position in a record, by sorted name
	sketch  []int    // by column in order: its sketch, or -1
	names   []uint16 // by column in order: the keyed hash of its name
	secret  secret
	mac     hash.Hash
	sum     [4]uint64
	rows    int64
	records sketch
	columns []sketch
	counts  []int64            // cells of columns that are not missing
	known   []memo.Table[form] // by column in order
	buffer  []byte
	digest  []byte
}

// form is what a text stands for in its column: its bytes in a record, none for a missing cell, and the hash of its loose
// form. It was met so many times since the sketch of the column last heard of it.
type form struct {
	cell  [24]byte
	value uint64
	count uint32
	size  uint8
}

// loose is the loose form, which lies between the hash of the column's name and the terminator.
func (f *form) loose() []byte { return f.cell[2 : f.size-1] }

// New returns a builder under the key of one ledger. names are the columns of the file as found, in any order;
// trimmed, they enter the print with their cells that are not missing, so a column without such cells does not
// count.
func New(key [32]byte, names []string) *Builder { return newBuilder(Table, key, names) }

func newBuilder(kind Kind, key [32]byte, names []string) *Builder {
	b := &Builder{kind: kind, key: key, order: make([]int, len(names)), sketch: make([]int, len(names)), names: make([]uint16, len(names)),
		known:  memo.Columns[form](len(names)),
		secret: newSecret(derive(key, "cells")), records: newSketch(records), digest: make([]byte, 0, sha256.Size)}
	trimmed := make([]string, len(names))
	for i, name := range names {
		b.order[i], trimmed[i] = i, strings.TrimSpace(name)
	}
	slices.SortFunc(b.order, func(x, y int) int {
		return cmp.Or(strings.Compare(trimmed[x], trimmed[y]), strings.Compare(names[x], names[y]))
	})
	type named struct {
		at   int
		hash uint64
	}
	var chosen []named
	for j, i := range b.order {
		hash := b.secret.hash([]byte(trimmed[i]))
		b.sketch[j], b.names[j] = -1, uint16(hash)
		chosen = append(chosen, named{j, hash})
	}
	slices.SortFunc(chosen, func(x, y named) int { return cmp.Or(cmp.Compare(x.hash, y.hash), x.at-y.at) })
	for _, c := range chosen[:min(len(chosen), maxColumns)] {
		b.sketch[c.at] = len(b.columns)
		b.columns = append(b.columns, newSketch(cells))
	}
	b.counts = make([]int64, len(b.columns))
	record := derive(key, "records of kind "+string('0'+byte(kind)))
	b.mac = hmac.New(sha256.New, record[:])
	return b
}

// derive makes a key for one purpose.
func derive(key [32]byte, purpose string) [32]byte {
	m := hmac.New(sha256.New, key[:])
	m.Write([]byte(purpose))
	return [32]byte(m.Sum(nil))
}

// Add adds one record, with a text for each of the names; that of a null is empty. A record whose cells are all
// missing is a blank line, and does not count. Add does not allocate.
func (b *Builder) Add(texts []string) {
	record := b.buffer[:0]
	for j, i := range b.order {
		text := texts[i]
		if text == "" {
			continue
		}
		key, short := memo.Of(text)
		if short {
			if f := b.known[j].Get(key); f != nil {
				if f.count++; f.count == math.MaxUint32 {
					b.met(j, f)
				}
				at := len(record)
				record = append(record, f.cell[:]...)[:at+int(f.size)]
				continue
			}
		}
		record = b.cell(record, j, key, short, text)
	}
	if b.buffer = record; len(record) > 0 {
		b.record()
	}
}

// cell appends to a record a cell of the column at j whose text is not known, and remembers the text if it is short.
func (b *Builder) cell(record []byte, j int, key memo.Key, short bool, text string) []byte {
	// A cell is the hash of its column's name, its text and the terminator.
	before := len(record)
	record = binary.LittleEndian.AppendUint16(record, b.names[j])
	start := len(record)
	record = appendLoose(record, text)
	loose := record[start:]
	f := form{value: b.secret.hash(loose), count: 1}
	if record = append(record, terminator); len(loose) == 0 {
		record = record[:before]
	}
	if written := record[before:]; short && len(written) <= len(f.cell) {
		f.size = uint8(copy(f.cell[:], written))
		if old, taken := b.known[j].Put(key, f); taken {
			b.met(j, &old)
		}
	} else if c := b.sketch[j]; c >= 0 && len(loose) > 0 {
		b.tell(c, f.value, 1, loose)
	}
	return record
}

// met tells the sketch of the column at j how often a text was met.
func (b *Builder) met(j int, f *form) {
	if c := b.sketch[j]; c >= 0 && f.size > 0 && f.count > 0 {
		b.tell(c, f.value, f.count, f.loose())
	}
	f.count = 0
}

// tell counts cells of one value in a sketch.
func (b *Builder) tell(column int, value uint64, times uint32, loose []byte) {
	b.counts[column] += int64(times)
	if x := b.columns[column].addMany(value, times); x != nil {
		x.number, x.whole = wholeNumber(loose)
	}
}

// settle tells the sketches of all that was met. What a sketch holds at the end depends neither on the order in which it
// heard of values nor on the portions, so it is the same as if it had been told of each cell.
func (b *Builder) settle() {
	for j := range b.known {
		for f := range b.known[j].All {
			b.met(j, f)
		}
	}
}

// wholeNumber reads the loose form of a number of up to 15 digits.
func wholeNumber(text []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 15 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// record takes what the buffer holds.
func (b *Builder) record() {
	b.mac.Reset()
	b.mac.Write(b.buffer)
	b.digest = b.mac.Sum(b.digest[:0])
	var carry uint64
	for i := range b.sum {
		b.sum[i], carry = bits.Add64(b.sum[i], binary.LittleEndian.Uint64(b.digest[8*i:]), carry)
	}
	b.records.add(binary.LittleEndian.Uint64(b.digest))
	b.rows++
}

// NewRecords is New for a print of records only, which is faster: for a part of the columns, beside
// the print of all. at are the positions of the names in a record, nil for those of names.
func NewRecords(key [32]byte, names []string, at []int) *Builder {
	b := New(key, names)
	for j, i := range b.order {
		if at != nil {
			b.order[j] = at[i]
		}
	}
	for i := range b.sketch {
		b.sketch[i] = -1
	}
	b.columns, b.counts = nil, nil
	return b
}

// Join takes the records of another builder with the same key and names, and ends it. A print does not depend
// on which builder took a record.
func (b *Builder) Join(o *Builder) {
	b.settle()
	o.settle()
	var carry uint64
	for i := range b.sum {
		b.sum[i], carry = bits.Add64(b.sum[i], o.sum[i], carry)
	}
	b.rows += o.rows
	b.records.join(&o.records)
	for i := range b.columns {
		b.columns[i].join(&o.columns[i])
		b.counts[i] += o.counts[i]
	}
}

// Print ends the collection and returns the print.
func (b *Builder) Print() *Print {
	b.settle()
	p := &Print{Kind: b.kind, Rows: b.rows}
	m := hmac.New(sha256.New, b.key[:])
	m.Write([]byte{byte(b.kind)})
	m.Write([]byte("identity"))
	var word [8]byte
	for _, x := range append(b.sum[:], uint64(b.rows)) {
		binary.LittleEndian.PutUint64(word[:], x)
		m.Write(word[:])
	}
	p.Identity = [32]byte(m.Sum(nil))
	p.records = finish(&b.records, b.rows)
	for i := range b.columns {
		if s := finish(&b.columns[i], b.counts[i]); s.telling() {
			p.columns = append(p.columns, s)
		}
	}
	// The order of columns must not say more than their values do.
	slices.SortFunc(p.columns, func(x, y sample) int { return cmp.Compare(x.items[0].value, y.items[0].value) })
	return p
}

func finish(s *sketch, rows int64) sample {
	items := s.smallest()
	return sample{rows: rows, bound: s.bound, items: items}
}

// telling says that a column tells its table from others: it holds enough values, most of which are different,
// and is no running number. Whole numbers that lie densely, as those of rows do, are the same in any table.
func (s *sample) telling() bool {
	n := distinct(len(s.items), s.bound)
	if len(s.items) < fewest || 4*n <= float64(s.rows) {
		return false
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range s.items {
		if !x.whole {
			return true
		}
		least, most = min(least, x.number), max(most, x.number)
	}
	return float64(most)-float64(least) > 4*n
}
