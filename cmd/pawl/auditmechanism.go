package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/audit"
	"pawl/audit/bound"
	"pawl/core/accountant"
	"pawl/schema"
)

type mechanismFlags struct{ name, epsilon, runs, confidence, seed string }

// mostRuns keeps the scores of an audit in memory.
const mostRuns = 20_000_000

func (a *app) auditMechanism() *cobra.Command {
	var f mechanismFlags
	c := &cobra.Command{
		Use:   "mechanism --name NAME --epsilon E --runs N",
		Short: "Run a mechanism in two worlds that differ in one unit, and try to tell them apart",
		Long: `Run a mechanism of core many times on two made-up data sets that differ in one unit,
with the noise that it takes for --epsilon (left out: a default), and test whether the
outputs can be told apart more often than the claim allows. No data is read and nothing
is booked.

The test is chosen on one half of the runs and judged on the other. One that tells an
epsilon of E from a larger one needs some multiple of e^E runs. --name list shows what
can be audited.`,
		Example: `  pawl audit mechanism --name list
  pawl audit mechanism --name objective-perturbation --epsilon 1 --runs 100000 --json
  pawl audit mechanism --name descent-sampled --runs 20000 --seed 7`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.name == "list" {
				return a.listMechanisms()
			}
			return a.runMechanism(c.Context(), c, f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.name, "name", "", "mechanism, or list (required)")
	s.StringVar(&f.epsilon, "epsilon", "", "claim, at the mechanism's own delta (default: that of the noise it is tested at)")
	s.StringVar(&f.runs, "runs", "20000", "runs in each world")
	s.StringVar(&f.confidence, "confidence", "", "confidence of a conviction (default: 0.999)")
	s.StringVar(&f.seed, "seed", "", "repeat an audit exactly; harmless, since the rows are made up")
	return c
}

func (a *app) listMechanisms() error {
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
	if a.json {
		return writeJSON(a.out, lines)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\tdelta %s\t%s\n", l.Name, l.Entry, full(l.Delta), l.Neighbours)
	}
	return w.Flush()
}

// mechanismAudit is what is printed.
type mechanismAudit struct {
	audit.Result
	Name string `json:"name"`
	// MostShown is the largest bound that so many runs can show.
	MostShown float64  `json:"most_that_the_runs_can_show"`
	Seed      *uint64  `json:"seed,omitempty"`
	Notes     []string `json:"notes"`
}

func (a *app) runMechanism(ctx context.Context, c *cobra.Command, f mechanismFlags) error {
	if err := required(c, "name"); err != nil {
		return err
	}
	runs, err := parseWhole("runs", f.runs)
	if err != nil {
		return err
	}
	if runs < 100 || runs > mostRuns {
		return &usageError{fmt.Sprintf("--runs: %s does not lie between 100 and %d", f.runs, mostRuns), "20000 see half the noise at epsilon 1"}
	}
	confidence, err := parseConfidence(f.confidence)
	if err != nil {
		return err
	}
	src, seed, err := auditSource(f.seed)
	if err != nil {
		return err
	}
	m, err := chooseMechanism(f.name, f.epsilon)
	if err != nil {
		return err
	}
	out := mechanismAudit{Name: m.Slug(), Seed: seed, Notes: []string{}}
	if out.MostShown, err = mostShown(int(runs)/2, m.Delta); err != nil {
		return err
	}
	claim, err := m.Claim()
	if err != nil {
		return err
	}
	if out.MostShown <= claim.Epsilon {
		out.Notes = append(out.Notes, fmt.Sprintf("%d runs can show an epsilon of %.3g at most, which is not above the claim: raise --runs", runs, out.MostShown))
	}
	fmt.Fprintf(a.err, "stage: %s, %d runs in each of two worlds\n", m.Name, runs)
	if out.Result, err = audit.Run(ctx, m, audit.Options{Runs: int(runs), Source: src, Confidence: confidence}); err != nil {
		return err
	}
	v := out.Verdict
	switch {
	case v.Convicted:
	case v.Suspected:
		out.Notes = append(out.Notes, "the bound at 95 % is above the claim, which happens to an honest one in twenty: audit again with more runs")
	default:
		out.Notes = append(out.Notes, proves)
	}
	if err := a.printMechanism(out); err != nil {
		return err
	}
	if v.Convicted {
		return &convictedError{fmt.Sprintf("%s claims epsilon %s at delta %s and is told apart more often than that allows, at %s", m.Name, figure(claim.Epsilon), full(claim.Delta), percent(confidence)), convictedAdvice}
	}
	return nil
}

func chooseMechanism(name, epsilon string) (m audit.Mechanism, err error) {
	if epsilon == "" {
		m, err = audit.Find(name)
	} else {
		var e float64
		if e, err = parseEpsilon(epsilon, false); err != nil {
			return m, err
		}
		m, err = audit.Calibrated(name, e)
	}
	switch {
	case errors.Is(err, audit.ErrUnknown):
		advice := "pawl audit mechanism --name list"
		all, failed := audit.Mechanisms()
		var names []string
		for _, m := range all {
			names = append(names, m.Slug())
		}
		if near := schema.Nearest(name, names); failed == nil && near != "" {
			advice = fmt.Sprintf("did you mean %q? pawl audit mechanism --name list shows all", near)
		}
		return m, &usageError{fmt.Sprintf("no mechanism is called %q", name), advice}
	case errors.Is(err, accountant.ErrUnreachable):
		return m, &usageError{fmt.Sprintf("--epsilon: %s is out of reach of %s", epsilon, m.Name), "an audit works from about 0.05 to 10"}
	}
	return m, err
}

func (a *app) printMechanism(out mechanismAudit) error {
	v := out.Verdict
	if v.Convicted {
		text := fmt.Sprintf("CONVICTED at %s: the claim of epsilon %s does not hold", percent(v.Confidence), figure(v.Claim.Epsilon))
		if a.json {
			banner(a.err, text)
		} else {
			banner(a.out, text)
		}
	}
	if a.json {
		return writeJSON(a.out, out)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "mechanism\t%s (%s)\n", out.Mechanism, out.Entry)
	fmt.Fprintf(w, "worlds\t%s; %s\n", out.Neighbours, out.Relation)
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", figure(v.Claim.Epsilon), full(v.Claim.Delta))
	fmt.Fprintf(w, "runs\t%d in each world, which can show %s at most\n", out.Runs, figure(out.MostShown))
	fmt.Fprintf(w, "lower bound\tepsilon is at least %s (%s; %d of %d against %d of %d)\n", figure(v.Bound.Epsilon), percent(bound.Printed),
		v.Bound.Counts.TruePositives, v.Bound.Counts.Positives, v.Bound.Counts.FalsePositives, v.Bound.Counts.Negatives)
	verdict := "not convicted"
	if v.Convicted {
		verdict = "CONVICTED"
	}
	fmt.Fprintf(w, "verdict\t%s at %s\n", verdict, percent(v.Confidence))
	if err := w.Flush(); err != nil {
		return err
	}
	return a.notes(a.out, out.Notes)
}

func (a *app) notes(w io.Writer, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, "note:", n); err != nil {
			return err
		}
	}
	return nil
}

// figure is a bound in three digits.
func figure(x float64) string { return fmt.Sprintf("%.3g", x) }
