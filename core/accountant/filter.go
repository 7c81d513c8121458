package accountant

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

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
// shortest decimal form of each epsilon, and may exceed Epsilon by
// FilterResolution, relative, so that eleven elevenths fit one.
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
	limit          *big.Rat
}

// FilterResolution is the relative excess of a pure budget that counts as rounding in the decimal
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
		f.delta, f.limit = 0, new(big.Rat).Mul(decimal(epsilon), decimal(1+FilterResolution))
		return f, nil
	}
	logDelta := math.Log(delta)
	f.order, _ = bestOrder(func(alpha float64) float64 { return (conversion(alpha, logDelta) - epsilon) / alpha })
	limit := math.Max(0, epsilon-conversion(f.order, logDelta))
	f.limit = new(big.Rat).SetFloat64(limit)
	return f, nil
}

// Start returns an empty running account of the filter.
func (f Filter) Start(rel dp.Relation) (*Spending, error) {
	if f.limit == nil {
		return nil, fmt.Errorf("filter was not made by NewFilter")
	}
	if !rel.Valid() {
		return nil, fmt.Errorf("%v is not a neighbouring relation", rel)
	}
	return &Spending{filter: f, sheet: newSheet(rel, noAmount(), func(parts []part) (amount, error) { return f.price(parts, rel) })}, nil
}

// Spending is the running account of one budget. The time to add an event or ask about one depends
// on the size of that event and the number of distinct scope bounds and classes, not on the number
// of earlier events. It is not safe for concurrent use.
type Spending struct {
	filter Filter
	sheet  sheet[amount]
}

// Add charges an event, admitted or not, whose scopes belong to a class; see Filter.
func (s *Spending) Add(class string, e dp.Event) error {
	cost, err := s.sheet.cost(e)
	if err == nil {
		s.sheet.add(class, e, cost)
	}
	return err
}

// Epsilon returns what has been spent at the filter's delta: 0 for no events, and valid at any time
// of an adaptive interaction.
func (s *Spending) Epsilon() float64 {
	return s.filter.inEpsilon(s.sheet.besides("").plus(s.sheet.of("").most()))
}

// Admits reports whether next fits beside what was added, with the epsilon that it needs and the epsilon
// that is left for the unit with the least room, among those that it touches: next is admitted exactly if
// need <= left. need is +Inf for an event without a Rényi curve (or, for a pure budget, without a pure
// epsilon).
func (s *Spending) Admits(class string, next dp.Event) (admitted bool, need, left float64, err error) {
	cost, err := s.sheet.cost(next)
	if err != nil {
		return false, inf, 0, err
	}
	sums, others := s.sheet.of(class), s.sheet.besides(class)
	// Only units that next touches can be harmed by it: a segment that is spent up
	// does not stop an event elsewhere.
	worst, at := noAmount(), 0.0
	for _, x := range sums.plus(cost).from {
		if all := sums.at(x).plus(cost.at(x)).plus(others); !cost.at(x).zero() && all.above(worst) {
			worst, at = all, x
		}
	}
	before, price := sums.at(at).plus(others), cost.at(at)
	need = price.float()
	if before.zero() {
		need = s.filter.inEpsilon(price)
	}
	return agree(!worst.inf && worst.rat.Cmp(s.filter.limit) <= 0, need, s.filter.epsilon-s.filter.inEpsilon(before))
}

func (f Filter) price(parts []part, rel dp.Relation) (amount, error) {
	if f.delta > 0 {
		c, err := curveOf(parts, rel)
		if err != nil {
			return amount{}, err
		}
		return newAmount(c(f.order), 1, false), nil
	}
	sum := noAmount()
	for _, p := range parts {
		sum = sum.plus(newAmount(pureEpsilon(p.event, rel), p.count, true))
	}
	return sum, nil
}

// inEpsilon converts a sum into epsilon at the filter's delta, rounded up.
func (f Filter) inEpsilon(a amount) float64 {
	if f.delta == 0 || a.inf || a.zero() {
		return a.float()
	}
	return math.Max(0, a.float()+conversion(f.order, math.Log(f.delta)))
}

// amount is an exact number >= 0 or +Inf.
type amount struct {
	rat *big.Rat
	inf bool
}

func noAmount() amount { return amount{rat: new(big.Rat)} }

// newAmount is x times count: of x as it is, or as its shortest decimal, which is
// what the person who wrote 0.1 meant.
func newAmount(x, count float64, asDecimal bool) amount {
	if !(x >= 0 && x*count <= math.MaxFloat64) {
		return amount{rat: new(big.Rat), inf: true}
	}
	r := new(big.Rat).SetFloat64(x)
	if asDecimal {
		r = decimal(x)
	}
	return amount{rat: r.Mul(r, new(big.Rat).SetFloat64(count))}
}

func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

func (a amount) plus(b amount) amount {
	return amount{rat: new(big.Rat).Add(a.rat, b.rat), inf: a.inf || b.inf}
}

func (a amount) most(b amount) amount {
	if b.above(a) {
		return b
	}
	return a
}

func (a amount) zero() bool { return !a.inf && a.rat.Sign() == 0 }

func (a amount) above(b amount) bool {
	return a.inf && !b.inf || a.inf == b.inf && a.rat.Cmp(b.rat) > 0
}

// float rounds up, except that a decimal comes back as the float it came from.
func (a amount) float() float64 {
	x, _ := a.rat.Float64()
	if a.inf || math.IsInf(x, 1) {
		return inf
	}
	if decimal(x).Cmp(a.rat) < 0 && new(big.Rat).SetFloat64(x).Cmp(a.rat) < 0 {
		return math.Nextafter(x, inf)
	}
	return x
}
