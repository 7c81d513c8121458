package cli

import (
	"github.com/spf13/cobra"

	"pawl/core/ledger"
)

func ledgerGrant(a *app) *cobra.Command {
	var epsilon, delta, reason, analyst, per string
	c := &cobra.Command{
		Use:   "grant NAME --epsilon E --reason WHY",
		Short: "Raise the budget of a data set, or grant an analyst a share",
		Long: `Raise the budget of a data set to the given totals. A budget is never lowered; to
save budget, do not spend it. The account is recomputed for the larger budget. Who
granted, when and why is recorded.

With --per, the budget renews from now on: see pawl ledger create --help. Jobs charged
before count in the period in which they were charged.

With --analyst, set how much one user may reserve within the budget; such a share may be
lowered again. Once a share is granted, users without one are refused: the shares list
who may use the data. A share is a budget over that user's entries alone. Shares may add
up to more than the budget, which limits all of them.`,
		Example: `  pawl ledger grant clinic --epsilon 3 --reason "second study, approved by the review board"
  pawl ledger grant clinic --analyst ann --epsilon 1.5 --reason "readmission study"`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "epsilon", "reason"); err != nil {
				return err
			}
			renews, err := periodOf(per)
			if err != nil {
				return err
			}
			if analyst == "" {
				return changeKnown(c.Context(), a, args[0], "raised", func(l *ledger.Ledger) error {
					return l.Renew(c.Context(), args[0], epsilon, delta, reason, renews)
				})
			}
			if per != "" {
				return mistake("--per and --analyst exclude each other", "a share renews together with the budget")
			}
			return changeKnown(c.Context(), a, args[0], "share of "+analyst+" granted:", func(l *ledger.Ledger) error {
				return l.GrantShare(c.Context(), ledger.Share{Dataset: args[0], Analyst: analyst, Epsilon: epsilon, Delta: delta, Reason: reason})
			})
		},
	}
	f := c.Flags()
	f.Var(amountFlag{&epsilon, "epsilon"}, "epsilon", "new total epsilon, not the amount to add (required)")
	f.Var(amountFlag{&delta, "delta"}, "delta", "new total delta (default: unchanged)")
	f.StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	registerPer(c, &per)
	f.StringVar(&analyst, "analyst", "", "user name in the operating system, to set that user's share")
	return c
}

func ledgerFreeze(a *app) *cobra.Command {
	return withReason(a, "freeze NAME --reason WHY", "Refuse new jobs on a data set until it is unfrozen",
		`Refuse every new job on a data set. Running jobs may finish and are committed.`,
		`  pawl ledger freeze clinic --reason "incident 12 is being investigated"`, "frozen:", (*ledger.Ledger).Freeze)
}

func ledgerUnfreeze(a *app) *cobra.Command {
	return withReason(a, "unfreeze NAME --reason WHY", "Allow jobs on a frozen data set again",
		`Allow jobs again on a frozen data set. Its budget does not change.`,
		`  pawl ledger unfreeze clinic --reason "incident 12 is closed"`, "unfrozen:", (*ledger.Ledger).Unfreeze)
}

func ledgerApprove(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "approve NAME ENTRY --reason WHY",
		Short: "Approve the release of an entry's results",
		Long: `Approve the release of the results of a committed entry. Who approved, when and why is
recorded and shown with the entry. No figure changes: the budget was spent when the job
ran. On a team's ledger (postgres://), nobody can approve his own job.`,
		Example: `  pawl ledger approve clinic 9f86d081884c7d65 --reason "report read, aggregate figures only"`,
		Args:    exactArgs("NAME", "ENTRY"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			return changeKnown(c.Context(), a, args[0], "approved entry "+args[1]+" of", func(l *ledger.Ledger) error {
				return l.Approve(c.Context(), args[0], args[1], reason)
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	return c
}

func ledgerClearSeeded(a *app) *cobra.Command {
	return withReason(a, "clear-seeded NAME --reason WHY", "Remove the mark that seeded runs leave on a data set",
		`Remove the mark that a run with --seed leaves on a data set.

Whoever knows or guesses the seed can subtract the noise of such a run. No epsilon
bounds its outputs, nor those of the data set as a whole, whatever the budget. Every
statement says so until the mark is removed.

By clearing the mark you take responsibility that the outputs of all seeded runs so far
(model, score, report, predictions and their copies) never left, or were destroyed.
Charges do not change. Who cleared it, when and why is recorded and shown, and whether
that person ran any of them. A later seeded run marks the data set again. On a team's ledger
(postgres://), nobody can clear his own runs.`,
		`  pawl ledger clear-seeded clinic --reason "rehearsal of 3 May on the build machine, its folder was erased"`,
		"seeded runs cleared:", (*ledger.Ledger).ClearSeeded)
}
