package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/campaign"
)

type mechanismFlags struct{ name, epsilon, runs, confidence, seed string }

func auditMechanism(a *app) *cobra.Command {
	var f mechanismFlags
	c := &cobra.Command{
		Use:   "mechanism --name NAME --epsilon E --runs N",
		Short: "Test a mechanism on two data sets that differ in one unit",
		Long: `Run a mechanism many times on two synthetic data sets that differ in one privacy unit,
with the noise for --epsilon (or a default), and test whether the outputs can be told
apart more often than the claim allows. No data are read and nothing is charged.

The test is chosen on one half of the runs and applied to the other half. Telling
epsilon E from a larger value takes a multiple of e^E runs. --name list shows what can
be audited.

Before the claim, the specification is tested: the outputs on known rows, minus the true
values, must be noise of the stated distribution, fresh for every number and step;
batches, masks and bounds on units must be as stated. These tests do not depend on
epsilon and detect a factor of √2 within a second. --name all runs everything; the
confidence then holds over all tests together.`,
		Example: `  pawl audit mechanism --name list
  pawl audit mechanism --name all --json
  pawl audit mechanism --name objective-perturbation --epsilon 1 --runs 100000 --json
  pawl audit mechanism --name descent-sampled --runs 20000 --seed 7`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.name == "list" {
				all, err := campaign.List()
				if err != nil {
					return err
				}
				return a.show(all)
			}
			return runMechanism(c.Context(), a, c, f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.name, "name", "", "name of a mechanism or specification, or all, or list (required)")
	s.StringVar(&f.epsilon, "epsilon", "", "epsilon to claim, at the mechanism's own delta (default: that of the tested noise)")
	s.StringVar(&f.runs, "runs", "20000", "runs on each data set (all: 5000)")
	s.StringVar(&f.confidence, "confidence", "", "confidence needed to reject the claim (default: 0.999)")
	s.StringVar(&f.seed, "seed", "", "repeat an audit exactly; harmless, since the data are synthetic")
	return c
}

func runMechanism(ctx context.Context, a *app, c *cobra.Command, f mechanismFlags) error {
	if err := required(c, "name"); err != nil {
		return err
	}
	out, err := campaign.AuditMechanisms(ctx, campaign.Mechanism{Name: f.name, Epsilon: f.epsilon, Runs: f.runs, RunsGiven: c.Flags().Changed("runs"), Confidence: f.confidence, Seed: f.seed, Log: a.err})
	if err != nil {
		return err
	}
	all, why := strings.Join(out.Convicted, ", "), ""
	if all != "" {
		why = fmt.Sprintf("%s does not meet its specification, at %s over %d tests", all, bound.Percent(out.Confidence), out.Tests)
	}
	return concludeAudit(a, why, fmt.Sprintf("REJECTED at %s: %s", bound.Percent(out.Confidence), all), out.Object(f.name), out.WriteText)
}
