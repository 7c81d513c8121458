package lower

import "math"

// Law is the distribution of a privacy loss ln(P/Q), x ~ P.
type Law[E any] struct {
	Density  Density[E] // of the continuous part; nil where there is none
	Atoms    []Atom
	Infinite float64 // the mass at +∞
}

// Atom is a loss with its P-mass.
type Atom struct{ Loss, Mass float64 }

// Density is the continuous part of a loss.
type Density[E any] interface {
	// Span returns an interval of losses with at most the given mass beyond it on either side.
	Span(outside float64) (lo, hi float64)
	// Edge prepares one end of an interval.
	Edge(loss float64) E
	// Between returns the P-mass m of losses in [a, b) and the excess m − m'·e^ref over the Q-mass m'.
	Between(a, b E, ref float64) (mass, excess float64)
	// Least returns the smallest loss if most of the mass may be near it; otherwise ok is false.
	Least() (loss float64, ok bool)
}

// Lattice is a distribution on the points (Start+i)·h.
type Lattice struct {
	Start    int
	Mass     []float64
	Infinite float64
}

// maxMerged bounds the cells of one merged law; each takes a few evaluations.
const maxMerged = 1 << 15

// end is an end of a cell.
type end[E any] struct {
	loss float64
	edge E
}

func (l Law[E]) end(loss float64) end[E] { return end[E]{loss, l.Density.Edge(loss)} }

// merge merges outcomes into
// cells whose P-mass over Q-mass is a lattice point exp(anchor + ih). Merging
// outcomes is post-processing, so the result is dominated by the law, with a bias
// of second order in h, as in the accountant's lattices from above; rounding losses down, the obvious
// alternative, has a bias of first order, which many uses turn into a useless
// bound. A cell for which no such end exists is rounded down to the lattice.
//
// The lattice is anchored at the ratio of the first cell where the loss has a
// smallest value, since for a small rate nearly all mass sits there.
func (l Law[E]) merge(h, outside float64) (out Lattice, anchor float64, ok bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	var a end[E]
	firstMass := 0.0
	if l.Density != nil {
		lo, hi = l.Density.Span(outside)
		a = l.end(lo)
		if least, ok := l.Density.Least(); ok {
			lo = least
			start, excess := l.end(lo), 0.0
			a = l.end(lo + h/2)
			firstMass, excess = l.Density.Between(start.edge, a.edge, lo)
			anchor = lo
			if excess > 0 && excess < firstMass {
				anchor -= math.Log1p(-excess / firstMass)
			}
		}
	} else if len(l.Atoms) > 0 {
		anchor = l.Atoms[0].Loss - h*math.Floor(l.Atoms[0].Loss/h)
	}
	for _, x := range l.Atoms {
		lo, hi = math.Min(lo, x.Loss), math.Max(hi, x.Loss)
	}
	// What lies on the lattice must not fall by a step for rounding: the lattice is
	// lowered by more than that instead.
	anchor -= 1e-9 * h
	at := func(loss float64) int { return int(math.Floor((loss - anchor) / h)) }
	if width := (hi - lo) / h; !(width < maxMerged) || math.Abs((lo-anchor)/h) > 1<<52 {
		return Lattice{}, 0, false
	}
	out = Lattice{Start: at(lo), Infinite: l.Infinite}
	out.Mass = make([]float64, at(hi)-out.Start+3)
	for _, x := range l.Atoms {
		out.Mass[at(x.Loss)-out.Start] += x.Mass
	}
	if l.Density == nil {
		return out, anchor, true
	}
	if firstMass > 0 {
		out.Mass[-out.Start] += firstMass
	}
	for a.loss < hi {
		k := math.Floor((a.loss-anchor)/h + 1.25)
		point := anchor + k*h
		mass, b, exact := l.mergeUpTo(a, point, h)
		if !exact {
			b = l.end(point + h/2)
			mass, _ = l.Density.Between(a.edge, b.edge, point)
			k = float64(at(a.loss))
		}
		if i := int(k) - out.Start; i >= 0 && i < len(out.Mass) {
			out.Mass[i] += math.Max(0, mass)
		}
		a = b
	}
	return out, anchor, true
}

// mergeUpTo finds the end b > point of the cell from a whose log ratio is point or
// hardly above, by the secant method on the excess m − m'·e^point, whose slope is
// the density times b − point, inside of a bracket: a density that falls steeply
// needs a cell of several steps.
func (l Law[E]) mergeUpTo(a end[E], point, h float64) (mass float64, b end[E], ok bool) {
	lo, hi := point, point+8*h
	last := 2*point - a.loss
	// Small beside the bias h²/24 of merging itself.
	allowed := h * math.Min(1e-4, 1e-2*h)
	lastEnd, lastExcess := math.NaN(), 0.0
	for range 30 {
		b = l.end(last)
		m, excess := l.Density.Between(a.edge, b.edge, point)
		if !(m > 0) {
			return 0, b, false
		}
		if excess >= 0 && excess <= allowed*m {
			return m, b, true
		}
		if excess < 0 {
			lo = last
		} else {
			hi = last
		}
		slope := (excess - lastExcess) / (last - lastEnd)
		if !(slope > 0) {
			slope = m / (last - a.loss) * (last - point)
		}
		lastEnd, lastExcess = last, excess
		// Aim a little above zero, where the ratio is certainly not below the point.
		last -= (excess - 0.3*allowed*m) / slope
		if !(last > lo && last < hi) {
			last = (lo + hi) / 2
		}
	}
	return 0, b, false
}
