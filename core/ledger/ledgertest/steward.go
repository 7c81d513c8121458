package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks a refusal by policy that says why.
func refused(t testing.TB, err error, why string) {
	t.Helper()
	if !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want a refusal that says %q", err, why)
	}
}

// stewardship goes once through everything that a steward can do.
func stewardship(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	steward, bob, eve := as(s, "steward"), as(s, "bob"), as(s, "eve")
	create(t, steward, "d", "1")
	spend := func(l *ledger.Ledger, epsilon float64) (string, error) {
		p, receipt, err := l.Reserve(ctx, Spend("d", epsilon))
		if err == nil {
			err = l.Commit(ctx, p)
		}
		return receipt.ID, err
	}
	show := func() figures.Statement {
		t.Helper()
		st, err := figures.Show(ctx, steward, "d")
		must(t, err)
		return st
	}

	// Shares: whoever has none is out, each own limit holds, and so does the budget.
	for _, wrong := range []ledger.Share{{Dataset: "d", Epsilon: "1", Reason: "r"}, {Dataset: "d", Analyst: "bob", Epsilon: "0", Reason: "r"},
		{Dataset: "d", Analyst: "bob", Epsilon: "1"}, {Dataset: "d", Analyst: "bob\n", Epsilon: "1", Reason: "r"}} {
		if err := steward.GrantShare(ctx, wrong); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	refused(t, steward.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "1.5", Reason: "r"}), "within the budget")
	refused(t, steward.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "1", Delta: "1e-5", Reason: "r"}), "within the budget")
	must(t, steward.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "0.4375", Reason: "study 1"}))
	_, err := spend(eve, 0.125)
	refused(t, err, "eve has no share")
	must(t, steward.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "eve", Epsilon: "0.75", Reason: "study 2"}))
	bobs, err := spend(bob, 0.375)
	must(t, err)
	if _, err := spend(bob, 0.25); !errors.Is(err, ledger.ErrExhausted) || !strings.Contains(err.Error(), "share of bob") {
		t.Errorf("beyond the share: %v", err)
	}
	_, err = spend(eve, 0.5)
	must(t, err)
	if _, err := spend(eve, 0.25); !errors.Is(err, ledger.ErrExhausted) || strings.Contains(err.Error(), "share") {
		t.Errorf("within the share and beyond the budget: %v", err)
	}
	st := show()
	for i, want := range []struct {
		name               string
		total, spent, left ledger.Number
	}{{"bob", 0.4375, 0.375, 0.0625}, {"eve", 0.75, 0.5, 0.25}} {
		if a := st.Analysts[i]; a.Name != want.name || a.Total.Epsilon != want.total || a.Spent.Epsilon != want.spent || a.Left.Epsilon != want.left || a.Granted.By != "steward" {
			t.Errorf("share %+v, want %+v", a, want)
		}
	}
	// Raising a share restates it; the old figure is gone.
	must(t, steward.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "0.5", Reason: "more"}))
	if st := show(); st.Analysts[0].Total.Epsilon != 0.5 || st.Analysts[0].Granted.Reason != "more" || len(st.Analysts) != 2 {
		t.Errorf("after raising a share: %+v", st.Analysts)
	}

	// Freezing.
	must(t, steward.Freeze(ctx, "d", "audit"))
	refused(t, steward.Freeze(ctx, "d", "again"), "frozen by steward")
	_, err = spend(bob, 0.0625)
	refused(t, err, "frozen by steward")
	_, err = bob.Book(ctx, ledger.Booking{Dataset: "d", Event: dp.Pure{Epsilon: 0.0625}, Reason: "r"})
	refused(t, err, "frozen by steward")
	if f := show().Frozen; f == nil || f.By != "steward" || f.Reason != "audit" {
		t.Errorf("frozen: %+v", f)
	}
	must(t, steward.Unfreeze(ctx, "d", "done"))
	refused(t, steward.Unfreeze(ctx, "d", "again"), "not frozen")

	// Approval: of committed entries, once by each, on a team's ledger not by oneself.
	p, open, err := bob.Reserve(ctx, Spend("d", 0.0625))
	must(t, err)
	refused(t, steward.Approve(ctx, "d", open.ID, "early"), "only the results of a committed entry")
	_, err = figures.WhatIf(ctx, bob, "d", "", dp.Pure{Epsilon: 0.0625}) // the account has seen it
	must(t, err)
	must(t, bob.Cancel(ctx, p))
	refused(t, steward.Approve(ctx, "d", open.ID, "late"), "only the results of a committed entry")
	// What was cancelled is back in the share, too.
	p, _, err = bob.Reserve(ctx, Spend("d", 0.125))
	must(t, err)
	must(t, bob.Cancel(ctx, p))
	if err := steward.Approve(ctx, "d", "nothing", "r"); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("an entry that is not there: %v", err)
	}
	must(t, steward.Approve(ctx, "d", bobs, "aggregates only"))
	refused(t, steward.Approve(ctx, "d", bobs, "again"), "was approved by steward")
	if err := bob.Approve(ctx, "d", bobs, "mine"); s.PerUser() != (err == nil) {
		t.Errorf("approving one's own, per user %v: %v", s.PerUser(), err)
	}
	if a := show().Entries[0].Approvals; len(a) < 1 || a[0].By != "steward" || a[0].Reason != "aggregates only" || a[0].At == "" {
		t.Errorf("approvals %+v", a)
	}

	// Foreign runs: what is still to be run must fit; what has happened is the truth.
	before := show()
	f, err := figures.WhatIf(ctx, eve, "d", "", dp.Pure{Epsilon: 0.0625})
	if must(t, err); !f.Admitted || f.Need != 0.0625 || f.Left != 0.125 || f.After.Left.Epsilon != 0.0625 || f.User != "eve" {
		t.Errorf("what if 0.0625: %+v", f)
	}
	f, err = figures.WhatIf(ctx, eve, "d", "carl", dp.Pure{Epsilon: 0.5})
	if must(t, err); f.Admitted || !strings.Contains(f.Refusal, "carl has no share") || !f.After.Exceeded {
		t.Errorf("what if of carl: %+v", f)
	}
	if after := show(); after.Head != before.Head {
		t.Error("a what-if booked something")
	}
	_, err = steward.Book(ctx, ledger.Booking{Dataset: "d", Event: dp.Pure{Epsilon: 0.5}, By: "bob", Reason: "run at the other site"})
	if !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("a foreign run that does not fit: %v", err)
	}
	if _, err := steward.Book(ctx, ledger.Booking{Dataset: "d", Event: dp.Laplace{NoiseMultiplier: 1}, Reason: "r", AfterTheFact: true}); !errors.Is(err, ledger.ErrUnaccountable) {
		t.Errorf("an event that the accountant does not know: %v", err)
	}
	_, err = steward.Book(ctx, ledger.Booking{Dataset: "d", Event: dp.Pure{Epsilon: 0.5}, By: "bob", Reason: "run at the other site", AfterTheFact: true})
	must(t, err)
	st = show()
	if last := st.Entries[len(st.Entries)-1]; !st.Exceeded || st.Left.Epsilon != 0 || st.Spent.Epsilon != 1.375 || last.By != "bob" ||
		last.Foreign == nil || last.Foreign.BookedBy != "steward" || last.State != ledger.Committed || !st.Analysts[0].Exceeded || st.Analysts[1].Exceeded {
		t.Errorf("after a foreign run that did not fit: %+v", st)
	}
	if _, err := spend(eve, 0.0625); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("after the budget was exceeded: %v", err)
	}
}

// analysts race for shares that add up to more than the budget.
func analysts(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	steward := as(s, "steward")
	create(t, steward, "raced", "1")
	for i := range 4 {
		must(t, steward.GrantShare(ctx, ledger.Share{Dataset: "raced", Analyst: fmt.Sprint("a", i), Epsilon: "0.375", Reason: "r"}))
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			l := as(s, fmt.Sprint("a", i%4))
			for range 8 {
				p, _, err := l.Reserve(ctx, Spend("raced", 0.0625))
				if err == nil {
					err = l.Commit(ctx, p)
				}
				if err != nil && !errors.Is(err, ledger.ErrExhausted) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	st, err := figures.Show(ctx, steward, "raced")
	must(t, err)
	if st.Spent.Epsilon != 1 || st.Exceeded {
		t.Errorf("%v of a budget of 1 were spent", st.Spent.Epsilon)
	}
	for _, a := range st.Analysts {
		if a.Exceeded || a.Spent.Epsilon > 0.375 {
			t.Errorf("%s spent %v of 0.375", a.Name, a.Spent.Epsilon)
		}
	}
}
