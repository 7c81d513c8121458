package ledger_test

import (
	"context"
	"errors"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

// Wherever a reason is asked for, blanks are none, and one that could pass for other lines
// of a statement is refused.
func TestReasons(t *testing.T) {
	ctx := context.Background()
	for _, reason := range []string{"", "  ", "\n", "fine\ntotal  epsilon 99", "a\tb", "a\x1b[2K", "a\u202eb"} {
		l := user(memory.New(), "ann")
		must(t, l.Create(ctx, budget("d", "1")))
		q := ledgertest.Spend("d", 0.1)
		q.Different = []ledger.Difference{{Other: "e", Reason: reason}}
		_, _, different := l.Reserve(ctx, q)
		_, booked := l.Book(ctx, ledger.Booking{Dataset: "d", Event: q.Event, Reason: reason})
		_, reconciled := l.Reconcile(ctx, ledger.Reconcile{Reason: reason})
		for what, err := range map[string]error{
			"grant": l.Grant(ctx, "d", "2", "", reason), "share": l.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: "1", Reason: reason}),
			"freeze": l.Freeze(ctx, "d", reason), "unfreeze": l.Unfreeze(ctx, "d", reason), "public": l.DeclarePublic(ctx, "d", reason),
			"approve": l.Approve(ctx, "d", "1", reason), "clear": l.ClearSeeded(ctx, "d", reason),
			"different": different, "book": booked, "reconcile": reconciled,
		} {
			if !errors.Is(err, ledger.ErrInvalid) {
				t.Errorf("%s for the reason %q: %v", what, reason, err)
			}
		}
	}
}
