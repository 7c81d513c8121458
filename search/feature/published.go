package feature

import "math"

// PublishedCompositionEpsilon is the epsilon that [B] states for selection on noisy
// entropies: advanced composition ε√(2c·ln(1/δ)) + cε(e^ε − 1) of c = (features+1)²
// entropies, each ε-DP. 43 features, ε = 0.01 and δ = 1e-5 give 2.306, printed 2.31.
// +Inf for arguments out of range.
func PublishedCompositionEpsilon(features int, entropyEpsilon, delta float64) float64 {
	if features < 1 || !(entropyEpsilon > 0) || !(delta > 0 && delta < 1) {
		return math.Inf(1)
	}
	return AdvancedComposition(float64(features+1)*float64(features+1), entropyEpsilon, delta)
}

// AdvancedComposition returns ε√(2c·ln(1/δ)) + cε(e^ε − 1), what [B] reads its Eq. (8) as
// for c steps of an epsilon each. +Inf for arguments out of range.
func AdvancedComposition(c, epsilon, delta float64) float64 {
	if !(c >= 1) || !(epsilon > 0) || !(delta > 0 && delta < 1) {
		return math.Inf(1)
	}
	return epsilon*math.Sqrt(2*c*math.Log(1/delta)) + c*epsilon*math.Expm1(epsilon)
}
