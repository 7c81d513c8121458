package accountant

import "math"

// maxMerged bounds the cells of one merged law; each takes a few evaluations.
const maxMerged = 1 << 15

// merge is the optimistic counterpart of discretise: outcomes are merged into
// cells whose P-mass over Q-mass is a lattice point exp(anchor + ih). Merging
// outcomes is post-processing, so the result is dominated by the law, with a bias
// of second order in h like that of discretise; rounding losses down, the obvious
// alternative, has a bias of first order, which many uses turn into a useless
// bound. A cell for which no such end exists is rounded down to the lattice.
//
// The lattice is anchored at the ratio of the first cell where the loss has a
// smallest value, since for a small rate nearly all mass sits there.
func (l law) merge(h, outside float64) (out lattice, anchor float64, ok bool) {
	lo, hi := inf, math.Inf(-1)
	var a edge
	firstMass := 0.0
	if l.continuous != nil {
		lo, hi = l.continuous.span(outside)
		a = l.continuous.edge(lo)
		if s := l.continuous; s.q < 1 && !s.added && isGaussian(s.noise) {
			lo = math.Log1p(-s.q)
			start, excess := s.edge(lo), 0.0
			a = s.edge(lo + h/2)
			firstMass, excess = s.between(start, a, lo)
			anchor = lo
			if excess > 0 && excess < firstMass {
				anchor -= math.Log1p(-excess / firstMass)
			}
		}
	} else if len(l.atoms) > 0 {
		anchor = l.atoms[0].loss - h*math.Floor(l.atoms[0].loss/h)
	}
	for _, x := range l.atoms {
		lo, hi = math.Min(lo, x.loss), math.Max(hi, x.loss)
	}
	// What lies on the lattice must not fall by a step for rounding: the lattice is
	// lowered by more than that instead.
	anchor -= 1e-9 * h
	at := func(loss float64) int { return int(math.Floor((loss - anchor) / h)) }
	if width := (hi - lo) / h; !(width < maxMerged) || math.Abs((lo-anchor)/h) > 1<<52 {
		return lattice{}, 0, false
	}
	out = lattice{start: at(lo), infinite: l.infinite}
	out.mass = make([]float64, at(hi)-out.start+3)
	for _, x := range l.atoms {
		out.mass[at(x.loss)-out.start] += x.mass
	}
	if l.continuous == nil {
		return out, anchor, true
	}
	if firstMass > 0 {
		out.mass[-out.start] += firstMass
	}
	for a.loss < hi {
		k := math.Floor((a.loss-anchor)/h + 1.25)
		point := anchor + k*h
		mass, b, exact := l.mergeUpTo(a, point, h)
		if !exact {
			b = l.continuous.edge(point + h/2)
			mass, _ = l.continuous.between(a, b, point)
			k = float64(at(a.loss))
		}
		if i := int(k) - out.start; i >= 0 && i < len(out.mass) {
			out.mass[i] += math.Max(0, mass)
		}
		a = b
	}
	return out, anchor, true
}

func isGaussian(n noise) bool { _, ok := n.(gaussianNoise); return ok }

// mergeUpTo finds the end b > point of the cell from a whose log ratio is point or
// hardly above, by the secant method on the excess m − m'·e^point, whose slope is
// the density times b − point, inside of a bracket: a density that falls steeply
// needs a cell of several steps.
func (l law) mergeUpTo(a edge, point, h float64) (mass float64, b edge, ok bool) {
	lo, hi := point, point+8*h
	end := 2*point - a.loss
	// Small beside the bias h²/24 of merging itself.
	allowed := h * math.Min(1e-4, 1e-2*h)
	lastEnd, lastExcess := math.NaN(), 0.0
	for range 30 {
		b = l.continuous.edge(end)
		m, excess := l.continuous.between(a, b, point)
		if !(m > 0) {
			return 0, b, false
		}
		if excess >= 0 && excess <= allowed*m {
			return m, b, true
		}
		if excess < 0 {
			lo = end
		} else {
			hi = end
		}
		slope := (excess - lastExcess) / (end - lastEnd)
		if !(slope > 0) {
			slope = m / (end - a.loss) * (end - point)
		}
		lastEnd, lastExcess = end, excess
		// Aim a little above zero, where the ratio is certainly not below the point.
		end -= (excess - 0.3*allowed*m) / slope
		if !(end > lo && end < hi) {
			end = (lo + hi) / 2
		}
	}
	return 0, b, false
}

// lowerAt is a lower bound on the exact epsilon at delta, from the direction in
// which a unit is removed, on a lattice of the given step or a coarser one that is
// small enough. It is 0 where there is none.
func (p privacyLoss) lowerAt(delta, step, estimate float64) float64 {
	for range 12 {
		if lower, ok := p.lowerOn(p.snap(step), delta, estimate); ok {
			return lower
		}
		step *= 2
	}
	return 0
}

func (p privacyLoss) lowerOn(step, delta, estimate float64) (lower float64, ok bool) {
	laws := p.directions[0] // of pairs that are attained
	lattices := make([]lattice, len(laws))
	shift := 0.0
	for i, l := range laws {
		out, anchor, ok := l.merge(step, 1e-5*delta/math.Max(1, sum(p.counts)))
		if !ok {
			return 0, false
		}
		lattices[i] = out
		shift += p.counts[i] * anchor
	}
	c := compose(step, lattices, p.counts)
	logDelta := math.Log(delta)
	d, ok := c.transform(c.cheapest(c.tiltFor(logDelta), estimate-shift, logDelta))
	if !ok {
		return 0, false
	}
	enough := func(epsilon float64) bool { return d.logDeltaBelow(epsilon-shift) <= logDelta }
	// Any epsilon at which delta is certainly not enough is a bound. Far below the
	// answer the tilt drowns in its own slack, so the search goes down from above.
	if !enough(estimate) {
		return 0, true
	}
	for gap := 1e-5; gap < 0.999; gap = math.Min(2*gap, (1+gap)/2) {
		if low := estimate * (1 - gap); !enough(low) {
			return bisect(low, estimate, enough) * (1 - 1e-9), true
		}
	}
	return 0, true
}
