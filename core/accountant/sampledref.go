package accountant

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"pawl/core/dp"
)

// usualReference is the reference of the sampled door where the first event has none.
var usualReference = dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1}}

// sampledReference is one step of a Poisson-sampled Gaussian, in which the sampled door
// counts. n steps are a law P_n for each direction, and P_n after P_m is P_(n+m).
type sampledReference struct {
	step dp.PoissonSampled
	rel  dp.Relation
}

// referenceOf is the sampled Gaussian of which an event has the most steps.
func referenceOf(e dp.Event, rel dp.Relation) *sampledReference {
	if rel == dp.ReplaceOne {
		return nil // sampling is not amplified under it
	}
	best, most := usualReference, 0.0
	if e != nil && e.Validate() == nil {
		if parts, err := flatten(dp.Unscoped(e), rel); err == nil {
			for _, p := range parts {
				s, ok := p.event.(dp.PoissonSampled)
				if g, gaussian := s.Event.(dp.Gaussian); ok && gaussian && g.NoiseMultiplier > 0 && p.count > most {
					best, most = s, p.count
				}
			}
		}
	}
	return &sampledReference{best, rel}
}

// rungs is the number of sizes of Gaussians that are told apart for each doubling of μ².
const rungs = 8

// steps is what a part costs in steps of the reference, with a slack: its own count, also
// for steps of a lower rate and more noise; for anything else the least number found whose
// law, with the slack, dominates the Gaussian that dominates the part, in both directions.
// The μ² of that is rounded up to a power of 2^(1/8).
func (d Doors) steps(p part, info information) information {
	if s, ok := p.event.(dp.PoissonSampled); ok && d.reference.covers(s) {
		return information{mu2: p.count}
	}
	if info.mu2 == 0 || math.IsInf(info.mu2, 1) {
		return info
	}
	k := math.Ceil(rungs * math.Log2(info.mu2) * (1 - 1e-15))
	mu2 := math.Exp2(k / rungs)
	if mu2 < info.mu2 {
		mu2 = math.Exp2((k + 1) / rungs)
	}
	g := part{event: dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(mu2)}, count: 1}
	slack := d.delta * slackUnit * d.size([]part{g}, d.reference.rel, slackScale)
	return information{d.reference.dominating(g, slack), info.slack + slack}
}

// covers reports whether a step of the reference dominates one of s. A lower rate is a
// mixture of the step with nothing, and more noise is noise added to it.
func (r *sampledReference) covers(s dp.PoissonSampled) bool {
	g, ok := s.Event.(dp.Gaussian)
	return ok && s.Rate <= r.step.Rate && g.NoiseMultiplier >= r.step.Event.(dp.Gaussian).NoiseMultiplier
}

var knownSteps = struct {
	sync.Mutex
	of map[string]float64
}{of: map[string]float64{}}

// remember keeps what f gives for a key for the life of the process.
func remember(key string, f func() float64) float64 {
	knownSteps.Lock()
	x, ok := knownSteps.of[key]
	knownSteps.Unlock()
	if ok {
		return x
	}
	x = f()
	knownSteps.Lock()
	defer knownSteps.Unlock()
	if len(knownSteps.of) >= 4*maxKnown {
		clear(knownSteps.of)
	}
	knownSteps.of[key] = x
	return x
}

// dominating is a number of steps whose profiles, with the slack, are nowhere below those
// of the part; +Inf where none was found.
func (r *sampledReference) dominating(p part, slack float64) float64 {
	key := fmt.Sprintf("steps %#v %v %#v %v %v", p.event, p.count, r.step, r.rel, slack)
	return remember(key, func() float64 {
		c, err := curveOf([]part{p}, r.rel)
		if err != nil {
			return inf
		}
		loss, ok := privacyLossOf([]part{p}, &account{rel: r.rel, curve: c})
		if !ok {
			return inf
		}
		if len(loss.directions) == 1 {
			loss.directions = [][]law{loss.directions[0], loss.directions[0]}
		}
		var above [2]upper
		for i, laws := range loss.directions {
			if above[i], ok = loss.above(laws, slack); !ok {
				return inf
			}
		}
		one, err := eventCurve(r.step, r.rel)
		if err != nil {
			return inf
		}
		// Steps of the same Rényi divergence are about right.
		n := math.Max(1, math.Ceil(c(2)/one(2)))
		most := 4 * n
		removed, added := r.below(0, above[0], slack, most), r.below(1, above[1], slack, most)
		enough := func(n float64) bool { return removed(n) && added(n) }
		for !enough(n) {
			if n = math.Ceil(n * 1.15); !(n < most) {
				return inf
			}
		}
		low := math.Floor(n / 1.15)
		for low > 0 && enough(low) {
			n, low = low, math.Floor(low/1.15)
		}
		for n-low > math.Max(1, n/100) {
			if mid := math.Floor((n + low) / 2); enough(mid) {
				n = mid
			} else {
				low = mid
			}
		}
		return n
	})
}

// below returns a test whether n steps in one direction, n about most at the largest, have
// a profile that, with the slack, is nowhere below another one. What does not depend on n
// is done once.
func (r *sampledReference) below(direction int, other upper, slack, most float64) func(n float64) bool {
	never := func(float64) bool { return false }
	l, ok := lawOf(r.step, r.rel, direction == 1)
	if !ok {
		return never
	}
	// Merging costs little where a cell is a small part of the deviation of one step.
	h := r.step.Rate * math.Sqrt(math.Expm1(math.Pow(r.step.Event.(dp.Gaussian).NoiseMultiplier, -2))) / 16
	if h = math.Min(h, other.reach/500); !(h > 0) {
		return never
	}
	merged, anchor, ok := l.merge(h, 1e-6*slack/most)
	if !ok {
		return never
	}
	const points = 500
	var targets [points]float64
	for i := range targets {
		targets[i] = logSub(other.log(other.reach*float64(i)/points), math.Log(slack))
	}
	return func(n float64) bool {
		c, shift := compose(h, []lattice{merged}, []float64{n}), n*anchor
		tails := c.tails(slack / 2)
		for i, target := range targets {
			next := other.reach * float64(i+1) / points
			if !slices.ContainsFunc(tails, func(d tail) bool { return d.logDeltaBelow(next-shift) >= target }) {
				return false
			}
		}
		return true
	}
}

// needs is the epsilon at delta of n steps.
func (r *sampledReference) needs(n amount, delta float64) float64 {
	steps := n.float()
	if steps == 0 {
		return 0
	}
	if !(steps < 1e8) {
		return inf
	}
	return remember(fmt.Sprintf("epsilon %v %#v %v %v", steps, r.step, r.rel, delta), func() float64 {
		parts := []part{{event: r.step, count: steps}}
		a, err := newAccount(parts, r.rel)
		if err != nil {
			return inf
		}
		bounds, err := a.epsilon(delta, want{closed: true, rdp: true, pld: true})
		if err != nil {
			return inf
		}
		return smallest(bounds)
	})
}
