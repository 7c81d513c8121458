package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/workflow"
)

func (a *app) checkCommand() *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "check DATA --target Y --epsilon E",
		Short: "Check a job before pawl fit; charges nothing",
		Long: `Check a job before it is charged: read the schema, parse every row, compute the epsilon
of the plan, and train two steps on synthetic rows of the same schema. check takes the
flags of pawl fit.

It also asks the ledger whether it would admit the job. If not, check ends with the same
message as pawl fit and exit status 3; with --json, the object has "ok": false and the
refusal.

Nothing is charged. Nothing that depends on the rows is shown, except their number if
the schema declares "rows: public", and the position of the first error in a refusal.`,
		Example: "  pawl check patients.csv --schema patients.yaml --target readmitted --epsilon 0.5",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.again(&f.copies, func() error { once := f; return a.check(c.Context(), args[0], &once) })
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
	if err := f.out.check(); err != nil {
		return err
	}
	j, err := a.prepare(ctx, l, data, f)
	if err != nil {
		return err
	}
	q := &quoted{j.plan, func(ctx context.Context, l *ledger.Ledger) (workflow.Env, error) { return a.environment(ctx, l, j, f) }}
	if f.search || f.advised(j.plan) {
		h, s, err := a.planFitSearch(ctx, l, data, f)
		if err != nil {
			return err
		}
		j.plan = h.plan
		q = &quoted{h.plan, func(ctx context.Context, l *ledger.Ledger) (workflow.Env, error) {
			env, err := h.seal(ctx, l)
			if err != nil {
				return env, err
			}
			return env, h.resume(&env, s, "fit")
		}}
	}
	j.source.Note, j.source.Rehearsal = a.note, true
	verdict, refused := q.foretell(ctx, l) // which parses every row
	if refused != nil && !errors.Is(refused, ledger.ErrRefused) {
		return refused
	}
	if refused != nil {
		if !a.json {
			return refused
		}
		return errors.Join(writeJSON(a.out, map[string]any{"ok": false, "checks": j.checks(f), "refusal": message(refused), "hint": oneLine(hint(refused)),
			"warnings": append([]string{}, j.plan.Warnings...)}), refused)
	}
	budget, err := checkBudget(ctx, l, j, verdict)
	if err != nil {
		return err
	}
	checks := append(j.checks(f), budget)
	warnings := append([]string{}, j.plan.Warnings...)
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
	s := j.source.Schema
	used := 0
	for i := range s.Columns {
		if s.Columns[i].Type != schema.Ignore {
			used++
		}
	}
	rows := "all rows are valid"
	if s.Rows.Kind == schema.RowsPublic {
		if n, err := j.source.Rows(); err == nil {
			rows = fmt.Sprintf("all %d rows are valid", n)
		}
	}
	if f.badRows == "default" {
		rows = "the file can be read; malformed cells would be replaced by their column's default"
	}
	out := []checked{
		{"schema", fmt.Sprintf("%d columns declared, %d used; unit %s", len(s.Columns), used, s.Unit.Name)},
		{"rows", rows},
	}
	if j.test != nil {
		out = append(out, checked{"test", fmt.Sprintf("all %d rows of the public test set are valid", len(j.test))})
	}
	out = append(out, checked{"plan", fmt.Sprintf("%d stages, epsilon %s in total, at most %s as requested", len(j.plan.Stages), number(j.plan.Epsilon), f.epsilon)})
	switch {
	case s.Rows.Kind == schema.RowsPrivate:
		out = append(out, checked{"training", "not rehearsed: the recipe depends on a charged count of the rows"})
	case j.plan.Recipe.Learner == advise.Descent:
		out = append(out, checked{"training", "two steps and predictions on synthetic rows of the schema"})
	default:
		out = append(out, checked{"training", fmt.Sprintf("the recipe is %s, a single release: nothing to rehearse", j.plan.Recipe.Learner)})
	}
	return out
}

// checkBudget says where the job would find the budget. The ledger would admit it.
func checkBudget(ctx context.Context, l *ledger.Ledger, j *job, v ledger.Verdict) (checked, error) {
	s, err := l.Show(ctx, j.source.Name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset) && v.Public:
		return checked{"ledger", fmt.Sprintf("%q is new and public: recorded, not limited", j.source.Name)}, nil
	case errors.Is(err, ledger.ErrUnknownDataset):
		return checked{"ledger", fmt.Sprintf("%q is new: without pawl ledger create, pawl fit sets the budget to its own cost", j.source.Name)}, nil
	case err != nil:
		return checked{}, err
	}
	return checked{"ledger", fmt.Sprintf("%q: %s", s.Name, standing(&s))}, nil
}
