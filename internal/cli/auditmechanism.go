package cli

import (
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
		Short: "Run a mechanism in two worlds that differ in one unit, and try to tell them apart",
		Long: `Run a mechanism of core many times on two made-up data sets that differ in one unit,
with the noise that it takes for --epsilon (left out: a default), and test whether the
outputs can be told apart more often than the claim allows. No data is read and nothing
is booked.

The test is chosen on one half of the runs and judged on the other. One that tells an
epsilon of E from a larger one needs some multiple of e^E runs. --name list shows what
can be audited.

Before the claim comes the specification: what the function released on known rows, less
what they add, must be noise of the stated law, drawn anew for every number and step; lots,
masks and bounds on units must be as stated. This says nothing about epsilon and finds a
factor of √2 in a second. --name all runs everything; the confidence holds over all tests of
a command together.`,
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
	s.StringVar(&f.name, "name", "", "mechanism or specification, all, or list (required)")
	s.StringVar(&f.epsilon, "epsilon", "", "claim, at the mechanism's own delta (default: that of the noise it is tested at)")
	s.StringVar(&f.runs, "runs", "20000", "runs in each world (all: 5000)")
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
	for _, s := range audit.Specifications() {
		lines = append(lines, line{Name: s.Slug(), Entry: s.Entry, Neighbours: s.Rows, Relation: "specification"})
	}
	if a.json {
		return writeJSON(a.out, lines)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		kind := "delta " + full(l.Delta)
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
	runs, err := parseWhole("runs", f.runs)
	if err != nil {
		return err
	}
	if f.name == "all" && !c.Flags().Changed("runs") {
		runs = runsOfAll
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
			return nil, nil, &usageError{"--epsilon: mechanisms have claims of their own kinds", "name one mechanism"}
		}
		worlds, err := audit.Mechanisms()
		return audit.Specifications(), worlds, err
	}
	var specs []audit.Specification
	for _, s := range audit.Specifications() {
		if s.Slug() == name || s.Name == name {
			if epsilon != "" {
				return nil, nil, &usageError{"--epsilon: a specification is not about epsilon", "leave it out"}
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
		out.Notes = append(out.Notes, fmt.Sprintf("NO POWER: %d runs can show an epsilon of %.3g at most, which is not above the claim: raise --runs", runs, out.MostShown))
	}
	fmt.Fprintf(a.err, "stage: %s, %d runs in each of two worlds\n", m.Name, runs)
	if out.Result, err = audit.Run(ctx, m, audit.Options{Runs: runs, Source: src, Confidence: confidence}); err != nil {
		return out, err
	}
	switch v := out.Verdict; {
	case v.Convicted:
	case v.Suspected:
		out.Notes = append(out.Notes, "the bound at 95 % is above the claim, which happens to an honest one in twenty: audit again with more runs")
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

// finishMechanisms prints: one pair of worlds as one object, several audits as lists.
func (a *app) finishMechanisms(out *mechanismAudits, name string) error {
	out.Notes = append(out.Notes, fmt.Sprintf("%s holds over all %d tests of this command together (Bonferroni): each has its share of the error, and an honest build passes all of them with that confidence", percent(out.Confidence), out.Tests))
	var convicted error
	if len(out.Convicted) > 0 {
		convicted = &convictedError{fmt.Sprintf("%s: not what is stated, at %s over %d tests", strings.Join(out.Convicted, ", "), percent(out.Confidence), out.Tests), convictedAdvice}
	}
	var object any = out
	if len(out.Worlds) == 1 && name != "all" {
		one := out.Worlds[0]
		one.Specifications, one.Tests, one.Seed, one.Notes = out.Specifications, out.Tests, out.Seed, append(one.Notes, out.Notes...)
		object = one
	}
	return a.conclude(convicted, fmt.Sprintf("CONVICTED at %s: %s", percent(out.Confidence), strings.Join(out.Convicted, ", ")), object, func(to io.Writer) error {
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
			mark = "  CONVICTED"
		}
		fmt.Fprintf(w, "  test\t%s: %s, honest %s, of %d; p %s, convicts below %s%s\n", c.What, figure(c.Statistic), figure(c.Expected), c.Count, figure(c.PValue), figure(c.Limit), mark)
	}
}

func verdictOf(convicted bool) string {
	if convicted {
		return "CONVICTED"
	}
	return "not convicted"
}

func printWorlds(w io.Writer, out mechanismAudit) {
	v := out.Verdict
	fmt.Fprintf(w, "mechanism\t%s (%s)\n", out.Mechanism, out.Entry)
	fmt.Fprintf(w, "worlds\t%s; %s\n", out.Neighbours, out.Relation)
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", figure(v.Claim.Epsilon), full(v.Claim.Delta))
	fmt.Fprintf(w, "runs\t%d in each world, which can show %s at most\n", out.Runs, figure(out.MostShown))
	fmt.Fprintf(w, "lower bound\tepsilon is at least %s (%s; %d of %d against %d of %d)\n", figure(v.Bound.Epsilon), percent(bound.Printed),
		v.Bound.Counts.TruePositives, v.Bound.Counts.Positives, v.Bound.Counts.FalsePositives, v.Bound.Counts.Negatives)
	for _, e := range v.Evidence {
		sign := ">="
		if e.Test.Below {
			sign = "<="
		}
		fmt.Fprintf(w, "  evidence\tscore %s %s: %d of %d against %d of %d; true positive rate >= %s at false positive rate <= %s, where the claim's trade-off curve allows %s\n",
			sign, figure(e.Test.Threshold), e.Counts.TruePositives, e.Counts.Positives, e.Counts.FalsePositives, e.Counts.Negatives, figure(e.TruePositives), figure(e.FalsePositives), figure(e.Allowed))
	}
	fmt.Fprintf(w, "verdict\t%s at %s\n", verdictOf(v.Convicted), percent(v.Confidence))
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
