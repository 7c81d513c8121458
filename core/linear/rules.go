package linear

import "math"

// Rules for parameters of package convex that choose quality and no guarantee.

// Regularization returns max(2, dim/15)/epsilon, a rule found on data sets of 200 to 32,000 rows.
// With up to k rows per unit, pass epsilon/k; multiply the result by ResidualCap.
func Regularization(dim int, epsilon float64) float64 {
	return max(2, float64(dim)/15) / epsilon
}

// AMPShare returns the share by the rule of the paper's experiments: f = 0.88671 +
// 0.0186607/ε^0.372906, at most 0.99, and at least 1 − 1/ε + 0.001, which keeps ε_obj − ε_p below
// 1.
func AMPShare(epsilon float64) float64 {
	return max(min(0.88671+0.0186607/math.Pow(epsilon, 0.372906), 0.99), 1-1/epsilon+0.001)
}
