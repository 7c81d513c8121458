package accountant

import (
	"fmt"
	"math"
	"math/big"

	"pawl/core/dp"
)

// Filter decides whether a budget (Epsilon, Delta) admits one more event if every event may have
// been chosen after seeing the outputs of those before it.
//
// delta > 0: one Rényi order α* is fixed when the filter is made, and events are
// admitted while Σ R_i(α*) <= R*, where R* is what the improved conversion
// (convert.go) leaves at α*:
//
//	R* = ε − ln(1−1/α*) + (ln δ + ln α*)/(α*−1)
//
// A sum of Rényi divergences that stays below a constant fixed in advance bounds the divergence of
// the whole interaction at that order, although the summands are chosen adaptively: Feldman and
// Zrnic, arXiv:2008.11193 (the Rényi filter); Lécuyer, arXiv:2103.01379; Whitehouse, Ramdas, Rogers
// and Wu, arXiv:2203.05481. The conversion to (ε, δ) needs only one order. Choosing the best order
// at each question would be a union over orders and is not proven. As a consequence α* suits a
// Gaussian of about this size (it maximises the ρ of the zCDP events that fit), so the last event
// may be refused although one plan of all events would have fitted.
//
// delta = 0: pure epsilons add up, which holds adaptively. The sum is exact on the
// shortest decimal form of each epsilon.
//
// What the sum needs may exceed Epsilon by FilterResolution, relative, so that eleven elevenths fit one.
//
// If events have scopes, there is a sum for each segment of the unit hash; under AddOrRemoveOne and
// ZeroOut the largest counts, since neighbours differ in one unit and its hash is fixed. Under
// ReplaceOne everything adds up.
//
// The hash is fixed within a class of events whose scopes belong to one assignment of units to
// scopes (a rule and a key, and a version of the data if units are rows). Theorem. Let costs add
// along a path as above, let event i of class a(i) cost c_i for the units in I_i and 0 for others,
// and let h_a(u) be the place of unit u under a. Then u pays Σ_a Σ_{i in a: h_a(u) in I_i} c_i <=
// Σ_a max_x Σ_{i in a: x in I_i} c_i: the largest within a class, the sum across classes. Events
// that do not touch u have the same conditional distribution in both worlds, so they cost u
// nothing; decisions use public numbers, so the filter holds for each u. The bound is tight, since
// u may have the most expensive place in every class.
type Filter struct {
	epsilon, delta float64
	order          float64
	limit          *big.Rat // R*; below 0 where the order leaves nothing
}

// FilterResolution is the relative excess of a budget that counts as rounding in the decimal
// form of its parts.
const FilterResolution = 1e-12

// NewFilter fixes the order for a budget with epsilon > 0 and delta in [0, 1).
func NewFilter(epsilon, delta float64) (Filter, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return Filter{}, fmt.Errorf("epsilon must be a finite number > 0")
	}
	if !(delta >= 0 && delta < 1) {
		return Filter{}, fmt.Errorf("delta must lie in [0, 1)")
	}
	f := Filter{epsilon: epsilon, delta: delta}
	if delta < leastDelta {
		f.delta, f.limit = 0, decimal(epsilon)
		return f, nil
	}
	logDelta := math.Log(delta)
	f.order, _ = bestOrder(func(alpha float64) float64 { return (conversion(alpha, logDelta) - epsilon) / alpha })
	f.limit = new(big.Rat).SetFloat64(epsilon - conversion(f.order, logDelta))
	return f, nil
}

// Start returns an empty running account of the filter.
func (f Filter) Start(rel dp.Relation) (*Spending, error) {
	if f.limit == nil {
		return nil, fmt.Errorf("filter was not made by NewFilter")
	}
	return start(f, f.epsilon, rel)
}

// cheap is what the parts of an event cost one unit: their divergence at the filter's order, or their pure epsilons.
func (f Filter) cheap(parts []part, rel dp.Relation) (costs, error) {
	total := noCosts()
	if f.delta > 0 {
		c, err := curveOf(parts, rel)
		if err != nil {
			return total, err
		}
		total.sums[costPure] = newAmount(c(f.order), 1, false)
		return total, nil
	}
	for _, p := range parts {
		total.sums[costPure] = total.sums[costPure].plus(newAmount(pureEpsilon(p.event, rel), p.count, true))
	}
	return total, nil
}

// dearly is nothing: a filter has no other doors.
func (f Filter) dearly([]part, dp.Relation, bool) (costs, error) { return noCosts(), nil }

// needs is the epsilon of the budget, and beyond it what the sum exceeds the limit by.
func (f Filter) needs(c costs, _ bool, _ float64) float64 {
	a := c.sums[costPure]
	if a.inf || a.zero() {
		return a.float()
	}
	beyond := new(big.Rat).Sub(a.rat, f.limit)
	return math.Max(0, amount{rat: beyond.Add(beyond, decimal(f.epsilon))}.float())
}
