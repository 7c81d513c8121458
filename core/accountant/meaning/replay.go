package meaning

import (
	"math"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// Replay recomputes published figures by the formulas that their authors used. Its numbers are NOT
// guarantees: they are for comparison with a paper, and no ledger uses them for a price.
//
// It follows Mohapatra, Sasy, He, Kamath and Thakkar, "The Role of Adaptive Optimizers for Honest
// Private Hyperparameter Selection" (AAAI 2022): the conversion of Mironov (arXiv:1702.07476), ε =
// R(α) + ln(1/δ)/(α−1), over the integer orders 2 to 199 and 256, 384, 512.
type Replay struct {
	// Event is the training run of one candidate.
	Event dp.Event
	// Relation is that of the paper; add/remove for sampled Gaussians.
	Relation dp.Relation
}

// ComposedCandidates returns the "moments accountant" column: k candidates composed, at delta.
func (r Replay) ComposedCandidates(k int, delta float64) (float64, error) {
	return r.convert(float64(k), math.Log(1/delta))
}

// LiuTalwar returns the epsilon of hard random stopping over k candidates (γ = 1/k, δ₂ = δ/2) with
// the smaller of the two readings of its δ that are in circulation:
//
//	ε = 3ε₁ + 3√(2δ₁),  δ = √(2δ₁)·Υ + δ₂,  Υ = k·ln(1/δ₂)
//
// Guarantees use δ = 3√(2δ₁)·Υ + δ₂ (dp.RandomStopping).
func (r Replay) LiuTalwar(k int, delta float64) (float64, error) {
	delta2 := delta / 2
	bound := float64(k) * math.Log(1/delta2)
	root := (delta - delta2) / bound // √(2δ₁)
	epsilon1, err := r.convert(1, math.Ln2-2*math.Log(root))
	if err != nil {
		return math.Inf(1), err
	}
	return 3*epsilon1 + 3*root, nil
}

// convert is the least ε over the paper's orders, with ln(1/δ) given since δ₁ is
// far below what a probability needs.
func (r Replay) convert(count, logInverseDelta float64) (float64, error) {
	best := math.Inf(1)
	for alpha := 2; alpha <= 512; alpha++ {
		if alpha > 199 && alpha != 256 && alpha != 384 && alpha != 512 {
			continue
		}
		divergence, err := accountant.RDP(r.Event, r.Relation, float64(alpha))
		if err != nil {
			return math.Inf(1), err
		}
		best = math.Min(best, count*divergence+logInverseDelta/float64(alpha-1))
	}
	return best, nil
}
