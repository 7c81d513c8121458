package noise

import (
	"math"

	"pawl/core/entropy"
)

// Exponential returns one value of the exponential distribution with mean 1: −ln U. Its largest
// value is about 700, as U is at least 2^-1022.
func Exponential(src *entropy.Source) float64 { return -math.Log(src.Open01()) }

// Gamma returns one value of density x^(shape−1)·exp(−x)/Γ(shape), x > 0: mean and variance are
// shape. Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for shape >=
// 1; for smaller shapes, a draw of shape+1 times U^(1/shape), which may underflow to 0 if shape is
// below 0.01. A shape that is not positive and finite panics.
func Gamma(src *entropy.Source, shape float64) float64 {
	mustScale("shape", shape)
	if shape < 1 {
		return Gamma(src, shape+1) * math.Exp(-Exponential(src)/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := Gaussian(src)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		// The paper's cheaper squeeze test is left out: one logarithm more per
		// draw, one constant less to audit.
		if math.Log(src.Open01()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// L2Laplace adds to dst a vector b of density ∝ exp(−‖b‖₂/scale): its norm is
// Gamma(len(dst)) times scale, its direction uniform on the sphere. Added to a
// value of L2 sensitivity Δ with scale Δ/ε it is ε-DP (Chaudhuri, Monteleoni and
// Sarwate, JMLR 12, 2011). An empty dst draws nothing. A scale that is not positive
// and finite panics.
func L2Laplace(src *entropy.Source, dst []float64, scale float64) {
	mustScale("scale", scale)
	if len(dst) == 0 {
		return
	}
	direction := make([]float64, len(dst))
	var squares float64
	for squares == 0 {
		for i := range direction {
			direction[i] = Gaussian(src)
			squares += direction[i] * direction[i]
		}
	}
	length := scale * Gamma(src, float64(len(dst))) / math.Sqrt(squares)
	for i, x := range direction {
		dst[i] += length * x
	}
}
