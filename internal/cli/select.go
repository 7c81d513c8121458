package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
)

type selectFlags struct {
	jobFlags
	pawl.Select
}

func selectCommand(a *app) *cobra.Command {
	var f selectFlags
	c := &cobra.Command{
		Use:   "select DATA --target Y --method M --epsilon E",
		Short: "Select features privately",
		Long: `Select features under (epsilon, delta)-differential privacy. The statistics that a
method uses are released once, with noise; everything computed from them is free.

Methods (* requires --k):
` + methodList() + `

On no real table that we measured did a linear model gain from a choice at the same
total epsilon: select features to understand the data, or where a few of hundreds of
yes/no columns matter (docs/ADVICE.md).
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
			job, err := f.job(a)
			if err != nil {
				return err
			}
			return runJob(c.Context(), a, args[0], f.Source, job)
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.Table, "out", "", "with --mode local: new file for the noisy table, .parquet or .csv")
	return c
}

// methodList is the table of methods for --help.
func methodList() string {
	var lines []string
	for _, m := range pawl.Methods() {
		name := m.Name
		if m.NeedsCount {
			name += " *"
		}
		lines = append(lines, fmt.Sprintf("  %-26s %s", name, m.What))
	}
	return strings.Join(lines, "\n")
}

// register adds the flags that select and plan select share.
func (f *selectFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.Method, "method", "", "selection method (required)")
	s.StringVar(&f.Count, "k", "auto", "number of features; auto lets the method decide (not for methods with *)")
	s.StringVar(&f.Level, "level", "", "attribute: whole schema columns; column: single categories (default attribute; as published, column)")
	s.StringVar(&f.Mode, "mode", "", "central: release feature names; local (method dfs): also release a table of noisy rows (default central)")
	s.StringVar(&f.Select.Labels, "labels", "", "classes in the noisy table: randomized, or public (unchanged) (default randomized)")
	s.StringVar(&f.Relation, "relation", "", "require this neighbouring relation (central: add_or_remove_one, local: replace_one)")
	s.IntVar(&f.Bins, "bins", 0, "number of public bins of a numeric column (default 10)")
	s.StringVar(&f.Learner, "learner", "", "pafs as published: learner, objective-perturbation or dp-sgd (default objective-perturbation)")
	s.IntVar(&f.Population, "population", 0, "pafs as published: feature sets per round (default 600)")
	s.IntVar(&f.Rounds, "rounds", 0, "pafs as published: number of rounds (default 10)")
	s.IntVar(&f.Fits, "fits", 0, "pafs as published: noisy models per feature set, whose mean accuracy counts (default 20)")
	s.BoolVar(&f.AsPublished, "as-published", false, "use exact statistics at no cost: public data only, no guarantee")
	registerTable(c, &f.jobFlags, &f.Target, &f.Budget, &f.Identity, "epsilon of the selection (required except for random, all and --as-published)", "")
	s.StringVar(&f.Features, "features", "auto", "columns to select from: auto, all, or a list (age,sex,hours)")
}

// planSelectCommand is `pawl plan select`.
func planSelectCommand(a *app) *cobra.Command {
	var f selectFlags
	c := &cobra.Command{
		Use:     "select DATA --target Y --method M --epsilon E",
		Short:   "Show what pawl select would do and cost",
		Long:    "Show the stage of pawl select, its privacy event and its epsilon. Nothing is charged,\nand no row is used except to count a public number of rows.",
		Example: "  pawl plan select adult --target income --method cfs-greedy --epsilon 0.2",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			job, err := f.job(a)
			if err != nil {
				return err
			}
			job.Budget.Anyway = true
			return showPlan(c.Context(), a, args[0], f.Source, job)
		},
	}
	f.register(c)
	return c
}

// job is the selection that the flags ask for.
func (f *selectFlags) job(a *app) (job pawl.Select, err error) {
	job = f.Select
	a.identity(&job.Identity)
	job.Seed, err = f.seedOf()
	return job, err
}
