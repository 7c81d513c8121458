package sealed

import (
	"encoding/hex"
	"fmt"
	"log/slog"

	"pawl/core/entropy"
)

const redactedKey = "sealed.Key(redacted)"

// Key is the secret by which the units of one data set are assigned to scopes, and the right to
// seal its rows. The ledger makes one for each data set and never changes it, so a unit never
// changes its scope. Code outside core can neither read it nor make one that opens sensitive rows.
type Key struct {
	dataset    string
	id         string // public: tells keys apart and nothing about them
	simulation bool
	// Functions for the reason given at Rows.
	scope, print func() [32]byte
}

// NewKey wraps the scope key of a data set and the key of the ledger's prints, by which the ledger
// recognises copies among all its data sets.
func NewKey(dataset string, scope, print [32]byte) *Key {
	return newKey(dataset, scope, print, false)
}

// NewSimulationKey returns a key that anybody can know: rows sealed under it open only if the data
// set is public. Every seed gives another assignment of units to scopes.
func NewSimulationKey(dataset string, seed uint64) *Key {
	var secret [32]byte
	if _, err := entropy.Seeded(seed).Split("scopes").Read(secret[:]); err != nil {
		panic("sealed: " + err.Error()) // a stream never ends
	}
	return newKey(dataset, secret, [32]byte{}, true)
}

func newKey(dataset string, scope, print [32]byte, simulation bool) *Key {
	id := entropy.Derive(scope, "name of a scope key")
	return &Key{dataset: dataset, id: hex.EncodeToString(id[:8]), simulation: simulation,
		scope: func() [32]byte { return scope }, print: func() [32]byte { return print }}
}

// Dataset returns the name whose budget pays for rows sealed with the key.
func (k *Key) Dataset() string { return k.dataset }

// ScopeSecret returns the key itself, for the package that hashes units.
func ScopeSecret(k *Key) [32]byte { return k.scope() }

// PrintSecret returns the key of prints, and whether there is one: simulations have none.
func PrintSecret(k *Key) (secret [32]byte, ok bool) { return k.print(), !k.simulation }

// Assignment names a way to assign units to scopes. Events of two jobs compose in parallel over
// disjoint scopes only if the assignment is the same; otherwise a unit may lie in the most
// expensive scope of each, and their costs add up. It is public.
type Assignment struct {
	// Key names the scope key.
	Key string
	// Rule defines the units: the column of their identifier or, if units are rows, the version of the
	// data, a keyed digest of all records, because running numbers among equal records belong to one
	// version (see intake).
	Rule string
}

// IsZero reports whether the assignment is unknown: rows of a test, or of an older version.
func (a Assignment) IsZero() bool { return a == Assignment{} }

// String returns the name under which the ledger records the assignment, "" for none.
func (a Assignment) String() string {
	if a.IsZero() {
		return ""
	}
	return a.Rule + " under " + a.Key
}

func (k *Key) String() string               { return redactedKey }
func (k *Key) Format(f fmt.State, _ rune)   { fmt.Fprint(f, redactedKey) }
func (k *Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redactedKey + `"`), nil }
func (k *Key) MarshalText() ([]byte, error) { return []byte(redactedKey), nil }
func (k *Key) LogValue() slog.Value         { return slog.StringValue(redactedKey) }
