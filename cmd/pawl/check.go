package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/advise"
	"pawl/core/ledger"
	"pawl/schema"
)

func (a *app) checkCommand() *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "check DATA --target Y --epsilon E",
		Short: "Find what would make pawl fit fail; spends nothing",
		Long: `Check a job before it is charged: read the schema, parse every row, price the plan
and train two steps on synthetic rows of the same schema. Takes the flags of pawl fit.

Nothing is charged, and nothing that depends on the rows is shown, except where the
schema says "rows: public" their number, and in a refusal the place of the first fault.`,
		Example: "  pawl check patients.csv --schema patients.yaml --target readmitted --epsilon 0.5",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.copies.again(func() error { once := f; return a.check(c.Context(), args[0], &once) })
		},
	}
	f.register(c)
	return c
}

type checked struct {
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

func (a *app) check(ctx context.Context, data string, f *fitFlags) error {
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := checkOut(f.out); err != nil {
		return err
	}
	j, err := a.prepare(ctx, l, data, f)
	if err != nil {
		return err
	}
	if f.search || f.advised(j.plan) {
		h, _, err := a.planFitSearch(ctx, l, data, f)
		if err != nil {
			return err
		}
		j.plan = h.plan
	}
	if err := j.source.printed(j.bad, func([]float64, string) error { return nil }); err != nil {
		return err
	}
	if _, err := a.recognise(ctx, l, j.source.found(), &f.copies); err != nil {
		return err
	}
	budget, warning, err := checkBudget(ctx, l, j)
	if err != nil {
		return err
	}
	checks := append(j.checks(f), budget)
	warnings := append([]string{}, j.plan.Warnings...)
	if warning != "" {
		warnings = append(warnings, warning)
	}
	if a.json {
		return writeJSON(a.out, map[string]any{"ok": true, "checks": checks, "warnings": warnings})
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, c := range checks {
		fmt.Fprintf(t, "%s\tok\t%s\n", c.Name, c.Detail)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintf(a.out, "note: %s\n", w)
	}
	_, err = fmt.Fprintln(a.out, "Nothing was charged.")
	return err
}

// checks says what was found in order. All of it follows from public facts: that
// every row parses is implied by there being an answer at all.
func (j *job) checks(f *fitFlags) []checked {
	s := j.source.schema
	used := 0
	for i := range s.Columns {
		if s.Columns[i].Type != schema.Ignore {
			used++
		}
	}
	rows := "every row parses"
	if s.Rows.Kind == schema.RowsPublic {
		if n, err := j.source.rows(); err == nil {
			rows = fmt.Sprintf("all %d rows parse", n)
		}
	}
	if f.badRows == "default" {
		rows = "the file can be read; malformed cells would become their column's default"
	}
	out := []checked{
		{"schema", fmt.Sprintf("%d columns declared, %d used; unit %s", len(s.Columns), used, s.Unit.Name)},
		{"rows", rows},
	}
	if j.test != nil {
		out = append(out, checked{"test", fmt.Sprintf("all %d rows of the public test set parse", len(j.test))})
	}
	out = append(out, checked{"plan", fmt.Sprintf("%d stages, epsilon %s in all, at most the %s asked", len(j.plan.Stages), number(j.plan.Epsilon), f.epsilon)})
	switch {
	case s.Rows.Kind == schema.RowsPrivate:
		out = append(out, checked{"training", "not rehearsed: the recipe follows from a paid count of the rows"})
	case j.plan.Recipe.Learner == advise.Descent:
		out = append(out, checked{"training", "two steps on synthetic rows of the schema, and predictions for them"})
	default:
		out = append(out, checked{"training", fmt.Sprintf("the recipe is %s: one release, nothing to rehearse", j.plan.Recipe.Learner)})
	}
	return out
}

// checkBudget asks the ledger how it would decide on the plan now.
func checkBudget(ctx context.Context, l *ledger.Ledger, j *job) (checked, string, error) {
	s, err := l.Show(ctx, j.source.name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset) && j.source.schema.Public:
		return checked{"ledger", fmt.Sprintf("%q is new and public: booked and not limited", j.source.name)}, "", nil
	case errors.Is(err, ledger.ErrUnknownDataset) && !l.PerUser():
		return checked{"ledger", fmt.Sprintf("%q is new", j.source.name)},
			fmt.Sprintf("%q has no budget, and nobody grants one to himself on a team's ledger: pawl fit will be refused until the steward runs pawl ledger create", j.source.name), nil
	case errors.Is(err, ledger.ErrUnknownDataset):
		return checked{"ledger", fmt.Sprintf("%q is new: without pawl ledger create, pawl fit grants itself what it asks", j.source.name)}, "", nil
	case err != nil:
		return checked{}, "", err
	}
	c := checked{"ledger", fmt.Sprintf("%q: %s", s.Name, standing(&s))}
	f, err := l.WhatIf(ctx, j.source.name, "", j.plan.Event)
	if err != nil {
		return checked{}, "", err
	}
	if !f.Admitted {
		return c, "pawl fit will be refused: " + f.Refusal, nil
	}
	return c, "", nil
}
