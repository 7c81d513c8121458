package accountant

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"pawl/core/dp"
)

// Doors is a Filter for a budget (Epsilon, Delta), Delta > 0, that wastes less than one
// Rényi order. It is made of several filters, its doors, each with a fixed part of delta;
// the parts add up to delta:
//
//	pure      0     Σ ε_i <= ε, the pure epsilons
//	addition  1/4   Σ ε_i <= ε and Σ δ_i <= δ/4, each event (ε_i, δ_i)-DP
//	gaussian  1/2   Σ μ_i² <= B, δ_√B(ε) <= 7δ/16, and Σ τ_i <= δ/16
//	long      1/16  as gaussian, with less slack for each event: Σ τ'_i <= δ/64, δ_√B(ε) <= 3δ/64
//	sampled   1/8   Σ n_i <= N steps of one sampled Gaussian, δ_N(ε) <= 3δ/32, Σ τ_i <= δ/32
//	box       1/16  what is pure or (ε_i, δ_i) only adds up to ε/4, the rest has Σ μ_i² <= B
//	                with δ_√B(3ε/4) <= δ/32; Σ δ_i + Σ τ_i <= δ/32
//
// μ_i² is such that the Gaussian of that size, and a mass of τ_i, dominates the event in
// both directions, and n_i likewise; τ_i depends on the event and on delta alone. The
// sampled door, which is slow, is asked where no other holds and something is sampled. An event is
// admitted if for every unit that it touches some door still holds, all events so far
// included; every door counts every event, so that one without a finite cost there closes
// it for good. See "Filters" in core/README.md for the theorem and its proof. Scopes and
// classes are as in Filter: in each cost the largest within a class, the sum across.
//
// No cost depends on Epsilon, so what has been spent is the smallest epsilon with which
// some door would hold, and no function of the budget.
type Doors struct {
	epsilon, delta float64
	reference      *sampledReference
}

// The parts of delta. They are powers of two or sums of few, so products are exact.
const (
	additionShare = 1.0 / 4
	gaussianLaw   = 7.0 / 16
	gaussianSlack = 1.0 / 16
	longLaw       = 3.0 / 64
	longSlack     = 1.0 / 64
	sampledLaw    = 3.0 / 32
	sampledSlack  = 1.0 / 32
	boxLaw        = 1.0 / 32
	boxSlack      = 1.0 / 32
)

// boxSize is the part of epsilon that the box leaves to addition.
const boxSize = 1.0 / 4

// NewDoors takes epsilon > 0 and delta in (0, 1). reference is the event that was booked
// first, chosen before anything was released: the sampled door follows the Poisson-sampled
// Gaussian in it of which it has the most steps, or a usual one.
func NewDoors(epsilon, delta float64, reference dp.Event, rel dp.Relation) (Doors, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return Doors{}, fmt.Errorf("epsilon must be a finite number > 0")
	}
	if !(delta > 0 && delta < 1) {
		return Doors{}, fmt.Errorf("delta must lie in (0, 1)")
	}
	return Doors{epsilon: epsilon, delta: delta, reference: referenceOf(reference, rel)}, nil
}

// The costs that the doors count, each added up for itself.
const (
	costPure = iota
	costAddEpsilon
	costAddDelta
	costInformation
	costSlack
	costLongInformation
	costLongSlack
	costBoxEpsilon
	costBoxInformation
	costBoxSlack
	costSteps
	costSampledSlack
	numCosts
)

type costs [numCosts]amount

func (c costs) plus(o costs) costs {
	for i := range c {
		c[i] = c[i].plus(o[i])
	}
	return c
}

func (c costs) zero() bool {
	for _, a := range c {
		if !a.zero() {
			return false
		}
	}
	return true
}

// most is the larger of each cost.
func (c costs) most(o costs) costs {
	for i := range c {
		if o[i].above(c[i]) {
			c[i] = o[i]
		}
	}
	return c
}

func noCosts() (c costs) {
	for i := range c {
		c[i] = amount{rat: new(big.Rat)}
	}
	return c
}

// placed are costs on the segments of the unit hash: sorted, the first from 0.
type placed struct {
	from []float64
	cost []costs
}

func everywhere(c costs) placed { return placed{[]float64{0}, []costs{c}} }

func (p placed) at(point float64) costs {
	i, found := slices.BinarySearch(p.from, point)
	if !found {
		i--
	}
	return p.cost[i]
}

func (p placed) plus(o placed) placed {
	points := slices.Concat(p.from, o.from)
	slices.Sort(points)
	out := placed{from: slices.Compact(points)}
	for _, x := range out.from {
		out.cost = append(out.cost, p.at(x).plus(o.at(x)))
	}
	return out
}

func (p placed) most() costs {
	worst := noCosts()
	for _, c := range p.cost {
		worst = worst.most(c)
	}
	return worst
}

// DoorSpending is the running account of a budget with doors, as Spending is that of a
// budget with one order.
type DoorSpending struct {
	doors   Doors
	rel     dp.Relation
	classes map[string]placed
	known   map[string]placed // costs of events, by their text
	// The sampled door is dear to ask: reference is nil in doors, and events are kept,
	// until one is sampled.
	reference *sampledReference
	events    []classed
	sampled   bool // one was added
}

type classed struct {
	class string
	event dp.Event
}

// Start returns an empty account.
func (d Doors) Start(rel dp.Relation) (*DoorSpending, error) {
	if !(d.epsilon > 0) {
		return nil, fmt.Errorf("doors were not made by NewDoors")
	}
	if !rel.Valid() {
		return nil, fmt.Errorf("%v is not a neighboring relation", rel)
	}
	s := &DoorSpending{doors: d, rel: rel, classes: map[string]placed{}, known: map[string]placed{}, reference: d.reference}
	s.doors.reference = nil
	return s, nil
}

// AddTo charges an event, admitted or not, whose scopes belong to a class.
func (s *DoorSpending) AddTo(class string, e dp.Event) error {
	cost, err := s.cost(e)
	if err != nil {
		return err
	}
	if s.doors.reference == nil {
		s.events = append(s.events, classed{class, e})
	}
	s.sampled = s.sampled || hasSampled(e, s.rel)
	s.charge(class, cost)
	return nil
}

func hasSampled(e dp.Event, rel dp.Relation) bool {
	if e == nil || e.Validate() != nil {
		return false
	}
	parts, err := flatten(dp.Unscoped(e), rel)
	return err == nil && slices.ContainsFunc(parts, func(p part) bool { _, ok := p.event.(dp.PoissonSampled); return ok })
}

func (s *DoorSpending) charge(class string, cost placed) {
	if len(cost.from) == 1 {
		class = "" // it costs every unit the same: no class need remember it
	}
	s.classes[class] = s.of(class).plus(cost)
}

func (s *DoorSpending) of(class string) placed {
	if p, ok := s.classes[class]; ok {
		return p
	}
	return everywhere(noCosts())
}

// besides is the sum over the other classes of the largest of each cost.
func (s *DoorSpending) besides(class string) costs {
	total := noCosts()
	for name, p := range s.classes {
		if name != class {
			total = total.plus(p.most())
		}
	}
	return total
}

// Epsilon is the smallest epsilon with which some door holds at every place: the least total,
// had it been fixed in advance, that admits what was done. The guarantee is that of the total,
// not of a figure read while plans follow outputs. 0 for nothing, +Inf where all doors are shut.
//
// A unit at x in one class has paid at most what was added up there and the largest of each
// cost elsewhere, whichever class is looked at place by place; the best one counts.
func (s *DoorSpending) Epsilon() float64 {
	best, doors := inf, s.open(s.sampled)
	for _, class := range s.names() {
		others, worst := s.besides(class), 0.0
		for _, c := range s.of(class).cost {
			worst = math.Max(worst, doors.needs(c.plus(others), 0))
		}
		best = math.Min(best, worst)
	}
	return best
}

// open is the doors that may be asked, with the sampled one or without. That prices all
// events in steps when it is asked for the first time.
func (s *DoorSpending) open(sampled bool) Doors {
	if sampled && s.doors.reference == nil && s.reference != nil {
		s.doors.reference = s.reference
		clear(s.known)
		clear(s.classes)
		for _, x := range s.events {
			if cost, err := s.cost(x.event); err == nil { // it was added before
				s.charge(x.class, cost)
			}
		}
		s.events = nil
	}
	d := s.doors
	if !sampled {
		d.reference = nil
	}
	return d
}

// names lists the classes, in order; one that nothing is in where there are none.
func (s *DoorSpending) names() []string {
	if len(s.classes) == 0 {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(s.classes))
}

// AdmitsTo reports whether next fits beside what was added. need is what it adds to
// Epsilon for the unit, among those that it touches, at which it matters most, and left
// what the budget still holds there: next is admitted exactly if need <= left.
func (s *DoorSpending) AdmitsTo(class string, next dp.Event) (admitted bool, need, left float64, err error) {
	admitted, need, left, err = s.ask(s.open(false), class, next)
	if err == nil && !admitted && s.reference != nil && (s.sampled || hasSampled(next, s.rel)) {
		return s.ask(s.open(true), class, next)
	}
	return admitted, need, left, err
}

// ask is AdmitsTo by some of the doors.
func (s *DoorSpending) ask(doors Doors, class string, next dp.Event) (admitted bool, need, left float64, err error) {
	cost, err := s.cost(next)
	if err != nil {
		return false, inf, 0, err
	}
	classes := []string{class}
	if len(cost.from) == 1 {
		classes = s.names()
	}
	worst, before := inf, inf
	for _, class := range classes {
		w, b, touched := s.after(doors, class, cost)
		if !touched {
			return true, 0, math.Max(0, s.doors.epsilon-s.Epsilon()), nil
		}
		if w <= worst {
			worst, before = w, b
		}
	}
	admitted = worst <= s.doors.epsilon*(1+FilterResolution)
	need, left = worst-before, math.Max(0, s.doors.epsilon-before)
	if math.IsInf(worst, 1) {
		need = inf
	}
	// The figures are rounded and the decision is not: keep them consistent.
	if admitted && need > left {
		left = need
	} else if !admitted && need <= left {
		left = math.Max(0, math.Nextafter(need, -1))
	}
	return admitted, need, left, nil
}

// after is what the dearest unit that an event of a class touches has paid with it, in
// epsilon, and without it; touched is false where there is no such unit.
func (s *DoorSpending) after(doors Doors, class string, cost placed) (worst, before float64, touched bool) {
	sums, others := s.of(class), s.besides(class)
	for _, x := range sums.plus(cost).from {
		c := cost.at(x)
		if c.zero() {
			continue // a unit that is spent up does not stop an event elsewhere
		}
		old := sums.at(x).plus(others)
		if w := doors.needs(old.plus(c), s.doors.epsilon); !touched || w >= worst {
			worst, before, touched = w, doors.needs(old, s.doors.epsilon), true
		}
	}
	return worst, before, touched
}

// cost is what an event adds on each segment of the unit hash.
func (s *DoorSpending) cost(e dp.Event) (placed, error) {
	if e == nil {
		return placed{}, fmt.Errorf("%w: event is missing", dp.ErrInvalidEvent)
	}
	if err := e.Validate(); err != nil {
		return placed{}, err
	}
	key := fmt.Sprintf("%#v", e)
	if known, ok := s.known[key]; ok {
		return known, nil
	}
	points := dp.Breakpoints(e)
	if s.rel == dp.ReplaceOne {
		points = points[:1]
	}
	var out placed
	for _, point := range points {
		resolved := dp.Resolve(e, point)
		if s.rel == dp.ReplaceOne {
			resolved = dp.Unscoped(e)
		}
		parts, err := flatten(resolved, s.rel)
		if err != nil {
			return placed{}, err
		}
		c, err := s.doors.price(parts, s.rel)
		if err != nil {
			return placed{}, err
		}
		out.from, out.cost = append(out.from, point), append(out.cost, c)
	}
	if len(s.known) < maxKnown {
		s.known[key] = out
	}
	return out, nil
}

// maxKnown bounds what is remembered of prices.
const maxKnown = 1 << 12

// needs is the smallest epsilon with which some door holds for what one unit has paid. The
// sampled door, which is slow, is asked only where the others need more than enough.
func (d Doors) needs(c costs, enough float64) float64 {
	if c.zero() {
		return 0
	}
	best := c[costPure].float()
	if within(c[costAddDelta], d.delta*additionShare, true) {
		best = math.Min(best, c[costAddEpsilon].float())
	}
	if within(c[costSlack], d.delta*gaussianSlack, false) {
		best = math.Min(best, gaussianNeeds(c[costInformation], d.delta*gaussianLaw))
	}
	if within(c[costLongSlack], d.delta*longSlack, false) {
		best = math.Min(best, gaussianNeeds(c[costLongInformation], d.delta*longLaw))
	}
	if within(c[costBoxSlack], d.delta*boxSlack, false) {
		// The two parts of the box are filled apart.
		rest := gaussianNeeds(c[costBoxInformation], d.delta*boxLaw)
		best = math.Min(best, math.Max(c[costBoxEpsilon].float()/boxSize, rest/(1-boxSize)*(1+1e-15)))
	}
	if d.reference != nil && best > enough && within(c[costSampledSlack], d.delta*sampledSlack, false) {
		best = math.Min(best, d.reference.needs(c[costSteps], d.delta*sampledLaw))
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

// price is what the parts of an event cost one unit.
func (d Doors) price(parts []part, rel dp.Relation) (costs, error) {
	total := noCosts()
	add := func(i int, x, count float64, asDecimal bool) {
		total[i] = total[i].plus(newAmount(x, count, asDecimal))
	}
	for _, p := range parts {
		pure := pureEpsilon(p.event, rel)
		add(costPure, pure, p.count, true)
		info, err := d.inform(p, rel, slackUnit)
		if err != nil {
			return total, err
		}
		long, err := d.inform(p, rel, longUnit)
		if err != nil {
			return total, err
		}
		add(costLongInformation, long.mu2, 1, false)
		add(costLongSlack, long.slack, 1, false)
		add(costInformation, info.mu2, 1, false)
		add(costSlack, info.slack, 1, false)
		if a, ok := p.event.(dp.Approximate); ok {
			add(costBoxEpsilon, a.Epsilon, p.count, true)
			add(costBoxSlack, a.Delta, p.count, false)
		} else if !math.IsInf(pure, 1) {
			add(costBoxEpsilon, pure, p.count, true)
		} else {
			add(costBoxInformation, info.mu2, 1, false)
			add(costBoxSlack, info.slack, 1, false)
		}
		if d.reference != nil {
			n := d.steps(p, info)
			add(costSteps, n.mu2, 1, false)
			add(costSampledSlack, n.slack, 1, false)
		}
	}
	epsilon, delta, err := d.added(parts, rel)
	total[costAddEpsilon], total[costAddDelta] = epsilon, delta
	return total, err
}

// added is the pair (ε_i, δ_i) of an event in the addition door: what is pure, and what is
// (ε, δ)-DP only, as it is; the rest of the event, together, at a δ of its own of δ/100 or,
// for little, less; a random stopping at δ/16.
func (d Doors) added(parts []part, rel dp.Relation) (epsilon, delta amount, err error) {
	epsilon, delta = amount{rat: new(big.Rat)}, amount{rat: new(big.Rat)}
	var rest []part
	stopping := false
	for _, p := range parts {
		if a, ok := p.event.(dp.Approximate); ok {
			epsilon = epsilon.plus(newAmount(a.Epsilon, p.count, true))
			delta = delta.plus(newAmount(a.Delta, p.count, true))
			continue
		}
		if pure := pureEpsilon(p.event, rel); !math.IsInf(pure, 1) {
			epsilon = epsilon.plus(newAmount(pure, p.count, true))
			continue
		}
		if s, ok := p.event.(dp.Select); ok {
			_, stops := s.Runs.(dp.RandomStopping)
			stopping = stopping || stops
		}
		rest = append(rest, p)
	}
	if len(rest) == 0 {
		return epsilon, delta, nil
	}
	share := d.delta / 16
	if !stopping {
		share = d.delta / 100 * d.size(rest, rel, 64)
	}
	a, err := newAccount(rest, rel)
	if err != nil {
		return epsilon, delta, err
	}
	bounds, err := a.epsilon(share, want{closed: true, rdp: true})
	if err != nil {
		return epsilon, delta, err
	}
	return epsilon.plus(newAmount(smallest(bounds), 1, false)), delta.plus(newAmount(share, 1, true)), nil
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
