package accountant

import (
	"math"

	"pawl/core/dp"
)

// attained says whether some neighbouring data sets attain a pair of output laws in
// one use of a part, whatever else is released, so that no account of the mechanism
// can be below that pair; and why (not). It is decided here and nowhere else. pair
// returns the loss law of such a pair where a unit is removed (or replaced); share in
// (0, 1) picks one where there is a family of them.
//
// Neighbours that attain all of these at once exist: a unit whose contribution is at
// the bound of every sum and that joins every lot it is drawn for. What is not
// attained costs at least nothing, so leaving it out keeps a bound from below.
func attained(p part, rel dp.Relation) (pair func(share float64) law, why string) {
	if p.loose {
		return nil, "what is priced costs no less than the mechanism, and perhaps more"
	}
	return attainedEvent(p.event, rel)
}

func attainedEvent(e dp.Event, rel dp.Relation) (pair func(share float64) law, why string) {
	exact := func(e dp.Event) func(float64) law {
		l, ok := lawOf(e, rel, false)
		if !ok {
			return nil
		}
		return func(float64) law { return l }
	}
	switch e := e.(type) {
	case dp.Gaussian:
		return exact(e), "a sum moves by its sensitivity, along a line"
	case dp.Laplace:
		return exact(e), "a sum moves by its sensitivity, along one coordinate"
	case dp.DiscreteLaplace:
		// Laplace noise is discrete Laplace noise plus something independent: an
		// exponential variable is its whole part plus its fraction, which are independent,
		// and Laplace noise is the difference of two. So the continuous mechanism is
		// computed from the discrete one, whatever the sensitivity, and cannot cost more.
		return exact(dp.Laplace(e)), "continuous noise of the same scale hides no less"
	case dp.RandomizedResponse:
		return exact(e), "two true answers have exactly these laws"
	case dp.ExponentialMechanism:
		if e.Epsilon == 0 {
			return nil, "it costs nothing"
		}
		// Losses s and s−ε with these chances are attained for every 0 < s < ε (Dong,
		// Durfee and Rogers, arXiv:1909.13830): many equal candidates, of which a share
		// rises and the rest falls. The pair that dominates all of them is attained by none.
		return func(share float64) law { return law{atoms: rangeAtoms(e.Epsilon, share*e.Epsilon)} }, "scores that rise and fall by the sensitivity have these losses"
	case dp.PoissonSampled:
		if rel == dp.ReplaceOne {
			return nil, "the pair of a replaced unit is only bounded"
		}
		base, why := attainedEvent(e.Event, rel)
		if base == nil {
			return nil, why
		}
		return func(share float64) law { return base(share).sampled(e.Rate, false) }, why
	case dp.Pure, dp.Approximate, dp.ZCDP:
		return nil, "only a bound on the mechanism is known"
	case dp.DiscreteGaussian:
		return nil, "it is priced by its concentration alone"
	case dp.FixedSizeSampled, dp.Select:
		return nil, "the theorem that prices it is a bound"
	}
	return nil, "nothing is known of it"
}

// lowerEpsilon is a lower bound on the exact epsilon at delta of the mechanism that the
// parts name, 0 where there is none. upper is an upper bound, step the lattice that it
// was found on.
func (a *account) lowerEpsilon(delta, upper, step float64) float64 {
	if delta <= 0 || delta >= 1 || !(upper > 0) || math.IsInf(upper, 1) {
		return 0
	}
	var parts []part
	var pairs []func(float64) law
	precision, family, gaussians := 0.0, false, true
	for _, p := range a.rest {
		pair, _ := attained(p, a.rel)
		if pair == nil {
			continue
		}
		parts, pairs = append(parts, p), append(pairs, pair)
		g, ok := p.event.(dp.Gaussian)
		gaussians = gaussians && ok
		if ok {
			precision += p.count / g.NoiseMultiplier / g.NoiseMultiplier
		}
		e := p.event
		if s, ok := e.(dp.PoissonSampled); ok {
			e = s.Event
		}
		_, isFamily := e.(dp.ExponentialMechanism)
		family = family || isFamily
	}
	switch {
	case len(parts) == 0:
		return 0
	case gaussians:
		// The optimum bounds itself from below, up to its rounding.
		return math.Min(upper, AnalyticGaussianEpsilon(1/math.Sqrt(precision), delta)*(1-1e-8))
	case len(parts) > manyParts:
		return 0 // it would take longer than all the rest
	}
	c, err := curveOf(parts, a.rel)
	if err != nil {
		return 0
	}
	estimate, _ := c.epsilonAt(delta)
	estimate = math.Min(estimate, upper)
	if !(step > 0) {
		step = estimate / 1000
	}
	shares := []float64{0.5}
	if family {
		shares = []float64{0.35, 0.42, 0.5, 0.58, 0.65}
	}
	best := 0.0
	for _, share := range shares {
		p := privacyLoss{directions: [][]law{nil}, curve: c}
		for i, pair := range pairs {
			l := pair(share)
			p.directions[0] = append(p.directions[0], l)
			p.counts = append(p.counts, parts[i].count)
			if len(l.atoms) > 1 && p.atom == 0 {
				// The lattice starts at one atom; a whole number of steps meets the other.
				p.atom = math.Abs(l.atoms[0].loss - l.atoms[1].loss)
			}
		}
		best = math.Max(best, p.lowerAt(delta, step, estimate))
	}
	return math.Min(best, upper)
}
