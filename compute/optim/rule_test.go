package optim

import "math"

// Theorem4Product is the constant α·C = D/√(T·(1+d·σ²)) of Mohapatra et al., AAAI
// 2022, Theorem 4, for a start at distance D from the optimum: the step that
// minimizes their bound, with the noise's dimension d, which the printed form has
// as 1. It is a heuristic (the bound fails when clipping binds); what holds in
// practice is that α·C stays the same when C changes.
func Theorem4Product(distance, noiseMultiplier float64, steps, dimension int) float64 {
	return distance / math.Sqrt(float64(steps)*(1+float64(dimension)*noiseMultiplier*noiseMultiplier))
}
