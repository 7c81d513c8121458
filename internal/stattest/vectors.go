package stattest

import "math"

// Norm is the Euclidean norm of v without overflow; NaN where an entry is.
func Norm(v []float64) float64 {
	big := 0.0
	for _, x := range v {
		big = max(big, math.Abs(x)) // carries NaN, as it should
	}
	if big == 0 || big != big {
		return big
	}
	s := 0.0
	for _, x := range v {
		s += x / big * (x / big)
	}
	return big * math.Sqrt(s)
}

// Scaled is f·x.
func Scaled(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f * v
	}
	return out
}
