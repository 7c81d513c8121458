package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Heads is a second place, apart from the store, that remembers what this machine has seen of the
// ledger at one address. If the store was deleted, replaced or restored from an old copy, Heads
// still remembers. It decides nothing.
type Heads interface {
	// Known returns the key id of the ledger last seen at the address, or "".
	Known() (keyID string, err error)
	// Read returns what was seen of the ledger with a key, at any address; ok is false if nothing was.
	Read(keyID string) (seen Seen, ok bool, err error)
	// Keep stores durably that the ledger with a key is at the address, and what was seen of it. An
	// older head never replaces a newer one, also with concurrent callers.
	Keep(keyID string, seen Seen) error
	// Replace is Keep that also accepts older heads, after somebody has reconciled them.
	Replace(keyID string, seen Seen) error
}

// Seen is what a second place remembers of one ledger.
type Seen struct {
	// Codes reports that its heads have authentication codes, so a missing code was removed.
	Codes bool
	// Heads are the newest ones, by data set.
	Heads map[string]Head
}

// Located is a Store at an address where it may be replaced while it is open. A Ledger checks it
// before it decides.
type Located interface {
	// Same returns an error if the address no longer holds what was opened. It is fast, and detects a
	// file that was deleted or swapped, but not one that was overwritten.
	Same(ctx context.Context) error
	// Fresh opens what the address holds now, through the address and not through the open store. It
	// creates nothing.
	Fresh(ctx context.Context) (Store, error)
}

// ErrContradicted: the ledger at the address differs from what this machine has seen there. It
// comes with ErrRefused.
var ErrContradicted = errors.New("the ledger differs from what this machine has seen")

// faultError is a fault of a log or its store, with what to do about it.
type faultError struct {
	text string
	is   []error
	hint string
}

func (e *faultError) Error() string   { return e.text }
func (e *faultError) Hint() string    { return e.hint }
func (e *faultError) Unwrap() []error { return e.is }

// contradicted is a ledger that contradicts the head that this machine stored, as a whole where
// dataset is "". It wraps ErrContradicted and ErrRefused.
func contradicted(dataset, format string, args ...any) error {
	text := fmt.Sprintf("%v: %s", ErrContradicted, fmt.Sprintf(format, args...))
	if dataset != "" {
		text = fmt.Sprintf("data set %q: %s", dataset, text)
	}
	return &faultError{text, []error{ErrContradicted, ErrRefused},
		"restore the newest ledger (a backup, or pawl ledger import of an export with its secret); to continue with the present one, give a reason: pawl ledger reconcile --reason WHY"}
}

// miscoded is a head whose authentication code is wrong or missing. It wraps ErrBroken.
func miscoded(dataset, what string) error {
	if dataset != "" {
		what = fmt.Sprintf("data set %q: %s", dataset, what)
	}
	return &faultError{fmt.Sprintf("%v: %s", ErrBroken, what), []error{ErrBroken},
		"restore the newest backup; if an older version of pawl wrote to this ledger, record that: pawl ledger reconcile --reason WHY, and use one version"}
}

// Missing returns an error if a new ledger is about to be made at an address where another ledger
// was. Call it if there is no ledger, before one is made; nil heads give nil.
func Missing(heads Heads) error {
	if heads == nil {
		return nil
	}
	known, err := heads.Known()
	if err != nil || known == "" {
		return nil // what cannot be read warns when the ledger is opened
	}
	return contradicted("", "it was deleted or moved: there is none at its address, where ledger %s was", known)
}
