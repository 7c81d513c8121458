package published

import (
	"fmt"
	"slices"
	"strings"

	"pawl/experiments"
)

// Rows are the lines of a table: every size at every epsilon. printed gives published
// values by epsilon and size.
func (p *Points) Rows(printed map[[2]float64]float64) []experiments.Row {
	var rows []experiments.Row
	for e, epsilon := range p.Epsilons {
		for k, size := range p.Sizes {
			name := p.count(size)
			if size > 1 && k < len(p.Sizes)-1 {
				name = "best " + name
			}
			row := experiments.Row{
				Name: fmt.Sprintf("%s, %s", EpsilonName(epsilon), name), Data: p.Data,
				AsPublished: experiments.Of(p.accuracy[e][k]), Baseline: experiments.Of(p.majority[e]),
			}
			if k == len(p.Sizes)-1 {
				row.Honest = experiments.Of(p.honest[e])
			}
			if v, ok := printed[[2]float64{epsilon, float64(size)}]; ok {
				row.Published = experiments.Value(v)
				row.Judge(1, fmt.Sprintf("ours differs by %+.1f points", row.AsPublished.Mean-v))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (p *Points) count(size int) string {
	switch size {
	case p.Sizes[len(p.Sizes)-1]:
		return fmt.Sprintf("all %d features", size)
	case 1:
		return "1 feature"
	}
	return fmt.Sprintf("%d features", size)
}

// Notes are what both figures have to say about their data.
func (p *Points) Notes() []string {
	return []string{
		fmt.Sprintf("means over %d random splits into %d and %d rows, with %d noisy fits on each; one fit without privacy; intervals are over splits, sizes compare split by split; which size is best is seen on the same numbers, so its lead is a little optimistic", p.Splits, p.Train, p.Test, p.Repeats),
		"as published: features in the order of the greedy search on raw entropies, which is not paid for (docs/READING.md, H17); one-hot columns of the levels that occur, data norm of the data, C = 1, the calibration of diffprivlib's releases up to 2025 (H6, H12)",
		fmt.Sprintf("honest: our workflow on all attributes at the same total ε, δ at most 1/(10n), on %d of the splits", p.Honest),
		"baseline: the class with the larger noisy count at the same ε, in closed form",
		"the figure is lost in our copy; published numbers are those of the text",
	}
}

// Gain is size a minus size b at an epsilon, split by split.
func (p *Points) Gain(epsilon float64, a, b int) *experiments.Estimate {
	at := p.accuracy[slices.Index(p.Epsilons, epsilon)]
	x, y := at[slices.Index(p.Sizes, a)], at[slices.Index(p.Sizes, b)]
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	return experiments.Of(d)
}

// Best is the size of the largest mean accuracy at an epsilon.
func (p *Points) Best(epsilon float64) int {
	at := p.accuracy[slices.Index(p.Epsilons, epsilon)]
	best := 0
	for k := range p.Sizes {
		if experiments.Of(at[k]).Mean > experiments.Of(at[best]).Mean {
			best = k
		}
	}
	return p.Sizes[best]
}

// ClaimBest judges that at these epsilons a named size is the best: reproduced where it
// is, or is not clearly below the best; the same sign where at least some subset is
// clearly above all features (or, if the named size is all, not clearly below).
func (p *Points) ClaimBest(statement string, size int, epsilons ...float64) experiments.Claim {
	c := experiments.Claim{Statement: statement, Verdict: experiments.Reproduced}
	all := p.Sizes[len(p.Sizes)-1]
	var parts []string
	for _, epsilon := range epsilons {
		best := p.Best(epsilon)
		behind, above := p.Gain(epsilon, size, best), p.Gain(epsilon, best, all)
		parts = append(parts, fmt.Sprintf("%s: the best mean has %s, %s %+.2f ± %.2f against it, the best %+.2f ± %.2f against all",
			EpsilonName(epsilon), p.count(best), p.count(size), behind.Mean, half(behind), above.Mean, half(above)))
		switch {
		case size == best || behind.High >= 0:
		case size != all && above.Low > 0:
			if c.Verdict == experiments.Reproduced {
				c.Verdict = experiments.SameSign
			}
		default:
			c.Verdict = experiments.Not
		}
	}
	c.Evidence = strings.Join(parts, "; ")
	return c
}

// ClaimSubset judges that at these epsilons some strict subset is better than all features.
func (p *Points) ClaimSubset(statement string, epsilons ...float64) experiments.Claim {
	c := experiments.Claim{Statement: statement, Verdict: experiments.Reproduced}
	all := p.Sizes[len(p.Sizes)-1]
	var parts []string
	for _, epsilon := range epsilons {
		best := p.Best(epsilon)
		above := p.Gain(epsilon, best, all)
		parts = append(parts, fmt.Sprintf("%s: %s %+.2f ± %.2f against all", EpsilonName(epsilon), p.count(best), above.Mean, half(above)))
		if best == all || above.Low <= 0 {
			c.Verdict = experiments.Not
		}
	}
	c.Evidence = strings.Join(parts, "; ")
	return c
}

// ClaimHonest is our remark: what the workflow reaches on all attributes.
func (p *Points) ClaimHonest() experiments.Claim {
	c := experiments.Claim{Statement: "our workflow on all attributes is above the best subset as published at the same ε (our remark)"}
	won, lost, of := 0, 0, 0
	var parts []string
	for e, epsilon := range p.Epsilons {
		if p.honest[e] == nil {
			continue
		}
		of++
		best := p.accuracy[e][slices.Index(p.Sizes, p.Best(epsilon))]
		d := make([]float64, len(p.honest[e]))
		for i := range d {
			d[i] = p.honest[e][i] - best[i]
		}
		gain := experiments.Of(d)
		if gain.Low > 0 {
			won++
		}
		if gain.High < 0 {
			lost++
		}
		parts = append(parts, fmt.Sprintf("%s: %+.1f ± %.1f", EpsilonName(epsilon), gain.Mean, half(gain)))
	}
	switch {
	case won == of:
		c.Verdict = experiments.Reproduced
	case won > lost:
		c.Verdict = experiments.SameSign
	default:
		c.Verdict = experiments.Not
	}
	c.Evidence = fmt.Sprintf("above at %d of %d ε, below at %d (%s)", won, of, lost, strings.Join(parts, "; "))
	return c
}

func half(e *experiments.Estimate) float64 { return (e.High - e.Low) / 2 }
