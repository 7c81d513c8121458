// Package meaning explains what an epsilon means, and recomputes figures by the formulas of papers.
// It calls the accountant and decides nothing.
package meaning

import (
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// TruePositiveRate returns an upper bound on the true positive rate of any test that distinguishes
// two neighbouring data sets by the outputs of an event, at false positive rate falsePositives in
// [0, 1]. Every (ε, δ(ε)) that the event satisfies bounds it,
//
//	TPR <= min(e^ε·FPR + δ, 1 − e^(−ε)(1 − δ − FPR))
//
// (Kairouz, Oh and Viswanath, arXiv:1311.0776, Theorem 2.1), and the smallest over ε counts. It is
// at least FPR, and 1 if nothing is bounded.
func TruePositiveRate(e dp.Event, rel dp.Relation, falsePositives float64, which accountant.Method) (float64, error) {
	if !(falsePositives >= 0 && falsePositives <= 1) {
		return 1, fmt.Errorf("false positive rate must lie in [0, 1]")
	}
	var failure error
	at := func(epsilon float64) float64 {
		r, err := accountant.Delta(e, rel, epsilon, which)
		if err != nil {
			failure = err
			return 1
		}
		return math.Min(math.Exp(epsilon)*falsePositives+r.Delta, 1-math.Exp(-epsilon)*(1-r.Delta-falsePositives))
	}
	best := math.Min(1, at(0))
	if failure != nil {
		return 1, failure
	}
	// Each ε gives a bound, so the search can only be less tight than it might be.
	hi := math.Max(1, -math.Log(math.Max(falsePositives, 1e-12)))
	const cells = 8
	at0 := 0.0
	for i := 1; i <= cells; i++ {
		if v := at(hi * float64(i) / cells); v < best {
			best, at0 = v, hi*float64(i)/cells
		}
	}
	if _, v := accountant.GoldenMin(at, math.Max(0, at0-hi/cells), at0+hi/cells, 12); v < best {
		best = v
	}
	return math.Min(1, math.Max(best, falsePositives)), failure
}

// Posterior returns the largest belief that a unit is in the data which an adversary with the given
// prior belief can reach after an epsilon-DP release:
//
//	p·e^ε / (p·e^ε + 1 − p)
//
// which is e^ε/(1+e^ε) from even odds. With (ε, δ)-DP it holds except on outputs that δ covers.
// epsilon = +Inf gives 1 for every prior above 0; a prior outside [0, 1] and a negative or NaN
// epsilon give NaN.
func Posterior(epsilon, prior float64) float64 {
	switch {
	case !(epsilon >= 0) || !(prior >= 0 && prior <= 1):
		return math.NaN()
	case prior == 0:
		return 0
	}
	return 1 / (1 + math.Exp(-epsilon)*(1-prior)/prior)
}
