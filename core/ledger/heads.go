package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Heads is a second place, apart from the store, that remembers what this machine has
// seen of the ledger at one address. What the store lost (it was deleted, replaced or
// restored from an old copy) is still there. A Heads decides nothing.
type Heads interface {
	// Known returns the key id of the ledger that was last seen at the address, or "".
	Known() (keyID string, err error)
	// Read returns what was seen of the ledger of a key, wherever it stood; ok is false
	// where nothing was.
	Read(keyID string) (seen Seen, ok bool, err error)
	// Keep remembers durably that the ledger of a key stands at the address, and what
	// was seen of it. A head never gives way to an older one, whoever calls at once.
	Keep(keyID string, seen Seen) error
	// Replace is Keep by which heads may go back: somebody has reconciled them.
	Replace(keyID string, seen Seen) error
}

// Seen is what was seen of one ledger.
type Seen struct {
	// Codes: its heads have authentication codes, so that one that is missing was
	// taken away.
	Codes bool
	// Heads are the newest ones, by data set.
	Heads map[string]Head
}

// Located is a Store at an address where something else may be put in its place while
// it is open. A Ledger asks one before it decides.
type Located interface {
	// Same returns an error when the address no longer holds what was opened. It is
	// cheap, and sees that a file was deleted or swapped, not that it was written over.
	Same(ctx context.Context) error
	// Fresh opens what the address holds now, through the address and not through what
	// is open already. It creates nothing.
	Fresh(ctx context.Context) (Store, error)
}

// ErrContradicted: what stands at the ledger's address is not what this machine has seen
// there. It comes with ErrRefused.
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

// Missing refuses to begin a new ledger at an address where another one stood. It is
// asked where there is no ledger, before one is made; nil heads know nothing.
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
