package bound

import "math"

// MaxTruePositiveRate is the largest true positive rate at a false positive rate that
// (ε, δ)-DP allows any test of two neighbouring worlds:
//
//	min(1, e^ε·FPR + δ, 1 − e^(−ε)(1 − δ − FPR))
//
// Kairouz, Oh and Viswanath, arXiv:1311.0776, Theorem 2.1. Some mechanism attains it.
// Arguments without meaning (ε < 0 or NaN, δ or FPR outside of [0, 1]) give 1: nothing
// is bounded. So does ε = +Inf.
func MaxTruePositiveRate(epsilon, delta, falsePositives float64) float64 {
	if !meaningful(epsilon, delta, falsePositives) {
		return 1
	}
	if math.IsInf(epsilon, 1) {
		return 1
	}
	steep := delta
	if falsePositives > 0 {
		steep += math.Exp(epsilon) * falsePositives // e^ε may be +Inf, and 0 times that NaN
	}
	flat := 1 - math.Exp(-epsilon)*(1-delta-falsePositives)
	return min(1, steep, flat)
}

// MaxSuccess is the largest share of right answers that a membership attack on one unit
// can have under (ε, δ)-DP when the unit is in with the given prior probability:
//
//	max over FPR of prior·TPR(FPR) + (1 − prior)·(1 − FPR).
//
// With even odds it is (e^ε + δ)/(1 + e^ε); it is never below max(prior, 1 − prior),
// which needs no attack. Attained at a corner of MaxTruePositiveRate. A prior outside of
// [0, 1] and parameters without meaning give 1.
func MaxSuccess(epsilon, delta, prior float64) float64 {
	if !meaningful(epsilon, delta, prior) {
		return 1
	}
	// The corners of the curve: it rises with slope e^ε to (f, t) and with e^(−ε) from
	// there. e^(−ε) is 0 and not infinite where ε is large.
	odds := math.Exp(-epsilon)
	f, t := odds*(1-delta)/(1+odds), (1+odds*delta)/(1+odds)
	return min(1, max(
		prior*delta+1-prior,
		prior*t+(1-prior)*(1-f),
		prior+(1-prior)*delta,
	))
}

func meaningful(epsilon, delta, probability float64) bool {
	return epsilon >= 0 && delta >= 0 && delta <= 1 && probability >= 0 && probability <= 1
}
