package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

// What Foretell says Reserve does, whatever the request and the log, and it leaves no
// trace.
func TestForetellIsReserve(t *testing.T) {
	ctx := context.Background()
	secret, err := entropy.NewSecret()
	must(t, err)
	rapid.Check(t, func(t *rapid.T) {
		store := memory.New()
		store.Team = rapid.Bool().Draw(t, "team")
		steward := user(store, "steward")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			// What a steward does may be refused; then it did not happen.
			switch rapid.IntRange(0, 11).Draw(t, "steward") {
			case 0, 1:
				_ = steward.Create(ctx, ledger.Budget{Dataset: name, Epsilon: rapid.SampledFrom([]string{"0.5", "2"}).Draw(t, "budget"), Delta: "1e-6",
					Unit: rapid.SampledFrom([]string{"", "row", "person"}).Draw(t, "budget's unit"), Relation: dp.AddOrRemoveOne})
			case 2:
				_ = steward.Freeze(ctx, name, "why")
			case 3, 4:
				_ = steward.Unfreeze(ctx, name, "why")
			case 5:
				_ = steward.GrantShare(ctx, ledger.Share{Dataset: name, Analyst: "ann", Epsilon: "0.5", Reason: "why"})
			case 6:
				_ = steward.DeclarePublic(ctx, name, "why")
			}
			q := ledgertest.Spend(name, rapid.SampledFrom([]float64{0.125, 0.25, 1}).Draw(t, "epsilon"))
			q.Digest = make([]byte, 32)
			q.Digest[0] = byte(rapid.IntRange(0, 2).Draw(t, "bytes")) // 0 was not computed
			q.Relation = rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.AddOrRemoveOne, dp.ReplaceOne}).Draw(t, "relation")
			q.Unit = rapid.SampledFrom([]string{"row", "row", "person"}).Draw(t, "unit")
			q.UnitColumn = rapid.SampledFrom([]string{"", "", "id"}).Draw(t, "column")
			q.RowsPerUnit = rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "rows")
			q.Epsilon = rapid.SampledFrom([]string{"1", "1", "11", "many"}).Draw(t, "asked")
			q.Delta = rapid.SampledFrom([]string{"1e-6", "1e-6", "0.5"}).Draw(t, "delta")
			q.Public, q.Updated = rapid.Bool().Draw(t, "public"), rapid.Bool().Draw(t, "updated")
			switch rapid.IntRange(0, 3).Draw(t, "origin") {
			case 0:
				q.Seed = new(uint64)
			case 1:
				q.Replay = &ledger.Replay{Secret: secret, Of: []byte("k")}
			}
			l := user(store, rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"))

			before := records(t, l)
			v, foretold := figures.Foretell(ctx, l, q)
			if d := cmp.Diff(before, records(t, l)); d != "" {
				t.Fatalf("foretelling left something in the log: %s", d)
			}
			_, receipt, err := l.Reserve(ctx, q)
			if fmt.Sprint(foretold) != fmt.Sprint(err) || errors.Is(foretold, ledger.ErrRefused) != errors.Is(err, ledger.ErrRefused) {
				t.Fatalf("foretold %v, and Reserve says %v", foretold, err)
			}
			if err != nil {
				continue
			}
			receipt.ID, receipt.Head = "", ledger.Hash{}
			if receipt.SelfGrant { // by each in its own moment
				receipt.Grant.At, v.Grant.At = "", ""
			}
			if fmt.Sprint(v.Receipt) != fmt.Sprint(receipt) { // amounts as they are written
				t.Fatalf("foretold %+v, and Reserve books %+v", v.Receipt, receipt)
			}
			st, err := figures.Show(ctx, l, name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(v.After, st.Standing); d != "" {
				t.Fatalf("the standing was foretold otherwise: %s", d)
			}
		}
	})
}

func records(t *rapid.T, l *ledger.Ledger) []ledger.Record {
	names, err := l.Names(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var all []ledger.Record
	for _, n := range names {
		r, err := l.Records(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r...)
	}
	return all
}

// One Ledger that foretells and books goes on as if it had not foretold.
func TestForetellLeavesTheLedgerAlone(t *testing.T) {
	ctx, l := context.Background(), user(memory.New(), "ann")
	must(t, l.Create(ctx, budget("d", "1")))
	for range 3 {
		v, err := figures.Foretell(ctx, l, ledgertest.Spend("d", 0.75))
		must(t, err)
		if v.After.Left.Epsilon != 0.25 || v.ID != "" {
			t.Fatalf("foretold %+v", v)
		}
	}
	p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.75))
	must(t, err)
	_, err = figures.Foretell(ctx, l, ledgertest.Spend("d", 0.75))
	refused(t, err, "exhausted", "")
	must(t, l.Cancel(ctx, p))
	_, err = figures.Foretell(ctx, l, ledgertest.Spend("d", 0.75))
	must(t, err)
}

func TestForetellNamesTheSameBytes(t *testing.T) {
	ctx, l := context.Background(), user(memory.New(), "ann")
	q := ledgertest.Spend("a", 0.5)
	_, _, err := l.Reserve(ctx, q)
	must(t, err)
	q.Dataset = "b"
	_, err = figures.Foretell(ctx, l, q)
	refused(t, err, `registered as the sensitive data set "a"`, "use that name")
	if ledger.NoBudget(err) {
		t.Error("and no budget mends that")
	}
}

func TestLargeDeltas(t *testing.T) {
	ctx, l := context.Background(), user(memory.New(), "ann")
	large := ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "0.9", Relation: dp.AddOrRemoveOne}
	refused(t, l.Create(ctx, large), "more than one unit in a hundred", "--allow-large-delta")
	q := ledgertest.Spend("d", 0.5)
	q.Delta = "0.011"
	_, _, err := l.Reserve(ctx, q)
	refused(t, err, "more than the 0.01 that users may grant themselves", "pawl ledger create d --epsilon 1 --delta 0.011 --allow-large-delta")
	if !ledger.NoBudget(err) {
		t.Error("a grant would mend that")
	}
	large.AllowLargeDelta = true
	must(t, l.Create(ctx, large))
	must(t, l.Grant(ctx, "d", "1", "0.95", "it was large before"))
	edge := ledger.Budget{Dataset: "edge", Epsilon: "1", Delta: "0.0100", Relation: dp.AddOrRemoveOne}
	must(t, l.Create(ctx, edge))
	refused(t, l.Grant(ctx, "edge", "2", "0.02", "more"), "more than one unit in a hundred", "leave out --delta")
}

// A View is a copy: whoever changes what it gives out changes no budget and no entry.
func TestViewSharesNothing(t *testing.T) {
	ctx, l := context.Background(), user(memory.New(), "ann")
	must(t, l.Create(ctx, budget("d", "1")))
	q := ledgertest.Spend("d", 0.75)
	q.Event = dp.Compose{Events: []dp.Event{q.Event}}
	_, _, err := l.Reserve(ctx, q)
	must(t, err)
	v, err := l.View(ctx, "d")
	must(t, err)
	v.Budget().Epsilon.Rat().SetInt64(1000)
	for _, e := range v.Entries() {
		e.Charged.Event.(dp.Compose).Events[0] = dp.NoOp{}
		clear(e.Event)
	}
	_, _, err = l.Reserve(ctx, ledgertest.Spend("d", 0.5))
	refused(t, err, "exhausted", "")
	again, err := l.View(ctx, "d")
	must(t, err)
	if _, changed := again.Entries()[0].Charged.Event.(dp.Compose).Events[0].(dp.NoOp); changed || again.Budget().Epsilon.Rat().Cmp(big.NewRat(1, 1)) != 0 {
		t.Error("the account changed with its View")
	}
}
