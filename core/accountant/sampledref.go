package accountant

import (
	"pawl/core/dp"
)

// sampledReference is one step of a Poisson-sampled Gaussian, in which the sampled door
// counts. n steps are a law P_n for each direction, and P_n after P_m is P_(n+m).
type sampledReference struct {
	step dp.PoissonSampled
	rel  dp.Relation
}

// referenceOf is the sampled Gaussian of which an event has the most steps; nil where it
// has none.
func referenceOf(e dp.Event, rel dp.Relation) *sampledReference {
	if rel == dp.ReplaceOne || e == nil || e.Validate() != nil {
		return nil // under ReplaceOne sampling is not amplified
	}
	parts, err := flatten(dp.Unscoped(e), rel)
	if err != nil {
		return nil
	}
	var best *sampledReference
	most := 0.0
	for _, p := range parts {
		s, ok := p.event.(dp.PoissonSampled)
		if g, gaussian := s.Event.(dp.Gaussian); ok && gaussian && g.NoiseMultiplier > 0 && p.count > most {
			best, most = &sampledReference{s, rel}, p.count
		}
	}
	return best
}

// steps is what a part costs in steps of the reference: its own count if a step of the
// reference dominates one of it, and else +Inf. A lower rate is a mixture of the step with
// nothing, and more noise is noise added to it.
func (r *sampledReference) steps(p part) float64 {
	s, ok := p.event.(dp.PoissonSampled)
	if r == nil || !ok {
		return inf
	}
	g, ok := s.Event.(dp.Gaussian)
	if !ok || s.Rate > r.step.Rate || !(g.NoiseMultiplier >= r.step.Event.(dp.Gaussian).NoiseMultiplier) {
		return inf
	}
	return p.count
}

type stepsKey struct {
	of           sampledReference
	steps, delta float64
}

var knownSteps = memo[stepsKey, float64]{most: 4 * maxKnown}

// needs is the epsilon at delta of n steps.
func (r *sampledReference) needs(n amount, delta float64) float64 {
	steps := n.float()
	if steps == 0 {
		return 0
	}
	if !(steps < 1e8) {
		return inf
	}
	epsilon, err := knownSteps.get(stepsKey{*r, steps, delta}, func() (float64, error) {
		a, err := newAccount([]part{{event: r.step, count: steps}}, r.rel)
		if err != nil {
			return inf, err
		}
		bounds, err := a.answer(question{at: delta}, want{closed: true, rdp: true, pld: true})
		return least(bounds).value, err
	})
	if err != nil {
		return inf
	}
	return epsilon
}
