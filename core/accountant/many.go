package accountant

import (
	"math"
	"runtime"
	"sort"
	"sync"

	"pawl/core/dp"
)

// This file prices plans of many different parts. Every figure stays an upper bound:
// cells may be of any width (the split of a cell keeps its P-mass and its Q-mass), and
// a Rényi curve may be interpolated between orders. What is given up is sharpness, and
// little of it.

// wide is how many cells of equal width lie between a loss and 0; cells grow with the
// loss beyond that. Putting a loss ℓ on ends that are ℓ/wide apart raises its second
// moment by ℓ²/(4·wide²) at most, 6e-5 of it.
const wide = 64

// sparse is discretise with cells that grow with the loss, for which points are listed.
func (l law) sparse(h, outside float64) (lattice, bool) {
	if l.profile != nil {
		dense, ok := l.profile.discretise(h, outside)
		if !ok {
			return dense, false
		}
		out := lattice{infinite: dense.infinite, points: []int{}}
		for i, m := range dense.mass {
			if m > 0 {
				out.mass, out.points = append(out.mass, m), append(out.points, dense.start+i)
			}
		}
		return out, true
	}
	lo, hi := l.span(outside)
	first, last := math.Floor(lo/h), math.Floor(hi/h)+1
	if !(math.Abs(first) < 1<<40) || !(math.Abs(last) < 1<<40) {
		return lattice{}, false
	}
	out := lattice{infinite: l.infinite, points: []int{int(first)}}
	for i := int(first); i < int(last); {
		width := max(1, i/wide, -i/wide)
		next := i + width
		if i < 0 && next > 0 {
			next = 0
		}
		out.points = append(out.points, next)
		i = next
	}
	out.mass = make([]float64, len(out.points))
	put := func(i int, mass, excess float64) {
		spread := -math.Expm1(-h * float64(out.points[i+1]-out.points[i]))
		up := math.Min(math.Max(excess/spread, 0), mass)
		out.mass[i+1] += up
		out.mass[i] += mass - up
	}
	if l.continuous != nil {
		a := l.continuous.edge(float64(out.points[0]) * h)
		below, _ := l.continuous.outside(a)
		out.mass[0] += below
		for i := range len(out.mass) - 1 {
			ref := float64(out.points[i]) * h
			b := l.continuous.edge(float64(out.points[i+1]) * h)
			mass, excess := l.continuous.between(a, b, ref)
			put(i, math.Max(0, mass), excess)
			a = b
		}
		_, above := l.continuous.outside(a)
		out.infinite += above
	}
	for _, a := range l.atoms {
		k := int(math.Floor(a.loss / h))
		i := max(0, min(sort.SearchInts(out.points, k+1)-1, len(out.points)-2))
		put(i, a.mass, -a.mass*math.Expm1(float64(out.points[i])*h-a.loss))
	}
	return out, true
}

// sparseMoments is moments on listed points.
func (l lattice) sparseMoments(t, h float64) (k, mean, variance float64) {
	top := math.Inf(-1)
	for _, i := range []int{l.points[0], l.points[len(l.points)-1]} {
		top = math.Max(top, t*float64(i)*h)
	}
	s0, s1, s2 := 0.0, 0.0, 0.0
	for i, p := range l.mass {
		x := float64(l.points[i]) * h
		w := p * math.Exp(t*x-top)
		s0 += w
		s1 += w * x
		s2 += w * x * x
	}
	if s0 == 0 {
		return inf, 0, 0
	}
	m := s1 / s0
	return math.Log(s0) + top, m, math.Max(0, s2/s0-m*m)
}

// inParallel calls do for 0 to n−1.
func inParallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}

// mergeSums makes one part of those whose composition is again one of their kind:
// Gaussians, whose precisions add up, and what is known by zero-concentration alone.
func mergeSums(parts []part) []part {
	var out []part
	var gaussians, concentrated []part
	precision, rho := 0.0, 0.0
	for _, p := range parts {
		switch e := p.event.(type) {
		case dp.Gaussian:
			precision += p.count / e.NoiseMultiplier / e.NoiseMultiplier
			gaussians = append(gaussians, p)
		case dp.DiscreteGaussian:
			rho += p.count / e.NoiseMultiplier / e.NoiseMultiplier / 2
			concentrated = append(concentrated, p)
		case dp.ZCDP:
			rho += p.count * e.Rho
			concentrated = append(concentrated, p)
		default:
			out = append(out, p)
		}
	}
	if len(gaussians) > 1 {
		gaussians = []part{{event: dp.Gaussian{NoiseMultiplier: 1 / math.Sqrt(precision)}, count: 1}}
	}
	if len(concentrated) > manyParts {
		concentrated = []part{{event: dp.ZCDP{Rho: rho}, count: 1}}
	}
	return append(append(out, gaussians...), concentrated...)
}

// atIntegers bounds a curve by its values at integer orders: for each pair of outputs
// (α−1)D_α is convex in α and 0 at α = 1, so it lies below the line between two orders.
// From wholeOrders on the orders grow by a sixteenth.
func (c curve) atIntegers() curve {
	known := map[float64]float64{1: 0}
	scaled := func(n float64) float64 {
		if k, ok := known[n]; ok {
			return k
		}
		known[n] = (n - 1) * c(n)
		return known[n]
	}
	const wholeOrders = 32
	return func(alpha float64) float64 {
		below, above := math.Floor(alpha), math.Ceil(alpha)
		if alpha > wholeOrders {
			step := math.Pow(2, math.Floor(math.Log2(alpha))-4)
			below, above = step*math.Floor(alpha/step), step*math.Ceil(alpha/step)
		}
		if below == above {
			return scaled(below) / (alpha - 1)
		}
		w := (alpha - below) / (above - below)
		if below == 1 {
			return scaled(above) / (above - 1) // the line through 0
		}
		return ((1-w)*scaled(below) + w*scaled(above)) / (alpha - 1)
	}
}

// Curve returns upper bounds on epsilon at each delta, and on delta at epsilon 0 (the
// total variation), of a plan with so many different parts that Epsilon at each would
// take too long; ok is false for others. The bounds are less sharp than those of
// Epsilon.
func Curve(e dp.Event, rel dp.Relation, deltas []float64, which Method) (epsilons []float64, variation float64, ok bool, err error) {
	w, err := wantOf(which)
	if err != nil {
		return nil, 0, false, err
	}
	segments, err := resolveAll(e, rel)
	if err != nil {
		return nil, 0, false, err
	}
	for _, s := range segments {
		ok = ok || len(s) > manyParts
	}
	if !ok || len(segments) > 4 && w.pld {
		return nil, 0, false, nil
	}
	epsilons = make([]float64, len(deltas))
	for _, s := range segments {
		a, err := newAccount(s, rel)
		if err != nil {
			return nil, 0, false, err
		}
		var tails []tail
		if p, ok := a.privacyLoss(); ok && w.pld && len(a.stopping) == 0 {
			tails = p.tails(slicesMin(deltas))
		}
		quick := want{closed: w.closed, rdp: true}
		for i, delta := range deltas {
			bounds, err := a.epsilon(delta, quick)
			if err != nil {
				return nil, 0, false, err
			}
			best := smallest(bounds)
			if tails != nil {
				here := 0.0
				for _, d := range tails {
					here = math.Max(here, d.epsilonAt(math.Log(delta)))
				}
				best = math.Min(best, here)
			}
			epsilons[i] = math.Max(epsilons[i], best)
		}
		bounds, err := a.delta(0, quick)
		if err != nil {
			return nil, 0, false, err
		}
		best := math.Min(1, smallest(bounds))
		if tails != nil {
			here := 0.0
			for _, d := range tails {
				here = math.Max(here, math.Exp(d.logDelta(0)))
			}
			best = math.Min(best, here)
		}
		variation = math.Max(variation, best)
	}
	return epsilons, variation, true, nil
}

func slicesMin(x []float64) float64 {
	least := 1.0
	for _, v := range x {
		least = math.Min(least, v)
	}
	return least
}

// tails composes each direction once, on a lattice for deltas from delta up, nil where
// that cannot be done.
func (p privacyLoss) tails(delta float64) []tail {
	var out []tail
	for _, laws := range p.directions {
		step := p.firstStep(delta) / 4
		var d tail
		ok := false
		for range 10 {
			var c composed
			if c, ok = p.compose(laws, step, delta); ok {
				if d, ok = c.transform(tilt{0.25, 30}); ok {
					break
				}
			}
			step *= 2
		}
		if !ok {
			return nil
		}
		out = append(out, d)
	}
	return out
}
