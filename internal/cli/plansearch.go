package cli

import (
	"context"

	"github.com/spf13/cobra"

	"pawl/data/source"
	"pawl/internal/request"
)

func planSearchCommand(a *app) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search DATA --space S --strategy K|all --epsilon E",
		Short: "Show what each search would cost, and leave for one training run",
		Long: `Show the plan of one strategy, or with --strategy all compare all strategies: the epsilon
that each leaves for training the released model when the total is --epsilon, and the
total when each training run takes --epsilon. Nothing is charged, and no row is used
except to count a public number of rows.`,
		Example: "  pawl plan search mnist --space fcn --strategy all --epsilon 2.11",
		Args:    exactArgs("DATA"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.Strategy == "all" {
				return priceList(c.Context(), a, args[0], &f)
			}
			job, err := f.job(a, c)
			if err != nil {
				return err
			}
			job.Train.Budget.Anyway = true
			return showPlan(c.Context(), a, args[0], f.Source, job)
		},
	}
	f.register(c)
	return c
}

func priceList(ctx context.Context, a *app, data string, f *searchFlags) error {
	t := f.Train
	asked := request.Search{Space: f.Space, Metric: f.Metric, Train: request.Train{Terms: termsOf(t.Budget, t.Identity, f.seed), Model: t.Model, Preset: t.Preset, Target: t.Target,
		Batch: t.Batch, Epochs: t.Epochs, ClippingNorm: t.ClippingNorm, Optimizer: t.Optimizer, FrontEnd: t.FrontEnd, Augment: t.Augment, Shift: shiftOf(f.shift), AsDrawn: t.AsDrawn, Memory: t.Memory}}
	opened, err := source.Open(data, source.Options{DataDir: a.dataDir, Schema: f.Schema, Labels: f.Labels, Classes: f.Classes, Rows: f.Rows})
	if err != nil {
		return err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	list, err := a.desk(l).PriceList(ctx, opened, &asked, message)
	if err != nil {
		return err
	}
	return a.print(list, list.Text)
}
