package accountant

import (
	"math"

	"pawl/core/dp"
)

// loss is what is known of a privacy loss: bounds on epsilon at a delta and on delta at an epsilon, each with
// the Rényi order that gave it, 0 where none did.
type loss interface {
	epsilonAt(delta float64) (epsilon, order float64)
	deltaAt(epsilon float64) (delta, order float64)
}

// question asks for epsilon at a delta or, inverse, for delta at an epsilon.
type question struct {
	at      float64
	inverse bool
}

func (q question) ask(l loss) (value, order float64) {
	if q.inverse {
		return l.deltaAt(q.at)
	}
	return l.epsilonAt(q.at)
}

// restBounds answers for the parts that have a Rényi curve, by each family of bounds.
func (a *account) restBounds(w want, q question) (bounds []bound) {
	if len(a.rest) == 0 {
		return []bound{{name: "closed"}}
	}
	add := func(name string, l loss) {
		value, order := q.ask(l)
		bounds = append(bounds, bound{name: name, value: value, order: order})
	}
	if w.closed {
		add("pure", gaussianAndPure{pure: pureOf(a.rest, a.rel), sigma: inf})
		if k, ok := identical(a.rest, a.rel); ok {
			add("kov", k)
		}
		if g, ok := a.gaussianAndPure(); ok {
			add(closedName(g.pure), g)
		}
	}
	if w.rdp {
		add("rdp", a.curve)
	}
	return bounds
}

func closedName(pure float64) string {
	if pure == 0 {
		return "analytic_gaussian"
	}
	return "closed"
}

// identical reports whether parts are uses of one mechanism of which its epsilon, or epsilon and delta, is known.
func identical(parts []part, rel dp.Relation) (k kov, ok bool) {
	if len(parts) != 1 || parts[0].count > maxKOV {
		return k, false
	}
	k.count = parts[0].count
	if e, ok := parts[0].event.(dp.Approximate); ok {
		k.epsilon, k.delta0 = e.Epsilon, e.Delta
		return k, true
	}
	k.epsilon = pureEpsilon(parts[0].event, rel)
	return k, !math.IsInf(k.epsilon, 1)
}

// gaussianAndPure is a pure mechanism and one analytic Gaussian.
type gaussianAndPure struct{ pure, sigma float64 }

func (g gaussianAndPure) epsilonAt(delta float64) (epsilon, order float64) {
	return g.pure + AnalyticGaussianEpsilon(g.sigma, delta), 0
}

func (g gaussianAndPure) deltaAt(epsilon float64) (delta, order float64) {
	if epsilon < g.pure {
		return inf, 0
	}
	return AnalyticGaussianDelta(g.sigma, epsilon-g.pure), 0
}

// gaussianAndPure reports whether every part is a full-batch Gaussian or pure,
// with at least one Gaussian: pure epsilons are added to the epsilon of all Gaussians together.
func (a *account) gaussianAndPure() (g gaussianAndPure, ok bool) {
	together, some, others := gaussians(a.rest)
	g = gaussianAndPure{pure: pureOf(others, a.rel), sigma: together.NoiseMultiplier}
	return g, len(some) > 0 && !math.IsInf(g.pure, 1)
}
