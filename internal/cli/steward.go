package cli

import (
	"github.com/spf13/cobra"

	"pawl/core/ledger"
)

func (a *app) ledgerGrant() *cobra.Command {
	var epsilon, delta, reason, analyst string
	c := &cobra.Command{
		Use:   "grant NAME --epsilon E --reason WHY",
		Short: "Raise the budget of a data set, or give an analyst a share of it",
		Long: `Raise the budget of a data set to the totals given. A budget is never lowered:
what was promised is kept by not spending it. The whole account is restated for the
larger budget. Who granted, when and why is booked.

With --analyst it sets what one user may reserve within the budget; such a share may
be lowered again. Once one share is granted, users without one are refused, so that
the shares are the list of those who may use the data. A share is kept by the rules
of a budget, over that user's entries alone; shares may add up to more than the
budget, which holds all the same.`,
		Example: `  pawl ledger grant clinic --epsilon 3 --reason "second study, approved by the review board"
  pawl ledger grant clinic --analyst ann --epsilon 1.5 --reason "readmission study"`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "epsilon", "reason"); err != nil {
				return err
			}
			if !c.Flags().Changed("analyst") {
				return a.changeKnown(c.Context(), args[0], "raised", func(l *ledger.Ledger) error {
					return l.Grant(c.Context(), args[0], epsilon, delta, reason)
				})
			}
			return a.changeKnown(c.Context(), args[0], "share of "+analyst+" granted:", func(l *ledger.Ledger) error {
				return l.GrantShare(c.Context(), ledger.Share{Dataset: args[0], Analyst: analyst, Epsilon: epsilon, Delta: delta, Reason: reason})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&epsilon, "epsilon", "", "new total epsilon, not what is added (required)")
	f.StringVar(&delta, "delta", "", "new total delta (default: the budget's as it stands)")
	f.StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	f.StringVar(&analyst, "analyst", "", "user, as the operating system names him, whose share it is")
	return c
}

func (a *app) ledgerFreeze() *cobra.Command {
	return a.withReason("freeze NAME --reason WHY", "Refuse every new job on a data set until it is unfrozen",
		`Refuse every new job on a data set. What runs already may end and is committed.`,
		`  pawl ledger freeze clinic --reason "incident 12 is looked into"`, "frozen:", (*ledger.Ledger).Freeze)
}

func (a *app) ledgerUnfreeze() *cobra.Command {
	return a.withReason("unfreeze NAME --reason WHY", "Let jobs on a frozen data set run again",
		`Let jobs run again on a data set that was frozen. Its budget stays as it was.`,
		`  pawl ledger unfreeze clinic --reason "incident 12 is closed"`, "unfrozen:", (*ledger.Ledger).Unfreeze)
}

func (a *app) ledgerApprove() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "approve NAME ENTRY --reason WHY",
		Short: "Sign that what an entry produced may be released",
		Long: `Sign that what a committed entry produced may be released. Who, when and why is
booked and shown with the entry. It changes no figure: the privacy was spent when the
job ran. On a team's ledger (postgres://) nobody approves his own job.`,
		Example: `  pawl ledger approve clinic 9f86d081884c7d65 --reason "report read, aggregate figures only"`,
		Args:    exactArgs("NAME", "ENTRY"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := required(c, "reason"); err != nil {
				return err
			}
			return a.changeKnown(c.Context(), args[0], "approved entry "+args[1]+" of", func(l *ledger.Ledger) error {
				return l.Approve(c.Context(), args[0], args[1], reason)
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "reason, for later readers of the ledger (required)")
	return c
}
