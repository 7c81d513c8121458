package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/feature"
	"pawl/internal/build"
	"pawl/report"
	"pawl/workflow"
)

type selectFlags struct {
	fitFlags
	method, count, level   string
	mode, labels, relation string
	table                  string
	search                 workflow.Published
	bins                   int
	published              bool
}

func (a *app) selectCommand() *cobra.Command {
	var f selectFlags
	c := &cobra.Command{
		Use:   "select DATA --target Y --method M --epsilon E",
		Short: "Select features privately",
		Long: `Select features under (epsilon, delta)-differential privacy. The statistics that a
method uses are released once, with noise; everything computed from them is free.

Methods (* requires --k):
` + methodList() + `

On every data set that we measured, a model on all attributes was better at the same
total epsilon: select features to understand the data, not to gain accuracy.
pawl fit reads the output of --json with --features FILE.json; at level column, it keeps
single categories.

--mode local (dfs) also writes a table of the selected features with one noisy row for
each row of DATA, for any model and any number of training runs. Its guarantee is for
replacing one row, not for adding or removing one, and it needs many rows.
--as-published repeats a paper's procedure with exact statistics of public data. It has
no privacy guarantee.`,
		Example: `  pawl select adult --target income --method cfs-greedy --epsilon 0.2
  pawl select adult --target income --method dfs --k 10 --epsilon 4 --mode local --out noisy.parquet
  pawl select breast-cancer --target class --method cfs-ga --as-published --seed 1`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.again(&f.copies, func() error { once := f; return a.selectFeatures(c.Context(), args[0], &once) })
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.table, "out", "", "with --mode local: new file for the noisy table, .parquet or .csv")
	return c
}

// methodList is the table of methods for --help.
func methodList() string {
	lines := make([]string, len(workflow.SelectMethods))
	for i, m := range workflow.SelectMethods {
		name := m.Name
		if workflow.NeedsCount(name) {
			name += " *"
		}
		lines[i] = fmt.Sprintf("  %-26s %s", name, m.What)
	}
	return strings.Join(lines, "\n")
}

// register adds the flags that select and plan select share.
func (f *selectFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.method, "method", "", "selection method (required)")
	s.StringVar(&f.count, "k", "auto", "number of features; auto lets the method decide (not for methods with *)")
	s.StringVar(&f.level, "level", "", "attribute: whole schema columns; column: single categories (default attribute; as published, column)")
	s.StringVar(&f.mode, "mode", "", "central: release feature names; local (method dfs): also release a table of noisy rows (default central)")
	s.StringVar(&f.labels, "labels", "", "classes in the noisy table: randomized, or public (unchanged) (default randomized)")
	s.StringVar(&f.relation, "relation", "", "require this neighboring relation (central: add_or_remove_one, local: replace_one)")
	s.IntVar(&f.bins, "bins", 0, "number of public bins of a numeric column (default 10)")
	s.StringVar(&f.search.Learner, "learner", "", "pafs as published: learner, objective-perturbation or dp-sgd (default objective-perturbation)")
	s.IntVar(&f.search.Population, "population", 0, "pafs as published: feature sets per round (default 600)")
	s.IntVar(&f.search.Generations, "rounds", 0, "pafs as published: number of rounds (default 10)")
	s.IntVar(&f.search.Fits, "fits", 0, "pafs as published: noisy models per feature set, whose mean accuracy counts (default 20)")
	s.BoolVar(&f.published, "as-published", false, "use exact statistics at no cost: public data only, no guarantee")
	f.registerTable(c)
	s.StringVar(&f.delta, "delta", "", "failure probability delta (default: that of the budget in the ledger, else the largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon of the selection (required except for random, all and --as-published)")
	s.StringVar(&f.features, "features", "auto", "columns to select from: auto, all, or a list (age,sex,hours)")
}

// planSelectCommand is `pawl plan select`.
func (a *app) planSelectCommand() *cobra.Command {
	var f selectFlags
	c := &cobra.Command{
		Use:     "select DATA --target Y --method M --epsilon E",
		Short:   "Show what pawl select would do and cost",
		Long:    "Show the stage of pawl select, its privacy event and its epsilon. Nothing is charged,\nand no row is used except to count a public number of rows.",
		Example: "  pawl plan select adult --target income --method cfs-greedy --epsilon 0.2",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.showPlan(c.Context(), func(ctx context.Context, l *ledger.Ledger) (*quoted, error) {
				plan, j, err := a.planSelect(ctx, l, args[0], &f)
				if err != nil {
					return nil, err
				}
				return &quoted{plan, ask(j.digested, f.updated)}, nil
			})
		},
	}
	f.register(c)
	return c
}

// selectFeatures plans, charges and chooses.
func (a *app) selectFeatures(ctx context.Context, data string, f *selectFlags) error {
	l, store, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := f.checkTable(); err != nil {
		return err
	}
	plan, src, err := a.planSelect(ctx, l, data, f)
	if err != nil {
		return err
	}
	env, err := a.environment(ctx, l, src, &f.fitFlags)
	if err != nil {
		return err
	}
	var file *newFile
	if f.table != "" {
		// Before anything is charged: what is paid for must have a place.
		if file, err = createFile(f.table); err != nil {
			return err
		}
		defer file.discard()
	}
	if err := foresee(ctx, plan, env); err != nil {
		return err
	}
	now := time.Now()
	quote, err := plan.Statement(build.Version(), now)
	if err != nil {
		return err
	}
	printPlan(a.err, quote, plan)
	progress := newProgress(a.err, plan.Expected())
	env.Progress = progress.step
	out, err := plan.Choose(ctx, env)
	progress.done()
	if err != nil && !isDoubt(err) {
		return err
	}
	doubt := err
	s, err := out.Statement(ctx, env, build.Version(), now)
	if s == nil {
		return errors.Join(doubt, err)
	}
	v := viewSelection(out, s)
	if doubt = cmp.Or(doubt, err, out.Confirm(ctx, l)); doubt != nil {
		return a.holdSelection(out, s, v, f.table, doubt)
	}
	if file != nil {
		if err := file.write(tableWriter(f.table, out.Table)); err != nil {
			return err
		}
		if file.path != f.table {
			a.note(movedAside(f.table, file.path))
		}
		v.Table = viewTable(file.path, out)
	}
	if a.json {
		return writeJSON(a.out, v)
	}
	return v.text(a.out)
}

// planSelect reads the declarations and prices the choice.
func (a *app) planSelect(ctx context.Context, l *ledger.Ledger, data string, f *selectFlags) (*workflow.Plan, *job, error) {
	asked := f.epsilon != ""
	if !asked {
		f.epsilon = "1" // whether one has to be given follows from the method
	}
	f.workflow, f.model, f.preset = "paw", "auto", "balanced"
	j, in, err := a.openTable(ctx, l, data, &f.fitFlags)
	if err != nil {
		return nil, nil, err
	}
	if !asked {
		in.Epsilon = ""
	}
	in.AsPublished = f.published
	want := workflow.SelectInput{Input: in, Method: f.method, Count: feature.Auto, Level: feature.Level(f.level), Bins: f.bins,
		Search: f.search, Mode: workflow.Mode(f.mode), Labels: workflow.LabelMode(f.labels)}
	if f.relation != "" {
		if want.Relation, err = dp.ParseRelation(f.relation); err != nil {
			return nil, nil, &usageError{err.Error(), "--relation add_or_remove_one or --relation replace_one"}
		}
	}
	if f.count != "auto" && f.count != "" {
		if want.Count, err = strconv.Atoi(f.count); err != nil || want.Count < 1 {
			return nil, nil, &usageError{fmt.Sprintf("--k %q: want a number from 1, or auto", f.count), "example: --k 10"}
		}
	}
	plan, err := workflow.NewSelectPlan(want)
	if err != nil {
		return nil, nil, err
	}
	return plan, j, checkRelation(ctx, l, plan, j.source.Name)
}

// selectionView is a selection as --json prints it: a statement and what was chosen.
type selectionView struct {
	*report.Statement
	Selection struct {
		Method string       `json:"method"`
		Level  string       `json:"level"`
		Merit  *float64     `json:"merit"`
		Note   string       `json:"note,omitempty"`
		Chosen []chosenView `json:"chosen"`
		// Search is what pafs as published did, nil for others.
		Search *workflow.PublishedSearch `json:"search,omitempty"`
	} `json:"selection"`
	// Table says what the noisy table is, nil without one.
	Table       *tableView `json:"table,omitempty"`
	AsPublished bool       `json:"as_published"`
	// Guarantee says in words what the claim is.
	Guarantee string `json:"guarantee"`
}

type chosenView struct {
	Feature string        `json:"feature"`
	Score   report.Number `json:"score"`
	Reason  string        `json:"reason"`
}

func viewSelection(out *workflow.Selected, s *report.Statement) *selectionView {
	v := &selectionView{Statement: s, AsPublished: out.Plan.AsPublished(), Guarantee: "the claim stated under privacy"}
	switch {
	case v.AsPublished:
		v.Guarantee = "NOT a privacy guarantee: a published procedure, repeated on public data"
	case v.NotPrivate:
		v.Guarantee = "NOT PRIVATE: simulation with a seed"
	case len(s.Privacy.Events) == 0:
		v.Guarantee = "no cost: the selection did not use any row"
	}
	v.Selection.Method, v.Selection.Level, v.Selection.Note = out.Selection.Selector, string(out.Selection.Level), out.Selection.Note
	if m := out.Selection.Merit; m == m {
		v.Selection.Merit = &m
	}
	v.Selection.Search = out.Search
	v.Selection.Chosen = []chosenView{}
	for _, c := range out.Selection.Chosen {
		v.Selection.Chosen = append(v.Selection.Chosen, chosenView{c.Column.Name, report.Number(c.Score), c.Reason})
	}
	if e := out.PublishedEpsilon; e > 0 {
		n := report.Number(e)
		v.PublishedEpsilon = &n
	}
	return v
}

func (v *selectionView) text(w io.Writer) error {
	var b bytes.Buffer
	switch {
	case v.AsPublished:
		fmt.Fprintf(&b, "NOT PRIVATE — the selection used exact statistics\n%s\n", v.Guarantee)
	case v.NotPrivate:
		fmt.Fprintln(&b, "NOT PRIVATE — simulation with a seed")
	}
	if n := len(v.SeededRuns); n > 0 {
		fmt.Fprintf(&b, "NOT PRIVATE as a whole: no epsilon bounds the outputs of %s on these data\n", report.SeededRuns(n))
	}
	features := "features"
	if len(v.Selection.Chosen) == 1 {
		features = "feature"
	}
	fmt.Fprintf(&b, "%d %s by %s (%s level), target %s of %s\n", len(v.Selection.Chosen), features, v.Selection.Method, v.Selection.Level, v.Data.Target, v.Data.Name)
	t := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, c := range v.Selection.Chosen {
		score := "–"
		if float64(c.Score) == float64(c.Score) {
			score = fmt.Sprintf("%.4g", float64(c.Score))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", c.Feature, score, c.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if v.Selection.Merit != nil {
		fmt.Fprintf(&b, "merit of the feature set: %.4g\n", *v.Selection.Merit)
	}
	if v.Selection.Note != "" {
		fmt.Fprintln(&b, v.Selection.Note)
	}
	if v.Table != nil {
		v.Table.text(&b)
	}
	if v.PublishedEpsilon != nil {
		of := "noisy entropies"
		switch search := v.Selection.Search; {
		case search != nil:
			fmt.Fprintf(&b, "%d different feature sets, %d noisy models by %s with epsilon %g each, on %d training rows and %d columns\n",
				search.Subsets, search.Trainings, search.Learner, search.Epsilon, search.Train, search.Columns)
			fmt.Fprintf(&b, "the paper states epsilon %g for the whole search, by its formula for %d models of epsilon 0.1\n", search.PrintedEpsilon, search.PrintedSubsets)
			of = fmt.Sprintf("%d models, one for each set", search.Subsets)
		case v.Table != nil:
			of = "the noise on rows"
		}
		fmt.Fprintf(&b, "epsilon of %s by the paper's formula: %.4g, NOT a guarantee\n", of, float64(*v.PublishedEpsilon))
	}
	switch {
	case v.AsPublished:
	case len(v.Privacy.Events) == 0:
		fmt.Fprintln(&b, "cost: none, no row was used")
	default:
		fmt.Fprintf(&b, "cost: (epsilon, delta) = (%s, %s)", number(float64(v.Privacy.Epsilon)), number(float64(v.Privacy.Delta)))
		if v.Table != nil {
			fmt.Fprintf(&b, " under %s, selection and table together", v.Privacy.Relation)
		}
		fmt.Fprintln(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}
