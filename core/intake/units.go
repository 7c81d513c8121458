package intake

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math/bits"
	"slices"

	"pawl/core/identity"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// units says whose row each row is. Let a data set be a multiset D of records r, m(r)
// times each.
//
// With a unit column the unit of a row is the text in that column. Elsewhere the units
// of D are the pairs
//
//	U(D) = {(r, j) : 1 <= j <= m(r)},
//
// the record and its running number among equal ones. D with one more copy of r has
// U(D) with (r, m(r)+1) besides, and one copy less takes (r, m(r)) away: neighbours
// differ in one unit, whatever the order of the file and whichever of equal rows is
// called the j-th. (The record alone would not do: all equal rows would lie in one
// scope, and a score from one side of the split would be about other cells than the
// training saw.) The scope of a unit, its lots and its masks are functions of a keyed
// hash of the unit and of public numbers.
//
// r must tell apart whatever a mechanism can tell apart, or a copy that is taken away
// would renumber rows that differ. It is therefore every cell of the file as its text
// stands there, with the name of its column, and a digest of what is read beside them (the
// vector behind the row's key). The schema's bounds, types, ignored columns and orders
// and the front end of a model do not enter: they may change without moving a unit.
//
// A schema also declares how the file is read (schema.File). Other marks in numbers leave every
// text as it is. Another delimiter, encoding or header gives other texts: other records,
// which are another version, and with a unit column another text for the same person, or
// another column of that name. Such a reading is therefore part of the column's name
// (schema.Identifier) and makes an assignment of its own, whose charges add up.
//
// Because j belongs to one version of the data, two versions have two assignments,
// even where rows were only appended: a person whose row stands once in the first and
// twice in the second may lie in two scopes. With a unit column all versions have one.
type units struct {
	mac     hash.Hash // under the scope key
	perRow  bool
	column  string
	maxRows int

	rows int
	// rehearsal counts rows and adds up records, and keeps nothing of a row.
	rehearsal bool

	key  digests // per row: of the record, or of the text of the unit's column
	rank digests // with a unit column: the order of a unit's rows under the bound
	sum  sum     // of the records, where they are units

	// writings are those of the identifiers, nil where there are none or nothing to
	// compare them with.
	writings *identity.Writings

	columns *string // of which prefix is the digest
	prefix  [sha256.Size]byte
	buffer  []byte
	hashed  []byte
	full    [sha256.Size]byte
}

// digest is a keyed hash of 128 bits: among n records two share one with a chance of
// n²/2^129, which for a thousand million is below 1e-20. With 64 bits it would be of
// the size of a delta, and a collision merges units.
type digest struct{ high, low uint64 }

func (d digest) compare(e digest) int {
	return cmp.Or(cmp.Compare(d.high, e.high), cmp.Compare(d.low, e.low))
}

// digests are those of rows, in blocks: a list that grew as a whole would for a while be there twice.
type digests [][]digest

const digestBlock = 1 << 16

func (d *digests) add(x digest) {
	last := len(*d) - 1
	if last < 0 || len((*d)[last]) == digestBlock {
		*d, last = append(*d, nil), last+1
	}
	(*d)[last] = append((*d)[last], x)
}

func (d digests) at(i int32) *digest { return &d[i/digestBlock][i%digestBlock] }

// all visits them in order.
func (d digests) all(yield func(x digest) bool) {
	for _, block := range d {
		for _, x := range block {
			if !yield(x) {
				return
			}
		}
	}
}

// sum is an integer modulo 2^256: the sum of keyed hashes over a multiset, which does
// not depend on the order in which they were added.
type sum [4]uint64

func (s *sum) add(o sum) {
	carry := uint64(0)
	for i := range s {
		s[i], carry = bits.Add64(s[i], o[i], carry)
	}
}

func newUnits(key *Key, s *schema.Schema) units {
	secret := sealed.ScopeSecret(key)
	print, ok := sealed.PrintSecret(key)
	u := units{mac: hmac.New(sha256.New, secret[:]), perRow: s.Unit.Column == "", column: s.Identifier(), maxRows: s.Unit.MaxRows}
	if ok && !u.perRow {
		u.writings = identity.NewWritings(print)
	}
	return u
}

func (u *units) len() int { return u.rows }

// add appends the row of a record.
func (u *units) add(r *schema.Record) {
	u.rows++
	if u.perRow {
		d := u.hash("record", u.canonical(u.buffer[:0], r))
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(u.full[8*i:]) }
		if u.sum.add(sum{word(0), word(1), word(2), word(3)}); !u.rehearsal {
			u.key.add(d)
		}
		return
	}
	if u.writings != nil {
		u.writings.Add(r.Unit)
	}
	if u.rehearsal {
		return
	}
	// The label and the text alone: units of earlier versions keep their scopes.
	u.buffer = append(u.buffer[:0], r.Unit...)
	u.key.add(u.hash("unit", u.buffer))
	u.buffer = binary.AppendUvarint(u.buffer[:0], uint64(len(r.Unit)))
	u.buffer = append(u.buffer, r.Unit...)
	u.rank.add(u.hash("row of a unit", u.canonical(u.buffer, r)))
}

// join appends the rows of a part.
func (u *units) join(p *units) {
	u.rows += p.rows
	for d := range p.key.all {
		u.key.add(d)
	}
	for d := range p.rank.all {
		u.rank.add(d)
	}
	u.sum.add(p.sum)
	if u.writings != nil {
		u.writings.Join(p.writings)
	}
}

// canonical appends the bytes that stand for a record: those of two records are equal
// exactly when they have the same columns, the same texts and nulls in them, and the
// same beside them.
func (u *units) canonical(b []byte, r *schema.Record) []byte {
	if r.Cells == nil {
		b = append(append(b, 'r'), r.Raw...)
		u.buffer = b
		return b
	}
	if len(r.Columns) > 0 && u.columns != &r.Columns[0] {
		h := sha256.New()
		for _, name := range r.Columns {
			h.Write(binary.AppendUvarint(nil, uint64(len(name))))
			h.Write([]byte(name))
		}
		h.Sum(u.prefix[:0])
		u.columns = &r.Columns[0]
	}
	b = append(b, 'c')
	b = append(b, u.prefix[:16]...)
	for _, c := range r.Cells {
		n := uint64(len(c.Text)) << 1
		if c.Null {
			n |= 1
		}
		b = append(binary.AppendUvarint(b, n), c.Text...)
	}
	b = append(b, r.Raw...)
	u.buffer = b
	return b
}

// hash is the keyed hash of data for one purpose.
func (u *units) hash(label string, data []byte) digest {
	u.mac.Reset()
	// The label ends with a byte that no label holds. Written as one, since what begins within a block of the hash is copied.
	u.hashed = append(append(append(u.hashed[:0], label...), 0), data...)
	u.mac.Write(u.hashed)
	u.mac.Sum(u.full[:0])
	return digest{binary.LittleEndian.Uint64(u.full[:]), binary.LittleEndian.Uint64(u.full[8:])}
}

// again is the hash of the j-th of equal records, j >= 2; the first has that of the record.
func (u *units) again(d digest, j uint64) digest {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], d.high)
	binary.LittleEndian.PutUint64(b[8:], d.low)
	binary.LittleEndian.PutUint64(b[16:], j)
	return u.hash("again", b[:])
}

// rule names what a unit is; see sealed.Assignment.
func (u *units) rule() string {
	if !u.perRow {
		return "column " + u.column
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(u.rows))
	for _, word := range u.sum {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	u.hash("version", b)
	return "rows of version " + hex.EncodeToString(u.full[:16])
}

// assign returns the hash of each kept row's unit, the number of its unit where one
// may own several rows, and which rows are kept, nil for all.
func (u *units) assign() (hashes []uint64, unit []int32, keep []bool) {
	if u.perRow {
		return u.number(), nil, nil
	}
	return u.bound()
}

// number gives every row the hash of its record and running number.
func (u *units) number() []uint64 {
	out := make([]uint64, u.rows)
	u.byPrefix(func(rows []int32) {
		slices.SortFunc(rows, func(i, j int32) int { return cmp.Or(u.key.at(i).compare(*u.key.at(j)), cmp.Compare(i, j)) })
		j := uint64(1)
		for k, i := range rows {
			d := *u.key.at(i)
			if k > 0 && d == *u.key.at(rows[k-1]) {
				j++
				out[i] = u.again(d, j).high
				continue
			}
			j, out[i] = 1, d.high
		}
	})
	return out
}

// bound keeps, of each unit, the rows of lowest hash of (unit, record, running number
// among the unit's equal records).
func (u *units) bound() (hashes []uint64, unit []int32, keep []bool) {
	keep = make([]bool, u.rows)
	number := make([]int32, u.rows)
	next := int32(0)
	u.byPrefix(func(rows []int32) {
		order := func(i, j int32) int {
			return cmp.Or(u.key.at(i).compare(*u.key.at(j)), u.rank.at(i).compare(*u.rank.at(j)), cmp.Compare(i, j))
		}
		slices.SortFunc(rows, order)
		for len(rows) > 0 {
			n := 1
			for n < len(rows) && *u.key.at(rows[n]) == *u.key.at(rows[0]) {
				n++
			}
			own := rows[:n]
			j := uint64(1)
			for k, before := 1, *u.rank.at(own[0]); k < n; k++ {
				rank := u.rank.at(own[k])
				if *rank != before {
					j, before = 1, *rank
					continue
				}
				j++
				*rank = u.again(before, j)
			}
			slices.SortFunc(own, order)
			for _, i := range own[:min(n, u.maxRows)] {
				keep[i] = true
			}
			for _, i := range own {
				number[i] = next
			}
			next++
			rows = rows[n:]
		}
	})
	hashes, unit = make([]uint64, 0, u.rows), make([]int32, 0, u.rows)
	for i, ok := range keep {
		if ok {
			hashes = append(hashes, u.key.at(int32(i)).high)
			unit = append(unit, number[i])
		}
	}
	if u.maxRows <= 1 {
		unit = nil
	}
	return hashes, unit, keep
}

// byPrefix calls visit with the rows of each prefix of their keys, so few at a time
// that sorting them needs no room of the table's size.
func (u *units) byPrefix(visit func(rows []int32)) {
	shift := 64 - max(bits.Len(uint(u.rows>>6)), 1)
	count := make([]int32, 1<<(64-shift)+1)
	for d := range u.key.all {
		count[d.high>>shift+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	rows, at, i := make([]int32, u.rows), slices.Clone(count), int32(0)
	for d := range u.key.all {
		p := d.high >> shift
		rows[at[p]] = i
		at[p]++
		i++
	}
	for p := range len(count) - 1 {
		if rows := rows[count[p]:count[p+1]]; len(rows) > 0 {
			visit(rows)
		}
	}
}
