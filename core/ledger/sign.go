package ledger

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pawl/core/dp"
)

// PublicKey is the public part of a ledger's signing key; text form is ed25519: and base64.
type PublicKey []byte

const keyPrefix = "ed25519:"

// String returns the text form.
func (k PublicKey) String() string { return keyPrefix + base64.StdEncoding.EncodeToString(k) }

// MarshalText implements encoding.TextMarshaler.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *PublicKey) UnmarshalText(text []byte) error {
	coded, ok := strings.CutPrefix(string(text), keyPrefix)
	raw, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return invalid("a ledger's key is %s and %d bytes in base64, as pawl ledger key prints it", keyPrefix, ed25519.PublicKeySize)
	}
	*k = raw
	return nil
}

// signer is the private key. It follows from the ledger's secret, like every key: a ledger of
// an earlier version has one too, and a ledger that moves with its secret keeps it.
func signer(secret []byte) ed25519.PrivateKey {
	seed := derive(secret, "pawl signing key", "")
	return ed25519.NewKeyFromSeed(seed[:])
}

// PublicKey returns the key under which the ledger's signatures are checked.
func (l *Ledger) PublicKey(ctx context.Context) (PublicKey, error) {
	secret, err := l.secret(ctx)
	if err != nil {
		return nil, err
	}
	return PublicKey(signer(secret).Public().(ed25519.PublicKey)), nil
}

// Signature is a ledger's signature on released files. It states that Record, in the log of its
// data set, is the charge that paid for files with these digests, under this unit and relation. The
// record's hash covers all earlier records, so this is a signed head of the log as well.
type Signature struct {
	Version int        `json:"pawl_signature"`
	Ledger  string     `json:"ledger"` // public name of the secret (Ledger.KeyID)
	Key     PublicKey  `json:"public_key"`
	Record  exportLine `json:"record"`
	Terms
	Files     map[string]Hash `json:"files"` // SHA-256 by name, with / between folders
	Signature []byte          `json:"signature"`
}

// signatureVersion is the version of the format.
const signatureVersion = 1

// message is what is signed: a domain name and every field, each preceded by its length.
func (s *Signature) message() []byte {
	buf := appendFields(nil, "pawl ledger signature", fmt.Sprintf("%d %d %d %t", s.Version, s.Record.Seq, s.RowsPerUnit, s.Public),
		s.Ledger, s.Record.Dataset, string(s.Record.Hash[:]), s.Unit, s.Relation.String())
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		digest := s.Files[name]
		buf = appendFields(buf, name, string(digest[:]))
	}
	return buf
}

// Sign signs the files that a committed entry paid for. Call Confirm first.
func (l *Ledger) Sign(ctx context.Context, dataset, id string, files map[string]Hash) (*Signature, error) {
	out := &Signature{Version: signatureVersion, Files: files}
	var secret []byte
	err := l.read(ctx, func(t *txn) error {
		s, err := t.load(dataset)
		if err != nil {
			return err
		}
		e := s.byID[id]
		if !s.known() {
			return unknown(dataset)
		}
		if e == nil || e.State != Committed {
			return invalid("entry %s of data set %q is not committed, so nothing is signed for it", id, dataset)
		}
		records, err := t.Records(dataset, e.seq-1)
		if err != nil || len(records) == 0 {
			return errors.Join(err, unknown(dataset))
		}
		secret, out.Ledger, out.Record = l.self.secret, l.self.id, exportLine{Record: records[0], Body: string(records[0].Body)}
		out.Terms = s.Terms
		return nil
	})
	if err != nil {
		return nil, err
	}
	key := signer(secret)
	out.Key = PublicKey(key.Public().(ed25519.PublicKey))
	out.Signature = ed25519.Sign(key, out.message())
	return out, nil
}

// ReadSignature reads a signature from JSON. It checks nothing.
func ReadSignature(text []byte) (*Signature, error) {
	s := &Signature{}
	if err := versioned(text, "pawl_signature", signatureVersion, "a", "signature", s); err != nil {
		return nil, err
	}
	s.Record.Record.Body = json.RawMessage(s.Record.Body)
	return s, nil
}

// Check verifies the signature under the key that it names, and that the record has the hash that was signed.
// It cannot tell who owns the key.
func (s *Signature) Check() error {
	switch {
	case len(s.Key) != ed25519.PublicKeySize || !ed25519.Verify(ed25519.PublicKey(s.Key), s.message(), s.Signature):
		return fmt.Errorf("%w: the signature does not match the signed record, or was made with another key", ErrBroken)
	case s.Record.Version != Version:
		return newer(s.Record.Dataset, s.Record.Seq, "its format is version %d, this is version %d", s.Record.Version, Version)
	case s.Record.Sum() != s.Record.Hash:
		return broken(s.Record.Dataset, s.Record.Seq, "its contents do not match its hash, which was signed")
	}
	return nil
}

// Charge returns the entry and the event of the signed record, and the largest number of rows per
// unit. It fills only these fields of the entry: ID, Stages (in the order of their events) and
// NotPrivate.
func (s *Signature) Charge() (booked Entry, event dp.Event, rows int, err error) {
	r, state := &s.Record.Record, newState(s.Record.Dataset)
	if slices.Contains([]Kind{KindReserve, KindBook, KindReconcile}, r.Kind) {
		err = kinds[r.Kind](state, r)
	}
	if err == nil && len(state.entries) != 1 {
		err = broken(r.Dataset, r.Seq, "it charges nothing: its kind is %q", r.Kind)
	}
	if err != nil {
		return Entry{}, nil, 0, err
	}
	e := state.entries[0]
	if rows = e.RowsPerUnit; rows == 0 {
		rows = s.RowsPerUnit // an older record leaves it to the budget
	}
	return Entry{Reservation: Reservation{ID: e.ID, Stages: e.Stages, NotPrivate: e.NotPrivate}}, e.event, rows, nil
}
