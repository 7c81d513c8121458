// Package text turns texts into numbers by a fixed rule that has seen no data: what a
// token's place is, no corpus has decided, so that the map itself gives nobody away.
package text

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Tokens calls token for every token of s, in order:
//
//   - a word: a longest run of a to z and apostrophe, after lower-casing;
//   - a run of decimal digits, each of which is given as 0, so that numbers count by
//     their length;
//   - every other character that is no space, alone: punctuation, signs of currency,
//     letters beyond a to z. A byte that is not UTF-8 counts as U+FFFD.
//
// The bytes belong to Tokens and change after the call.
func Tokens(s string, token func([]byte)) {
	var buf []byte
	kind := other
	flush := func() {
		if len(buf) > 0 {
			token(buf)
			buf = buf[:0]
		}
	}
	for _, r := range s {
		r = unicode.ToLower(r)
		k := kindOf(r)
		if k != kind || k == other {
			flush()
		}
		kind = k
		switch k {
		case digit:
			buf = append(buf, '0')
		case word, other:
			buf = utf8.AppendRune(buf, r)
		}
	}
	flush()
}

type kind int

const (
	other kind = iota
	space
	word
	digit
)

func kindOf(r rune) kind {
	switch {
	case r >= 'a' && r <= 'z', r == '\'':
		return word
	case unicode.IsDigit(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// Hasher maps a text to a vector of Buckets numbers of norm 1. Every distinct token adds +1 or −1 to one bucket,
// both by a fixed public hash: presence and not count, so that a message does not weigh more on a word by
// repeating it. The sum is divided by its L2 norm, in float64. A text without tokens, or whose tokens cancel,
// gives zeros.
//
// Signed hashing after Weinberger et al., arXiv:0902.2206: collisions have mean 0.
type Hasher struct {
	Buckets int // at least 1; 1,000 to 4,096 serve messages well
}

// Entry is a bucket and the sum of the signs of the distinct tokens hashed to it.
type Entry struct {
	Bucket int
	Sum    float64
}

// Entries is Vector before the division, without the buckets whose sum is 0 and in
// ascending order of the others: a text costs what it is long, not the number of
// buckets.
func (h Hasher) Entries(s string) []Entry {
	if h.Buckets < 1 {
		panic(fmt.Sprintf("text: entries of %d buckets", h.Buckets))
	}
	var entries []Entry
	h.each(s, func(bucket int, sign float32) { entries = append(entries, Entry{bucket, float64(sign)}) })
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Bucket, b.Bucket) })
	kept := entries[:0]
	for i := 0; i < len(entries); {
		e := entries[i]
		for i++; i < len(entries) && entries[i].Bucket == e.Bucket; i++ {
			e.Sum += entries[i].Sum
		}
		if e.Sum != 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// each calls place for every distinct token.
func (h Hasher) each(s string, at func(bucket int, sign float32)) {
	seen := map[string]bool{}
	Tokens(s, func(t []byte) {
		if seen[string(t)] {
			return
		}
		seen[string(t)] = true
		at(place(t, h.Buckets))
	})
}

// place is FNV-1a of 64 bits, mixed by the finalizer of MurmurHash3, since the low
// bits of FNV alone are weak; the sign is the lowest bit and the bucket comes from
// the others. Models depend on it: it never changes.
func place(token []byte, buckets int) (int, float32) {
	h := uint64(14695981039346656037)
	for _, b := range token {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	sign := float32(1)
	if h&1 == 1 {
		sign = -1
	}
	return int((h >> 1) % uint64(buckets)), sign
}
