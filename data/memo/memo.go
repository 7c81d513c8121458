// Package memo remembers what short texts stand for. Most cells of most tables are one of a few texts of their
// column: what was made of one once need not be made again.
package memo

// Key is a text of up to 16 bytes, as two words that overlap and its length and one: two such texts are equal exactly
// when their keys are, and none has the zero key.
type Key struct {
	head, tail uint64
	size       uint8
}

// Of returns the key of a text; ok is false for a longer one, which has none.
func Of(s string) (k Key, ok bool) {
	n := len(s)
	switch {
	case n > 16:
		return Key{}, false
	case n >= 8:
		k.head, k.tail = word(s), word(s[n-8:])
	case n >= 4:
		k.head, k.tail = half(s), half(s[n-4:])
	case n > 0:
		k.head = uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
	}
	k.size = uint8(n + 1)
	return k, true
}

// word is made of bytes one by one, which the compiler joins to one load.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func half(s string) uint64 {
	_ = s[3]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// places is the number of texts that a table remembers, a power of two: enough for the categories and small whole
// numbers of a column, and few enough that the tables of a file's columns stay in a processor's cache.
const (
	bits   = 9
	places = 1 << bits
)

// Table remembers the texts of one column, two in a pair of places. Its zero value is empty. It is for one goroutine.
type Table[V any] struct {
	place []entry[V]
	off   bool // it remembers nothing
}

// mostColumns is the width of a table of which texts are remembered: a wider one would fill the memory.
const mostColumns = 256

// Columns are the tables of so many columns. Those of more than 256 remember nothing.
func Columns[V any](n int) []Table[V] {
	tables := make([]Table[V], n)
	for i := range tables {
		tables[i].off = n > mostColumns
	}
	return tables
}

type entry[V any] struct {
	key   Key // zero for an empty place
	value V
}

func (k Key) place() uint64 {
	return (k.head + k.tail*0x9e3779b97f4a7c15 + uint64(k.size)) * 0xd6e8feb86659fd93 >> (64 - bits)
}

// Get returns what was put last for k, nil for nothing; it may be changed until the next Put.
func (t *Table[V]) Get(k Key) *V {
	if t.place == nil {
		return nil
	}
	at := k.place() % places
	if e := &t.place[at]; e.key == k {
		return &e.value
	}
	if e := &t.place[at^1]; e.key == k {
		return &e.value
	}
	return nil
}

// Put remembers v for k, which Get does not know. It returns what is forgotten for it, if that is something: of the
// two texts that shared the place, the older one, and v itself where nothing is remembered.
func (t *Table[V]) Put(k Key, v V) (old V, taken bool) {
	if t.off {
		return v, true
	}
	if t.place == nil {
		t.place = make([]entry[V], places)
	}
	e, o := &t.place[k.place()%places], &t.place[k.place()%places^1]
	old, taken = o.value, o.key != (Key{})
	*o, *e = *e, entry[V]{k, v}
	return old, taken
}

// All visits what is remembered, in no order that means anything.
func (t *Table[V]) All(yield func(v *V) bool) {
	for i := range t.place {
		if e := &t.place[i]; e.key != (Key{}) && !yield(&e.value) {
			return
		}
	}
}
