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
		Short: "Choose features, and pay for what the choice looks at",
		Long: `Choose features under (epsilon, delta)-differential privacy. The statistics that a
method looks at are released once, with noise; everything after that is free.

Methods, * where --k is required:
` + methodList() + `

On every data set that we measured, a model on all attributes was better at the same
total budget: choose features to understand the data, not to gain accuracy.
What --json prints can be given to pawl fit as --features FILE.json; columns at level
column are kept one by one there.

--mode local (dfs) also writes a table of the chosen features, one row for each row of
DATA with noise of its own, for any model and any number of trainings. It is proven for
replacing one row, not for adding or removing one, and needs many rows.
--as-published replays a paper's procedure on exact statistics of public data; what it
claims is no guarantee.`,
		Example: `  pawl select adult --target income --method cfs-greedy --epsilon 0.2
  pawl select adult --target income --method dfs --k 10 --epsilon 4 --mode local --out noisy.parquet
  pawl select breast-cancer --target class --method cfs-ga --as-published --seed 1`,
		Args: exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.copies.again(func() error { once := f; return a.selectFeatures(c.Context(), args[0], &once) })
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.table, "out", "", "mode local: file for the noisy table, .parquet or .csv; must not exist")
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
	s.StringVar(&f.method, "method", "", "how features are chosen (required)")
	s.StringVar(&f.count, "k", "auto", "number of features; auto leaves it to the method (methods with a * cannot)")
	s.StringVar(&f.level, "level", "", "attribute: columns of the schema; column: one for each category (default attribute, as published column)")
	s.StringVar(&f.mode, "mode", "", "central: the names of features; local (method dfs): a table of noisy rows too (default central)")
	s.StringVar(&f.labels, "labels", "", "classes in the noisy table: randomized, or public: as they are (default randomized)")
	s.StringVar(&f.relation, "relation", "", "check that the guarantee is under this relation (central add_or_remove_one, local replace_one)")
	s.IntVar(&f.bins, "bins", 0, "public bins of a numeric column (default 10)")
	s.StringVar(&f.search.Learner, "learner", "", "pafs as published: objective-perturbation or dp-sgd (default objective-perturbation)")
	s.IntVar(&f.search.Population, "population", 0, "pafs as published: sets in a round (default 600)")
	s.IntVar(&f.search.Generations, "rounds", 0, "pafs as published: rounds of breeding (default 10)")
	s.IntVar(&f.search.Fits, "fits", 0, "pafs as published: noisy models of a set, whose mean accuracy counts (default 20)")
	s.BoolVar(&f.published, "as-published", false, "exact statistics, nothing paid: public data only, no guarantee")
	f.registerTable(c)
	s.StringVar(&f.delta, "delta", "", "failure chance (default: largest power of ten up to 1/(10·rows))")
	s.StringVar(&f.epsilon, "epsilon", "", "privacy budget of the choice (required unless nothing is paid: random, all, --as-published)")
	s.StringVar(&f.features, "features", "auto", "columns to choose from: auto, all, or a list: age,sex,hours")
}

// planSelectCommand is `pawl plan select`.
func (a *app) planSelectCommand() *cobra.Command {
	var f selectFlags
	c := &cobra.Command{
		Use:     "select DATA --target Y --method M --epsilon E",
		Short:   "Show what pawl select would look at and cost",
		Long:    "Show the stage of `pawl select`, its event and its price.\nNo row is used beyond counting a public number of rows, and nothing is charged.",
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
	now := time.Now()
	quote, err := plan.Statement(version(), now)
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
	s, err := out.Statement(ctx, env, version(), now)
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
	want := workflow.SelectInput{Input: in, Method: f.method, Count: feature.Auto, Level: feature.Level(f.level), Bins: f.bins, AsPublished: f.published,
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
	return plan, j, checkRelation(ctx, l, plan, j.source.name)
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
	v := &selectionView{Statement: s, AsPublished: out.Plan.AsPublished(), Guarantee: "the claim under privacy"}
	switch {
	case v.AsPublished:
		v.Guarantee = "NOT a privacy guarantee: a replay of a published procedure on public data"
	case v.NotPrivate:
		v.Guarantee = "NOT PRIVATE: simulation with a seed"
	case len(s.Privacy.Events) == 0:
		v.Guarantee = "nothing to pay: the choice looked at no row"
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
	if e := out.PublishedEpsilon(); e > 0 {
		n := report.Number(e)
		v.PublishedEpsilon = &n
	}
	return v
}

func (v *selectionView) text(w io.Writer) error {
	var b bytes.Buffer
	switch {
	case v.AsPublished:
		fmt.Fprintf(&b, "NOT PRIVATE — the choice looked at rows without paying\n%s\n", v.Guarantee)
	case v.NotPrivate:
		fmt.Fprintln(&b, "NOT PRIVATE — simulation with a seed")
	}
	if n := len(v.SeededRuns); n > 0 {
		fmt.Fprintf(&b, "NOT PRIVATE as a whole: the outputs of %s on these data have no bound\n", seeded(n))
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
		fmt.Fprintf(&b, "merit of the set: %.4g\n", *v.Selection.Merit)
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
			fmt.Fprintf(&b, "%d different sets, %d noisy models by %s of epsilon %g each, on %d training rows and %d columns\n",
				search.Subsets, search.Trainings, search.Learner, search.Epsilon, search.Train, search.Columns)
			fmt.Fprintf(&b, "the paper prints epsilon %g for the whole search, its formula over %d models of epsilon 0.1\n", search.PrintedEpsilon, search.PrintedSubsets)
			of = fmt.Sprintf("%d models, one for each set", search.Subsets)
		case v.Table != nil:
			of = "the noise on rows"
		}
		fmt.Fprintf(&b, "epsilon that the paper states for %s: %.4g, NOT a guarantee\n", of, float64(*v.PublishedEpsilon))
	}
	switch {
	case v.AsPublished:
	case len(v.Privacy.Events) == 0:
		fmt.Fprintln(&b, "cost: nothing, no row was looked at")
	default:
		fmt.Fprintf(&b, "cost: (epsilon, delta) = (%s, %s)", number(float64(v.Privacy.Epsilon)), number(float64(v.Privacy.Delta)))
		if v.Table != nil {
			fmt.Fprintf(&b, " under %s, choice and table together", v.Privacy.Relation)
		}
		fmt.Fprintln(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}
