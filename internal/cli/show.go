package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pawl/core/ledger/figures"
	"pawl/internal/request"
)

func ledgerShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show what was granted, spent and reserved, and what is left",
		Long: `Show the account of a data set: its budget and who granted it, what is spent, reserved
and left, and every entry. Without NAME, list all data sets.`,
		Example: "  pawl ledger show\n  pawl ledger show clinic\n  pawl ledger show clinic --json",
		Args:    atMostOneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listLedger(c.Context(), a)
			}
			return showLedger(c.Context(), a, args[0])
		},
	}
}

func showLedger(ctx context.Context, a *app, name string) error {
	l, err := a.existing(ctx)
	if err != nil {
		return err
	}
	s, err := figures.Show(ctx, l, name)
	if err != nil {
		return nearName(ctx, a, l, name, err)
	}
	outlook, err := figures.OutlookOf(ctx, l, name)
	if err != nil {
		return err
	}
	return a.show(request.BudgetAccount{Statement: s, Outlook: outlook})
}

func listLedger(ctx context.Context, a *app) error {
	where, err := a.ledgerAddress()
	if err != nil {
		return err
	}
	out := request.Budgets{Ledger: where.String(), Datasets: []request.BudgetLine{}}
	l, err := a.existing(ctx)
	switch {
	case errors.As(err, new(*noLedgerError)): // an empty list is an answer; it needs no new ledger
		return a.show(out)
	case err != nil:
		return err
	}
	names, err := l.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := figures.Show(ctx, l, name)
		if err != nil {
			return err
		}
		out.Datasets = append(out.Datasets, request.NewBudgetLine(&s))
	}
	return a.show(out)
}
