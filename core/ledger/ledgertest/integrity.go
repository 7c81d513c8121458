package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/store/memory"
)

// Place is a second place in memory. It implements ledger.Heads.
type Place struct {
	mu    sync.Mutex
	At    string
	Seen  map[string]ledger.Seen
	Fails error // of every call
}

// NewPlace returns a place that has seen nothing.
func NewPlace() *Place { return &Place{Seen: map[string]ledger.Seen{}} }

// Known implements ledger.Heads.
func (p *Place) Known() (string, error) { p.mu.Lock(); defer p.mu.Unlock(); return p.At, p.Fails }

// Read implements ledger.Heads.
func (p *Place) Read(id string) (ledger.Seen, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, ok := p.Seen[id]
	return ledger.Seen{Codes: seen.Codes, Heads: maps.Clone(seen.Heads)}, ok, p.Fails
}

// Keep implements ledger.Heads.
func (p *Place) Keep(id string, seen ledger.Seen) error { return p.write(id, seen, false) }

// Replace implements ledger.Heads.
func (p *Place) Replace(id string, seen ledger.Seen) error { return p.write(id, seen, true) }

func (p *Place) write(id string, seen ledger.Seen, back bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.Seen[id]
	if old.Heads == nil {
		old.Heads = map[string]ledger.Head{}
	}
	old.Codes = old.Codes || seen.Codes
	for name, h := range seen.Heads {
		if back || h.Seq > old.Heads[name].Seq {
			old.Heads[name] = h
		}
	}
	p.At, p.Seen[id] = id, old
	return p.Fails
}

// withCodes is edited with codes: those of the store, or others.
type withCodes struct {
	ledger.Store
	records []ledger.Record // nil: those of the store
	head    ledger.Head
	without map[string]bool // data sets whose code is gone; "": the mark
	wrong   map[string]bool // whose code is that of something else
}

func (e *withCodes) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	return e.Store.Update(ctx, func(tx ledger.Tx) error { return fn(codedTx{tx, e}) })
}

func (e *withCodes) View(ctx context.Context, fn func(ledger.Tx) error) error {
	return e.Store.View(ctx, func(tx ledger.Tx) error { return fn(codedTx{tx, e}) })
}

type codedTx struct {
	ledger.Tx
	e *withCodes
}

func (t codedTx) Head(name string) (ledger.Head, error) {
	if t.e.records != nil && name == "log" {
		return t.e.head, nil
	}
	return t.Tx.Head(name)
}

func (t codedTx) Records(name string, after int64) ([]ledger.Record, error) {
	if t.e.records == nil || name != "log" {
		return t.Tx.Records(name, after)
	}
	return editedTx{t.Tx, edited{name: name, records: t.e.records}}.Records(name, after)
}

func (t codedTx) Code(name string) ([]byte, error) {
	code, err := t.Tx.Code(name)
	switch {
	case t.e.without[name]:
		return nil, err
	case t.e.wrong[name]:
		return bytes.Repeat([]byte{7}, len(code)), err
	}
	return code, err
}

// codes edits logs so that their chains hold, and takes codes away.
func codes(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	l := New(s)
	create(t, l, "log", "2")
	create(t, l, "beside", "1")
	for _, epsilon := range []string{"3", "4"} {
		if err := l.Grant(ctx, "log", epsilon, "", "more"); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := l.Records(ctx, "log")
	if err != nil {
		t.Fatal(err)
	}
	rewritten := slices.Clone(whole)
	rewritten[1].User = "bob"
	forged := append(slices.Clone(whole), whole[2])
	forged[3].User = "bob"
	sees := func(name string, e withCodes, want error) {
		t.Helper()
		e.Store = s
		if e.records != nil {
			e.head = rechain(e.records)
		}
		bad := New(&e)
		if err := bad.Verify(ctx, "log"); !errors.Is(err, want) {
			t.Errorf("%s: Verify says %v, want %v", name, err, want)
		}
		if _, err := figures.Show(ctx, bad, "log"); !errors.Is(err, want) {
			t.Errorf("%s: Show says %v, want %v", name, err, want)
		}
		if want == nil {
			return
		}
		if _, _, err := bad.Reserve(ctx, Spend("log", 0.125)); !errors.Is(err, want) {
			t.Errorf("%s: Reserve says %v, want %v", name, err, want)
		}
	}
	sees("as it is", withCodes{}, nil)
	sees("cut, with its head", withCodes{records: slices.Clone(whole[:2])}, ledger.ErrBroken)
	sees("written again", withCodes{records: rewritten}, ledger.ErrBroken)
	sees("a record more", withCodes{records: forged}, ledger.ErrBroken)
	sees("code gone", withCodes{without: map[string]bool{"log": true}}, ledger.ErrBroken)
	sees("code wrong", withCodes{wrong: map[string]bool{"log": true}}, ledger.ErrBroken)
	sees("mark wrong", withCodes{wrong: map[string]bool{"": true}}, ledger.ErrBroken)
	if err := New(&withCodes{Store: s, without: map[string]bool{"beside": true}}).Verify(ctx, "log"); err != nil {
		t.Errorf("another data set's fault is this one's: %v", err)
	}
	// A ledger of before has none, and gets them at its next booking. Only the second
	// place can tell one whose codes were all taken away.
	none := map[string]bool{"": true, "log": true, "beside": true}
	sees("no codes at all", withCodes{without: none}, nil)
	place := NewPlace()
	remembering := func(s ledger.Store) *ledger.Ledger {
		return ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: place})
	}
	if err := remembering(s).Verify(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	if err := remembering(&withCodes{Store: s, without: none}).Verify(ctx, "log"); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("codes that were taken away: %v", err)
	}
}

// losing shows a ledger less than it has booked, and goes on all the same when told why.
func losing(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	place := NewPlace()
	var warned []string
	open := func(s ledger.Store) *ledger.Ledger {
		return ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: place, Warn: func(text string) { warned = append(warned, text) }})
	}
	l := open(s)
	create(t, l, "log", "1")
	create(t, l, "beside", "1")
	p, receipt, err := l.Reserve(ctx, Spend("log", 0.5))
	if err != nil {
		t.Fatal(err)
	}
	held, err := l.Held(p)
	if err != nil || held.Entry != receipt.ID || held.Dataset != "log" || held.Epsilon == nil {
		t.Fatalf("held %+v, %v", held, err)
	}
	if err := errors.Join(l.Commit(ctx, p), l.Confirm(ctx, p)); err != nil {
		t.Fatal(err)
	}
	if len(warned) > 0 {
		t.Errorf("a new ledger warns: %q", warned)
	}
	// The same without the reservation, its code right: a backup.
	backup := memory.New()
	copyLog(t, s, backup, "log", 1)
	copyLog(t, s, backup, "beside", 1)
	if _, err := New(backup).Reconcile(ctx, ledger.Reconcile{Reason: "makes its codes"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := figures.Show(ctx, open(backup), "log")
		if !errors.Is(err, ledger.ErrContradicted) || !errors.Is(err, ledger.ErrRefused) {
			t.Fatalf("a backup of before: %v", err)
		}
		if _, _, err := open(backup).Reserve(ctx, Spend("log", 0.5)); !errors.Is(err, ledger.ErrContradicted) {
			t.Errorf("a reservation on it: %v", err)
		}
	}
	if _, err := figures.Show(ctx, open(backup), "beside"); err != nil {
		t.Errorf("a data set that lost nothing: %v", err)
	}
	// A new ledger where this one was.
	other := memory.New()
	if err := open(other).Create(ctx, ledger.Budget{Dataset: "log", Epsilon: "9", Delta: "1e-6", Relation: 1}); !errors.Is(err, ledger.ErrContradicted) {
		t.Errorf("another ledger at the address: %v", err)
	}
	// The original is still itself.
	if err := l.Verify(ctx, "log"); err != nil {
		t.Errorf("the ledger that is whole: %v", err)
	}
	if err := l.Confirm(ctx, p); err != nil {
		t.Errorf("confirm: %v", err)
	}

	nothing, err := open(s).Reconcile(ctx, ledger.Reconcile{Reason: "none"})
	if err != nil || len(nothing.Datasets) > 0 {
		t.Errorf("reconciled for nothing: %+v, %v", nothing, err)
	}
	if _, err := open(backup).Reconcile(ctx, ledger.Reconcile{}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("reconciled without a reason: %v", err)
	}
	again := open(backup)
	done, err := again.Reconcile(ctx, ledger.Reconcile{Reason: "restored", Held: &held})
	if err != nil || !done.Booked || !slices.Equal(done.Datasets, []string{"log"}) {
		t.Fatalf("reconciled %+v, %v", done, err)
	}
	view, err := figures.Show(ctx, open(backup), "log")
	if err != nil || len(view.Entries) != 1 || view.Spent.Epsilon != 0.5 || view.Entries[0].ID != held.Entry || view.Entries[0].Rebooked == nil ||
		len(view.Reconciled) != 1 || view.Reconciled[0].Reason != "restored" || len(view.Reconciled[0].Seen) != 1 || view.Reconciled[0].Seen[0].Seq != 4 {
		t.Errorf("after it: %+v, %v", view, err)
	}
	done, err = open(backup).Reconcile(ctx, ledger.Reconcile{Reason: "twice", Held: &held})
	if err != nil || done.Booked || len(done.Datasets) > 0 {
		t.Errorf("the second time: %+v, %v", done, err)
	}
	// Now the first contradicts, and says so.
	if _, err := figures.Show(ctx, open(s), "log"); !errors.Is(err, ledger.ErrContradicted) {
		t.Errorf("the ledger that was given up: %v", err)
	}
	if _, err := open(s).Reconcile(ctx, ledger.Reconcile{Reason: "back to it"}); err != nil {
		t.Errorf("back to it: %v", err)
	}
	if err := errors.Join(open(s).Verify(ctx, "log"), open(s).Verify(ctx, "beside")); err != nil {
		t.Errorf("after it: %v", err)
	}
	// In a new ledger the entry brings its data set, unit and budget with it.
	if done, err = open(other).Reconcile(ctx, ledger.Reconcile{Reason: "lost", Held: &held}); err != nil || !done.Booked {
		t.Fatalf("in a new ledger: %+v, %v", done, err)
	}
	view, err = figures.Show(ctx, open(other), "log")
	if err != nil || view.Unit != "row" || view.Total.Epsilon != 1 || view.Spent.Epsilon != 0.5 || view.Public {
		t.Errorf("in a new ledger: %+v, %v", view, err)
	}
	if _, _, err := open(other).Reserve(ctx, Spend("log", 0.75)); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("a budget was granted afresh: %v", err)
	}
	if len(warned) > 0 {
		t.Errorf("warned %q", warned)
	}
	if _, err := open(s).Reconcile(ctx, ledger.Reconcile{Reason: "for the checks that follow"}); err != nil {
		t.Error(err)
	}
}

// copyLog copies the first n records of a log, with the secret, into a store as an
// earlier version would have left it.
func copyLog(t *testing.T, from ledger.Store, to *memory.Store, name string, n int) {
	t.Helper()
	ctx := context.Background()
	err := from.View(ctx, func(src ledger.Tx) error {
		records, err := src.Records(name, 0)
		if err != nil {
			return err
		}
		secret, err := src.Secret()
		if err != nil {
			return err
		}
		return to.Update(ctx, func(dst ledger.Tx) error {
			if names, _ := dst.Names(); len(names) == 0 {
				if err := dst.Adopt(secret); err != nil {
					return err
				}
			}
			for _, r := range records[:n] {
				if err := dst.Append(r); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// beside lets ledgers with one second place book and read at once, as processes do.
func beside(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	place := NewPlace()
	warn := func(text string) { t.Errorf("warned: %s", text) }
	first := ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: place, Warn: warn})
	create(t, first, "d", "1")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				l := ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: place, Warn: warn})
				p, _, err := l.Reserve(ctx, Spend("d", 0.03125))
				if err == nil {
					err = errors.Join(l.Commit(ctx, p), l.Confirm(ctx, p))
				}
				if err == nil {
					_, err = figures.Show(ctx, l, "d")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	// create, register, and twenty reservations with their commits
	if id, _ := place.Known(); place.Seen[id].Heads["d"].Seq != 42 || !place.Seen[id].Codes {
		t.Errorf("the second place holds %+v", place.Seen[id])
	}
	// A place that fails warns once and stops nobody.
	warned := 0
	broken := &Place{Seen: map[string]ledger.Seen{}, Fails: errors.New("no such disk")}
	l := ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: broken, Warn: func(string) { warned++ }})
	for range 3 {
		if _, _, err := l.Reserve(ctx, Spend("d", 0.03125)); err != nil {
			t.Error(err)
		}
	}
	if warned != 1 {
		t.Errorf("warned %d times, want once", warned)
	}
	// One that has forgotten warns once, of a ledger that is not new.
	warned = 0
	l = ledger.New(s, Sum{}, ledger.Options{User: "ann", Heads: NewPlace(), Warn: func(string) { warned++ }})
	for range 2 {
		if _, err := figures.Show(ctx, l, "d"); err != nil || warned != 1 {
			t.Errorf("%v, warned %d times", err, warned)
		}
	}
}
