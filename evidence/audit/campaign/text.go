package campaign

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"pawl/evidence/audit"
	"pawl/evidence/audit/bound"
	"pawl/internal/cost"
)

// WriteText writes what was found.
func (out *Canaries) WriteText(to io.Writer) error {
	w, o := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0), out.OneRun
	fmt.Fprintf(w, "training\t%s on %s: %d steps, sampling rate %s, noise multiplier %s\n", out.Model, out.Data, out.Privacy.Steps, bound.Figure(out.Privacy.SamplingRate), bound.Figure(out.Privacy.NoiseMultiplier))
	fmt.Fprintf(w, "claim\tepsilon %s at delta %s; %s at delta %s\n", bound.Figure(out.Stated.Epsilon), cost.Full(out.Stated.Delta), bound.Figure(o.Claim.Epsilon), bound.Figure(o.Claim.Delta))
	fmt.Fprintf(w, "canaries\t%d, %s; they can show at most epsilon %s\n", out.Canaries, strings.ReplaceAll(out.Access, "_", " "), bound.Figure(out.MostShown))
	fmt.Fprintf(w, "lower bound\tepsilon is at least %s (%s), %.2f of the claim; %d of %d guesses right\n", bound.Figure(o.Shown.Epsilon), bound.Percent(bound.Printed), out.Share, o.Shown.Guesses.Right, o.Shown.Guesses.Made)
	if c := out.Curve; c != nil {
		needs := fmt.Sprintf("%d would reject it", c.LeastRight)
		if !c.Power {
			needs = "NO POWER: even if all guesses were correct, they would not reject it"
		}
		fmt.Fprintf(w, "whole curve\t%d of %d guesses right; %s\n", c.Guesses.Right, c.Guesses.Made, needs)
	}
	if r := out.Runs; r != nil {
		fmt.Fprintf(w, "all runs\t%d runs together: p %s, rejects below %s: %s\n", r.Runs, bound.Figure(r.PValue), bound.Figure(1-r.Confidence), bound.Words(r.Convicted))
	}
	for _, c := range out.Specification {
		fmt.Fprintf(w, "specification\t%s: %s, expected %s, of %d; p %s, rejects below %s: %s\n", c.What, bound.Figure(c.Statistic), bound.Figure(c.Expected), c.Count, bound.Figure(c.PValue), bound.Figure(c.Limit), bound.Words(c.Convicted))
	}
	fmt.Fprintf(w, "verdict\t%s at %s over %d tests\n", bound.Words(out.Convicted), bound.Percent(bound.Conviction), out.Tests)
	if err := w.Flush(); err != nil {
		return err
	}
	return bound.WriteNotes(to, out.Notes)
}

// Audits are what can be audited: mechanisms and specifications.
type Audits []Audited

// An Audited is a line of them.
type Audited struct {
	Name       string  `json:"name"`
	Entry      string  `json:"entry"`
	Neighbours string  `json:"neighbours"`
	Relation   string  `json:"neighboring_relation"`
	Delta      float64 `json:"delta"`
}

// List lists what can be audited.
func List() (all Audits, err error) {
	mechanisms, err := audit.Mechanisms()
	for _, m := range mechanisms {
		all = append(all, Audited{m.Slug(), m.Entry, m.Neighbours, m.Relation.String(), m.Delta})
	}
	for _, s := range audit.Specifications() {
		all = append(all, Audited{Name: s.Slug(), Entry: s.Entry, Neighbours: s.Rows, Relation: "specification"})
	}
	return all, err
}

// WriteText writes a line for each.
func (a Audits) WriteText(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, l := range a {
		kind := "delta " + cost.Full(l.Delta)
		if l.Relation == "specification" {
			kind = l.Relation
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.Entry, kind, l.Neighbours)
	}
	return w.Flush()
}

// Object is what is printed as JSON: the one pair of worlds where one was asked for.
func (out *Mechanisms) Object(name string) any {
	if len(out.Worlds) != 1 || name == "all" {
		return out
	}
	one := out.Worlds[0]
	one.Specifications, one.Tests, one.Seed, one.Notes = out.Specifications, out.Tests, out.Seed, append(one.Notes, out.Notes...)
	return one
}

// WriteText writes what was found.
func (out *Mechanisms) WriteText(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, s := range out.Specifications {
		writeConformity(w, s, len(out.Specifications)+len(out.Worlds) > 12)
	}
	for _, m := range out.Worlds {
		writeWorlds(w, m)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	notes := out.Notes
	if len(out.Worlds) == 1 {
		notes = append(out.Worlds[0].Notes, notes...)
	}
	return bound.WriteNotes(to, notes)
}

// writeConformity shows all tests of a specification, or only the one that says most.
func writeConformity(w io.Writer, s audit.Conformity, brief bool) {
	fmt.Fprintf(w, "specification\t%s (%s): %s\n", s.Name, s.Entry, bound.Words(s.Convicted))
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

func writeWorlds(w io.Writer, out Worlds) {
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
	fmt.Fprintf(w, "verdict\t%s at %s\n", bound.Words(v.Convicted), bound.Percent(v.Confidence))
}
