package learn

import (
	"bytes"
	"context"
	"testing"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/memory"
)

// testLedger is a new ledger in memory; all have one secret, so that rows may be sealed
// before.
func testLedger() *ledger.Ledger {
	store := memory.New()
	if err := store.Update(context.Background(), func(tx ledger.Tx) error { return tx.Adopt(bytes.Repeat([]byte{5}, 32)) }); err != nil {
		panic(err) // the store is empty
	}
	return ledger.New(store, pricing.Accountant{}, ledger.Options{User: "tester"})
}

// testPermit books event for a data set that the ledger believes to be public, so
// that tests may use any epsilon.
func testPermit(t testing.TB, dataset string, event dp.Event) *ledger.Permit {
	t.Helper()
	var rows *intake.Rows
	if dataset == "world" {
		rows, _ = world(t)
	}
	return permitFor(t, dataset, rows, event)
}

func permitFor(t testing.TB, dataset string, rows *intake.Rows, event dp.Event) *ledger.Permit {
	t.Helper()
	l := testLedger()
	permit, _, err := l.Reserve(context.Background(), ledger.Request{
		Dataset: dataset, Plan: "test", Event: event, Stages: []string{"train"}, Relation: dp.AddOrRemoveOne,
		Unit: "row", RowsPerUnit: 1, Epsilon: "1000000000", Delta: "1e-6", Public: true, Rows: rows, Digest: bytes.Repeat([]byte{7}, 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	return permit
}
