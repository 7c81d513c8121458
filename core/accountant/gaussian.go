package accountant

import (
	"fmt"
	"math"
)

// AnalyticGaussianDelta returns the exact delta at epsilon >= 0 of one Gaussian
// release with noise standard deviation noiseMultiplier times its sensitivity:
//
//	δ(ε) = Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ)
//
// Balle and Wang, arXiv:1805.06530, Theorem 8. Several releases equal one with σ = 1/√Σσ_i⁻². σ = 0
// gives 1 and σ = +Inf gives 0; NaN and negative arguments give NaN. It is evaluated in logarithms.
// The two terms cancel for large σ, so their rounding error is added: the result is at most 1e-13,
// relative, below the exact value.
func AnalyticGaussianDelta(noiseMultiplier, epsilon float64) float64 {
	return math.Exp(logGaussianDelta(noiseMultiplier, epsilon))
}

func logGaussianDelta(sigma, epsilon float64) float64 {
	switch {
	case !(sigma >= 0) || !(epsilon >= 0):
		return math.NaN()
	case math.IsInf(epsilon, 1) || math.IsInf(sigma, 1):
		return math.Inf(-1)
	case sigma == 0:
		return 0
	}
	half, shift := 0.5/sigma, epsilon*sigma
	if math.IsInf(half, 1) {
		return 0
	}
	a := logNormalCDF(half - shift)
	if math.IsInf(a, -1) {
		return a
	}
	b := epsilon + logNormalCDF(-half-shift)
	// The rounding error of b−a grows with the magnitude of what was subtracted.
	slack := 4e-16 * (1 + math.Abs(a-epsilon))
	return math.Min(0, a+math.Log(math.Min(1, -math.Expm1(math.Min(0, b-a))+slack)))
}

// AnalyticGaussianEpsilon returns the smallest epsilon >= 0 at which a Gaussian
// release is (epsilon, delta)-DP, rounded up in the last place. delta = 0 and
// noiseMultiplier = 0 give +Inf; delta >= δ(0) gives 0; NaN and negative
// arguments give NaN.
func AnalyticGaussianEpsilon(noiseMultiplier, delta float64) float64 {
	switch {
	case !(noiseMultiplier >= 0) || !(delta >= 0):
		return math.NaN()
	case delta >= 1 || math.IsInf(noiseMultiplier, 1):
		return 0
	case delta < leastDelta || noiseMultiplier == 0:
		return inf
	}
	target := math.Log(delta)
	ok := func(epsilon float64) bool { return logGaussianDelta(noiseMultiplier, epsilon) <= target }
	if ok(0) {
		return 0
	}
	// δ(ε) <= Φ(1/2σ − εσ) <= exp(−t²/2) with t = εσ − 1/2σ bounds the root.
	hi := 0.5/noiseMultiplier/noiseMultiplier + math.Sqrt(-2*target)/noiseMultiplier
	if math.IsInf(hi, 1) {
		return inf
	}
	for !ok(hi) {
		// Only the rounding slack can bring us here, for delta near 1e-16/σ.
		if hi *= 2; math.IsInf(hi, 1) {
			return inf
		}
	}
	return bisect(0, hi, ok)
}

// GaussianNoiseMultiplier returns the smallest noise multiplier, rounded up, at which one Gaussian
// release is (epsilon, delta)-DP: AnalyticGaussianEpsilon of the result is at most epsilon and at
// least 0.999999 of it. It returns an error for epsilon outside (0, +Inf) and delta outside (0, 1).
func GaussianNoiseMultiplier(epsilon, delta float64) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("epsilon must be a finite number > 0")
	}
	if !(delta > 0 && delta < 1) {
		return 0, fmt.Errorf("delta must lie in (0, 1)")
	}
	ok := func(x float64) bool { return AnalyticGaussianEpsilon(math.Exp(x), delta) <= epsilon }
	lo, hi := -1.0, 1.0
	for ok(lo) {
		if lo *= 2; lo < -700 {
			return 0, fmt.Errorf("no noise multiplier above 1e-300 is needed for epsilon %g at delta %g", epsilon, delta)
		}
	}
	for !ok(hi) {
		if hi *= 2; hi > 700 {
			return 0, fmt.Errorf("epsilon %g at delta %g is below what double precision can certify", epsilon, delta)
		}
	}
	return math.Exp(bisect(lo, hi, ok)), nil
}
