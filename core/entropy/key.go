package entropy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Every use of HMAC starts its message with its purpose, so no label chosen by
// a caller can make a child equal a stream key or a derived trial key.
const (
	purposeStream byte = iota + 1
	purposeSplit
	purposeDerive
	purposeSeed
	purposeKey
)

// newKey returns 32 bytes from the operating system.
func newKey() ([32]byte, error) {
	var key [32]byte
	if _, err := io.ReadFull(rand.Reader, key[:]); err != nil {
		return [32]byte{}, fmt.Errorf("operating system's random source: %w", err)
	}
	return key, nil
}

// Derive binds key to a purpose and to the values that determine one computation, for instance
// (study, trial number, digest of the spec, keyed digest of the data, kernel name):
// HMAC-SHA256(key, purpose ‖ label ‖ parts), each with its length in front, so ("ab", "c") and
// ("a", "bc") differ. Any change gives an unrelated key. The result is as secret as key.
func Derive(key [32]byte, label string, parts ...[]byte) [32]byte {
	return deriveKey(key, purposeDerive, label, parts)
}

func deriveKey(key [32]byte, purpose byte, label string, parts [][]byte) [32]byte {
	mac := hmac.New(sha256.New, key[:])
	message := []byte{purpose}
	message = binary.LittleEndian.AppendUint64(message, uint64(len(label)))
	message = append(message, label...)
	message = binary.LittleEndian.AppendUint64(message, uint64(len(parts)))
	for _, p := range parts {
		message = binary.LittleEndian.AppendUint64(message, uint64(len(p)))
		message = append(message, p...)
	}
	mac.Write(message) // hash.Hash never returns an error
	var out [32]byte
	mac.Sum(out[:0])
	return out
}
