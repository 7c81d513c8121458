package accountant

import (
	"math"
	"slices"

	"pawl/core/dp"
)

// This file prices plans of many different parts. Every figure stays an upper bound:
// cells may be of any width (the split of a cell keeps its P-mass and its Q-mass), and
// a Rényi curve may be interpolated between orders. What is given up is sharpness, and
// little of it.

// atIntegers bounds a curve by its values at whole orders, fewer of them from 32 on.
func (c curve) atIntegers() curve {
	return interpolate(32, func(n float64) float64 { return (n - 1) * c(n) })
}

// mergeSums makes one part of those whose composition is again one of their kind:
// Gaussians, whose precisions add up, and what is known by zero-concentration alone.
func mergeSums(parts []part) []part {
	var out, concentrated []part
	rho := 0.0
	together, some, others := gaussians(parts)
	for _, p := range others {
		switch e := p.event.(type) {
		case dp.DiscreteGaussian:
			rho += p.count / e.NoiseMultiplier / e.NoiseMultiplier / 2
			concentrated = append(concentrated, p)
		case dp.ZCDP:
			rho += p.count * e.Rho
			concentrated = append(concentrated, p)
		default:
			out = append(out, p)
		}
	}
	if len(some) > 1 {
		some = []part{{event: together, count: 1}}
	}
	if len(concentrated) > manyParts {
		concentrated = []part{{event: dp.ZCDP{Rho: rho}, count: 1}}
	}
	return append(append(out, some...), concentrated...)
}

// Curve returns upper bounds on epsilon at each delta, and on delta at epsilon 0 (the total
// variation), for a plan with so many different parts that calling Epsilon at each delta would take
// too long; ok is false for other plans. The bounds are looser than those of Epsilon.
func Curve(e dp.Event, rel dp.Relation, deltas []float64, which Method) (epsilons []float64, variation float64, ok bool, err error) {
	w, err := wantOf(which)
	if err != nil {
		return nil, 0, false, err
	}
	segments, err := resolveAll(e, rel)
	if err != nil {
		return nil, 0, false, err
	}
	for _, s := range segments {
		ok = ok || len(s) > manyParts
	}
	if !ok || len(segments) > 4 && w.pld {
		return nil, 0, false, nil
	}
	epsilons = make([]float64, len(deltas))
	for _, s := range segments {
		a, err := newAccount(s, rel)
		if err != nil {
			return nil, 0, false, err
		}
		var tails []tail
		if p, ok := a.privacyLoss(); ok && w.pld && len(a.stopping) == 0 {
			tails = p.tails(slices.Min(append([]float64{1}, deltas...)))
		}
		// best is the smallest of bounds and of what the worse direction has.
		best := func(bounds []bound, of func(tail) float64) float64 {
			here := math.Inf(-1)
			for _, d := range tails {
				here = math.Max(here, of(d))
			}
			return math.Min(least(bounds).value, orInf(here)) // no tail, or one of no value: +Inf
		}
		quick := want{closed: w.closed, rdp: true}
		for i, delta := range deltas {
			bounds, err := a.answer(question{at: delta}, quick)
			if err != nil {
				return nil, 0, false, err
			}
			epsilons[i] = math.Max(epsilons[i], best(bounds, func(d tail) float64 { return d.epsilonAt(math.Log(delta)) }))
		}
		bounds, err := a.answer(question{inverse: true}, quick)
		if err != nil {
			return nil, 0, false, err
		}
		variation = math.Max(variation, math.Min(1, best(bounds, func(d tail) float64 { return math.Exp(d.logDelta(0)) })))
	}
	return epsilons, variation, true, nil
}

// tails composes each direction once, on a lattice for deltas from delta up, nil where
// that cannot be done.
func (p privacyLoss) tails(delta float64) []tail {
	var out []tail
	for _, laws := range p.directions {
		var d tail
		if !p.coarsely(laws, delta, func(c composed) (ok bool) { d, ok = c.transform(tilt{0.25, 30}); return ok }) {
			return nil
		}
		out = append(out, d)
	}
	return out
}
