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
		add("pure", gaussianAndPure{pure: a.pureSum(), sigma: inf})
		if k, ok := a.identicalPure(); ok {
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

// pureSum is basic composition of pure epsilons, +Inf where a part has none.
func (a *account) pureSum() float64 {
	sum := 0.0
	for _, p := range a.rest {
		sum += p.count * pureEpsilon(p.event, a.rel)
	}
	return sum
}

func (a *account) identicalPure() (kov, bool) {
	if len(a.rest) != 1 || a.rest[0].count > maxKOV {
		return kov{}, false
	}
	epsilon := pureEpsilon(a.rest[0].event, a.rel)
	return kov{count: a.rest[0].count, epsilon: epsilon}, !math.IsInf(epsilon, 1)
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
// with at least one Gaussian: all Gaussians together are one, adaptive or not,
// with precision Σ1/σ², and pure epsilons are added to its epsilon.
func (a *account) gaussianAndPure() (g gaussianAndPure, ok bool) {
	precision := 0.0
	for _, p := range a.rest {
		if g, isGaussian := p.event.(dp.Gaussian); isGaussian {
			precision += p.count / g.NoiseMultiplier / g.NoiseMultiplier
			ok = true
			continue
		}
		g.pure += p.count * pureEpsilon(p.event, a.rel)
	}
	if math.IsInf(g.pure, 1) {
		return gaussianAndPure{}, false
	}
	g.sigma = 1 / math.Sqrt(atLeastTiny(precision))
	return g, ok
}
