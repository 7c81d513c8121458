package cli

import (
	"io"
	"pawl/internal/cost"
	"pawl/internal/request"

	"context"
	"errors"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// readEvent reads one event from a file, or from stdin by the name "-", that is meant
// for one unit.
func readEvent(a *app, path string) (dp.Stated, error) {
	text, name, err := readEventFile(a, path)
	if err != nil {
		return dp.Stated{}, err
	}
	s, err := cost.DecodeEvent(name, text)
	if err == nil && s.Group > 1 {
		err = mistakef("a ledger charges for one privacy unit: give the event for that unit", "%s: the event is for groups of %d", name, s.Group)
	}
	return s, err
}

// meantFor refuses an event that is stated under another relation than the budget's.
func meantFor(ctx context.Context, l *ledger.Ledger, dataset, file string, r dp.Relation) error {
	if r == 0 {
		return nil
	}
	view, err := figures.Show(ctx, l, dataset)
	if err == nil && view.Relation.Valid() && r != view.Relation {
		err = mistakef("noise multipliers depend on the relation through the sensitivity: restate them for the relation of the budget", "%s: the event is stated under %v, but the budget of %q is stated under %v", file, r, dataset, view.Relation)
	}
	return err
}

func ledgerBook(a *app) *cobra.Command {
	var b ledger.Booking
	var file string
	c := &cobra.Command{
		Use:   "book NAME --event FILE --reason WHY",
		Short: "Charge a run made outside pawl",
		Long: `Charge the budget for a run that another program makes on the data set. FILE holds its
privacy event, which must be correct for the unit and the neighbouring relation of the
budget. The entry is committed at once.

A planned run must fit the budget, like any job. Record a run that has already happened
with --after-the-fact, even if it exceeds the budget: the account stays true, later jobs
are refused, and ledger show reports it.`,
		Example: `  echo '{"version": 1, "kind": "gaussian", "noise_multiplier": 4}' > event.json
  pawl ledger book clinic --event event.json --reason "counts for the yearly report"
  pawl ledger book clinic --event event.json --by bob --after-the-fact --reason "found in the audit"`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := required(c, "event", "reason"); err != nil {
				return err
			}
			stated, err := readEvent(a, file)
			if err != nil {
				return err
			}
			b.Dataset, b.Event = args[0], stated.Event
			return changeKnown(c.Context(), a, args[0], "charged a run made outside pawl on", func(l *ledger.Ledger) error {
				if err := meantFor(c.Context(), l, b.Dataset, file, stated.Relation); err != nil {
					return err
				}
				_, err := l.Book(c.Context(), b)
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&file, "event", "", "file with the event as JSON, or - for standard input (required)")
	f.StringVar(&b.Reason, "reason", "", "reason, for later readers of the ledger (required)")
	f.StringVar(&b.By, "by", "", "user who makes the run (default: you)")
	f.BoolVar(&b.AfterTheFact, "after-the-fact", false, "the run has already happened: charge it even if it exceeds the budget")
	return c
}

func ledgerWhatIf(a *app) *cobra.Command {
	var file, epsilon, user string
	c := &cobra.Command{
		Use:   "what-if NAME (--event FILE | --epsilon E)",
		Short: "Check whether a job would be admitted, and what would be left",
		Long: `Check how the ledger would decide on a job now: whether it is admitted, what it needs,
and what is left before and after. --epsilon stands for one Gaussian release of that
epsilon at the budget's delta (a pure one if delta is 0). Nothing is charged, and the
exit status is 0 whatever the answer.`,
		Example: "  pawl ledger what-if clinic --epsilon 0.5\n  pawl ledger what-if clinic --event event.json --json",
		Args:    exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if (file == "") == (epsilon == "") {
				return mistakef("usage: "+c.UseLine(), "%s: give either --event or --epsilon", c.CommandPath())
			}
			l, err := a.existing(c.Context())
			if err != nil {
				return err
			}
			var event dp.Event
			if file != "" {
				var stated dp.Stated
				if stated, err = readEvent(a, file); err == nil {
					err = meantFor(c.Context(), l, args[0], file, stated.Relation)
				}
				if errors.Is(err, ledger.ErrUnknownDataset) {
					return nearName(c.Context(), a, l, args[0], err)
				}
				event = stated.Event
			} else {
				v, unknown := l.View(c.Context(), args[0])
				if unknown != nil {
					return nearName(c.Context(), a, l, args[0], unknown)
				}
				delta := 0.0
				if v.Granted != nil {
					delta = v.Budget().Delta.Float64()
				}
				event, err = oneRelease(epsilon, delta)
			}
			if err != nil {
				return err
			}
			f, err := figures.WhatIf(c.Context(), l, args[0], user, event)
			if err != nil {
				return nearName(c.Context(), a, l, args[0], err)
			}
			return a.print(f, func(w io.Writer) error { return request.WriteForecast(w, &f) })
		},
	}
	f := c.Flags()
	f.StringVar(&file, "event", "", "file with an event as JSON, or - for standard input")
	f.StringVar(&epsilon, "epsilon", "", "epsilon of one release")
	f.StringVar(&user, "user", "", "user who would run the job (default: you)")
	return c
}

// oneRelease is one Gaussian release of an epsilon, or a pure one at delta 0.
func oneRelease(text string, delta float64) (dp.Event, error) {
	amount, err := ledger.ParseAmount(text)
	if err != nil {
		return nil, mistake("--epsilon: "+message(err), "")
	}
	epsilon := amount.Float64()
	if !(epsilon > 0) {
		return nil, mistake("--epsilon must be greater than 0", "")
	}
	if delta == 0 {
		return dp.Pure{Epsilon: epsilon}, nil
	}
	z, err := accountant.GaussianNoiseMultiplier(epsilon, delta)
	if err != nil {
		return nil, err
	}
	return dp.Gaussian{NoiseMultiplier: z}, nil
}
