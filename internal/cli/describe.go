package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pawl"
)

type describeFlags struct {
	jobFlags
	pawl.Describe
	columns string
	out     outDir
	show    string
}

func describeCommand(a *app) *cobra.Command {
	var f describeFlags
	c := &cobra.Command{
		Use:   "describe DATA --epsilon E",
		Short: "Describe a table privately: look before you model",
		Long: `Describe a table in one paid release: counts of categories and missing cells,
histograms, quantiles, means, standard deviations, the target by level of every other
column, and rank correlations, all with 95% intervals.

Bins follow from the declared bounds, never from rows. Columns of texts and vectors are
left out; a table of texts gives the counts of its other columns. Images cannot be
described.

Before the charge, a forecast shows how far off counts may be. A description that would
show little but noise is refused, unless --anyway is given.

--out receives describe.html (one page, ready to print) and statement.json (all
figures, for programs). pawl describe --show DIR prints them again at no cost. Without
--epsilon, the figures of a public data set are exact and cost nothing.`,
		Example: `  pawl describe adult --epsilon 0.5 --out look
  pawl describe patients.csv --schema patients.yaml --target readmitted --epsilon 0.3 --budget 2
  pawl describe --show look`,
		Args: func(c *cobra.Command, args []string) error {
			if f.show != "" && len(args) == 0 {
				return nil
			}
			return exactArgs("DATA")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.show != "" {
				return showDescription(a, f.show, args)
			}
			return describeTable(c.Context(), a, args[0], f)
		},
	}
	s := c.Flags()
	registerTable(c, &f.jobFlags, &f.Target, &f.Budget, &f.Identity, "epsilon of the whole description (required unless the data set is public)", "; 0 asks for pure DP, without correlations")
	s.Lookup("target").Usage = "column by which the others are broken down, a class or a number (built-in data sets have a default)"
	s.StringVar(&f.columns, "columns", "", "describe these columns, and the target, only: fewer columns have less noise (default: all)")
	f.out.register(c)
	s.StringVar(&f.show, "show", "", "print the description in this folder again; charges nothing")
	return c
}

func describeTable(ctx context.Context, a *app, data string, f describeFlags) (err error) {
	job := f.Describe
	a.identity(&job.Identity)
	if job.Seed, err = f.seedOf(); err != nil {
		return err
	}
	job.Columns = list(f.columns)
	return runJob(ctx, a, data, f.Source, job, pawl.Into(f.out.path, f.out.force))
}

func showDescription(a *app, dir string, args []string) error {
	if len(args) > 0 {
		return mistake("--show prints a description that was released before, and takes no DATA", "leave out one of them")
	}
	res, err := pawl.LoadDescription(dir)
	if err != nil {
		return err
	}
	return a.printed(res)
}
