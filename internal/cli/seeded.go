package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/report"
)

func ledgerClearSeeded(a *app) *cobra.Command {
	return withReason(a, "clear-seeded NAME --reason WHY", "Remove the mark that seeded runs leave on a data set",
		`Remove the mark that a run with --seed leaves on a data set.

Whoever knows or guesses the seed can subtract the noise of such a run. No epsilon
bounds its outputs, nor those of the data set as a whole, whatever the budget. Every
statement says so until the mark is removed.

By clearing the mark you answer for it that the outputs of all seeded runs so far (model,
score, report, predictions and their copies) never left, or were destroyed. Charges do
not change. Who cleared, when and why is recorded and shown, and so is whether it was one
of those who ran them. A later seeded run marks the data set again. On a team's ledger
(postgres://), nobody can clear his own runs.`,
		`  pawl ledger clear-seeded clinic --reason "rehearsal of 3 May on the build machine, its folder was erased"`,
		"seeded runs cleared:", (*ledger.Ledger).ClearSeeded)
}

// marked says of a data set that seeded runs mark it, or "".
func marked(runs []ledger.SeededRun) string { return report.SeededMark(len(runs)) }

// andMarked is marked as a clause.
func andMarked(s *ledger.Statement) string {
	if text := marked(s.SeededRuns); text != "" {
		return ", " + text
	}
	return ""
}

// printSeeded writes what marks a data set and who cleared what did.
func printSeeded(w io.Writer, s *ledger.Statement) {
	for _, r := range s.SeededRuns {
		fmt.Fprintf(w, "SEEDED\tentry %s, run by %s at %s\n", r.Entry, r.By, when(r.At))
	}
	if len(s.SeededRuns) > 0 {
		fmt.Fprintln(w, "\tremove this mark once the outputs are known not to have left: pawl ledger clear-seeded "+shell(s.Name)+" --reason WHY")
	}
	for _, c := range s.Cleared {
		own := ""
		if c.Own {
			own = ", who also ran it"
			if len(c.Entries) > 1 {
				own = ", who also ran some of them"
			}
		}
		fmt.Fprintf(w, "cleared\tseeded %s, at %s by %s%s: %s\n", strings.Join(c.Entries, ", "), when(c.At), c.By, own, report.Plain(c.Reason))
	}
}
