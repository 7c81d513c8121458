package accountant

import (
	"fmt"
	"math"
	"math/big"

	"pawl/core/dp"
)

// Doors is a filter for a budget (Epsilon, Delta), Delta > 0, that wastes little whatever the jobs
// are. It consists of several filters, its doors, each with a fixed part of delta; the parts add up
// to delta:
//
//	pure      0           Σ ε_i <= ε, the pure epsilons
//	addition  8/64        Σ ε_i <= ε and Σ δ_i <= 8δ/64, each event (ε_i, δ_i)-DP
//	gaussian  24/64+1/64  Σ μ_i² <= B, δ_√B(ε) <= 24δ/64, and Σ τ_i <= δ/64
//	sampled   5/64        Σ n_i <= N steps of one sampled Gaussian, δ_N(ε) <= 5δ/64
//	orders    22/64+4/64  Σ R_i(α) <= R*(α) at the order α that suits ε and 22δ/64, and
//	                      Σ δ_i <= 4δ/64 of events that are (ε_i, δ_i)-DP only
//
// μ_i² is such that the Gaussian of that size, and a mass of τ_i, dominates the event in both
// directions; τ_i depends on the event and on delta alone. R_i is the Rényi divergence (orders.go).
// The sampled door counts steps of its own sampled Gaussian, and those of a lower rate and more
// noise; anything else closes it. An event is admitted if for every unit that it touches some door
// still holds with all events so far. Every door counts every event, so an event without a finite
// cost there closes it for good. See "Filters" in core/README.md for the theorem and its proof.
// Scopes and classes are as in Filter: each cost is the largest within a class, summed over
// classes.
//
// No cost depends on Epsilon, so the amount spent, the smallest epsilon with which some door would
// hold, does not depend on the budget.
//
// The pure and the orders door are fast. The others are evaluated only if these do not hold, or if
// a figure is requested. Beyond mostComparisons different events that have to be compared with a
// Gaussian by their privacy loss, further ones close the gaussian and the addition door.
type Doors struct {
	epsilon, delta float64
	reference      *sampledReference
}

// The parts of delta. They are multiples of a power of two, so products are exact.
const (
	additionShare = 8.0 / 64
	gaussianLaw   = 24.0 / 64
	gaussianSlack = 1.0 / 64
	sampledLaw    = 5.0 / 64
	ordersLaw     = 22.0 / 64
	ordersSlack   = 4.0 / 64
)

// mostComparisons bounds the time that prices of the gaussian and the addition door take:
// one takes some hundredths of a second.
const mostComparisons = 48

// NewDoors takes epsilon > 0 and delta in [2^-900, 1). reference is the first charged event, chosen
// before anything was released: the sampled door follows the Poisson-sampled Gaussian of which it
// has the most steps, and is closed if it has none.
func NewDoors(epsilon, delta float64, reference dp.Event, rel dp.Relation) (Doors, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return Doors{}, fmt.Errorf("epsilon must be a finite number > 0")
	}
	if !(delta >= 0x1p-900 && delta < 1) {
		return Doors{}, fmt.Errorf("delta must lie in (0, 1), and be at least 2^-900")
	}
	return Doors{epsilon: epsilon, delta: delta, reference: referenceOf(reference, rel)}, nil
}

// Start returns an empty account.
func (d Doors) Start(rel dp.Relation) (*Spending, error) {
	if !(d.epsilon > 0) {
		return nil, fmt.Errorf("doors were not made by NewDoors")
	}
	return start(d, d.epsilon, rel)
}

// needs is the smallest epsilon with which some door holds for what one unit has paid; of
// the cheap doors, unless dear. The sampled door, which is slow, is asked only where the
// others need more than enough.
func (d Doors) needs(c costs, dear bool, enough float64) float64 {
	if c.zero() {
		return 0
	}
	best := c.sums[costPure].float()
	if within(c.sums[costOrdersSlack], d.delta*ordersSlack, true) {
		best = math.Min(best, orderFilter{-math.Log(d.delta * ordersLaw)}.needs(c.orders))
	}
	if !dear {
		return best
	}
	if within(c.sums[costAddDelta], d.delta*additionShare, true) {
		best = math.Min(best, c.sums[costAddEpsilon].float())
	}
	if within(c.sums[costSlack], d.delta*gaussianSlack, false) {
		best = math.Min(best, gaussianNeeds(c.sums[costInformation], d.delta*gaussianLaw))
	}
	if d.reference != nil && best > enough {
		best = math.Min(best, d.reference.needs(c.sums[costSteps], d.delta*sampledLaw))
	}
	return best
}

// within reports a <= limit, with room for rounding where decimals were added.
func within(a amount, limit float64, asDecimal bool) bool {
	if a.inf {
		return false
	}
	if asDecimal {
		limit *= 1 + FilterResolution
	}
	return a.rat.Cmp(new(big.Rat).SetFloat64(limit)) <= 0
}

// gaussianNeeds is the epsilon at delta of a Gaussian of μ² = information.
func gaussianNeeds(information amount, delta float64) float64 {
	mu2 := information.float()
	switch {
	case mu2 == 0:
		return 0
	case math.IsInf(mu2, 1):
		return inf
	}
	return AnalyticGaussianEpsilon(1/math.Sqrt(mu2)*(1-4e-16), delta)
}

// cheap is what the parts of an event cost one unit in the pure and the orders door.
func (d Doors) cheap(parts []part, rel dp.Relation) (costs, error) {
	total := noCosts()
	for _, p := range parts {
		total.sums[costPure] = total.sums[costPure].plus(newAmount(pureEpsilon(p.event, rel), p.count, true))
		r, slack, err := d.ordersOf(p, rel)
		if err != nil {
			return total, err
		}
		total.orders = total.orders.plus(r)
		total.sums[costOrdersSlack] = total.sums[costOrdersSlack].plus(slack)
	}
	return total, nil
}

// dearly is without end in the gaussian and the addition door unless compare.
func (d Doors) dearly(parts []part, rel dp.Relation, compare bool) (costs, error) {
	total := noCosts()
	add := func(i int, x, count float64) { total.sums[i] = total.sums[i].plus(newAmount(x, count, false)) }
	for _, p := range parts {
		add(costSteps, d.reference.steps(p), 1)
		if compare {
			info, err := d.inform(p, rel)
			if err != nil {
				return total, err
			}
			add(costInformation, info.mu2, 1)
			add(costSlack, info.slack, 1)
		}
	}
	if !compare {
		add(costInformation, inf, 1)
		add(costAddEpsilon, inf, 1)
		return total, nil
	}
	var err error
	total.sums[costAddEpsilon], total.sums[costAddDelta], err = d.added(parts, rel)
	return total, err
}

// quick reports whether the Gaussian that stands for the part has a closed form.
func (p part) quick(rel dp.Relation) bool {
	switch p.event.(type) {
	case dp.Gaussian, dp.Approximate, dp.NonPrivate:
		return true
	}
	return p.count == 1 && !math.IsInf(pureEpsilon(p.event, rel), 1)
}

func (p part) key() string { return fmt.Sprintf("%#v %v", p.event, p.count) }

// approximate is what is known of a part that is (ε, δ)-DP only: of a random stopping at twice the delta that it cannot do
// without, and at least δ/64.
func (d Doors) approximate(p part, rel dp.Relation) (known dp.Approximate, ok bool, err error) {
	switch e := p.event.(type) {
	case dp.Approximate:
		return e, true, nil
	case dp.Select:
		if stop, ok := e.Runs.(dp.RandomStopping); ok {
			known.Delta = math.Max(2*stop.Delta2, d.delta/64)
			known.Epsilon, err = stoppingEpsilon(e.Event, stop, rel, known.Delta, mostRuns(stop))
			return known, true, err
		}
	}
	return known, false, nil
}

// added is the pair (ε_i, δ_i) of an event in the addition door: what is pure, and what is
// (ε, δ)-DP only, as it is; the rest of the event, together, at a δ of its own of δ/100 or,
// for little, less.
func (d Doors) added(parts []part, rel dp.Relation) (epsilon, delta amount, err error) {
	epsilon, delta = noAmount(), noAmount()
	add := func(e, d, count float64) {
		epsilon, delta = epsilon.plus(newAmount(e, count, true)), delta.plus(newAmount(d, count, true))
	}
	var rest []part
	for _, p := range parts {
		if e, ok, err := d.approximate(p, rel); err != nil {
			return epsilon, delta, err
		} else if ok {
			add(e.Epsilon, e.Delta, p.count)
		} else if pure := pureEpsilon(p.event, rel); !math.IsInf(pure, 1) {
			add(pure, 0, p.count)
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		return epsilon, delta, nil
	}
	share := d.delta / 100 * d.size(rest, rel, 64)
	a, err := newAccount(rest, rel)
	if err != nil {
		return epsilon, delta, err
	}
	bounds, err := a.answer(question{at: share}, want{closed: true, rdp: true})
	add(least(bounds).value, share, 1)
	return epsilon, delta, err
}

// size is min(1, scale·R(2)), as a power of two: what is small may use little of the
// slack, so that much of it fits. 1 where there is no Rényi divergence.
func (d Doors) size(parts []part, rel dp.Relation, scale float64) float64 {
	c, err := curveOf(parts, rel)
	if err != nil {
		return 1
	}
	x := scale * c(2)
	if !(x < 1) {
		return 1
	}
	return math.Max(math.Exp2(math.Floor(math.Log2(x))), 1.0/(1<<60))
}
