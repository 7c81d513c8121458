// Package lower bounds from below the cost of a mechanism, by the losses of pairs of outputs that some neighbouring
// data sets attain. This shows how much a better accountant could still gain. A fault in this package can show a wrong
// lower bound, but cannot make an upper bound smaller, since the accountant uses it for nothing else.
package lower

import (
	"math"

	"pawl/core/dp"
)

// Part is Count adaptive uses of Event. Loose reports that splitting the plan into parts already lost
// sharpness.
type Part struct {
	Event dp.Event
	Count float64
	Loose bool
}

// Accountant answers about losses. E is one end of an interval of a Density.
type Accountant[E any] struct {
	Relation dp.Relation
	// Law returns the loss distribution of the pair that dominates one use of an event, if a unit is
	// removed.
	Law func(dp.Event) (Law[E], bool)
	// Estimate returns the epsilon at delta of some of the parts, by their indices: close to the exact one,
	// or above it.
	Estimate func(of []int, delta float64) (float64, error)
	// Gaussian returns the exact epsilon at delta of a Gaussian release.
	Gaussian func(noiseMultiplier, delta float64) float64
	// Below composes lattices, each used count times, for answers about epsilon: ln δ(ε) from below.
	Below func(step float64, lattices []Lattice, counts []float64, epsilon, logDelta float64) (below func(epsilon float64) float64, ok bool)
}

// attained returns the event whose dominating pair some neighbouring data sets attain in
// one use of a part, whatever else is released, so that no account of the mechanism
// can be below that pair; nil where there is none. It is decided here and nowhere else.
//
// Neighbours that attain all of these at once exist: a unit whose contribution is at
// the bound of every sum and that joins every lot it is drawn for. What is not
// attained costs at least nothing, so leaving it out keeps a bound from below.
func attained(e dp.Event, rel dp.Relation) dp.Event {
	switch e := e.(type) {
	case dp.Gaussian, dp.Laplace: // A sum moves by its sensitivity, along a line or one coordinate.
		return e
	case dp.RandomizedResponse: // Two true answers have exactly these laws.
		return e
	case dp.DiscreteLaplace:
		// Laplace noise is discrete Laplace noise plus something independent: an
		// exponential variable is its whole part plus its fraction, which are independent,
		// and Laplace noise is the difference of two. So the continuous mechanism is
		// computed from the discrete one, whatever the sensitivity, and cannot cost more.
		return dp.Laplace(e)
	case dp.ExponentialMechanism:
		if e.Epsilon > 0 {
			return e // by the pairs of rangeAtoms
		}
	case dp.PoissonSampled:
		// The pair of a replaced unit is only bounded.
		if inner := attained(e.Event, rel); inner != nil && rel != dp.ReplaceOne {
			return dp.PoissonSampled{Rate: e.Rate, Event: inner}
		}
	}
	// Of Pure, Approximate and ZCDP only a bound is known; a DiscreteGaussian is priced by its concentration alone, a
	// FixedSizeSampled and a Select by theorems that are bounds.
	return nil
}

// rangeAtoms is a pair that an exponential mechanism attains, perhaps sampled: many equal candidates, of which a
// share rises and the rest falls, have losses s and s−ε, for every 0 < s < ε (Dong, Durfee and Rogers,
// arXiv:1909.13830). The pair that dominates all of them is attained by none. ok is false for another event.
func rangeAtoms(e dp.Event, share float64) (atoms []Atom, ok bool) {
	rate := 1.0
	if s, sampled := e.(dp.PoissonSampled); sampled {
		e, rate = s.Event, s.Rate
	}
	x, ok := e.(dp.ExponentialMechanism)
	if !ok {
		return nil, false
	}
	s := share * x.Epsilon
	p := math.Expm1(s-x.Epsilon) / math.Expm1(-x.Epsilon) // of s: (1−e^(s−ε))/(1−e^(−ε))
	for _, a := range []Atom{{s, p}, {s - x.Epsilon, 1 - p}} {
		atoms = append(atoms, Atom{math.Log1p(rate * math.Expm1(a.Loss)), (1-rate)*a.Mass*math.Exp(-a.Loss) + rate*a.Mass})
	}
	return atoms, true
}

// mostParts bounds the parts of a plan: more would take longer than all the rest.
const mostParts = 32

// Epsilon returns a lower bound on the exact epsilon at delta of the mechanism that the parts name,
// 0 if there is none. upper is an upper bound, step the lattice on which it was found.
func (a Accountant[E]) Epsilon(parts []Part, delta, upper, step float64) float64 {
	if delta <= 0 || delta >= 1 || !(upper > 0) || math.IsInf(upper, 1) {
		return 0
	}
	var of []int
	var events []dp.Event
	var laws []Law[E]
	var counts []float64
	precision, family, gaussians := 0.0, false, true
	for i, p := range parts {
		e := attained(p.Event, a.Relation)
		if e == nil || p.Loose { // what is priced costs no less than the mechanism, and perhaps more
			continue
		}
		var law Law[E]
		if _, isFamily := rangeAtoms(e, 0.5); isFamily {
			family = true
		} else {
			var ok bool
			if law, ok = a.Law(e); !ok {
				continue
			}
		}
		of, events, laws, counts = append(of, i), append(events, e), append(laws, law), append(counts, p.Count)
		g, ok := e.(dp.Gaussian)
		if gaussians = gaussians && ok; ok {
			precision += p.Count / g.NoiseMultiplier / g.NoiseMultiplier
		}
	}
	switch {
	case len(of) == 0 || len(of) > mostParts && !gaussians:
		return 0
	case gaussians:
		// The optimum bounds itself from below, up to its rounding.
		return math.Min(upper, a.Gaussian(1/math.Sqrt(precision), delta)*(1-1e-8))
	}
	estimate, err := a.Estimate(of, delta)
	if err != nil {
		return 0
	}
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
		for i, e := range events {
			if atoms, ok := rangeAtoms(e, share); ok {
				laws[i].Atoms = atoms
			}
		}
		best = math.Max(best, a.At(laws, counts, delta, step, estimate))
	}
	return math.Min(best, upper)
}

// At returns a lower bound on the exact epsilon at delta of laws, each count times, on a lattice of
// about the given step or on a coarser one that is small enough. It is 0 if there is none.
func (a Accountant[E]) At(laws []Law[E], counts []float64, delta, step, estimate float64) float64 {
	atom := 0.0
	for _, l := range laws {
		if len(l.Atoms) > 1 && atom == 0 {
			// The lattice starts at one atom; a whole number of steps meets the other.
			atom = math.Abs(l.Atoms[0].Loss - l.Atoms[1].Loss)
		}
	}
	for range 12 {
		h := step
		if atom > 0 && step < atom {
			h = atom / math.Ceil(atom/step-1e-9)
		}
		if lower, ok := a.on(h, laws, counts, delta, estimate); ok {
			return lower
		}
		step *= 2
	}
	return 0
}

func (a Accountant[E]) on(step float64, laws []Law[E], counts []float64, delta, estimate float64) (lower float64, ok bool) {
	uses := 0.0
	for _, n := range counts {
		uses += n
	}
	lattices := make([]Lattice, len(laws))
	shift := 0.0
	for i, l := range laws {
		out, anchor, ok := l.merge(step, 1e-5*delta/math.Max(1, uses))
		if !ok {
			return 0, false
		}
		lattices[i] = out
		shift += counts[i] * anchor
	}
	logDelta := math.Log(delta)
	below, ok := a.Below(step, lattices, counts, estimate-shift, logDelta)
	if !ok {
		return 0, false
	}
	enough := func(epsilon float64) bool { return below(epsilon-shift) <= logDelta }
	// Any epsilon at which delta is certainly not enough is a bound. Far below the
	// answer the tilt drowns in its own slack, so the search goes down from above.
	if !enough(estimate) {
		return 0, true
	}
	for gap := 1e-5; gap < 0.999; gap = math.Min(2*gap, (1+gap)/2) {
		if low := estimate * (1 - gap); !enough(low) {
			return between(low, estimate, enough) * (1 - 1e-9), true
		}
	}
	return 0, true
}

// between returns about the least x in (lo, hi] for which ok holds.
func between(lo, hi float64, ok func(float64) bool) float64 {
	for hi-lo > 4e-16*hi {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if ok(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
