package cli

import (
	"pawl/internal/cost"

	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/core/accountant"
	"pawl/core/entropy"
	"pawl/data/schema"
	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
)

type mechanismFlags struct{ name, epsilon, runs, confidence, seed string }

// mostRuns keeps the scores of an audit in memory.
const mostRuns = 20_000_000

func (a *app) auditMechanism() *cobra.Command {
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
				return a.listMechanisms()
			}
			return a.runMechanism(c.Context(), c, f)
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

// mechanismAudit is what is printed of two worlds.
type mechanismAudit struct {
	audit.Result
	Name string `json:"name"`
	// MostShown is the largest bound that so many runs can show.
	MostShown float64 `json:"most_that_the_runs_can_show"`
	// Specifications are those of the same function of core; absent among those of all.
	Specifications []audit.Conformity `json:"specifications,omitempty"`
	Tests          int                `json:"tests,omitempty"`
	Seed           *uint64            `json:"seed,omitempty"`
	Notes          []string           `json:"notes"`
}

// mechanismAudits is what is printed of several.
type mechanismAudits struct {
	Specifications []audit.Conformity `json:"specifications"`
	Worlds         []mechanismAudit   `json:"worlds"`
	// Tests is the number of tests of this command, over all of which Confidence holds.
	Tests      int      `json:"tests"`
	Confidence float64  `json:"confidence"`
	Convicted  []string `json:"convicted"`
	Seed       *uint64  `json:"seed,omitempty"`
	Notes      []string `json:"notes"`
}

// runsOfAll is the number of runs of each where all are audited and none is asked for.
const runsOfAll = 5000

func (a *app) runMechanism(ctx context.Context, c *cobra.Command, f mechanismFlags) error {
	if err := required(c, "name"); err != nil {
		return err
	}
	runs, err := cost.ParseWhole("runs", f.runs)
	if err != nil {
		return err
	}
	if f.name == "all" && !c.Flags().Changed("runs") {
		runs = runsOfAll
	}
	if runs < 100 || runs > mostRuns {
		return &usageError{fmt.Sprintf("--runs: %s is not between 100 and %d", f.runs, mostRuns), "20000 runs detect half the noise at epsilon 1"}
	}
	confidence, err := parseConfidence(f.confidence)
	if err != nil {
		return err
	}
	src, seed, err := auditSource(f.seed)
	if err != nil {
		return err
	}
	specs, worlds, err := chooseAudits(f.name, f.epsilon)
	if err != nil {
		return err
	}
	out := &mechanismAudits{Confidence: confidence, Specifications: []audit.Conformity{}, Worlds: []mechanismAudit{}, Convicted: []string{}, Seed: seed, Notes: []string{}}
	// Every specification and every pair of worlds has an equal share of the error, which its
	// own tests share again: an honest build passes all of them with the stated confidence.
	share := (1 - confidence) / float64(len(specs)+len(worlds))
	for _, s := range specs {
		fmt.Fprintf(a.err, "stage: specification, %s\n", s.Name)
		r, err := audit.Conform(ctx, s, share, src)
		if err != nil {
			return err
		}
		out.Tests += len(r.Checks)
		if r.Convicted {
			out.Convicted = append(out.Convicted, s.Slug())
		}
		out.Specifications = append(out.Specifications, r)
	}
	for _, m := range worlds {
		own := src
		if f.name == "all" {
			own = src.Split(m.Name)
		}
		r, err := a.auditWorlds(ctx, m, int(runs), 1-share, own)
		if err != nil {
			return err
		}
		out.Tests += len(r.Verdict.Evidence)
		if r.Verdict.Convicted {
			out.Convicted = append(out.Convicted, m.Slug())
		}
		out.Worlds = append(out.Worlds, r)
	}
	return a.finishMechanisms(out, f.name)
}

// chooseAudits is everything, or a pair of worlds with the specifications of the same
// function, or one specification.
func chooseAudits(name, epsilon string) ([]audit.Specification, []audit.Mechanism, error) {
	if name == "all" {
		if epsilon != "" {
			return nil, nil, &usageError{"--epsilon needs a single mechanism", "give one mechanism with --name"}
		}
		worlds, err := audit.Mechanisms()
		return audit.Specifications(), worlds, err
	}
	var specs []audit.Specification
	for _, s := range audit.Specifications() {
		if s.Slug() == name || s.Name == name {
			if epsilon != "" {
				return nil, nil, &usageError{"--epsilon does not apply to a specification", "leave it out"}
			}
			return append(specs, s), nil, nil
		}
	}
	m, err := chooseMechanism(name, epsilon)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range audit.Specifications() {
		if s.Entry == m.Entry {
			specs = append(specs, s)
		}
	}
	return specs, []audit.Mechanism{m}, nil
}

func (a *app) auditWorlds(ctx context.Context, m audit.Mechanism, runs int, confidence float64, src *entropy.Source) (out mechanismAudit, err error) {
	out = mechanismAudit{Name: m.Slug(), Notes: []string{}}
	if out.MostShown, err = mostShown(runs/2, m.Delta); err != nil {
		return out, err
	}
	claim, err := m.Claim()
	if err != nil {
		return out, err
	}
	if out.MostShown <= claim.Epsilon {
		out.Notes = append(out.Notes, fmt.Sprintf("NO POWER: %d runs can show at most epsilon %.3g, which is not above the claim: increase --runs", runs, out.MostShown))
	}
	fmt.Fprintf(a.err, "stage: %s, %d runs on each of two data sets\n", m.Name, runs)
	if out.Result, err = audit.Run(ctx, m, audit.Options{Runs: runs, Source: src, Confidence: confidence}); err != nil {
		return out, err
	}
	switch v := out.Verdict; {
	case v.Convicted:
	case v.Suspected:
		out.Notes = append(out.Notes, "the lower bound (95 %) is above the claim, which happens by chance in one of 20 audits of a true claim: audit again with more runs")
	default:
		out.Notes = append(out.Notes, proves)
	}
	return out, nil
}

func chooseMechanism(name, epsilon string) (m audit.Mechanism, err error) {
	if epsilon == "" {
		m, err = audit.Find(name)
	} else {
		var e float64
		if e, err = cost.ParseEpsilon(epsilon, false); err != nil {
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
		return m, &usageError{fmt.Sprintf("unknown mechanism %q", name), advice}
	case errors.Is(err, accountant.ErrUnreachable):
		return m, &usageError{fmt.Sprintf("--epsilon: %s is out of range for %s", epsilon, m.Name), "audits work for epsilon from about 0.05 to 10"}
	}
	return m, err
}

// finishMechanisms prints: one pair of worlds as one object, several audits as lists.
func (a *app) finishMechanisms(out *mechanismAudits, name string) error {
	out.Notes = append(out.Notes, fmt.Sprintf("%s confidence holds over all %d tests of this command together (Bonferroni): a correct program passes all of them with that probability", bound.Percent(out.Confidence), out.Tests))
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
	return a.conclude(convicted, fmt.Sprintf("REJECTED at %s: %s", bound.Percent(out.Confidence), strings.Join(out.Convicted, ", ")), object, func(to io.Writer) error {
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
			if err := a.notes(to, m.Notes); err != nil {
				return err
			}
		}
		return a.notes(to, out.Notes)
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

func printWorlds(w io.Writer, out mechanismAudit) {
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

func (a *app) notes(w io.Writer, notes []string) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, "note:", n); err != nil {
			return err
		}
	}
	return nil
}

// figure is a bound in three digits.
