package arousattacks

import (
	"fmt"
	"slices"

	"pawl/experiments"
	"pawl/experiments/replay"
)

// change is the success on a variant above that on the baseline, target by target, in
// points; shadows 0 is the mean over all numbers of them.
func (m *measured) change(data, variant, how string, shadows int) []float64 {
	a, _ := m.of(data, variant, how)
	b, _ := m.of(data, m.baseline, how)
	var d []float64
	n := 0
	for i, s := range m.shadows {
		if shadows != 0 && s != shadows {
			continue
		}
		each := replay.Difference(a.percents(i, false), b.percents(i, false))
		if d == nil {
			d = make([]float64, len(each))
		}
		for k, v := range each {
			d[k] += v
		}
		n++
	}
	for k := range d {
		d[k] /= float64(max(n, 1))
	}
	return d
}

// difference is the row of a number that the text prints.
func (m *measured) difference(d difference) experiments.Row {
	by := "mean over shadow models"
	if d.shadows > 0 {
		by = fmt.Sprintf("%d shadow models", d.shadows)
	}
	r := experiments.Row{Name: fmt.Sprintf("%s against %s, %s", d.variant, m.baseline, by), Data: d.data, Published: experiments.Value(d.published),
		AsPublished: experiments.Of(m.change(d.data, d.variant, string(overlapping), d.shadows)), Honest: experiments.Of(m.change(d.data, d.variant, string(disjoint), d.shadows))}
	r.Judge(2, fmt.Sprintf("ours is %+.1f points, the paper's %+.0f", r.AsPublished.Mean, d.published))
	if r.Verdict == experiments.Not && r.AsPublished.Mean*d.published > 0 && r.AsPublished.High < 0 {
		r.Verdict = experiments.SameSign
	}
	return r
}

// evidence are both changes.
func (m *measured) evidence(data, variant string) (published *experiments.Estimate, text string) {
	published = experiments.Of(m.change(data, variant, string(overlapping), 0))
	honest := experiments.Of(m.change(data, variant, string(disjoint), 0))
	return published, fmt.Sprintf("%s points against %s; with disjoint pools %s", published, m.baseline, honest)
}

// lower claims that a variant is attacked with less success than the baseline.
func (m *measured) lower(statement, data, variant string) experiments.Claim {
	d, text := m.evidence(data, variant)
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: text}
	switch {
	case d.High < 0:
		c.Verdict = experiments.Reproduced
	case d.Mean < 0:
		c.Verdict = experiments.SameSign
	}
	return c
}

// notLower claims that it is not.
func (m *measured) notLower(statement, data, variant string) experiments.Claim {
	d, text := m.evidence(data, variant)
	c := experiments.Claim{Statement: statement, Verdict: experiments.Not, Evidence: text}
	switch {
	case d.Mean >= 0:
		c.Verdict = experiments.Reproduced
	case d.High >= 0:
		c.Verdict = experiments.SameSign
	}
	return c
}

// larger claims that a variant lowers success more on the large net.
func (m *measured) larger(statement, variant string) experiments.Claim {
	return replay.Better(statement, m.change(small, variant, string(overlapping), 0), m.change(large, variant, string(overlapping), 0))
}

// within are our remarks on what holds for every bar: claims under DP, and what it does to
// a number that shadow models have seen the target's records.
func (m *measured) within(bars []variant) []experiments.Claim {
	var above []string
	most, overlap := 0.0, []float64(nil)
	for _, g := range targets {
		for _, v := range bars {
			if o, ok := m.of(g.data, v.name, private); ok {
				for i := range m.shadows {
					e := experiments.Of(o.percents(i, false))
					most = max(most, e.Mean)
					if e.Low > 100*g.ceiling() {
						above = append(above, fmt.Sprintf("%s on %s", v.name, g.data))
					}
				}
			}
			a, _ := m.of(g.data, v.name, string(overlapping))
			b, _ := m.of(g.data, v.name, string(disjoint))
			for i := range m.shadows {
				overlap = append(overlap, experiments.Of(a.percents(i, false)).Mean-experiments.Of(b.percents(i, false)).Mean)
			}
		}
	}
	c := experiments.Claim{Statement: "under DP no attack is right more often than its ε allows (our remark)", Verdict: experiments.Reproduced,
		Evidence: fmt.Sprintf("the largest mean is %.1f %%; the claims allow %.1f and %.1f", most, 100*targets[0].ceiling(), 100*targets[1].ceiling())}
	if above = slices.Compact(above); len(above) > 0 {
		c.Verdict, c.Evidence = experiments.Not, fmt.Sprintf("above it: %q", above)
	}
	e := experiments.Of(overlap)
	d := experiments.Claim{Statement: "shadow models that share records with the target raise the number (our remark)", Verdict: experiments.Not, Evidence: fmt.Sprintf("%s points over all bars", e)}
	switch {
	case e.Low > 0:
		d.Verdict = experiments.Reproduced
	case e.Mean > 0:
		d.Verdict = experiments.SameSign
	}
	return []experiments.Claim{c, d}
}
