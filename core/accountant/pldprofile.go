package accountant

import "math"

// profile is an upper bound on δ(ε), ε >= 0, that holds in both directions:
// the smallest of 1 and exp(intercept − slope·ε) over Rényi orders.
type profile []line

type line struct{ slope, intercept float64 }

// profileOf samples the improved conversion (convert.go) of a Rényi curve at a
// fixed set of orders: each gives a valid line. It is nil for a curve without a
// finite value.
func profileOf(c curve) profile {
	var p profile
	for t := 0.02; t < 1e5; t *= 1.06 {
		alpha := 1 + t
		if r := c(alpha); !math.IsInf(r, 1) && !math.IsNaN(r) {
			p = append(p, line{t, t*(r+math.Log1p(-1/alpha)) - math.Log(alpha)})
		}
	}
	return p
}

func (p profile) logDelta(epsilon float64) float64 {
	best := 0.0
	for _, l := range p {
		best = math.Min(best, l.intercept-l.slope*epsilon)
	}
	return best
}

// discretise makes the symmetric pair on the lattice whose hockey-stick curve is
// the largest that the profile allows. The exact curve is convex in k = e^ε, so it
// lies below the lower convex hull of the profile's points; with
// TV = δ(0) <= (k−1+2δ)/(k+1) at every point the curve continues convexly to ε < 0
// as 1 − k + k·δ(1/k). Any convex curve is that of a pair (Zhu, Dong and Wang,
// arXiv:2106.08567), with Q-mass q = change of slope and P-mass k·q at a point, and
// the mirrored masses at −ε.
//
// sparse lists the points that have a mass.
func (p profile) discretise(h, outside float64, sparse bool) (lattice, bool) {
	const largest = 600 // e^ε must stay finite
	target := math.Log(outside)
	reach := bisect(0, largest, func(epsilon float64) bool { return p.logDelta(epsilon) <= target })
	n := int(math.Ceil(reach/h)) + 1
	if n >= maxCells/2 || float64(n)*h > largest+2*h {
		return lattice{}, false
	}
	type point struct {
		i     int
		k, dk float64 // e^(ih) and e^(ih) − 1
		delta float64
	}
	points := make([]point, n+1)
	tv := 1.0
	// The best line changes in one direction as ε grows.
	best := 0
	for i := range points {
		epsilon := float64(i) * h
		for best+1 < len(p) && p[best+1].intercept-p[best+1].slope*epsilon <= p[best].intercept-p[best].slope*epsilon {
			best++
		}
		delta := math.Exp(math.Min(0, p[best].intercept-p[best].slope*epsilon))
		points[i] = point{i, math.Exp(epsilon), math.Expm1(epsilon), delta}
		tv = math.Min(tv, (points[i].dk+2*delta)/(points[i].k+1))
	}
	points[0].delta = math.Min(points[0].delta, tv)
	slope := func(a, b point) float64 { return (b.delta - a.delta) / (b.dk - a.dk) }
	hull := points[:0:0]
	for _, x := range points {
		for len(hull) > 1 && slope(hull[len(hull)-2], hull[len(hull)-1]) >= slope(hull[len(hull)-1], x) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, x)
	}
	last := hull[len(hull)-1]
	out := lattice{start: -n, mass: make([]float64, 2*n+1), infinite: last.delta}
	rest := 1 - last.delta
	for v := 1; v < len(hull); v++ {
		after := 0.0
		if v+1 < len(hull) {
			after = slope(hull[v], hull[v+1])
		}
		q := math.Max(0, after-slope(hull[v-1], hull[v]))
		out.mass[n+hull[v].i] = hull[v].k * q
		out.mass[n-hull[v].i] = q
		rest -= (hull[v].k + 1) * q
	}
	out.mass[n] = math.Max(0, rest)
	if sparse {
		listed := lattice{start: out.start, infinite: out.infinite, points: []int{}}
		for i, m := range out.mass {
			if m != 0 { // NaN too, which then refuses the lattice
				listed.mass, listed.points = append(listed.mass, m), append(listed.points, out.start+i)
			}
		}
		return listed, true
	}
	return out, true
}
