package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/report"
)

func (a *app) ledgerClearSeeded() *cobra.Command {
	return a.withReason("clear-seeded NAME --reason WHY", "Take the mark of seeded runs off a data set",
		`Take the mark off a data set that a run with --seed has left.

The noise of such a run can be subtracted by whoever knows or guesses the seed: what it
put out has no bound, and neither has the data set, whatever the budget says. Every
statement says so until the mark is taken off.

Who clears answers for it that the outputs of all seeded runs so far (model, score,
report, predictions and copies of them) are known never to have left, or were
destroyed. It changes no figure: the charges stay. Who, when and why is booked and
shown, and so is that it was one of those who ran them. A run that commits or is
repeated afterwards marks the data set again. On a team's ledger (postgres://) nobody
clears his own runs.`,
		`  pawl ledger clear-seeded clinic --reason "rehearsal of 3 May on the build machine, its folder was erased"`,
		"seeded runs cleared:", (*ledger.Ledger).ClearSeeded)
}

// marked says of a data set that seeded runs mark it, or "".
func marked(runs []ledger.SeededRun) string {
	if len(runs) == 0 {
		return ""
	}
	return "NOT PRIVATE as a whole: the outputs of " + seeded(len(runs)) + " have no bound"
}

func seeded(n int) string {
	if n == 1 {
		return "1 seeded run"
	}
	return fmt.Sprintf("%d seeded runs", n)
}

// markOf asks the ledger what marks a data set.
func markOf(ctx context.Context, l *ledger.Ledger, name string) (string, error) {
	s, err := l.Show(ctx, name)
	if errors.Is(err, ledger.ErrUnknownDataset) {
		return "", nil
	}
	return marked(s.SeededRuns), err
}

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
		fmt.Fprintln(w, "\tits steward ends this once the outputs are known not to have left: pawl ledger clear-seeded "+shell(s.Name)+" --reason WHY")
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
