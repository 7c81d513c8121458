package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/campaign"
	"pawl/internal/cost"
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

Before the claim, the specification is tested: the outputs on known rows, less the true
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
				return listMechanisms(a)
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

func listMechanisms(a *app) error {
	all, err := audit.Mechanisms()
	if err != nil {
		return err
	}
	type line struct {
		Name       string  `json:"name"`
		Entry      string  `json:"entry"`
		Neighbours string  `json:"neighbours"`
		Relation   string  `json:"neighboring_relation"`
		Delta      float64 `json:"delta"`
	}
	lines := make([]line, len(all))
	for i, m := range all {
		lines[i] = line{m.Slug(), m.Entry, m.Neighbours, m.Relation.String(), m.Delta}
	}
	for _, s := range audit.Specifications() {
		lines = append(lines, line{Name: s.Slug(), Entry: s.Entry, Neighbours: s.Rows, Relation: "specification"})
	}
	if a.json {
		return writeJSON(a.out, lines)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		kind := "delta " + cost.Full(l.Delta)
		if l.Relation == "specification" {
			kind = l.Relation
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.Entry, kind, l.Neighbours)
	}
	return w.Flush()
}

func runMechanism(ctx context.Context, a *app, c *cobra.Command, f mechanismFlags) error {
	if err := required(c, "name"); err != nil {
		return err
	}
	out, err := campaign.AuditMechanisms(ctx, campaign.Mechanism{Name: f.name, Epsilon: f.epsilon, Runs: f.runs, RunsGiven: c.Flags().Changed("runs"), Confidence: f.confidence, Seed: f.seed, Log: a.err})
	if err != nil {
		return err
	}
	return finishMechanisms(a, out, f.name)
}

// finishMechanisms prints: one pair of worlds as one object, several audits as lists.
func finishMechanisms(a *app, out *campaign.Mechanisms, name string) error {
	var convicted error
	if len(out.Convicted) > 0 {
		convicted = &convictedError{fmt.Sprintf("%s does not meet its specification, at %s over %d tests", strings.Join(out.Convicted, ", "), bound.Percent(out.Confidence), out.Tests), convictedAdvice}
	}
	var object any = out
	if len(out.Worlds) == 1 && name != "all" {
		one := out.Worlds[0]
		one.Specifications, one.Tests, one.Seed, one.Notes = out.Specifications, out.Tests, out.Seed, append(one.Notes, out.Notes...)
		object = one
	}
	return concludeAudit(a, convicted, fmt.Sprintf("REJECTED at %s: %s", bound.Percent(out.Confidence), strings.Join(out.Convicted, ", ")), object, func(to io.Writer) error {
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		for _, s := range out.Specifications {
			printConformity(w, s, len(out.Specifications)+len(out.Worlds) > 12)
		}
		for _, m := range out.Worlds {
			printWorlds(w, m)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, m := range out.Worlds {
			if len(out.Worlds) > 1 {
				break
			}
			if err := printNotes(a, to, m.Notes); err != nil {
				return err
			}
		}
		return printNotes(a, to, out.Notes)
	})
}

// printConformity shows all tests of a specification, or only the one that says most.
func printConformity(w io.Writer, s audit.Conformity, brief bool) {
	fmt.Fprintf(w, "specification\t%s (%s): %s\n", s.Name, s.Entry, verdictOf(s.Convicted))
	checks := s.Checks
	if brief && !s.Convicted {
		checks = []audit.Check{s.Worst()}
	}
	for _, c := range checks {
		mark := ""
		if c.Convicted {
			mark = "  REJECTED"
		}
		fmt.Fprintf(w, "  test\t%s: %s, expected %s, of %d; p %s, rejects below %s%s\n", c.What, bound.Figure(c.Statistic), bound.Figure(c.Expected), c.Count, bound.Figure(c.PValue), bound.Figure(c.Limit), mark)
	}
}

func verdictOf(convicted bool) string {
	if convicted {
		return "REJECTED"
	}
	return "not rejected"
}

func printWorlds(w io.Writer, out campaign.Worlds) {
	v := out.Verdict
	fmt.Fprintf(w, "mechanism\t%s (%s)\n", out.Mechanism, out.Entry)
	fmt.Fprintf(w, "data sets\t%s; %s\n", out.Neighbours, out.Relation)
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", bound.Figure(v.Claim.Epsilon), cost.Full(v.Claim.Delta))
	fmt.Fprintf(w, "runs\t%d on each data set, which can show at most epsilon %s\n", out.Runs, bound.Figure(out.MostShown))
	fmt.Fprintf(w, "lower bound\tepsilon is at least %s (%s; %d of %d against %d of %d)\n", bound.Figure(v.Bound.Epsilon), bound.Percent(bound.Printed),
		v.Bound.Counts.TruePositives, v.Bound.Counts.Positives, v.Bound.Counts.FalsePositives, v.Bound.Counts.Negatives)
	for _, e := range v.Evidence {
		sign := ">="
		if e.Test.Below {
			sign = "<="
		}
		fmt.Fprintf(w, "  evidence\tscore %s %s: %d of %d against %d of %d; true positive rate >= %s at false positive rate <= %s, where the claim's trade-off curve allows %s\n",
			sign, bound.Figure(e.Test.Threshold), e.Counts.TruePositives, e.Counts.Positives, e.Counts.FalsePositives, e.Counts.Negatives, bound.Figure(e.TruePositives), bound.Figure(e.FalsePositives), bound.Figure(e.Allowed))
	}
	fmt.Fprintf(w, "verdict\t%s at %s\n", verdictOf(v.Convicted), bound.Percent(v.Confidence))
}

func printNotes(a *app, w io.Writer, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, "note:", n); err != nil {
			return err
		}
	}
	return nil
}
