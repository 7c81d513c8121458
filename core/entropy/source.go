package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
)

// bufferBytes trades the cost of a call into AES against memory per child: below
// 2 KiB the call dominates, and every step of a training splits children.
const bufferBytes = 2048

// Source is a stream of secret random bits. It is not safe for concurrent use: give each goroutine
// its own child by Split, the only method that several goroutines may call at once.
//
// The zero Source panics on every use; make one with New, Seeded or from a Secret.
// A copy of a Source is an alias of the same stream, never a second stream with
// the same values. A Source prints and marshals as a fixed word, never its key.
type Source struct {
	// A pointer, so that a copy cannot replay buffered values. To a pointer, because
	// fmt reads the unexported fields of a struct around a Source without calling
	// methods, and a verb that does not fit (%s) makes it follow one pointer to a
	// struct, but never a pointer to a pointer.
	state **state
}

type state struct {
	root   [32]byte // parent of children; the stream runs under a key derived from it
	seeded bool
	stream cipher.Stream
	buffer [bufferBytes]byte
	next   int // first unread byte, a multiple of 8
}

// New returns a Source with a fresh key from the operating system, or the error of the operating
// system.
func New() (*Source, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return fromKey(key), nil
}

// fromKey returns the stream that key determines: the same values in every process
// and version. It is not tainted: only what the operating system drew comes here.
func fromKey(key [32]byte) *Source { return newSource(key, false) }

// Seeded returns a predictable stream for simulations, tests and replays. It protects nobody:
// anybody who knows seed can subtract the noise. Seeded reports true on it and on all its children.
func Seeded(seed uint64) *Source {
	var root [32]byte
	binary.LittleEndian.PutUint64(root[:], seed)
	return newSource(deriveKey(root, purposeSeed, "", nil), true)
}

func newSource(root [32]byte, seeded bool) *Source {
	// A key of its own for the stream: the root already keys HMAC for children,
	// and one key in two primitives has no joint proof.
	key := deriveKey(root, purposeStream, "", nil)
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(fmt.Sprintf("entropy: AES-256 unavailable: %v", err)) // only a wrong key length can cause it
	}
	var counter [aes.BlockSize]byte
	st := &state{root: root, seeded: seeded, stream: cipher.NewCTR(block, counter[:]), next: bufferBytes}
	return &Source{&st}
}

// Seeded reports whether the stream, or one from which it was split, came from the function Seeded:
// whatever it randomises is NOT PRIVATE.
func (s *Source) Seeded() bool { return s.must().seeded }

// Split returns the child stream named by label and n. The child is a function of the parent's key,
// label and n alone: it does not depend on how much was read from the parent, does not advance it,
// and the same name gives the same child again, so a name must be used for one computation only
// (label "lot" or "noise", n the trial and step). Children of different names are independent of
// each other and of the parent, as far as HMAC-SHA256 is a pseudo-random function. They inherit the
// mark of a seed.
func (s *Source) Split(label string, n ...uint64) *Source {
	st := s.must()
	parts := make([][]byte, len(n))
	for i, v := range n {
		parts[i] = binary.LittleEndian.AppendUint64(nil, v)
	}
	return newSource(deriveKey(st.root, purposeSplit, label, parts), st.seeded)
}

func (s *Source) must() *state {
	if s == nil || s.state == nil {
		panic("entropy: zero Source; use New, Seeded or a Secret")
	}
	return *s.state
}

// refill replaces the buffer with the next bytes of the stream.
func (st *state) refill() {
	clear(st.buffer[:])
	st.stream.XORKeyStream(st.buffer[:], st.buffer[:])
	st.next = 0
}
