package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/build"
	"pawl/report"
	"pawl/workflow"
)

func (a *app) planCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show the stages of a job and their epsilon; charges nothing",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"pawl plan: missing job", "example: pawl plan fit adult --target income --epsilon 0.1"}
			}
			return &usageError{fmt.Sprintf("pawl plan: unknown job %q", args[0]), "jobs: fit, select, search"}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var f fitFlags
	fit := &cobra.Command{
		Use:     "fit DATA --target Y --epsilon E",
		Short:   "Show what pawl fit would do and cost",
		Long:    "Show the stages of pawl fit with their privacy events and epsilon, the recipe with its\nreasons, and whether the ledger would refuse the job now. Nothing is charged, and no row\nis used except to count a public number of rows.",
		Example: "  pawl plan fit adult --target income --epsilon 0.1",
		Args:    exactArgs("DATA"),
		RunE:    func(c *cobra.Command, args []string) error { return a.plan(c.Context(), args[0], &f) },
	}
	f.register(fit)
	c.AddCommand(fit, a.planSelectCommand(), a.planSearchCommand())
	return c
}

func (a *app) plan(ctx context.Context, data string, f *fitFlags) error {
	return a.showPlan(ctx, func(ctx context.Context, l *ledger.Ledger) (*quoted, error) { return a.planOf(ctx, l, data, f) })
}

// showPlan makes a plan, asks the ledger about it and prints both. That it would be
// refused is no failure of a price list.
func (a *app) showPlan(ctx context.Context, of func(context.Context, *ledger.Ledger) (*quoted, error)) error {
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	q, err := of(ctx, l)
	if err != nil {
		return err
	}
	plan := q.plan
	refusal, err := q.refusal(ctx, l)
	if err != nil {
		return err
	}
	s, err := plan.Statement(build.Version(), time.Now())
	if err != nil {
		return err
	}
	if refusal != "" {
		s.Warnings = append([]string{refusal}, s.Warnings...)
	}
	if err := plan.MarkPlan(ctx, l, s); err != nil {
		return err
	}
	if a.json {
		return report.WriteJSON(a.out, s)
	}
	printPlan(a.out, s, plan)
	for _, r := range s.Advice {
		fmt.Fprintf(a.out, "\n• %s\n    because %s\n    evidence: %s\n    what would change it: %s\n", r.Rule, r.Because, r.Evidence, r.Changes)
	}
	return nil
}

// planOf prices a fit of a table or of images.
func (a *app) planOf(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) (*quoted, error) {
	if f.search {
		return a.quoteFitSearch(ctx, l, data, f)
	}
	if source.IsImages(data) {
		t, err := f.training(data)
		if err != nil {
			return nil, err
		}
		j, err := a.planTrain(ctx, l, data, t)
		if err != nil {
			return nil, err
		}
		return &quoted{j.plan, ask(j.pictures.Digested, t.updated)}, nil
	}
	j, err := a.prepare(ctx, l, data, f)
	if err != nil {
		return nil, err
	}
	if f.advised(j.plan) {
		return a.quoteFitSearch(ctx, l, data, f)
	}
	return j.quoted(f.updated), nil
}

func (a *app) quoteFitSearch(ctx context.Context, l *ledger.Ledger, data string, f *fitFlags) (*quoted, error) {
	h, s, err := a.planFitSearch(ctx, l, data, f)
	if err != nil {
		return nil, err
	}
	return h.quoted(s, "fit"), nil
}

// printPlan shows the price list. Everything in it is public.
func printPlan(w io.Writer, s *report.Statement, plan *workflow.Plan) {
	switch {
	case plan.AsPublished():
		fmt.Fprintln(w, "NOT PRIVATE: as published, a choice uses rows without charge; NOT a privacy guarantee")
	case s.NotPrivate:
		fmt.Fprintln(w, "NOT PRIVATE: simulation with a seed")
	}
	if n := len(s.SeededRuns); n > 0 {
		fmt.Fprintf(w, "NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data\n", report.SeededRuns(n))
	}
	fmt.Fprintf(w, "Plan for %s, target %s (%s), rows %s\n", s.Data.Name, s.Data.Target, s.Data.Task, s.Data.Rows)
	fmt.Fprintf(w, "Total: epsilon %s at delta %s, %s, unit %s, by %s\n",
		number(float64(s.Privacy.Epsilon)), s.Privacy.DeltaAsked, s.Privacy.Relation, s.Privacy.Unit, s.Privacy.Accountant)
	names := make([]string, 0, len(s.Privacy.ByStage))
	for n := range s.Privacy.ByStage {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return s.Privacy.ByStage[a].Order - s.Privacy.ByStage[b].Order })
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "  stage\tepsilon\tshare of units\twhat")
	for _, n := range names {
		st := s.Privacy.ByStage[n]
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", n, number(float64(st.Epsilon)), st.Scope, st.What)
	}
	t.Flush()
	for _, m := range s.Warnings {
		fmt.Fprintf(w, "note: %s\n", m)
	}
	if d := plan.Expected().Round(time.Second); d >= time.Second {
		fmt.Fprintf(w, "Expected time: about %s\n", d)
	}
}

func number(x float64) string { return fmt.Sprintf("%.6g", x) }
