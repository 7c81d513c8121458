package accountant

import (
	"pawl/core/accountant/lower"
	"pawl/core/dp"
)

// lowerEpsilon is a lower bound on the exact epsilon at delta of the mechanism that the
// parts name, 0 where there is none. upper is an upper bound, step the lattice that it
// was found on.
func (a *account) lowerEpsilon(delta, upper, step float64) float64 {
	parts := make([]lower.Part, len(a.rest))
	for i, p := range a.rest {
		parts[i] = lower.Part{Event: p.event, Count: p.count, Loose: p.loose}
	}
	asked := lower.Accountant[edge]{Relation: a.rel, Gaussian: AnalyticGaussianEpsilon, Below: below}
	asked.Law = func(e dp.Event) (lower.Law[edge], bool) {
		l, ok := lawOf(e, a.rel, false)
		return l.below(), ok
	}
	asked.Estimate = func(of []int, delta float64) (float64, error) {
		some := make([]part, len(of))
		for i, k := range of {
			some[i] = a.rest[k]
		}
		c, err := curveOf(some, a.rel)
		if err != nil {
			return 0, err
		}
		epsilon, _ := c.epsilonAt(delta)
		return epsilon, nil
	}
	return asked.Epsilon(parts, delta, upper, step)
}

// below is the law as package lower asks it.
func (l law) below() lower.Law[edge] {
	out := lower.Law[edge]{Infinite: l.infinite}
	if l.continuous != nil {
		out.Density = l.continuous
	}
	for _, x := range l.atoms {
		out.Atoms = append(out.Atoms, lower.Atom{Loss: x.loss, Mass: x.mass})
	}
	return out
}

// below composes lattices, with a tilt that suits epsilon, for ln δ from below.
func below(step float64, lattices []lower.Lattice, counts []float64, epsilon, logDelta float64) (func(float64) float64, bool) {
	laws := make([]lattice, len(lattices))
	for i, l := range lattices {
		laws[i] = lattice{start: l.Start, mass: l.Mass, infinite: l.Infinite}
	}
	c := compose(step, laws, counts)
	d, ok := c.transform(c.cheapest(c.tiltFor(logDelta), epsilon, logDelta))
	return d.logDeltaBelow, ok
}
