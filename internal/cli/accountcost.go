package cli

import (
	"errors"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// cost is what one plan costs, from either side.
type cost struct {
	event    dp.Event
	relation dp.Relation
	// unit is what one neighbouring change adds, removes or replaces. The noise of an
	// event is relative to a sensitivity that somebody took for some unit, which the
	// event does not know.
	unit string
	// group is the number of such changes that are priced one after the other, 0 for one.
	group int64
	// grouped is the price that methods named group_… are of, nil where there is none.
	grouped *cost
	epsilon func(delta float64) (accountant.Result, error)
	delta   func(epsilon float64) (accountant.Result, error)
	// curve is epsilon at each delta, and delta at epsilon 0, of a plan for which asking
	// one by one takes too long; ok is false for others. nil where there is no such way.
	curve func(deltas []float64) (epsilons []float64, variation float64, ok bool, err error)
}

func costOf(e dp.Event, rel dp.Relation, m accountant.Method) cost {
	return cost{
		event: e, relation: rel, unit: "unit",
		epsilon: func(d float64) (accountant.Result, error) { return accountant.Epsilon(e, rel, d, m) },
		delta:   func(eps float64) (accountant.Result, error) { return deltaOf(e, rel, eps, m) },
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

// trainingCost prices a Poisson-sampled run whose noise multiplier is relative to
// the clipping norm, which is the sensitivity when one row comes or goes. Replacing a
// row moves the sum by twice that norm.
func trainingCost(t training, rel dp.Relation, m accountant.Method) cost {
	e := t.event()
	if rel == dp.ReplaceOne {
		e = dp.Repeat{Count: t.Steps, Event: dp.PoissonSampled{Rate: t.SamplingRate,
			Event: dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier / 2}, OneSided: dp.Gaussian{NoiseMultiplier: t.NoiseMultiplier}}}
	}
	c := costOf(e, rel, m)
	c.unit = "row"
	return c
}

// groupCost prices a change of k units, one after the other: an (ε, δ)-DP
// mechanism is (kε, δ·(e^(kε)−1)/(e^ε−1))-DP for groups of k. rdp is the same plan
// by the quick accountant, or any other valid bound of it.
func groupCost(base, rdp cost, k int64) cost {
	c := base
	c.curve = nil
	c.group = k
	c.epsilon = func(delta float64) (accountant.Result, error) {
		var best accountant.Result
		at := func(d float64) (float64, error) {
			r, err := base.epsilon(d)
			best = r
			return r.Epsilon, err
		}
		epsilon, one, err := accountant.Group(k, delta, at, func(d float64) (float64, error) {
			r, err := rdp.epsilon(d)
			return r.Epsilon, err
		})
		if err != nil || math.IsInf(epsilon, 1) {
			return accountant.Result{Epsilon: math.Inf(1), Delta: delta, Method: "none", Bounds: map[string]float64{}}, err
		}
		best.Epsilon = one
		return grouped(best, epsilon, delta, epsilon), nil
	}
	c.delta = func(epsilon float64) (accountant.Result, error) {
		r, err := base.delta(epsilon / float64(k))
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

// smaller is the better of two valid prices of one plan, named by the first; the
// second is that of a group.
func smaller(a, b cost) cost {
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
	return cost{
		event: a.event, relation: a.relation, unit: a.unit, grouped: &b,
		epsilon: pair(a.epsilon, b.epsilon, func(r accountant.Result) float64 { return r.Epsilon }),
		delta:   pair(a.delta, b.delta, func(r accountant.Result) float64 { return r.Delta }),
	}
}
