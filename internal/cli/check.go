package cli

import (
	"context"
	"errors"
	"fmt"
	"pawl"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/request"
	"pawl/internal/usage"
)

func checkCommand(a *app) *cobra.Command {
	var f fitFlags
	c := &cobra.Command{
		Use:   "check DATA --target Y --epsilon E",
		Short: "Check a job before pawl fit; charges nothing",
		Long: `Check a job before it is charged: read the schema, parse every row, compute the epsilon
of the plan, and train two steps on synthetic rows of the same schema. check takes the
flags of pawl fit.

All faults are listed at once on standard error, by kind, with exit status 2: those of
the schema, of the flags, of the names and cells of the file, and of the test file. A
fault of cells is listed once for each column, at the first line that has it. The list
is for you alone: where a cell is malformed is a fact about a row.

check also asks the ledger whether it would admit the job. If not, check ends with the
same message as pawl fit and exit status 3; with --json, the object has "ok": false and
the refusal.

Nothing is charged. Two more things that depend on the rows are shown: their number, if
the schema declares "rows: public"; and, if it declares "rows: about N", a note where the
file has far more or fewer than N rows. The note compares only the powers of two
of both numbers, and appears only where standard error is a terminal, never with --json or in a file.`,
		Example: "  pawl check patients.csv --schema patients.yaml --target readmitted --epsilon 0.5",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return checkInput(c.Context(), a, args[0], &f)
		},
	}
	f.register(c)
	return c
}

type checked struct {
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

func checkInput(ctx context.Context, a *app, data string, f *fitFlags) error {
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	fit, o, mistakes := f.asked()
	o.DataDir = a.dataDir
	desk := a.desk(l)
	if terminal(a.err) {
		desk.Far = a.note
	}
	j, verdict, err := desk.Check(ctx, data, o, &fit)
	if err != nil && !usage.Mistake(err) && !errors.Is(err, ledger.ErrRefused) {
		return err
	}
	if mended := usage.All(mistakes, request.Writable(f.out.path, f.out.force), err); mended != nil {
		return refusedCheck(a, j, f, mended)
	}
	budget, err := checkBudget(ctx, l, j, verdict)
	if err != nil {
		return err
	}
	all := append(checks(j, f), budget)
	warnings := append([]string{}, j.Plan.Warnings...)
	if a.json {
		return writeJSON(a.out, map[string]any{"ok": true, "checks": all, "warnings": warnings})
	}
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, c := range all {
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

// refusedCheck is err, which is shown on standard error. With --json a refusal of the ledger is on
// standard output too, but no fault: where one stands may be a fact about rows.
func refusedCheck(a *app, j *request.Job, f *fitFlags, err error) error {
	if !a.json || status(err) != exitRefused || j == nil {
		return err
	}
	return errors.Join(writeJSON(a.out, map[string]any{"ok": false, "checks": checks(j, f), "refusal": message(err), "hint": a.hint(err),
		"warnings": j.Plan.Warnings}), err)
}

// checks says what was found in order. All of it follows from public facts: that
// every row parses is implied by there being an answer at all.
func checks(j *request.Job, f *fitFlags) []checked {
	s := j.Opened.Source.Schema
	used := 0
	for i := range s.Columns {
		if s.Columns[i].Type != schema.Ignore {
			used++
		}
	}
	rows := "all rows are valid"
	if s.Rows.Kind == schema.RowsPublic {
		if n, err := j.Opened.Source.Rows(); err == nil {
			rows = fmt.Sprintf("all %d rows are valid", n)
		}
	}
	if f.BadRows == "default" {
		rows = "the file can be read; malformed cells would be replaced by their column's default"
	}
	out := []checked{
		{"schema", fmt.Sprintf("%d columns declared, %d used; unit %s", len(s.Columns), used, s.Unit.Name)},
		{"rows", rows},
	}
	if j.Opened.Test != nil {
		out = append(out, checked{"test", fmt.Sprintf("all %d rows of the public test set are valid", len(j.Opened.Test))})
	}
	out = append(out, checked{"plan", fmt.Sprintf("%d stages, epsilon %s in total; requested: at most %s", len(j.Plan.Stages), number(j.Plan.Epsilon), f.Budget.Epsilon)})
	switch {
	case s.Rows.Kind == schema.RowsPrivate:
		out = append(out, checked{"training", "not tested: the settings depend on a charged count of the rows"})
	case j.Plan.Recipe.Learner == advise.Descent:
		out = append(out, checked{"training", "two steps and predictions on synthetic rows of the schema"})
	default:
		out = append(out, checked{"training", fmt.Sprintf("the model is %s; only the linear model is tested here", j.Plan.Recipe.Learner)})
	}
	return out
}

// checkBudget says where the job would find the budget. The ledger would admit it.
func checkBudget(ctx context.Context, l *ledger.Ledger, j *request.Job, v figures.Verdict) (checked, error) {
	s, err := figures.Show(ctx, l, j.Opened.Source.Name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset) && v.Public:
		return checked{"ledger", fmt.Sprintf("%q is new and public: recorded, not limited", j.Opened.Source.Name)}, nil
	case errors.Is(err, ledger.ErrUnknownDataset):
		return checked{"ledger", fmt.Sprintf("%q is new: without pawl ledger create, pawl fit sets the budget to its own cost", j.Opened.Source.Name)}, nil
	case err != nil:
		return checked{}, err
	}
	return checked{"ledger", fmt.Sprintf("%q: %s", s.Name, request.Standing(&s))}, nil
}

// asked is the fit of the flags as a request, and what is wrong with the flags.
func (f *fitFlags) asked() (request.Fit, source.Options, error) {
	s := f.Source
	_, seed := f.seedOf()
	weights, err := classWeights(f.classWeights)
	directions, wrong := monotone(f.monotone)
	return request.Fit{Terms: termsOf(f.Budget, f.Identity, f.seed), Target: f.Target, Preset: f.Preset, Workflow: f.Workflow, Model: f.Model, Features: f.Features,
			ScoreBy: f.ScoreBy, Search: f.Search, ClassWeights: weights, TargetScale: f.TargetScale, Monotone: directions, Public: f.Public},
		source.Options{Schema: s.Schema, Test: s.Test, BadRows: s.BadRows, Vectors: source.Vectors{File: s.Embeddings, Key: s.Key}}, usage.All(seed, err, wrong)
}

// termsOf are the terms of a job that is priced and not run.
func termsOf(b pawl.Budget, i pawl.Identity, seed string) request.Terms {
	return request.Terms{Epsilon: b.Epsilon, Delta: b.Delta, Accountant: b.Accountant, AllowLargeDelta: b.AllowLargeDelta, Anyway: b.Anyway, Seed: seed,
		Updated: i.Updated, Copies: source.Copies{SameAs: i.SameAs, Different: i.Different, Reason: i.Reason}}
}
