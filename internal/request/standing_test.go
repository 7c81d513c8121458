package request

import (
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// A reason may come from a ledger that somebody else exported: it must neither steer a
// terminal nor write a line of its own.
func TestReasonsAreShownPlain(t *testing.T) {
	const reason = "why\x1b[2J\ngranted\tby nobody"
	act := ledger.Act{By: "ann", At: "2026-01-02T03:04:05Z", Reason: reason}
	s := &figures.Statement{Name: "d", Frozen: &act, Granted: &ledger.Grant{By: "ann", At: act.At, Reason: reason},
		Reconciled: []ledger.Reconciliation{{Act: act}}, Cleared: []ledger.Clearing{{Act: act, Entries: []string{"e"}}},
		Different: []ledger.Difference{{Other: "other", Reason: reason, By: "ann", At: act.At}},
		Analysts:  []figures.Analyst{{Name: "bob", Granted: act}},
		Entries:   []figures.Entry{{Approvals: []ledger.Act{act}, Foreign: &ledger.Foreign{Reason: reason}, Rebooked: &act}}}
	var out strings.Builder
	if err := writeStatement(&out, s); err != nil {
		t.Fatal(err)
	}
	if shown := strings.Count(out.String(), "why\ufffd[2J\ufffdgranted\ufffdby nobody"); shown != 9 || strings.ContainsRune(out.String(), '\x1b') {
		t.Errorf("%d reasons are plain:\n%s", shown, out.String())
	}
}
