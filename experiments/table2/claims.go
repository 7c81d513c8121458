package table2

import (
	"fmt"
	"strings"

	"pawl/experiments"
)

func (m *measured) claims() []experiments.Claim {
	last := len(m.sizes) - 1
	sgd := experiments.Claim{
		Statement: m.data + ": with SGD all features are at least as good as any subset", Verdict: experiments.Reproduced,
	}
	k := top(m.sgd)
	d := gain(m.sgd[k], m.sgd[last])
	if d.Low > 0 {
		sgd.Verdict = experiments.Not
	}
	sgd.Evidence = fmt.Sprintf("%d features %+.2f ± %.2f against all", m.sizes[k], d.Mean, (d.High-d.Low)/2)
	return []experiments.Claim{
		sgd,
		m.subset(fmt.Sprintf("with DP-SGD a subset is better than all features (learning rate %g)", rate), m.fast),
		m.subset(fmt.Sprintf("the same with a learning rate of %g (our remark)", slow), m.slow),
	}
}

// subset judges that at every epsilon some subset is clearly better than all features.
func (m *measured) subset(statement string, by [][][]float64) experiments.Claim {
	c := experiments.Claim{Statement: m.data + ": " + statement}
	last := len(m.sizes) - 1
	clear := 0
	var parts []string
	for e, epsilon := range m.epsilons {
		k := top(by[e])
		d := gain(by[e][k], by[e][last])
		if k != last && d.Low > 0 {
			clear++
		}
		parts = append(parts, fmt.Sprintf("ε = %g: %d features %.1f %%, all %.1f %%, difference %+.2f ± %.2f", epsilon,
			m.sizes[k], experiments.Of(by[e][k]).Mean, experiments.Of(by[e][last]).Mean, d.Mean, (d.High-d.Low)/2))
	}
	switch clear {
	case len(m.epsilons):
		c.Verdict = experiments.Reproduced
	case 0:
		c.Verdict = experiments.Not
	default:
		c.Verdict = experiments.SameSign
	}
	c.Evidence = strings.Join(parts, "; ")
	return c
}

// top is the index of the largest mean.
func top(by [][]float64) int {
	best := 0
	for k := range by {
		if experiments.Of(by[k]).Mean > experiments.Of(by[best]).Mean {
			best = k
		}
	}
	return best
}

// gain is a−b, split by split.
func gain(a, b []float64) *experiments.Estimate {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return experiments.Of(d)
}
