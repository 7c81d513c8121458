package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256 value; text form is lower-case hexadecimal.
type Hash [sha256.Size]byte

// String returns 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h was never set.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(b []byte) error {
	if n, err := hex.Decode(h[:], b[:min(len(b), 2*len(h))]); err != nil || n != len(h) || len(b) != 2*len(h) {
		return fmt.Errorf("not a SHA-256 value of %d hexadecimal digits", 2*len(h))
	}
	return nil
}

// Sum returns the hash that the record must carry: SHA-256 over a domain name
// and all other fields, each preceded by its length so that no two records share
// an encoding.
func (r *Record) Sum() Hash {
	buf := appendFields(make([]byte, 0, 256+len(r.Body)), "pawl ledger record")
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.Version))
	buf = binary.BigEndian.AppendUint64(buf, uint64(r.Seq))
	buf = appendFields(buf, r.Dataset, string(r.Kind), r.Time, r.User, string(r.Body))
	return sha256.Sum256(append(buf, r.Prev[:]...))
}

// appendFields appends texts, each preceded by its length.
func appendFields(buf []byte, texts ...string) []byte {
	for _, text := range texts {
		buf = append(binary.BigEndian.AppendUint64(buf, uint64(len(text))), text...)
	}
	return buf
}

// genesis is what the first record of a data set points back to. It holds the
// name, so a log cannot be moved to another data set.
func genesis(dataset string) Hash {
	return sha256.Sum256([]byte("pawl ledger genesis\x00" + dataset))
}

// check reports whether r is the record that follows prev.
func (r *Record) check(dataset string, prev Head) error {
	switch {
	case r.Dataset != dataset:
		return broken(dataset, r.Seq, "it belongs to data set %q", r.Dataset)
	case r.Seq != prev.Seq+1:
		return broken(dataset, r.Seq, "expected record %d here", prev.Seq+1)
	case r.Version != Version:
		return newer(dataset, r.Seq, "its format is version %d, this is version %d", r.Version, Version)
	case r.Prev != prev.Hash:
		return broken(dataset, r.Seq, "it does not follow the previous record")
	case r.Hash != r.Sum():
		return broken(dataset, r.Seq, "its contents do not match its hash")
	}
	return nil
}

// derive returns the key for one purpose. Keys are derived and not stored, so
// the one secret of a ledger is the one thing to keep and to move.
func derive(secret []byte, purpose, name string) [32]byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose + "\x00" + name))
	return [32]byte(m.Sum(nil))
}
