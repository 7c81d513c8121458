package accountant

import (
	"math"

	"pawl/core/dp"
)

// law is the privacy loss ln(P/Q), x ~ P, of one dominating pair: a continuous
// part, atoms and a mass at +∞; or a privacy profile alone.
type law struct {
	profile    profile
	continuous continuous
	atoms      []atom
	infinite   float64
}

type atom struct{ loss, mass float64 }

// continuous describes a loss with a density by the masses that P and Q give to
// an interval of losses.
type continuous interface {
	// span is an interval of losses with at most the given P-mass on either side.
	span(outside float64) (lo, hi float64)
	// edge prepares one end of an interval.
	edge(loss float64) edge
	// between returns the P-mass m of losses in [a, b) and the excess m − m'·e^ref
	// over the Q-mass m', without cancelling what the two share.
	between(a, b edge, ref float64) (mass, excess float64)
	// outside returns the P-masses below and above an edge.
	outside(a edge) (below, above float64)
}

// edge is a loss with the tails of the standard normal at x/σ and (x−1)/σ, or
// only the loss where that is enough.
type edge struct {
	loss, x, low0, high0, low1, high1 float64
}

// sampledLoss is the loss of the Poisson-sampled Gaussian. With P the mixture
// and Q = N(0,σ²) (a unit is removed) it is ℓ(x) = ln(1−q+q·e^((2x−1)/2σ²)); with
// the roles exchanged (added) it is −ℓ(x), x ~ N(0,σ²). q = 1 is the Gaussian.
type sampledLoss struct {
	q, sigma float64
	added    bool
}

func (s sampledLoss) loss(x float64) float64 {
	z := (x - 0.5) / s.sigma / s.sigma
	if z > 40 || z < -1 {
		return logAdd(math.Log1p(-s.q), math.Log(s.q)+z)
	}
	return math.Log1p(s.q * math.Expm1(z))
}

func (s sampledLoss) span(outside float64) (lo, hi float64) {
	// The smallest x > 0 such that P has little mass beyond centre+x.
	reach := func(q float64) float64 {
		return bisect(0, 1+39*s.sigma, func(x float64) bool {
			_, far := normalTails(x / s.sigma)
			_, farther := normalTails((x - 1) / s.sigma)
			return (1-q)*far+q*farther <= outside
		})
	}
	if s.added {
		return -s.loss(reach(0)), -s.loss(-reach(0))
	}
	return s.loss(-reach(0)), s.loss(reach(s.q))
}

func (s sampledLoss) edge(loss float64) edge {
	l := loss
	if s.added {
		l = -loss
	}
	var x float64
	ratio := math.Expm1(l) + s.q
	if l < -1 {
		ratio = math.Exp(l) - (1 - s.q)
	}
	switch {
	case l > 30:
		x = s.sigma*s.sigma*(l+math.Log1p((s.q-1)*math.Exp(-l))-math.Log(s.q)) + 0.5
	case ratio <= 0:
		x = math.Inf(-1)
	default:
		x = s.sigma*s.sigma*math.Log(ratio/s.q) + 0.5
	}
	u, v := x/s.sigma, (x-1)/s.sigma
	e := edge{loss: loss, x: x}
	e.low0, e.high0 = normalTails(u)
	e.low1, e.high1 = normalTails(v)
	return e
}

// normalTails returns Φ(x) and 1−Φ(x), the smaller one to full precision.
func normalTails(x float64) (low, high float64) {
	small := 0.5 * math.Erfc(math.Abs(x)*invSqrt2)
	if x > 0 {
		return 1 - small, small
	}
	return small, 1 - small
}

// normalBetween is the mass between two points from whichever tails are small.
func normalBetween(lowA, highA, lowB, highB float64) float64 {
	if lowA > 0.5 {
		return highA - highB
	}
	return lowB - lowA
}

func (s sampledLoss) between(a, b edge, ref float64) (mass, excess float64) {
	if s.added {
		a, b = b, a // x falls as the loss grows
	}
	d0 := normalBetween(a.low0, a.high0, b.low0, b.high0)
	d1 := normalBetween(a.low1, a.high1, b.low1, b.high1)
	if s.added {
		return d0, math.Exp(ref) * (d0*(math.Expm1(-ref)+s.q) - s.q*d1)
	}
	return (1-s.q)*d0 + s.q*d1, s.q*d1 - d0*(math.Expm1(ref)+s.q)
}

func (s sampledLoss) outside(a edge) (below, above float64) {
	if s.added {
		return a.high0, a.low0
	}
	return (1-s.q)*a.low0 + s.q*a.low1, (1-s.q)*a.high0 + s.q*a.high1
}

// laplaceLoss is the part of the loss of Laplace noise between its atoms at ±ε:
// ℓ = (1−2x)ε for x in (0, 1).
type laplaceLoss struct{ epsilon float64 }

func (l laplaceLoss) span(float64) (lo, hi float64) { return -l.epsilon, l.epsilon }

func (l laplaceLoss) edge(loss float64) edge {
	return edge{loss: math.Min(math.Max(loss, -l.epsilon), l.epsilon)}
}

func (l laplaceLoss) between(a, b edge, ref float64) (mass, excess float64) {
	w := (b.loss - a.loss) / 2
	mass = 0.5 * math.Exp((a.loss-l.epsilon)/2) * math.Expm1(w)
	other := -0.5 * math.Exp(-(a.loss+l.epsilon)/2) * math.Expm1(-w)
	return mass, mass - other*math.Exp(ref)
}

func (l laplaceLoss) outside(a edge) (below, above float64) {
	below, _ = l.between(edge{loss: -l.epsilon}, a, 0)
	above, _ = l.between(a, edge{loss: l.epsilon}, 0)
	return below, above
}

// lawOf returns the loss law of one use of a flattened event where a dominating
// pair is known, for the removal or the addition of a unit.
func lawOf(e dp.Event, rel dp.Relation, added bool) (law, bool) {
	switch e := e.(type) {
	case dp.Gaussian:
		return law{continuous: sampledLoss{q: 1, sigma: e.NoiseMultiplier}}, e.NoiseMultiplier > 0
	case dp.PoissonSampled:
		if rel == dp.ReplaceOne {
			if epsilon := pureEpsilon(e, rel); !math.IsInf(epsilon, 1) {
				return responseLaw(epsilon), true
			}
			return law{}, false // see replacedEpsilon
		}
		if g, ok := e.Event.(dp.Gaussian); ok {
			return law{continuous: sampledLoss{q: e.Rate, sigma: g.NoiseMultiplier, added: added}}, g.NoiseMultiplier > 0
		}
		base, ok := lawOf(e.Event, rel, false)
		if !ok || base.profile != nil || base.infinite > 0 {
			return law{}, false
		}
		return base.sampled(e.Rate, added), true
	case dp.Laplace:
		epsilon := 1 / e.NoiseMultiplier
		if math.IsInf(epsilon, 1) {
			return law{}, false
		}
		return law{continuous: laplaceLoss{epsilon}, atoms: []atom{{epsilon, 0.5}, {-epsilon, 0.5 * math.Exp(-epsilon)}}}, true
	case dp.RandomizedResponse:
		k := float64(e.Categories)
		o := e.NoiseProbability / k
		r := pureEpsilon(e, rel)
		if math.IsInf(r, 1) {
			return law{}, false
		}
		return law{atoms: []atom{{r, 1 - e.NoiseProbability + o}, {-r, o}, {0, (k - 2) * o}}}, true
	case dp.Approximate:
		l := responseLaw(e.Epsilon)
		for i := range l.atoms {
			l.atoms[i].mass *= 1 - e.Delta
		}
		l.infinite = e.Delta
		return l, true
	}
	if epsilon := pureEpsilon(e, rel); !math.IsInf(epsilon, 1) {
		return responseLaw(epsilon), true
	}
	c, err := eventCurve(e, rel)
	if err != nil {
		return law{}, false
	}
	p := profileOf(c)
	return law{profile: p}, p != nil
}

// sampled is the law of the pair ((1−q)Q + qP, Q), or of the swapped one where a unit
// is added, for the symmetric pair (P, Q) of l: Zhu, Dong and Wang, arXiv:2106.08567,
// Theorem 11. Its loss is ±ln(1−q+q·e^ℓ). For binary randomised response of ε it has
// two atoms ln(1−q+q·e^(±ε)) with masses (1−q+q·e^(±ε))/(1+e^(±ε)).
func (l law) sampled(q float64, added bool) law {
	var out law
	for _, a := range l.atoms {
		other := a.mass * math.Exp(-a.loss) // the Q-mass
		if added {
			out.atoms = append(out.atoms, atom{-sampledLogRatio(q, a.loss), other})
		} else {
			out.atoms = append(out.atoms, atom{sampledLogRatio(q, a.loss), (1-q)*other + q*a.mass})
		}
	}
	if base, ok := l.continuous.(laplaceLoss); ok {
		out.continuous = sampledLaplaceLoss{base, q, added}
	}
	return out
}

// sampledLaplaceLoss is the continuous part of the loss of sampled Laplace noise.
type sampledLaplaceLoss struct {
	base  laplaceLoss
	q     float64
	added bool
}

func (s sampledLaplaceLoss) span(float64) (lo, hi float64) {
	lo, hi = sampledLogRatio(s.q, -s.base.epsilon), sampledLogRatio(s.q, s.base.epsilon)
	if s.added {
		return -hi, -lo
	}
	return lo, hi
}

// edge keeps in x the loss without sampling.
func (s sampledLaplaceLoss) edge(loss float64) edge {
	l := loss
	if s.added {
		l = -loss
	}
	x := -s.base.epsilon
	switch ratio := math.Expm1(l) + s.q; {
	case l > 30:
		x = l + math.Log1p((s.q-1)*math.Exp(-l)) - math.Log(s.q)
	case ratio > 0:
		x = math.Log(ratio / s.q)
	}
	return edge{loss: loss, x: s.base.edge(x).loss}
}

func (s sampledLaplaceLoss) between(a, b edge, ref float64) (mass, excess float64) {
	if s.added {
		a, b = b, a
	}
	w := (b.x - a.x) / 2
	d1 := 0.5 * math.Exp((a.x-s.base.epsilon)/2) * math.Expm1(w)
	d0 := -0.5 * math.Exp(-(a.x+s.base.epsilon)/2) * math.Expm1(-w)
	if s.added {
		return d0, math.Exp(ref) * (d0*(math.Expm1(-ref)+s.q) - s.q*d1)
	}
	return (1-s.q)*d0 + s.q*d1, s.q*d1 - d0*(math.Expm1(ref)+s.q)
}

func (s sampledLaplaceLoss) outside(a edge) (below, above float64) {
	lo, hi := s.span(0)
	below, _ = s.between(s.edge(lo), a, 0)
	above, _ = s.between(a, s.edge(hi), 0)
	return math.Max(0, below), math.Max(0, above) // an end may round across the other
}

// responseLaw is binary randomised response, which dominates every pure mechanism.
func responseLaw(epsilon float64) law {
	p := 1 / (1 + math.Exp(-epsilon))
	return law{atoms: []atom{{epsilon, p}, {-epsilon, p * math.Exp(-epsilon)}}}
}

// lattice is a law on the points (start+i)·h.
type lattice struct {
	start    int
	mass     []float64
	infinite float64
	// points, where not nil, are those of the masses, ascending, in place of start+i.
	points []int
}

// maxCells bounds the size of one discretised law.
const maxCells = 1 << 20

// span holds all losses of a law but for a mass of outside at either end.
func (l law) span(outside float64) (lo, hi float64) {
	lo, hi = inf, math.Inf(-1)
	if l.continuous != nil {
		lo, hi = l.continuous.span(outside)
	}
	for _, a := range l.atoms {
		lo, hi = math.Min(lo, a.loss), math.Max(hi, a.loss)
	}
	return lo, hi
}

// discretise puts a law on the lattice of step h by connecting the dots
// (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, arXiv:2207.04380): the mass m
// of a cell [ih, (i+1)h) goes to its two ends so that both the P-mass and the
// Q-mass m' are preserved,
//
//	p_{i+1} += (m − m' e^(ih)) / (1 − e^(−h))
//
// The hockey-stick curve of the result is the piecewise linear interpolation (in
// e^ε) of the exact one, which is convex: it is nowhere below it, so the result
// dominates, and so do its compositions. The bias is of second order in h. Mass
// below the span moves up to its lower end; mass above the span moves to +∞.
func (l law) discretise(h, outside float64) (lattice, bool) {
	if l.profile != nil {
		return l.profile.discretise(h, outside)
	}
	lo, hi := l.span(outside)
	first, last := math.Floor(lo/h), math.Floor(hi/h)+1
	if !(last-first < maxCells) || math.Abs(first) > 1<<52 {
		return lattice{}, false
	}
	out := lattice{start: int(first), mass: make([]float64, int(last-first)+1), infinite: l.infinite}
	spread := -math.Expm1(-h)
	put := func(i int, mass, excess float64) {
		up := math.Min(math.Max(excess/spread, 0), mass)
		out.mass[i+1] += up
		out.mass[i] += mass - up
	}
	if l.continuous != nil {
		a := l.continuous.edge(first * h)
		below, _ := l.continuous.outside(a)
		out.mass[0] += below
		for i := range len(out.mass) - 1 {
			ref := (first + float64(i)) * h
			b := l.continuous.edge((first + float64(i+1)) * h)
			mass, excess := l.continuous.between(a, b, ref)
			put(i, mass, excess)
			a = b
		}
		_, above := l.continuous.outside(a)
		out.infinite += above
	}
	for _, a := range l.atoms {
		i := math.Floor(a.loss / h)
		put(int(i-first), a.mass, -a.mass*math.Expm1(i*h-a.loss))
	}
	return out, true
}

// moments returns K(t) = ln Σ p e^(t·loss) of the finite masses with the mean and
// the variance of the tilted law, in units of loss.
func (l lattice) moments(t, h float64) (k, mean, variance float64) {
	if l.points != nil {
		return l.sparseMoments(t, h)
	}
	n := len(l.mass)
	// Weights fall from the end that the tilt prefers, so none overflows.
	from, step := n-1, -1
	if t < 0 {
		from, step = 0, 1
	}
	decay := math.Exp(-math.Abs(t) * h)
	w, s0, s1, s2 := 1.0, 0.0, 0.0, 0.0
	for d := range n {
		if d&1023 == 0 {
			w = math.Exp(-math.Abs(t) * h * float64(d))
		}
		p := l.mass[from+step*d] * w
		x := float64(d)
		s0 += p
		s1 += p * x
		s2 += p * x * x
		w *= decay
	}
	if s0 == 0 {
		return inf, 0, 0
	}
	m := s1 / s0
	end := float64(l.start+from) * h
	return math.Log(s0) + t*end, end + float64(step)*m*h, math.Max(0, s2/s0-m*m) * h * h
}
