package formulas

import (
	"fmt"
	"math"

	"pawl/core/accountant"
	"pawl/evidence/theory"
)

// Budget is a target (ε, δ). Epsilon +Inf means no privacy and no noise.
type Budget struct{ Epsilon, Delta float64 }

func (b Budget) check() error {
	if !(b.Epsilon > 0) || !(b.Delta > 0 && b.Delta < 1) {
		return fmt.Errorf("%w: epsilon must be positive and delta inside (0, 1)", theory.ErrInput)
	}
	return nil
}

// MixtureNoiseMultiplier is ln(1/δ)/ε, as [D] Definition 2 has it. It is above the
// analytic multiplier, hence valid with the L2 sensitivity or anything larger, until
// ε is about a hundred: at δ = 1e-4 up to ε = 102, at 1e-5 up to 168.
func (b Budget) MixtureNoiseMultiplier() float64 { return math.Log(1/b.Delta) / b.Epsilon }

// AnalyticNoiseMultiplier is the smallest multiplier at which one Gaussian release
// is (ε, δ)-DP (Balle and Wang, arXiv:1805.06530), rounded up. ε = +Inf gives 0.
func (b Budget) AnalyticNoiseMultiplier() (float64, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	if math.IsInf(b.Epsilon, 1) {
		return 0, nil
	}
	return accountant.GaussianNoiseMultiplier(b.Epsilon, b.Delta)
}

// TrueDelta is the δ that one Gaussian release of this multiplier has at ε.
func TrueDelta(noiseMultiplier, epsilon float64) float64 {
	return accountant.AnalyticGaussianDelta(noiseMultiplier, epsilon)
}
