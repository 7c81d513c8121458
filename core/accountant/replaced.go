package accountant

import (
	"math"

	"pawl/core/dp"
)

// oneSided is the account of all parts for a unit that comes or goes, where every part
// has such a bound: removing one and adding the other is then replacing it.
func (a *account) oneSided() (*account, bool) {
	if a.rel != dp.ReplaceOne || len(a.rest) == 0 || len(a.approximate)+len(a.stopping) > 0 {
		return nil, false
	}
	f := flattener{rel: dp.AddOrRemoveOne, index: map[key]int{}}
	for _, p := range a.rest {
		s, ok := p.event.(dp.PoissonSampled)
		if !ok || s.OneSided == nil {
			return nil, false
		}
		if f.add(dp.PoissonSampled{Rate: s.Rate, Event: s.OneSided}, p.count) != nil {
			return nil, false
		}
	}
	side, err := newAccount(f.parts, dp.AddOrRemoveOne)
	return side, err == nil
}

// Group prices a change of k units, one after the other: an (ε, δ)-DP mechanism is (kε,
// δ·(e^(kε)−1)/(e^ε−1))-DP for groups of k. at returns the epsilon of one change at a delta, quick
// another valid bound on it that takes no time. Group returns the epsilon of the group at delta and
// that of one change, both +Inf if there is none.
func Group(k int64, delta float64, at, quick func(delta float64) (float64, error)) (epsilon, one float64, err error) {
	// fits says that the group stays below delta if −ln of the delta of a single change is x, by quick.
	fits := func(x float64) bool {
		e, failed := quick(math.Exp(-x))
		if failed != nil {
			err = failed
		}
		return failed == nil && groupFactor(k, e)+1e-9 <= math.Log(delta)+x
	}
	if !fits(700) {
		return inf, inf, err
	}
	lo := -bisect(-math.Log(delta), 700, fits)
	if err != nil {
		return inf, inf, err
	}
	// A sharper accountant may do with a larger delta. Each step stays valid: where
	// epsilon fits at one delta, a larger delta up to what that epsilon leaves has a
	// smaller epsilon.
	epsilon, one = inf, inf
	for range 3 {
		e, err := at(math.Exp(lo))
		if err != nil {
			return inf, inf, err
		}
		// The last digits of the logarithms are given away.
		if left := math.Log(delta) - groupFactor(k, e) - 1e-12; left >= lo {
			epsilon, one, lo = float64(k)*e, e, left
		}
	}
	return epsilon, one, nil
}

// GroupDelta returns the delta of a group of k at epsilon, from the delta of one change at
// epsilon/k.
func GroupDelta(k int64, epsilon, deltaOfOne float64) float64 {
	return math.Min(1, math.Exp(math.Log(deltaOfOne)+groupFactor(k, epsilon/float64(k))))
}

// groupFactor is ln[(e^(kε)−1)/(e^ε−1)], written with what does not overflow.
func groupFactor(k int64, epsilon float64) float64 {
	if epsilon == 0 {
		return math.Log(float64(k))
	}
	return float64(k-1)*epsilon + math.Log(math.Expm1(-float64(k)*epsilon)/math.Expm1(-epsilon))
}

// unsampled is the account in which sampled parts of a replaced unit are not
// amplified, where there are any.
func (a *account) unsampled() (*account, bool) {
	if a.rel != dp.ReplaceOne {
		return nil, false
	}
	f := flattener{rel: dp.ReplaceOne, index: map[key]int{}}
	some := false
	for _, p := range append(append([]part(nil), a.rest...), a.approximate...) {
		e := p.event
		if s, ok := e.(dp.PoissonSampled); ok {
			e, some = s.Event, true
		}
		if f.addLoosely(e, p.count) != nil {
			return nil, false
		}
	}
	if !some || len(a.stopping) > 0 {
		return nil, false
	}
	plain, err := newAccount(f.parts, dp.ReplaceOne)
	return plain, err == nil
}

// replaced are the bounds of sampled plans of a replaced unit beside those of their
// curves: removing the old unit and adding the new one, and doing without the
// amplification.
func (a *account) replaced(q question, w want) (out []bound) {
	plain, ok := a.unsampled()
	if !ok || !q.inverse && q.at <= 0 {
		return nil
	}
	w.lower = false
	if side, ok := a.oneSided(); ok {
		out = side.twice(q, w)
		w.pld = w.pld && !w.closed // a closed form of what is not sampled will do
	}
	w.rdp = false // the curve is never above
	more, _ := plain.answer(q, w)
	return append(out, more...)
}

// twice are the bounds of two changes, one after the other.
func (a *account) twice(q question, w want) (out []bound) {
	if q.inverse {
		bounds, _ := a.answer(question{q.at / 2, true}, w)
		for _, b := range bounds {
			out = append(out, bound{name: "group_" + b.name, value: GroupDelta(2, q.at, b.value), order: b.order})
		}
		return out
	}
	var best bound
	epsilon, _, err := Group(2, q.at, func(d float64) (float64, error) {
		bounds, err := a.answer(question{at: d}, w)
		best = least(bounds)
		return best.value, err
	}, func(d float64) (float64, error) {
		e, _ := a.curve.epsilonAt(d)
		return e, nil
	})
	if err != nil || math.IsInf(epsilon, 1) {
		return nil
	}
	return []bound{{name: "group_" + best.name, value: epsilon, order: best.order}}
}
