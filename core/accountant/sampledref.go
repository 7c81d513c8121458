package accountant

import (
	"fmt"
	"math"
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

// steps is what a part costs in steps of the reference, with a slack: its own count; for
// another sampled Gaussian the least number found whose law, with the slack, dominates it
// in both directions; for anything else that of the Gaussian that dominates it, whose μ²
// is rounded up to a power of 2^(1/8).
func (d Doors) steps(p part, info information) information {
	switch s, sampled := p.event.(dp.PoissonSampled); {
	case sampled && s == d.reference.step:
		return information{mu2: p.count}
	case sampled:
		slack := d.delta * slackUnit * d.size([]part{p}, d.reference.rel, slackScale)
		return information{d.reference.dominating(p, slack), slack}
	}
	if info.mu2 == 0 || math.IsInf(info.mu2, 1) {
		return info
	}
	k := math.Ceil(rungs * math.Log2(info.mu2) * (1 - 1e-15))
	mu2 := math.Exp2(k / rungs)
	if mu2 < info.mu2 {
		mu2 = math.Exp2((k + 1) / rungs)
	}
	g := part{dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(mu2)}, 1}
	slack := d.delta * slackUnit * d.size([]part{g}, d.reference.rel, slackScale)
	return information{d.reference.dominating(g, slack), info.slack + slack}
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
		enough := func(n float64) bool { return r.above(n, 0, above[0], slack) && r.above(n, 1, above[1], slack) }
		// Steps of the same Rényi divergence are about right.
		n := math.Max(1, math.Ceil(c(2)/one(2)))
		for most := 8 * n; !enough(n); {
			if n = math.Ceil(n * 1.2); !(n < most) {
				return inf
			}
		}
		low := math.Floor(n / 1.2)
		for low > 0 && enough(low) {
			n, low = low, math.Floor(low/1.2)
		}
		for n-low > math.Max(1, n/200) {
			if mid := math.Floor((n + low) / 2); enough(mid) {
				n = mid
			} else {
				low = mid
			}
		}
		return n
	})
}

// above reports whether n steps in one direction have a profile that, with the slack, is
// nowhere below another one.
func (r *sampledReference) above(n float64, direction int, other upper, slack float64) bool {
	l, ok := lawOf(r.step, r.rel, direction == 1)
	if !ok {
		return false
	}
	merged, anchor, ok := l.merge(other.reach/2000, 1e-6*slack/n)
	if !ok {
		return false
	}
	c, shift := compose(other.reach/2000, []lattice{merged}, []float64{n}), n*anchor
	tails := c.tails(slack / 2)
	logSlack := math.Log(slack)
	const points = 500
	for i := range points {
		target := logSub(other.log(other.reach*float64(i)/points), logSlack)
		next, below := other.reach*float64(i+1)/points, math.Inf(-1)
		for _, d := range tails {
			if below = math.Max(below, d.logDeltaBelow(next-shift)); below >= target {
				break
			}
		}
		if below < target {
			return false
		}
	}
	return true
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
		parts := []part{{r.step, steps}}
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
