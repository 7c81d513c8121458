// Package search proposes where the accountant evaluates its bounds: Rényi orders, tilts and steps of lattices. Every
// order, tilt and step gives a valid bound, and the accountant evaluates the bound itself at each proposal. A fault in
// this package can make a bound larger, or slow to find, but not smaller.
package search

import "math"

// The smallest order stays away from 1, where ln(1−1/α) diverges; large orders are needed for a
// very small epsilon (with orders up to 1024 an epsilon of 0.001 is bounded only by 0.0059).
const (
	MinOrder = 1.01
	MaxOrder = 1e6
)

// Minimise returns the least value of f on [lo, hi] that it finds in the given number of steps, and
// its place.
type Minimise func(f func(float64) float64, lo, hi float64, steps int) (x, fx float64)

// orders is the coarse grid from which Order starts, ascending.
var orders = func() []float64 {
	grid := []float64{MinOrder, 1.03, 1.06, 1.1, 1.2, 1.35, 1.6, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}
	for a := 96.0; a < MaxOrder; a *= 1.5 {
		grid = append(grid, math.Floor(a))
	}
	return append(grid, MaxOrder)
}()

// startOrder is the index of order 8 in the grid.
const startOrder = 12

// Orders returns the grid from which Order starts, ascending.
func Orders() []float64 { return orders }

// Order searches for the order with the smallest f: along the coarse grid, outwards from the middle
// until f has risen three times in a row, then by minimise on ln(α−1) between the neighbours of the
// best. (α−1)R(α) is convex, so the bounds computed from a curve are quasi-convex in α if the curve
// is exact.
func Order(f func(alpha float64) float64, minimise Minimise) float64 {
	best, at := f(orders[startOrder]), startOrder
	walk := func(step int) {
		worse := 0
		for i := startOrder + step; i >= 0 && i < len(orders) && worse < 3; i += step {
			if v := f(orders[i]); v < best {
				best, at, worse = v, i, 0
			} else if !math.IsInf(v, 1) || !math.IsInf(best, 1) {
				worse++
			}
		}
	}
	walk(-1)
	walk(+1)
	lo := math.Log(orders[max(0, at-1)] - 1)
	hi := math.Log(orders[min(len(orders)-1, at+1)] - 1)
	t, v := minimise(func(t float64) float64 { return f(1 + math.Exp(t)) }, lo, hi, 26)
	if v < best {
		return 1 + math.Exp(t)
	}
	return orders[at]
}

// Tilt searches for the tilt with the smallest f.
func Tilt(f func(t float64) float64, steps int, minimise Minimise) float64 {
	u, _ := minimise(func(u float64) float64 {
		if x := f(math.Exp(u)); !math.IsNaN(x) && !math.IsInf(x, -1) {
			return x
		}
		return math.Inf(1)
	}, math.Log(1e-4), math.Log(1e6), steps)
	return math.Exp(u)
}

// Fraction returns the tilt, among fractions of the largest, with the shortest window, and −ln of the mass that may
// lie outside it. over is ln of what outweighs delta at a tilt, and noise what rounding adds to it. If the
// distribution has a heavy tail, a steep tilt favours rare large losses over those that determine delta, and its
// window is needlessly long.
func Fraction(largest float64, over, noise func(t float64) float64, width func(t, logOutside float64) float64) (t, logOutside float64) {
	t, logOutside = largest, 40
	best := math.Inf(1)
	for f := 1.0; f > 1e-3; f /= 4 {
		o := over(largest * f)
		if f < 1 && o+noise(largest*f) > -8 {
			continue
		}
		outside := math.Min(40, math.Max(12, o+10))
		if w := width(largest*f, outside); w < best {
			best, t, logOutside = w, largest*f, outside
		}
	}
	return t, logOutside
}

// Refine evaluates on ever finer lattices until the remaining gain is below the tolerance, or the lattice is too
// large, for which try returns ok false. It stops early once a value is at most enough.
func Refine(step, enough float64, try func(step float64) (value float64, ok bool), tolerance func(value float64) float64) {
	inf := math.Inf(1)
	best, last, lastDrop := inf, inf, inf
	coarser, tried := 0, false
	for final := false; ; {
		v, ok := try(step)
		switch {
		case !ok && math.IsInf(last, 1) && coarser < 30 && !tried:
			// Too fine a first lattice, where the epsilon that it was derived from is tiny. One that a finer one of
			// infinite value follows is not evaluated again.
			step *= 4
			coarser++
			continue
		case !ok && !final && !math.IsInf(last, 1):
			// Too fine by less than a whole refinement, perhaps.
			step, final = 2*step, true
			continue
		case !ok:
			return
		}
		best, tried = math.Min(best, v), true
		drop, allowed := math.Abs(last-v), tolerance(v)
		if final || best <= enough || v == 0 && last == 0 {
			return
		}
		ratio := 4.0
		if !math.IsInf(lastDrop, 1) {
			// The bias falls with the step to the power one to two; the two last drops
			// say which, and what remains is the rest of the geometric series.
			rate := math.Min(0.25, drop/lastDrop)
			left := drop * rate / (1 - rate)
			if left <= allowed {
				return
			}
			if rate < 0.1 && left < 8*allowed {
				ratio, final = math.Max(1.5, 1.1*math.Sqrt(left/allowed)), true
			}
		}
		last, lastDrop = v, drop
		step /= ratio
	}
}
