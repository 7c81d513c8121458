package accountant

import (
	"math"

	"pawl/core/dp"
)

// restEpsilon returns the bounds of the parts that have a Rényi curve.
func (a *account) restEpsilon(delta float64, w want) []bound {
	if len(a.rest) == 0 {
		return []bound{{name: "closed"}}
	}
	var bounds []bound
	if w.closed {
		if sum := a.pureSum(); !math.IsInf(sum, 1) {
			bounds = append(bounds, bound{name: "pure", value: sum})
		}
		if k, ok := a.identicalPure(); ok {
			bounds = append(bounds, bound{name: "kov", value: k.epsilonAt(delta)})
		}
		if pure, sigma, ok := a.gaussianAndPure(); ok {
			bounds = append(bounds, bound{name: closedName(pure), value: pure + AnalyticGaussianEpsilon(sigma, delta)})
		}
	}
	if w.rdp {
		value, order := a.curve.epsilonAt(delta)
		bounds = append(bounds, bound{name: "rdp", value: value, order: order})
	}
	return bounds
}

// restDelta is the inverse of restEpsilon, bound by bound.
func (a *account) restDelta(epsilon float64, w want) []bound {
	if len(a.rest) == 0 {
		return []bound{{name: "closed"}}
	}
	var bounds []bound
	if w.closed {
		if a.pureSum() <= epsilon {
			bounds = append(bounds, bound{name: "pure"})
		}
		if k, ok := a.identicalPure(); ok {
			bounds = append(bounds, bound{name: "kov", value: k.deltaAt(epsilon)})
		}
		if pure, sigma, ok := a.gaussianAndPure(); ok && pure <= epsilon {
			bounds = append(bounds, bound{name: closedName(pure), value: AnalyticGaussianDelta(sigma, epsilon-pure)})
		}
	}
	if w.rdp {
		value, order := a.curve.deltaAt(epsilon)
		bounds = append(bounds, bound{name: "rdp", value: value, order: order})
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

// gaussianAndPure reports whether every part is a full-batch Gaussian or pure,
// with at least one Gaussian: all Gaussians together are one, adaptive or not,
// with precision Σ1/σ², and pure epsilons are added to its epsilon.
func (a *account) gaussianAndPure() (pure, sigma float64, ok bool) {
	precision := 0.0
	for _, p := range a.rest {
		if g, isGaussian := p.event.(dp.Gaussian); isGaussian {
			precision += p.count / g.NoiseMultiplier / g.NoiseMultiplier
			ok = true
			continue
		}
		pure += p.count * pureEpsilon(p.event, a.rel)
	}
	if math.IsInf(pure, 1) {
		return 0, 0, false
	}
	return pure, 1 / math.Sqrt(atLeastTiny(precision)), ok
}
