package ledger_test

import (
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

// faulty panics where it is told to price the event.
type faulty struct {
	ledgertest.Sum
	now *bool
}

func (f faulty) Epsilon(e dp.Event, r dp.Relation, d float64) (float64, string, error) {
	if *f.now {
		panic("pricing")
	}
	return f.Sum.Epsilon(e, r, d)
}

// A service survives a panic in a request. The transaction is taken back with all that it had booked, and the ledger
// goes on from what is stored.
func TestPanicsLeaveTheLogAsItIs(t *testing.T) {
	now := true
	l, _ := newLedger(t, faulty{now: &now})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _, _ = l.Reserve(ctx, ledgertest.Spend("d", 0.25)) // registers the data set first
	}()
	if names, err := l.Names(ctx); err != nil || len(names) > 0 {
		t.Errorf("the log holds %v (%v)", names, err)
	}
	now = false
	_, receipt, err := l.Reserve(ctx, ledgertest.Spend("d", 0.25))
	must(t, err)
	if v, err := l.View(ctx, "d"); err != nil || v.Head != receipt.Head || len(v.Charged(ledger.Reserved)) != 1 {
		t.Errorf("after a panic: %v", err)
	}
}
