package accountant

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"pawl/core/dp"
)

// Filter decides whether a budget (Epsilon, Delta) admits one more event when
// every event may have been chosen after seeing the outputs of those before it.
//
// delta > 0: one Rényi order α* is fixed when the filter is made, and events are
// admitted while Σ R_i(α*) <= R*, where R* is what the improved conversion
// (convert.go) leaves at α*:
//
//	R* = ε − ln(1−1/α*) + (ln δ + ln α*)/(α*−1)
//
// A sum of Rényi divergences that stays below a constant fixed in advance bounds
// the divergence of the whole interaction at that order, although the summands
// are chosen adaptively: Feldman and Zrnic, arXiv:2008.11193 (the Rényi filter);
// Lécuyer, arXiv:2103.01379; Whitehouse, Ramdas, Rogers and Wu, arXiv:2203.05481.
// The conversion to (ε, δ) needs one order only, so one suffices. Taking at each
// question the order that suits best would be a union over orders and is not
// proven. The price is that α* suits a Gaussian of about this size (it maximises
// the ρ of the zCDP events that fit), so the last event may be refused although a
// plan made at once could have afforded it.
//
// delta = 0: pure epsilons add up, which holds adaptively. The sum is exact on the
// shortest decimal form of each epsilon, and may exceed Epsilon by
// FilterResolution, relative, so that eleven elevenths fit one.
//
// Where events have scopes the sum is kept for each segment of the unit hash;
// under AddOrRemoveOne and ZeroOut the largest counts, since neighbours differ in
// one unit and its hash is fixed. Under ReplaceOne everything adds up.
//
// The hash is fixed within a class of events whose scopes belong to one assignment of
// units to scopes (a rule and a key; where units are rows, a version of the data too).
// Theorem. Let costs add along a path as above, let event i of class a(i) cost c_i for
// the units in I_i and 0 for others, and let h_a(u) be the place of unit u under a.
// Then u pays Σ_a Σ_{i in a: h_a(u) in I_i} c_i <= Σ_a max_x Σ_{i in a: x in I_i} c_i:
// the largest within a class, the sum across classes. Events that do not touch u have
// one conditional law in both worlds, so they cost it 0; decisions use public numbers,
// so the filter holds for each u. It is tight, since u may lie in the dearest place of
// every class.
type Filter struct {
	epsilon, delta float64
	order          float64
	limit          *big.Rat
}

// FilterResolution is the relative excess of a pure budget that is not told apart
// from rounding in writing down its parts.
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
	if delta == 0 {
		f.limit = new(big.Rat).Mul(decimal(epsilon), decimal(1+FilterResolution))
		return f, nil
	}
	logDelta := math.Log(delta)
	f.order, _ = bestOrder(func(alpha float64) float64 { return (conversion(alpha, logDelta) - epsilon) / alpha })
	limit := math.Max(0, epsilon-conversion(f.order, logDelta))
	f.limit = new(big.Rat).SetFloat64(limit)
	return f, nil
}

// Order is α*, or +Inf for a pure budget.
func (f Filter) Order() float64 {
	if f.delta == 0 {
		return inf
	}
	return f.order
}

// Admits reports whether next fits after the spent events, with what it needs and
// what is left in terms of epsilon for the unit, among those it touches, at which it matters most: next is
// admitted exactly if need <= left. Need is +Inf for an event without a Rényi
// curve (or, for a pure budget, without a pure epsilon).
func (f Filter) Admits(spent []dp.Event, next dp.Event, rel dp.Relation) (admitted bool, need, left float64, err error) {
	s, err := f.spending(spent, rel)
	if err != nil {
		return false, inf, 0, err
	}
	return s.Admits(next)
}

// Spent is the epsilon that the events have used at the filter's delta: 0 for
// none, and valid at any time of an adaptive interaction.
func (f Filter) Spent(events []dp.Event, rel dp.Relation) (float64, error) {
	s, err := f.spending(events, rel)
	if err != nil {
		return inf, err
	}
	return s.Epsilon(), nil
}

func (f Filter) spending(events []dp.Event, rel dp.Relation) (*Spending, error) {
	s, err := f.Start(rel)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if err := s.Add(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Start returns an empty running account of the filter.
func (f Filter) Start(rel dp.Relation) (*Spending, error) {
	if f.limit == nil {
		return nil, fmt.Errorf("filter was not made by NewFilter")
	}
	if !rel.Valid() {
		return nil, fmt.Errorf("%v is not a neighboring relation", rel)
	}
	return &Spending{filter: f, rel: rel, classes: map[string]steps{}}, nil
}

// Spending is the running account of one budget: adding an event or asking about
// one takes time in the size of that event and the number of distinct scope
// bounds and classes, not in the number of events before it. It is not safe for
// concurrent use.
type Spending struct {
	filter  Filter
	rel     dp.Relation
	classes map[string]steps
}

// Add charges an event, admitted or not.
func (s *Spending) Add(e dp.Event) error { return s.AddTo("", e) }

// AddTo is Add for an event whose scopes belong to a class of their own; see Filter.
func (s *Spending) AddTo(class string, e dp.Event) error {
	cost, err := s.filter.cost(e, s.rel)
	if err != nil {
		return err
	}
	if len(cost) == 1 {
		class = "" // it costs every unit the same: no class need remember it
	}
	s.classes[class] = s.of(class).plus(cost)
	return nil
}

func (s *Spending) of(class string) steps {
	if sums, ok := s.classes[class]; ok {
		return sums
	}
	return steps{{0, amount{rat: new(big.Rat)}}}
}

// Epsilon is what has been spent; see Filter.Spent.
func (s *Spending) Epsilon() float64 {
	return s.filter.inEpsilon(s.besides("", false))
}

// besides is the sum over the classes, but one where skip says so, of the largest sum
// in each.
func (s *Spending) besides(class string, skip bool) amount {
	total := amount{rat: new(big.Rat)}
	for name, sums := range s.classes {
		if skip && name == class {
			continue
		}
		total = total.plus(sums.largest())
	}
	return total
}

// Admits is Filter.Admits after the events added so far.
func (s *Spending) Admits(next dp.Event) (admitted bool, need, left float64, err error) {
	return s.AdmitsTo("", next)
}

// AdmitsTo is Admits for an event whose scopes belong to a class.
func (s *Spending) AdmitsTo(class string, next dp.Event) (admitted bool, need, left float64, err error) {
	cost, err := s.filter.cost(next, s.rel)
	if err != nil {
		return false, inf, 0, err
	}
	sums, others := s.of(class), s.besides(class, true)
	// Only units that next touches can be harmed by it: a segment that is spent up
	// does not stop an event elsewhere.
	worst := step{amount: amount{rat: new(big.Rat)}}
	for _, st := range sums.plus(cost) {
		if st.amount = st.amount.plus(others); !cost.at(st.from).zero() && st.amount.above(worst.amount) {
			worst = st
		}
	}
	before, price := sums.at(worst.from).plus(others), cost.at(worst.from)
	admitted = !worst.amount.inf && worst.amount.rat.Cmp(s.filter.limit) <= 0
	need, left = price.float(), s.filter.epsilon-s.filter.inEpsilon(before)
	if before.zero() {
		need = s.filter.inEpsilon(price)
	}
	left = math.Max(0, left)
	// The figures are rounded and the decision is exact: keep them consistent.
	if admitted && need > left {
		left = need
	} else if !admitted && need <= left {
		left = math.Max(0, math.Nextafter(need, -1))
	}
	return admitted, need, left, nil
}

// cost is what one event adds on each segment of the unit hash.
func (f Filter) cost(e dp.Event, rel dp.Relation) (steps, error) {
	if e == nil {
		return nil, fmt.Errorf("%w: event is missing", dp.ErrInvalidEvent)
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	points := dp.Breakpoints(e)
	if rel == dp.ReplaceOne {
		points = points[:1]
	}
	var out steps
	for _, point := range points {
		resolved := dp.Resolve(e, point)
		if rel == dp.ReplaceOne {
			resolved = dp.Unscoped(e)
		}
		parts, err := flatten(resolved, rel)
		if err != nil {
			return nil, err
		}
		a, err := f.price(parts, rel)
		if err != nil {
			return nil, err
		}
		out = append(out, step{point, a})
	}
	return out, nil
}

func (f Filter) price(parts []part, rel dp.Relation) (amount, error) {
	if f.delta > 0 {
		c, err := curveOf(parts, rel)
		if err != nil {
			return amount{}, err
		}
		return newAmount(c(f.order), 1, false), nil
	}
	sum := amount{rat: new(big.Rat)}
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

// newAmount is x times count: of x as it is, or as its shortest decimal, which is
// what the person who wrote 0.1 meant.
func newAmount(x, count float64, asDecimal bool) amount {
	if !(x >= 0) || math.IsInf(x, 1) {
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

func (a amount) zero() bool { return !a.inf && a.rat.Sign() == 0 }

func (a amount) above(b amount) bool {
	return a.inf && !b.inf || a.inf == b.inf && a.rat.Cmp(b.rat) > 0
}

// float rounds up, except that a decimal comes back as the float it came from.
func (a amount) float() float64 {
	if a.inf {
		return inf
	}
	x, _ := a.rat.Float64()
	if decimal(x).Cmp(a.rat) < 0 && new(big.Rat).SetFloat64(x).Cmp(a.rat) < 0 {
		return math.Nextafter(x, inf)
	}
	return x
}

// steps is a step function on [0, 1): sorted, the first from 0.
type steps []step

type step struct {
	from   float64
	amount amount
}

// largest is the amount of the dearest place.
func (s steps) largest() amount {
	worst := amount{rat: new(big.Rat)}
	for _, st := range s {
		if st.amount.above(worst) {
			worst = st.amount
		}
	}
	return worst
}

func (s steps) at(point float64) amount {
	i, found := slices.BinarySearchFunc(s, point, func(st step, p float64) int {
		switch {
		case st.from < p:
			return -1
		case st.from > p:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return s[i].amount
}

func (s steps) plus(o steps) steps {
	var points []float64
	for _, st := range s {
		points = append(points, st.from)
	}
	for _, st := range o {
		points = append(points, st.from)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	sum := make(steps, len(points))
	for i, p := range points {
		sum[i] = step{p, s.at(p).plus(o.at(p))}
	}
	return sum
}
