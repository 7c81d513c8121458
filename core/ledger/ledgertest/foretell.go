package ledgertest

import (
	"context"
	"errors"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// foretelling asks for the first use of a data set, which books a register, a grant and a
// reservation, and takes them back.
func foretelling(t *testing.T, s ledger.Store) {
	ctx, l := context.Background(), New(s)
	for range 2 {
		switch v, err := figures.Foretell(ctx, l, Spend("told", 0.75)); {
		case !s.PerUser():
			if !ledger.NoBudget(err) {
				t.Fatalf("foretold on a team's ledger: %v", err)
			}
		case err != nil || !v.SelfGrant || v.After.Left.Epsilon != 0.25:
			t.Fatalf("foretold %+v, %v", v, err)
		}
		if _, err := figures.Show(ctx, l, "told"); !errors.Is(err, ledger.ErrUnknownDataset) {
			t.Fatalf("foretelling left a data set: %v", err)
		}
	}
	create(t, l, "told", "1")
	if _, _, err := New(s).Reserve(ctx, Spend("told", 0.75)); err != nil {
		t.Fatal(err)
	}
	if _, err := figures.Foretell(ctx, l, Spend("told", 0.75)); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("foretold beyond the budget: %v", err)
	}
	st, err := figures.Show(ctx, l, "told")
	if err != nil || len(st.Entries) != 1 {
		t.Errorf("%d entries, %v", len(st.Entries), err)
	}
}
