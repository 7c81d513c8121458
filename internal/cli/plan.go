package cli

import (
	"context"
	"fmt"

	"pawl"

	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "plan",
		Short:   "Show the stages of a job and their epsilon; charges nothing",
		Example: "  pawl plan fit adult --target income --epsilon 0.1",
	}
	var f fitFlags
	fit := &cobra.Command{
		Use:     "fit DATA --target Y --epsilon E",
		Short:   "Show what pawl fit would do and cost",
		Long:    "Show the stages of pawl fit with their privacy events and epsilon, the recipe with its\nreasons, and whether the ledger would refuse the job now. Nothing is charged, and no row\nis used except to count a public number of rows.",
		Example: "  pawl plan fit adult --target income --epsilon 0.1",
		Args:    exactArgs("DATA"),
		RunE:    func(c *cobra.Command, args []string) error { return planFit(c.Context(), a, args[0], &f) },
	}
	f.register(fit)
	c.AddCommand(fit, planSelectCommand(a), planSearchCommand(a))
	return c
}

func number(x float64) string { return fmt.Sprintf("%.6g", x) }

func planFit(ctx context.Context, a *app, data string, f *fitFlags) error {
	job, err := fitJob(a, f)
	if err != nil {
		return err
	}
	job.Checkpoint, job.Budget.Anyway = pawl.Checkpoint{}, true // a price list stops nobody
	return showPlan(ctx, a, data, f.Source, job)
}

// showPlan prices a job, asks the ledger about it and prints both. That it would be refused is no
// failure of a price list.
func showPlan(ctx context.Context, a *app, data string, s pawl.Source, job pawl.Job) error {
	plan, err := a.plan(ctx, data, s, job)
	if err != nil {
		return err
	}
	return plan.Report(ctx, a.out, a.json)
}
