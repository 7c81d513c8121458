// Package memory keeps a ledger in memory.
package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pawl/core/ledger"
)

// Store is a ledger.Store that forgets everything when the process ends: for tests and
// simulations.
type Store struct {
	// Team makes PerUser false.
	Team bool

	mu      sync.Mutex
	records map[string][]ledger.Record
	secret  []byte
	codes   map[string][]byte
	prints  map[string]map[[32]byte][]byte // by data set and identity
}

// New returns an empty per-user store.
func New() *Store {
	m := &Store{records: map[string][]ledger.Record{}, codes: map[string][]byte{}, secret: make([]byte, 32), prints: map[string]map[[32]byte][]byte{}}
	rand.Read(m.secret)
	return m
}

// PerUser implements ledger.Store.
func (m *Store) PerUser() bool { return !m.Team }

// Close implements ledger.Store.
func (m *Store) Close() error { return nil }

// View implements ledger.Store.
func (m *Store) View(ctx context.Context, fn func(ledger.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrStore, err)
	}
	return fn(&tx{m: m, readOnly: true})
}

// Update implements ledger.Store.
func (m *Store) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrStore, err)
	}
	t := &tx{m: m, before: map[string]int{}}
	codes := maps.Clone(m.codes)
	done := false
	defer func() {
		if !done { // an error or a panic
			for name, n := range t.before {
				m.records[name] = m.records[name][:n]
			}
			m.codes = codes
			for _, k := range t.kept {
				delete(m.prints[k.dataset], k.identity)
			}
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	done = true
	return nil
}

type tx struct {
	m        *Store
	readOnly bool
	before   map[string]int // length of each log that was appended to
	kept     []kept
}

type kept struct {
	dataset  string
	identity [32]byte
}

func (t *tx) Names() ([]string, error) {
	var names []string
	for name, records := range t.m.records {
		if len(records) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (t *tx) Head(dataset string) (ledger.Head, error) {
	records := t.m.records[dataset]
	if len(records) == 0 {
		return ledger.Head{}, nil
	}
	last := records[len(records)-1]
	return ledger.Head{Seq: last.Seq, Hash: last.Hash}, nil
}

func (t *tx) Records(dataset string, after int64) ([]ledger.Record, error) {
	records := t.m.records[dataset]
	return slices.Clone(records[min(max(after, 0), int64(len(records))):]), nil
}

func (t *tx) Append(r ledger.Record) error {
	head, _ := t.Head(r.Dataset)
	if t.readOnly || r.Seq != head.Seq+1 {
		return fmt.Errorf("%w: record %d cannot be appended after record %d", ledger.ErrStore, r.Seq, head.Seq)
	}
	if _, seen := t.before[r.Dataset]; !seen {
		t.before[r.Dataset] = len(t.m.records[r.Dataset])
	}
	t.m.records[r.Dataset] = append(t.m.records[r.Dataset], r)
	return nil
}

func (t *tx) Secret() ([]byte, error) { return slices.Clone(t.m.secret), nil }

func (t *tx) Code(dataset string) ([]byte, error) { return t.m.codes[dataset], nil }

func (t *tx) SetCode(dataset string, code []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a code in a read-only transaction", ledger.ErrStore)
	}
	t.m.codes[dataset] = slices.Clone(code)
	return nil
}

func (t *tx) Adopt(secret []byte) error {
	if t.readOnly || len(t.m.records) > 0 {
		return fmt.Errorf("%w: its secret never changes", ledger.ErrStore)
	}
	t.m.secret = slices.Clone(secret)
	return nil
}

func (t *tx) KeepPrint(dataset string, identity [32]byte, print []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a print in a read-only transaction", ledger.ErrStore)
	}
	if t.m.prints[dataset] == nil {
		t.m.prints[dataset] = map[[32]byte][]byte{}
	}
	if t.m.prints[dataset][identity] == nil {
		t.m.prints[dataset][identity] = slices.Clone(print)
		t.kept = append(t.kept, kept{dataset, identity})
	}
	return nil
}

func (t *tx) Prints(dataset string) (prints [][]byte, err error) {
	identities := slices.SortedFunc(maps.Keys(t.m.prints[dataset]), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range identities {
		prints = append(prints, slices.Clone(t.m.prints[dataset][id]))
	}
	return prints, nil
}
