package accountant

import (
	"math"
	"slices"

	"pawl/core/accountant/search"
	"pawl/core/dp"
)

// manyParts is a number of different parts from which on all of them are priced on one
// lattice that is coarse enough to take no more than a moment.
const manyParts = 32

// pldTolerance is the relative error of epsilon at which refining stops.
const pldTolerance = 3e-4

// privacyLoss is the privacy loss distribution of the parts, for a unit removed
// and for one added: the same laws where all are symmetric.
type privacyLoss struct {
	directions [][]law
	counts     []float64
	curve      curve
	// approximate is the sum of the epsilons that the curve leaves out.
	approximate float64
	// atom is a loss that the lattice should meet, 0 for none.
	atom float64
}

// privacyLossOf returns false where a part has no known dominating pair.
func privacyLossOf(parts []part, a *account) (privacyLoss, bool) {
	p := privacyLoss{curve: a.curve}
	var removed, added []law
	symmetric := true
	for _, x := range mergeSums(parts) {
		l, ok := lawOf(x.event, a.rel, false)
		other, too := l, true
		switch e := x.event.(type) {
		case dp.PoissonSampled:
			symmetric = false
			other, too = lawOf(e, a.rel, true)
		case dp.Approximate:
			p.approximate += x.count * e.Epsilon
		}
		// Beyond this the phases of the transform lose their meaning.
		if !ok || !too || x.count > 1e9 {
			return privacyLoss{}, false
		}
		removed, added, p.counts = append(removed, l), append(added, other), append(p.counts, x.count)
		if len(l.atoms) > 0 && p.atom == 0 {
			p.atom = l.atoms[0].loss
		}
	}
	if p.directions = [][]law{removed, added}; symmetric {
		p.directions = p.directions[:1]
	}
	return p, true
}

// snap shortens a step so that a whole number of them meets the atom.
func (p privacyLoss) snap(step float64) float64 {
	if p.atom > 0 && step < p.atom {
		return p.atom / math.Ceil(p.atom/step-1e-9)
	}
	return step
}

// compose discretises every law of one direction at about the given step.
func (p privacyLoss) compose(laws []law, step, delta float64) (composed, bool) {
	step = p.snap(step)
	// Rarer losses than these cannot matter at this delta, and cost little as +∞.
	outside := 1e-5 * delta / math.Max(1, sum(p.counts))
	lattices := make([]lattice, len(laws))
	done := make([]bool, len(laws))
	forEach(len(laws), func(i int) { lattices[i], done[i] = laws[i].discretise(step, outside, len(laws) > manyParts) })
	if slices.Contains(done, false) {
		return composed{}, false
	}
	return compose(step, lattices, p.counts), true
}

// coarsely composes laws for bounds at deltas from delta up, on the first lattice, of twice the step each, that is small
// enough for it and for read.
func (p privacyLoss) coarsely(laws []law, delta float64, read func(composed) bool) bool {
	step := p.firstStep(delta) / 4
	for range 30 {
		if c, ok := p.compose(laws, step, delta); ok && read(c) {
			return true
		}
		step *= 2
	}
	return false
}

// refine evaluates a bound on ever finer lattices, whose steps a search proposes. Every value is a bound, so the
// smallest counts; value returns one, and how rare a loss may be to be cut off on the next lattice, where it is
// delta on the first. enough ends the search. finest is the step of the last lattice.
func (p privacyLoss) refine(laws []law, delta, enough float64, value func(composed) (v, delta float64, ok bool), tolerance func(v float64) float64) (best, finest float64) {
	best = inf
	search.Refine(p.firstStep(delta), enough, func(step float64) (float64, bool) {
		c, ok := p.compose(laws, step, delta)
		if !ok {
			return 0, false
		}
		v, next, ok := value(c)
		if !ok || math.IsNaN(v) {
			return 0, false
		}
		delta, best, finest = next, math.Min(best, v), step
		return v, true
	}, tolerance)
	return best, finest
}

// epsilonAt is the epsilon at delta of the worse direction, with the step of the
// lattice on which a unit is removed.
func (p privacyLoss) epsilonAt(delta float64) (epsilon, step float64) {
	switch {
	case delta < leastDelta:
		return inf, 0
	case delta >= 1:
		return 0, 0
	}
	logDelta := math.Log(delta)
	for direction, laws := range p.directions {
		last, before := inf, inf
		e, finest := p.refine(laws, delta, epsilon, func(c composed) (float64, float64, bool) {
			if c.infinite > delta {
				// No epsilon is large enough, on no lattice: a profile ends at a loss of 600.
				return 0, 0, false
			}
			by := tilt{c.tiltFor(logDelta), 40}
			if !math.IsInf(before, 1) {
				// The answer will be below the last one, hardly by more than that one fell.
				by = c.cheapest(by.t, math.Max(last-math.Abs(before-last), last/20), logDelta)
			}
			d, ok := c.transform(by)
			if !ok {
				return 0, 0, false
			}
			e := d.epsilonAt(logDelta)
			if math.IsInf(e, 1) && by.t > 1 {
				// A steep tilt serves a small delta; where nearly none is needed it drowns.
				if d, ok = c.transform(tilt{1, 40}); ok {
					e = d.epsilonAt(logDelta)
				}
			}
			last, before = e, last
			return last, delta, true
		}, func(v float64) float64 { return pldTolerance*v + 1e-9 })
		epsilon = math.Max(epsilon, e)
		if direction == 0 {
			step = finest
		}
	}
	return epsilon, step
}

// deltaAt is the delta at epsilon of the worse direction; it names no step.
func (p privacyLoss) deltaAt(epsilon float64) (delta, step float64) {
	guess, _ := p.curve.deltaAt(epsilon)
	guess = math.Max(guess, 1e-300)
	worst := math.Inf(-1)
	for _, laws := range p.directions {
		last, before := inf, inf
		l, _ := p.refine(laws, guess, worst, func(c composed) (float64, float64, bool) {
			by := tilt{c.tiltAt(epsilon), 40}
			if !math.IsInf(before, 1) {
				by = c.cheapest(by.t, epsilon, last-math.Abs(before-last)-1)
			}
			d, ok := c.transform(by)
			if !ok {
				return 0, 0, false
			}
			last, before = d.logDelta(epsilon), last
			// What was cut off is at most 1e-5 of the last guess, so this converges.
			return last, math.Max(math.Exp(math.Min(0, last)), 1e-300), true
		}, func(float64) float64 { return 1e-3 })
		worst = math.Max(worst, l)
	}
	return math.Min(1, math.Exp(worst)), 0
}

// firstStep is the step of the coarsest lattice: a small part of a rough epsilon.
func (p privacyLoss) firstStep(delta float64) float64 {
	epsilon, _ := p.curve.epsilonAt(delta)
	epsilon += p.approximate
	if math.IsInf(epsilon, 1) || epsilon < 1e-12 {
		return 0.01
	}
	return epsilon / 100
}
