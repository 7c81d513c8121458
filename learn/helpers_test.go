package learn

import (
	"bytes"
	"context"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
)

// testPermit books event for a data set that the ledger believes to be public, so
// that tests may use any epsilon.
func testPermit(t testing.TB, dataset string, event dp.Event) *ledger.Permit {
	t.Helper()
	l := ledger.New(ledger.NewMemory(), pricing.Accountant{}, ledger.Options{User: "tester"})
	permit, _, err := l.Reserve(context.Background(), ledger.Request{
		Dataset: dataset, Plan: "test", Event: event, Stages: []string{"train"}, Relation: dp.AddOrRemoveOne,
		Unit: "row", RowsPerUnit: 1, Epsilon: "1000000000", Delta: "1e-6", Public: true, Digest: bytes.Repeat([]byte{7}, 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	return permit
}
