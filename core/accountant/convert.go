package accountant

import "math"

// The smallest order is kept away from 1, where ln(1−1/α) diverges; larger ones
// are needed for a very small epsilon (with orders up to 1024 an epsilon of
// 0.001 reads 0.0059).
const (
	minOrder = 1.01
	maxOrder = 1e6
)

// orders is the coarse grid from which golden section starts, ascending.
var orders = func() []float64 {
	grid := []float64{minOrder, 1.03, 1.06, 1.1, 1.2, 1.35, 1.6, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}
	for a := 96.0; a < maxOrder; a *= 1.5 {
		grid = append(grid, math.Floor(a))
	}
	return append(grid, maxOrder)
}()

// startOrder is the index of order 8 in the grid.
const startOrder = 12

// bestOrder minimises f over the orders: along the coarse grid, outwards from the
// middle until f has risen three times in a row, then by golden section on
// ln(α−1) between the neighbours of the best. (α−1)R(α) is convex, so every f
// used here is quasi-convex in α for an exact curve, and for any curve the result
// is a value of f, hence a valid bound.
func bestOrder(f func(alpha float64) float64) (alpha, value float64) {
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
	t, v := GoldenMin(func(t float64) float64 { return f(1 + math.Exp(t)) }, lo, hi, 26)
	if v < best {
		return 1 + math.Exp(t), v
	}
	return orders[at], best
}

// conversion is what turns R(α) into epsilon by addition:
//
//	ε = R(α) + ln(1−1/α) − (ln δ + ln α)/(α−1)
//
// Canonne, Kamath and Steinke, arXiv:2004.00010, Proposition 12; Balle et al.,
// arXiv:1905.09982, Theorem 21.
func conversion(alpha, logDelta float64) float64 {
	return math.Log1p(-1/alpha) - (logDelta+math.Log(alpha))/(alpha-1)
}

// epsilonAt returns the smallest epsilon >= 0 over all orders at delta, and the
// order. It is 0 also if δ² > 1 − e^(−R) for some order: total variation is at
// most √(1−e^(−KL)) (Bretagnolle and Huber) and KL <= R. delta = 0 gives +Inf
// unless the curve is zero.
func (c curve) epsilonAt(delta float64) (epsilon, order float64) {
	low := c(minOrder)
	if low == 0 || delta >= 1 || delta*delta > -math.Expm1(-low) {
		return 0, minOrder
	}
	if delta == 0 {
		return inf, maxOrder
	}
	logDelta := math.Log(delta)
	order, epsilon = bestOrder(func(alpha float64) float64 { return c(alpha) + conversion(alpha, logDelta) })
	if math.IsNaN(epsilon) {
		return inf, order
	}
	return math.Max(0, epsilon), order
}

// deltaAt inverts the same conversion at epsilon >= 0.
func (c curve) deltaAt(epsilon float64) (delta, order float64) {
	low := c(minOrder)
	if low == 0 {
		return 0, minOrder
	}
	order, logDelta := bestOrder(func(alpha float64) float64 {
		return (alpha-1)*(c(alpha)-epsilon+math.Log1p(-1/alpha)) - math.Log(alpha)
	})
	if math.IsNaN(logDelta) {
		return 1, order
	}
	if order > 1024 {
		// At orders as large as these this search and the one for epsilon may end far
		// apart. Either is valid: the smaller counts.
		logDelta = math.Min(logDelta, bisect(-745, 0, func(logDelta float64) bool {
			e, _ := c.epsilonAt(math.Exp(logDelta))
			return e <= epsilon
		}))
	}
	delta = math.Exp(math.Min(0, logDelta))
	if tv := math.Sqrt(-math.Expm1(-low)); tv < delta {
		return tv, minOrder
	}
	return delta, order
}
