package accountant

import (
	"math"
	"sort"

	"pawl/core/dp"
)

// law is the privacy loss ln(P/Q), x ~ P, of one dominating pair: a continuous
// part, atoms and a mass at +∞; or a privacy profile alone.
type law struct {
	profile    profile
	continuous *density
	atoms      []atom
	infinite   float64
}

type atom struct{ loss, mass float64 }

// density is a loss with a density, of the pair ((1−q)Q + qP, Q) for the symmetric pair (P, Q)
// of some noise (a unit is removed), or of the swapped one (added): with z the loss of (P, Q) it
// is ±ln(1−q+q·e^z). q = 1 is the pair itself.
type density struct {
	noise noise
	q     float64
	added bool
}

// noise is a symmetric pair (P, Q) by the masses that both give to intervals of its loss z.
type noise interface {
	// reach is an interval of z beyond which (1−q)Q + qP has at most the given mass on either side.
	reach(q, outside float64) (lo, hi float64)
	// edge prepares one end of an interval.
	edge(z float64) edge
	// between returns the masses of Q and P between two edges, which may be infinite.
	between(a, b edge) (d0, d1 float64)
}

// edge is where the noise is at a loss: x, and for a Gaussian the tails of the standard
// normal at x/σ and (x−1)/σ.
type edge struct {
	x, low0, high0, low1, high1 float64
}

// Span is an interval of losses with at most the given mass on either side.
func (d density) Span(outside float64) (lo, hi float64) {
	q := d.q
	if d.added {
		q = 0
	}
	lo, hi = d.noise.reach(q, outside)
	lo, hi = sampledLogRatio(d.q, lo), sampledLogRatio(d.q, hi)
	if d.added {
		return -hi, -lo
	}
	return lo, hi
}

// Edge prepares one end of an interval.
func (d density) Edge(loss float64) edge {
	l := loss
	if d.added {
		l = -loss
	}
	ratio := math.Expm1(l) + d.q
	if l < -1 {
		ratio = math.Exp(l) - (1 - d.q)
	}
	z := math.Inf(-1)
	switch {
	case d.q == 1:
		z = l
	case l > 30:
		z = l + math.Log1p((d.q-1)*math.Exp(-l)) - math.Log(d.q)
	case ratio > 0:
		z = math.Log(ratio / d.q)
	}
	return d.noise.edge(z)
}

// Between returns the P-mass m of losses in [a, b) and the excess m − m'·e^ref
// over the Q-mass m', without cancelling what the two share.
func (d density) Between(a, b edge, ref float64) (mass, excess float64) {
	if d.added {
		d0, d1 := d.noise.between(b, a) // z falls as the loss grows
		return d0, math.Exp(ref) * (d0*(math.Expm1(-ref)+d.q) - d.q*d1)
	}
	d0, d1 := d.noise.between(a, b)
	return (1-d.q)*d0 + d.q*d1, d.q*d1 - d0*(math.Expm1(ref)+d.q)
}

// Least is the smallest loss of a Gaussian on a sample, of a unit that is removed: nearly all mass
// sits there where the rate is small.
func (d density) Least() (loss float64, ok bool) {
	_, gaussian := d.noise.(gaussianNoise)
	return math.Log1p(-d.q), gaussian && d.q < 1 && !d.added
}

// gaussianNoise is N(1, σ²) against N(0, σ²): z = (2x−1)/2σ².
type gaussianNoise struct{ sigma float64 }

func (g gaussianNoise) reach(q, outside float64) (lo, hi float64) {
	z := func(x float64) float64 { return (x - 0.5) / g.sigma / g.sigma }
	// The smallest x > 0 such that there is little mass beyond it.
	reach := func(q float64) float64 {
		return bisect(0, 1+39*g.sigma, func(x float64) bool {
			_, far := normalTails(x / g.sigma)
			_, farther := normalTails((x - 1) / g.sigma)
			return (1-q)*far+q*farther <= outside
		})
	}
	return z(-reach(0)), z(reach(q))
}

func (g gaussianNoise) edge(z float64) edge {
	e := edge{x: g.sigma*g.sigma*z + 0.5}
	e.low0, e.high0 = normalTails(e.x / g.sigma)
	e.low1, e.high1 = normalTails((e.x - 1) / g.sigma)
	return e
}

func (g gaussianNoise) between(a, b edge) (d0, d1 float64) {
	return normalBetween(a.low0, a.high0, b.low0, b.high0), normalBetween(a.low1, a.high1, b.low1, b.high1)
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

// laplaceNoise is Laplace noise between its atoms at ±ε: x is the loss z, where Q has density
// e^(−(x+ε)/2)/4 and P e^((x−ε)/2)/4.
type laplaceNoise struct{ epsilon float64 }

func (l laplaceNoise) reach(float64, float64) (lo, hi float64) { return -l.epsilon, l.epsilon }

func (l laplaceNoise) edge(z float64) edge {
	return edge{x: math.Min(math.Max(z, -l.epsilon), l.epsilon)}
}

func (l laplaceNoise) between(a, b edge) (d0, d1 float64) {
	w := (b.x - a.x) / 2
	return -0.5 * math.Exp(-(a.x+l.epsilon)/2) * math.Expm1(-w), 0.5 * math.Exp((a.x-l.epsilon)/2) * math.Expm1(w)
}

// lawOf returns the loss law of one use of a flattened event where a dominating
// pair is known, for the removal or the addition of a unit.
func lawOf(e dp.Event, rel dp.Relation, added bool) (law, bool) {
	switch e := e.(type) {
	case dp.Gaussian:
		return law{continuous: &density{noise: gaussianNoise{e.NoiseMultiplier}, q: 1}}, e.NoiseMultiplier > 0
	case dp.PoissonSampled:
		if rel == dp.ReplaceOne {
			if epsilon := pureEpsilon(e, rel); !math.IsInf(epsilon, 1) {
				return responseLaw(epsilon), true
			}
			return law{}, false // see replacedEpsilon
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
		return law{continuous: &density{noise: laplaceNoise{epsilon}, q: 1}, atoms: []atom{{epsilon, 0.5}, {-epsilon, 0.5 * math.Exp(-epsilon)}}}, true
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
	if l.continuous != nil {
		out.continuous = &density{l.continuous.noise, q, added}
	}
	return out
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

// at is the number of the point of a mass.
func (l lattice) at(i int) int {
	if l.points != nil {
		return l.points[i]
	}
	return l.start + i
}

// maxCells bounds the size of one discretised law.
const maxCells = 1 << 20

// span holds all losses of a law but for a mass of outside at either end.
func (l law) span(outside float64) (lo, hi float64) {
	lo, hi = inf, math.Inf(-1)
	if l.continuous != nil {
		lo, hi = l.continuous.Span(outside)
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
//
// sparse cells grow with the loss, and their points are listed.
func (l law) discretise(h, outside float64, sparse bool) (lattice, bool) {
	if !(h > 0) {
		return lattice{}, false // cells the wrong way round would hold no mass
	}
	if l.profile != nil {
		return l.profile.discretise(h, outside, sparse)
	}
	lo, hi := l.span(outside)
	first, last := math.Floor(lo/h), math.Floor(hi/h)+1
	if !sparse && !(last-first < maxCells) || !(math.Max(math.Abs(first), math.Abs(last)) < 1<<50) || l.continuous != nil && !(hi < 700) {
		return lattice{}, false // e^loss, by which a cell is split, must stay finite
	}
	out := lattice{start: int(first), infinite: l.infinite}
	n := int(last-first) + 1
	if sparse {
		out.points = widening(int(first), int(last))
		n = len(out.points)
	}
	out.mass = make([]float64, n)
	spread := -math.Expm1(-h)
	put := func(i int, mass, excess float64) {
		across := spread
		if sparse {
			across = -math.Expm1(-h * float64(out.at(i+1)-out.at(i)))
		}
		up := math.Min(math.Max(excess/across, 0), mass)
		out.mass[i+1] += up
		out.mass[i] += mass - up
	}
	if l.continuous != nil {
		a := l.continuous.Edge(first * h)
		below, _ := l.continuous.Between(l.continuous.Edge(math.Inf(-1)), a, 0)
		out.mass[0] += math.Max(0, below)
		for i := range n - 1 {
			b := l.continuous.Edge(float64(out.at(i+1)) * h)
			mass, excess := l.continuous.Between(a, b, float64(out.at(i))*h)
			put(i, math.Max(0, mass), excess)
			a = b
		}
		above, _ := l.continuous.Between(a, l.continuous.Edge(inf), 0)
		out.infinite += math.Max(0, above) // an end may round across the other
	}
	for _, a := range l.atoms {
		i := int(math.Floor(a.loss/h) - first)
		if sparse {
			i = max(0, min(sort.SearchInts(out.points, out.start+i+1)-1, n-2))
		}
		put(i, a.mass, -a.mass*math.Expm1(float64(out.at(i))*h-a.loss))
	}
	return out, true
}

// wide is how many cells of equal width lie between a loss and 0; cells grow with the
// loss beyond that. Putting a loss ℓ on ends that are ℓ/wide apart raises its second
// moment by ℓ²/(4·wide²) at most, 6e-5 of it.
const wide = 64

// widening lists points from first to last or beyond that are the farther apart the farther from 0.
func widening(first, last int) []int {
	points := []int{first}
	for i := first; i < last; {
		next := i + max(1, i/wide, -i/wide)
		if i < 0 && next > 0 {
			next = 0
		}
		points = append(points, next)
		i = next
	}
	return points
}

// moments returns K(t) = ln Σ p e^(t·loss) of the finite masses with the mean and
// the variance of the tilted law, in units of loss; +Inf where they cannot be told.
func (l lattice) moments(t, h float64) (k, mean, variance float64) {
	n := len(l.mass)
	// Weights fall from the end that the tilt prefers, so none overflows.
	from, step := n-1, -1
	if t < 0 {
		from, step = 0, 1
	}
	rate := math.Abs(t) * h
	decay := math.Exp(-rate)
	w, s0, s1, s2 := 1.0, 0.0, 0.0, 0.0
	if l.points != nil {
		for i, p := range l.mass {
			x := float64(step * (l.points[i] - l.points[from]))
			p *= math.Exp(-rate * x)
			s0 += p
			s1 += p * x
			s2 += p * x * x
		}
	} else {
		for d := range n {
			x := float64(d)
			if d&1023 == 0 {
				w = math.Exp(-rate * x)
			}
			p := l.mass[from+step*d] * w
			s0 += p
			s1 += p * x
			s2 += p * x * x
			w *= decay
		}
	}
	if !(s0 > 1e-300) { // sums this small have lost terms to underflow
		return inf, 0, 0
	}
	m := s1 / s0
	end := float64(l.at(from)) * h
	return math.Log(s0) + t*end, end + float64(step)*m*h, math.Max(0, s2/s0-m*m) * h * h
}
