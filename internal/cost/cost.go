package cost

import (
	"errors"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Plan is what one plan costs, from either side.
type Plan struct {
	event    dp.Event
	relation dp.Relation
	// unit is what one neighbouring change adds, removes or replaces. The noise of an
	// event is relative to a sensitivity that somebody took for some unit, which the
	// event does not know.
	Unit string
	// group is the number of such changes that are priced one after the other, 0 for one.
	group int64
	// grouped is the price that methods named group_… are of, nil where there is none.
	grouped *Plan
	Epsilon func(delta float64) (accountant.Result, error)
	Delta   func(epsilon float64) (accountant.Result, error)
	// curve is epsilon at each delta, and delta at epsilon 0, of a plan for which asking
	// one by one takes too long; ok is false for others. nil where there is no such way.
	curve func(deltas []float64) (epsilons []float64, variation float64, ok bool, err error)
}

// Of is the cost of an event.
func Of(e dp.Event, rel dp.Relation, m accountant.Method) Plan {
	return Plan{
		event: e, relation: rel, Unit: "unit",
		Epsilon: func(d float64) (accountant.Result, error) { return accountant.Epsilon(e, rel, d, m) },
		Delta:   func(eps float64) (accountant.Result, error) { return deltaOf(e, rel, eps, m) },
		curve: func(deltas []float64) ([]float64, float64, bool, error) {
			return accountant.Curve(e, rel, deltas, m)
		},
	}
}

// deltaOf is accountant.Delta, but never 0 for what is not pure: that delta is
// smaller than a number can be, which is not nothing. Beyond 1e9 the delta of 1e9 is
// taken; delta falls as epsilon grows.
func deltaOf(e dp.Event, rel dp.Relation, epsilon float64, m accountant.Method) (accountant.Result, error) {
	r, err := accountant.Delta(e, rel, math.Min(epsilon, 1e9), m)
	r.Epsilon = epsilon
	if err != nil || r.Delta > 0 {
		return r, err
	}
	pure, err := accountant.Epsilon(e, rel, 0, accountant.MethodMin)
	if pure.Epsilon > epsilon {
		r.Delta = math.SmallestNonzeroFloat64
		for name := range r.Bounds {
			r.Bounds[name] = math.Max(r.Bounds[name], r.Delta)
		}
	}
	return r, err
}

// Unattained is a plan without lower bounds. Those of an event are attained by some
// neighbours of a noisy sum (core/accountant/lower). The gradients of a model that a
// job names, or the choice that it made, need not attain them: there the pairs only dominate.
func Unattained(p Plan) Plan {
	without := func(f func(float64) (accountant.Result, error)) func(float64) (accountant.Result, error) {
		return func(at float64) (accountant.Result, error) {
			r, err := f(at)
			r.Lower = 0
			return r, err
		}
	}
	p.Epsilon, p.Delta = without(p.Epsilon), without(p.Delta)
	return p
}

// OfTraining prices a Poisson-sampled run whose noise multiplier is relative to
// the clipping norm, which is the sensitivity when one row comes or goes. Replacing a
// row moves the sum by twice that norm.
func OfTraining(t Training, rel dp.Relation, m accountant.Method) Plan {
	e := t.Event()
	if rel == dp.ReplaceOne {
		e = dp.Repeat{Count: t.Steps, Event: dp.PoissonSampled{Rate: t.SamplingRate,
			Event: dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier / 2}, OneSided: dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier}}}
	}
	c := Of(e, rel, m)
	c.Unit = "row"
	return c
}

// Group prices a change of k units, one after the other: an (ε, δ)-DP
// mechanism is (kε, δ·(e^(kε)−1)/(e^ε−1))-DP for groups of k. rdp is the same plan
// by the quick accountant, or any other valid bound of it.
func Group(base, rdp Plan, k int64) Plan {
	c := base
	c.curve = nil
	c.group = k
	c.Epsilon = func(delta float64) (accountant.Result, error) {
		var best accountant.Result
		at := func(d float64) (float64, error) {
			r, err := base.Epsilon(d)
			best = r
			return r.Epsilon, err
		}
		epsilon, one, err := accountant.Group(k, delta, at, func(d float64) (float64, error) {
			r, err := rdp.Epsilon(d)
			return r.Epsilon, err
		})
		if err != nil || math.IsInf(epsilon, 1) {
			return accountant.Result{Epsilon: math.Inf(1), Delta: delta, Method: "none", Bounds: map[string]float64{}}, err
		}
		best.Epsilon = one
		return grouped(best, epsilon, delta, epsilon), nil
	}
	c.Delta = func(epsilon float64) (accountant.Result, error) {
		r, err := base.Delta(epsilon / float64(k))
		if err != nil {
			return accountant.Result{}, err
		}
		d := accountant.GroupDelta(k, epsilon, r.Delta)
		return grouped(r, epsilon, d, d), nil
	}
	return c
}

// grouped keeps how a bound on a single change was found. What is a lower bound for
// one change says nothing sharp about a group.
func grouped(r accountant.Result, epsilon, delta, value float64) accountant.Result {
	return accountant.Result{Epsilon: epsilon, Delta: delta, Method: "group_" + r.Method, Order: r.Order,
		Bounds: map[string]float64{"group_" + r.Method: value}}
}

// Smaller is the better of two valid prices of one plan, named by the first; the
// second is that of a group.
func Smaller(a, b Plan) Plan {
	merge := func(x, y accountant.Result, value func(accountant.Result) float64) accountant.Result {
		best := x
		if value(y) < value(x) {
			best = y
		}
		bounds := map[string]float64{}
		for _, r := range []accountant.Result{x, y} {
			for name, v := range r.Bounds {
				bounds[name] = v
			}
		}
		best.Bounds, best.Lower = bounds, 0
		return best
	}
	pair := func(f, g func(float64) (accountant.Result, error), value func(accountant.Result) float64) func(float64) (accountant.Result, error) {
		return func(at float64) (accountant.Result, error) {
			x, errX := f(at)
			y, errY := g(at)
			return merge(x, y, value), errors.Join(errX, errY)
		}
	}
	return Plan{
		event: a.event, relation: a.relation, Unit: a.Unit, grouped: &b,
		Epsilon: pair(a.Epsilon, b.Epsilon, func(r accountant.Result) float64 { return r.Epsilon }),
		Delta:   pair(a.Delta, b.Delta, func(r accountant.Result) float64 { return r.Delta }),
	}
}
