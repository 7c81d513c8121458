package accountant

import (
	"fmt"
	"math"

	"pawl/core/dp"
)

// information is the Gaussian that stands for a mechanism: with δ_μ the hockey-stick
// divergence of N(μ,1) from N(0,1), in both directions and at every x >= 0
//
//	H_x <= δ_μ(x) + slack
type information struct{ mu2, slack float64 }

// slackUnit is the mass, relative to delta, that may be left out for what has a Rényi
// divergence of at least 1/slackScale at order 2; for less it is less, in proportion.
const (
	slackUnit  = 1.0 / (1 << 12)
	slackScale = 4
)

// inform finds the information of one part, all its uses together. A Gaussian is itself; a
// pure mechanism is dominated by randomised response, whose trade-off curve is the chord
// of the Gaussian's at the point (1/(1+e^ε), 1/(1+e^ε)), so
//
//	μ = 2Φ⁻¹(e^ε/(1+e^ε))
//
// and an (ε, δ)-DP one by that with slack δ. Others, and many uses of a pure one, are
// compared by their privacy loss distribution or Rényi profile.
func (d Doors) inform(p part, rel dp.Relation) (information, error) {
	switch e := p.event.(type) {
	case dp.Gaussian:
		return information{mu2: p.count / e.NoiseMultiplier / e.NoiseMultiplier * (1 + 1e-15)}, nil
	case dp.Approximate:
		return information{pureInformation(e.Epsilon) * p.count, e.Delta * p.count}, nil
	case dp.NonPrivate:
		return information{mu2: inf}, nil
	}
	closed := information{mu2: inf}
	if pure := pureEpsilon(p.event, rel); !math.IsInf(pure, 1) {
		if closed.mu2 = pureInformation(pure) * p.count; p.count == 1 {
			return closed, nil
		}
	}
	if _, ok := p.event.(dp.Select); ok {
		return closed, nil // a Rényi curve at most, dear to compare and far above a Gaussian
	}
	slack := d.delta * slackUnit * d.size([]part{p}, rel, slackScale)
	x, err := knownInformation.get(fmt.Sprintf("%#v %v %v %v", p.event, p.count, rel, slack), func() (information, error) { return inform(p, rel, slack) })
	if err == nil && x.mu2 < closed.mu2 {
		return x, nil
	}
	return closed, err
}

// pureInformation is μ² of the Gaussian that dominates an epsilon-DP mechanism.
func pureInformation(epsilon float64) float64 {
	if epsilon == 0 {
		return 0
	}
	if epsilon > 1e4 {
		return inf
	}
	target := -softplus(epsilon) // ln 1/(1+e^ε)
	mu := bisect(0, 2*math.Sqrt(2*epsilon)+4, func(mu float64) bool { return logNormalCDF(-mu/2) <= target })
	mu += 4e-15 // what two logarithms near ln 1/2 may be off, over their slope of 0.4
	return mu * mu * (1 + 1e-12)
}

// knownInformation is what inform found, by all that it depends on.
var knownInformation = memo[string, information]{most: 4 * maxKnown}

// inform is the information of a part by its privacy loss.
func inform(p part, rel dp.Relation, slack float64) (information, error) {
	c, err := curveOf([]part{p}, rel)
	if err != nil {
		return information{}, err
	}
	loss, ok := privacyLossOf([]part{p}, &account{rel: rel, curve: c})
	if !ok {
		return information{mu2: inf}, nil
	}
	mu := 0.0
	for _, laws := range loss.directions {
		counts := loss.counts
		if len(laws) == 1 && laws[0].profile != nil {
			// Nothing but the curve is known, and curves add up without loss.
			laws, counts = []law{{profile: profileOf(c)}}, []float64{1}
			if laws[0].profile == nil {
				return information{mu2: inf}, nil
			}
		}
		mu = math.Max(mu, privacyLoss{directions: loss.directions, counts: counts, curve: c, atom: loss.atom}.dominatedBy(laws, slack))
	}
	// The margin covers what logGaussianDelta adds for its own rounding, at μ >= 1e-6.
	return information{mu * mu * (1 + 1e-6), slack}, nil
}

// comparisons is the number of points at which two profiles are compared. Between two of
// them the larger is taken at the lower, the Gaussian's at the higher end: both fall.
const comparisons = 1500

// upper is a profile from above, ln H_x, and an x from which on it is below ln slack.
type upper struct {
	tails []tail
	reach float64
}

func (u upper) log(x float64) float64 {
	best := 0.0
	for _, d := range u.tails {
		if v := d.logDelta(x); v < best {
			best = v
		}
	}
	return best
}

// above is the profile of composed laws; false where the lattices are too large, or more
// than slack is lost without a bound.
func (p privacyLoss) above(laws []law, slack float64) (upper, bool) {
	var c composed
	ok := p.coarsely(laws, slack, func(x composed) bool { c = x; return true })
	if !ok || c.infinite >= slack || slack < leastDelta {
		return upper{}, false
	}
	u := upper{tails: c.tails(slack / 2), reach: inf}
	for _, d := range u.tails {
		u.reach = math.Min(u.reach, d.epsilonAt(math.Log(slack)))
	}
	return u, !math.IsInf(u.reach, 1)
}

// tails transforms a composition with the tilts that suit deltas from least to about 1.
func (c composed) tails(least float64) (out []tail) {
	for logDelta := math.Log(least); ; logDelta *= 0.4 {
		logDelta = math.Min(logDelta, -0.5)
		if d, ok := c.transform(tilt{c.tiltFor(logDelta), 40}); ok {
			out = append(out, d)
		}
		if logDelta >= -0.5 {
			return out
		}
	}
}

// dominatedBy is a μ such that δ_μ(x) + slack is nowhere below the profile of the composed
// laws, x >= 0; +Inf where none was found.
func (p privacyLoss) dominatedBy(laws []law, slack float64) float64 {
	profile, ok := p.above(laws, slack)
	if !ok {
		return inf
	}
	mu, logSlack := 1e-6, math.Log(slack)
	for i := range comparisons {
		x, next := profile.reach*float64(i)/comparisons, profile.reach*float64(i+1)/comparisons
		// A mass of slack is left out.
		target := logSub(profile.log(x), logSlack)
		ok := func(mu float64) bool { return logGaussianDelta(1/mu, next) >= target }
		if ok(mu) {
			continue
		}
		hi := mu
		for !ok(hi) {
			if hi *= 1.5; hi > 1e3 {
				return inf
			}
		}
		mu = bisect(mu, hi, ok)
	}
	return mu
}
