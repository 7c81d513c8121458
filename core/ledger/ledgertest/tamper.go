package ledgertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// edited shows a log other than the one that the store holds.
type edited struct {
	ledger.Store
	name    string
	records []ledger.Record
	head    ledger.Head
}

func (e edited) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	return e.Store.Update(ctx, func(tx ledger.Tx) error { return fn(editedTx{tx, e}) })
}

func (e edited) View(ctx context.Context, fn func(ledger.Tx) error) error {
	return e.Store.View(ctx, func(tx ledger.Tx) error { return fn(editedTx{tx, e}) })
}

type editedTx struct {
	ledger.Tx
	e edited
}

func (t editedTx) Head(name string) (ledger.Head, error) {
	if name == t.e.name {
		return t.e.head, nil
	}
	return t.Tx.Head(name)
}

// The edits here are those that the chain must notice by itself; codes have a test of
// their own.
func (t editedTx) Code(string) ([]byte, error)  { return nil, nil }
func (t editedTx) SetCode(string, []byte) error { return nil }

func (t editedTx) Records(name string, after int64) ([]ledger.Record, error) {
	if name != t.e.name {
		return t.Tx.Records(name, after)
	}
	var out []ledger.Record
	for _, r := range t.e.records {
		if r.Seq > after {
			out = append(out, r)
		}
	}
	return out, nil
}

// tampering edits a log of every kind of record in every way that the chain must
// notice, and asks Verify and Reserve.
func tampering(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	l := New(s)
	create(t, l, "log", "2")
	for i := range 4 {
		q := Spend("log", 0.125)
		q.Seed, q.Plan = new(uint64), fmt.Sprint("key", i)
		if i == 2 {
			q.Digest[0]++
			q.Updated = true
		} else if i == 3 {
			q.Digest[0]++
		}
		p, _, err := l.Reserve(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			err = l.Commit(ctx, p)
		case 1:
			err = l.Cancel(ctx, p)
		case 3:
			_, _, err = l.Reserve(ctx, q)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	foreign, err := l.Book(ctx, ledger.Booking{Dataset: "log", Event: Spend("log", 0.125).Event, By: "bob", Reason: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Grant(ctx, "log", "3", "", "more"),
		l.GrantShare(ctx, ledger.Share{Dataset: "log", Analyst: "ann", Epsilon: "3", Reason: "all"}),
		as(s, "eve").Approve(ctx, "log", foreign, "read"),
		l.Freeze(ctx, "log", "audit"), l.Unfreeze(ctx, "log", "done"),
		l.DeclarePublic(ctx, "log", "published")); err != nil {
		t.Fatal(err)
	}
	whole, err := l.Records(ctx, "log")
	if err != nil {
		t.Fatal(err)
	}
	last := whole[len(whole)-1]
	head := ledger.Head{Seq: last.Seq, Hash: last.Hash}

	convict := func(name string, records []ledger.Record, head ledger.Head) {
		t.Helper()
		bad := New(edited{s, "log", records, head})
		if err := bad.Verify(ctx, "log"); !errors.Is(err, ledger.ErrBroken) && !errors.Is(err, ledger.ErrNewer) {
			t.Errorf("%s: Verify says %v", name, err)
		}
		q := Spend("log", 0.125)
		q.Digest[0]++
		if _, _, err := bad.Reserve(ctx, q); !errors.Is(err, ledger.ErrBroken) && !errors.Is(err, ledger.ErrNewer) {
			t.Errorf("%s: Reserve says %v", name, err)
		}
	}
	if err := New(edited{s, "log", whole, head}).Verify(ctx, "log"); err != nil {
		t.Fatalf("an untouched log is convicted: %v", err)
	}
	for i := range whole {
		for name, edit := range map[string]func(*ledger.Record){
			"version": func(r *ledger.Record) { r.Version++ },
			"kind":    func(r *ledger.Record) { r.Kind = "audit" },
			"time":    func(r *ledger.Record) { r.Time += " " },
			"user":    func(r *ledger.Record) { r.User = "bob" },
			"body": func(r *ledger.Record) {
				r.Body = slices.Clone(r.Body)
				r.Body[len(r.Body)/2] ^= 1
			},
			"prev":    func(r *ledger.Record) { r.Prev[5] ^= 1 },
			"hash":    func(r *ledger.Record) { r.Hash[31] ^= 1 },
			"dataset": func(r *ledger.Record) { r.Dataset = "log2" },
			"seq":     func(r *ledger.Record) { r.Seq += 100 },
		} {
			records := slices.Clone(whole)
			edit(&records[i])
			convict(fmt.Sprintf("%s of record %d edited", name, i+1), records, head)
		}
		convict(fmt.Sprintf("record %d removed", i+1), slices.Delete(slices.Clone(whole), i, i+1), head)
		convict(fmt.Sprintf("record %d doubled", i+1), slices.Insert(slices.Clone(whole), i, whole[i]), head)
		if i > 0 {
			records := slices.Clone(whole)
			records[i-1], records[i] = records[i], records[i-1]
			convict(fmt.Sprintf("record %d moved", i+1), records, head)
		}
		convict(fmt.Sprintf("cut after %d records", i), whole[:i], head)
	}
	convict("head lost", whole, ledger.Head{})

	// A log written again from an edited record on is whole in itself; only a head
	// that was printed before tells.
	again := slices.Clone(whole)
	again[0].User = "bob"
	head = rechain(again)
	rewritten := New(edited{s, "log", again, head})
	if err := rewritten.Verify(ctx, "log"); err != nil {
		t.Errorf("the rewritten log was meant to be whole: %v", err)
	}
	if err := rewritten.Verify(ctx, "log", whole[2].Hash.String()); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("a rewritten log passes for the one whose head was printed: %v", err)
	}
	if err := l.Verify(ctx, "log", whole[2].Hash.String(), last.Hash.String()); err != nil {
		t.Errorf("printed heads are not found: %v", err)
	}

	// What is not understood is never skipped, even in a whole chain.
	for name, edit := range map[string]func(*ledger.Record){
		"unknown kind": func(r *ledger.Record) { r.Kind = "audit" },
		"unknown field": func(r *ledger.Record) {
			r.Body = append(slices.Clone(r.Body[:len(r.Body)-1]), `,"weight":2}`...)
		},
		"no JSON":   func(r *ledger.Record) { r.Body = json.RawMessage(`{`) },
		"more JSON": func(r *ledger.Record) { r.Body = append(slices.Clone(r.Body), '1') },
		"version":   func(r *ledger.Record) { r.Version = 2 },
	} {
		records := slices.Clone(whole)
		edit(&records[3])
		head := rechain(records)
		convict(name, records, head)
	}

	// Nor is a charge taken back that was committed (by record 4), one used that was
	// cancelled (by record 6), or anything done to an id that is not there.
	for _, wrong := range []struct {
		kind ledger.Kind
		body string
	}{
		{ledger.KindCancel, string(whole[3].Body)}, {ledger.KindCancel, `{"id":"none"}`},
		{ledger.KindCommit, string(whole[5].Body)}, {ledger.KindReplay, string(whole[5].Body)}, {ledger.KindCancel, string(whole[5].Body)},
	} {
		more := ledger.Record{Version: ledger.Version, Dataset: "log", Kind: wrong.kind, Time: last.Time, User: "ann", Body: json.RawMessage(wrong.body)}
		records := append(slices.Clone(whole), more)
		head := rechain(records)
		convict(fmt.Sprintf("%s of %s", wrong.kind, wrong.body), records, head)
	}

	// A process that has seen the whole log does not go on with an older copy of it.
	var shown edited
	switching := New(&shown)
	shown = edited{s, "log", whole, ledger.Head{Seq: last.Seq, Hash: last.Hash}}
	if _, err := figures.Show(ctx, switching, "log"); err != nil {
		t.Fatal(err)
	}
	older := whole[:len(whole)-2]
	shown.records, shown.head = older, rechain(older)
	for range 2 {
		if _, err := figures.Show(ctx, switching, "log"); !errors.Is(err, ledger.ErrBroken) {
			t.Errorf("an older copy of the log: %v", err)
		}
	}
}

// rechain makes edited records a whole chain again.
func rechain(records []ledger.Record) ledger.Head {
	for i := range records {
		records[i].Seq = int64(i) + 1
		if i > 0 {
			records[i].Prev = records[i-1].Hash
		}
		records[i].Hash = records[i].Sum()
	}
	last := records[len(records)-1]
	return ledger.Head{Seq: last.Seq, Hash: last.Hash}
}
