package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// writing is how a table writes one identifier: the least and the largest of the keyed
// hashes of its texts, which are one where it is always written alike.
type writing struct{ least, most uint64 }

// Writings collects how a table writes the identifiers of its units. An identifier in its loose
// form (7 for 007 and 7.0) names a person; the text names the unit. If two versions of a table
// write one identifier in two ways, the person is a different unit in each.
//
// It keeps the identifiers with the smallest keyed hashes, so it does not grow with the table.
type Writings struct {
	loose, exact secret
	bound        uint64
	items        map[uint64]writing // by the hash of the loose form
	last         string
	buffer       []byte
}

// sampledWritings is how many identifiers are kept: of those that are written anew in one of
// n of a table, one is among them but with chance (1−1/n)^1024.
const sampledWritings = 1024

// NewWritings returns an empty collection under the key of one ledger.
func NewWritings(key [32]byte) *Writings {
	return &Writings{loose: newSecret(derive(key, "identifiers")), exact: newSecret(derive(key, "writings")), bound: math.MaxUint64, items: map[uint64]writing{}}
}

// Add adds the text of one identifier.
func (w *Writings) Add(text string) {
	if text == w.last {
		return
	}
	w.last = text
	w.buffer = appendLoose(w.buffer[:0], text)
	at := w.loose.hash(w.buffer)
	if at > w.bound {
		return
	}
	w.buffer = append(w.buffer[:0], text...)
	e := w.exact.hash(w.buffer)
	w.add(at, writing{e, e})
}

func (w *Writings) add(at uint64, o writing) {
	x, ok := w.items[at]
	if !ok {
		x = o
	}
	w.items[at] = writing{min(x.least, o.least), max(x.most, o.most)}
	if len(w.items) >= 2*sampledWritings {
		w.trim()
	}
}

// Join takes the identifiers of another collection under the same key.
func (w *Writings) Join(o *Writings) {
	w.bound = min(w.bound, o.bound)
	maps.DeleteFunc(w.items, func(at uint64, _ writing) bool { return at > w.bound })
	for at, x := range o.items {
		if at <= w.bound {
			w.add(at, x)
		}
	}
}

// trim leaves the smallest and lowers the bound.
func (w *Writings) trim() {
	if len(w.items) <= sampledWritings {
		return
	}
	all := slices.Sorted(maps.Keys(w.items))
	for _, at := range all[sampledWritings:] {
		delete(w.items, at)
	}
	w.bound = all[sampledWritings-1]
}

// Agree reports whether all identifiers that both collections kept are written in the same way.
func (w *Writings) Agree(o *Writings) bool {
	for at, x := range w.items {
		if y, ok := o.items[at]; ok && at <= o.bound && at <= w.bound && x != y {
			return false
		}
	}
	return true
}

const writingsKind = 3

// IsWritings reports whether stored bytes are Writings and not a Print.
func IsWritings(b []byte) bool { return len(b) > 1 && b[1] == writingsKind }

// Marshal returns the collection as bytes, at most 24 KB.
func (w *Writings) Marshal() []byte {
	w.trim()
	b := binary.LittleEndian.AppendUint64([]byte{version, writingsKind}, w.bound)
	for _, at := range slices.Sorted(maps.Keys(w.items)) {
		x := w.items[at]
		b = binary.LittleEndian.AppendUint64(b, at)
		b = binary.LittleEndian.AppendUint64(b, x.least)
		b = binary.LittleEndian.AppendUint64(b, x.most)
	}
	return b
}

// Identity returns a name of the collection: equal collections have equal names.
func (w *Writings) Identity() [32]byte { return sha256.Sum256(w.Marshal()) }

// UnmarshalWritings reads the output of Marshal, for comparison. The error wraps ErrFormat.
func UnmarshalWritings(b []byte) (*Writings, error) {
	d := decoder{b: b}
	head := d.take(2)
	if d.failed || head[0] != version || head[1] != writingsKind {
		return nil, ErrFormat
	}
	w := &Writings{bound: binary.LittleEndian.Uint64(d.take(8)), items: map[uint64]writing{}}
	for len(d.b) > 0 && !d.failed {
		at := binary.LittleEndian.Uint64(d.take(8))
		w.items[at] = writing{binary.LittleEndian.Uint64(d.take(8)), binary.LittleEndian.Uint64(d.take(8))}
	}
	if d.failed || len(w.items) > sampledWritings {
		return nil, fmt.Errorf("%w: it is truncated or damaged", ErrFormat)
	}
	return w, nil
}
