package entropy

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// ErrSecret is returned for bytes that are not the output of Save.
var ErrSecret = errors.New("entropy: not a saved secret")

const (
	keyBytes   = 32
	checkBytes = 8
	// SavedBytes is the length of a saved secret.
	SavedBytes = keyBytes + checkBytes
)

// Secret is a key from the operating system that outlives its process, for a training run or a
// study that may be interrupted. It is opaque; everything derived from it is bound to a label and
// to the values that determine one computation. A Secret prints and marshals as a fixed word.
//
// The zero Secret holds no key, and deriving a key from it panics.
type Secret struct {
	key **[keyBytes]byte // a pointer to a pointer for the reason given at Source
}

// NewSecret draws a secret, or returns the error of the operating system.
func NewSecret() (Secret, error) {
	key, err := newKey()
	if err != nil {
		return Secret{}, err
	}
	return secretOf(key), nil
}

func secretOf(key [keyBytes]byte) Secret {
	k := &key
	return Secret{&k}
}

// Save returns the secret, with a checksum, for a file that only its owner can read. The zero
// Secret gives nil.
func (s Secret) Save() []byte {
	if s.IsZero() {
		return nil
	}
	key := s.must()
	return append(key[:], checkOf(key)...)
}

// RestoreSecret reads the output of Save. Anything else gives ErrSecret: neither a key written by
// hand nor zeros are a secret.
func RestoreSecret(saved []byte) (Secret, error) {
	if len(saved) != SavedBytes {
		return Secret{}, fmt.Errorf("%w: %d bytes, want %d", ErrSecret, len(saved), SavedBytes)
	}
	key := [keyBytes]byte(saved)
	switch {
	case key == [keyBytes]byte{}:
		return Secret{}, fmt.Errorf("%w: all zeros", ErrSecret)
	case subtle.ConstantTimeCompare(checkOf(key), saved[keyBytes:]) == 0:
		return Secret{}, fmt.Errorf("%w: it was edited or damaged", ErrSecret)
	}
	return secretOf(key), nil
}

// checkOf tells damage from a key. It shows 64 bits of a hash of 256 random ones, beside
// the key itself.
func checkOf(key [keyBytes]byte) []byte {
	sum := sha256.Sum256(append([]byte("pawl secret 1\n"), key[:]...))
	return sum[:checkBytes]
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.key == nil || **s.key == [keyBytes]byte{} }

func (s Secret) must() [keyBytes]byte {
	if s.IsZero() {
		panic("entropy: zero Secret; use NewSecret or RestoreSecret")
	}
	return **s.key
}

// Derive binds the secret to a purpose and to the values that determine one computation. Any change
// gives an unrelated secret.
func (s Secret) Derive(label string, parts ...[]byte) Secret {
	return secretOf(Derive(s.must(), label, parts...))
}

// Source returns the stream of a purpose: the same in every process and version. Two different
// computations with the same label and parts would share their noise, which breaks the privacy of
// both.
func (s Secret) Source(label string, parts ...[]byte) *Source {
	return fromKey(Derive(s.must(), label, parts...))
}

// Key returns a key for another primitive, such as a MAC or the name of a computation. It reveals
// neither the secret nor any stream, and no Source can be made from it.
func (s Secret) Key(label string, parts ...[]byte) [32]byte {
	return deriveKey(s.must(), purposeKey, label, parts)
}

const secretWord = "entropy.Secret(redacted)"

// String returns a fixed word.
func (s Secret) String() string { return secretWord }

// Format prints String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, secretWord) }

// MarshalText returns String; encoders of JSON, YAML and XML use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(secretWord), nil }

// LogValue logs String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(secretWord) }
