package accountant

import (
	"math"

	"pawl/core/accountant/search"
)

// bestOrder is the value of f at the order that suits it best, as far as a search finds it: for any curve a
// value of f, hence a valid bound.
func bestOrder(f func(alpha float64) float64) (alpha, value float64) {
	if alpha = search.Order(f, GoldenMin); !(alpha > 1) {
		return alpha, inf
	}
	return alpha, f(alpha)
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
	low := c(search.MinOrder)
	if low == 0 || delta >= 1 || delta*delta > -math.Expm1(-low) {
		return 0, search.MinOrder
	}
	if delta < leastDelta {
		return inf, search.MaxOrder
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
	low := c(search.MinOrder)
	if low == 0 {
		return 0, search.MinOrder
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
		return tv, search.MinOrder
	}
	return delta, order
}
