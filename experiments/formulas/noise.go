package formulas

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

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

// ClassicNoiseMultiplier is √(2 ln(1.25/δ))/ε, as [B] Eq. (3) has it for every ε.
// Its proof needs ε < 1; TrueDelta says what it gives beyond.
func (b Budget) ClassicNoiseMultiplier() float64 {
	return math.Sqrt(2*math.Log(1.25/b.Delta)) / b.Epsilon
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

// OutputNoise is isotropic Gaussian noise on a vector of Parameters numbers, each of
// standard deviation StdDev (in units of the parameters): output perturbation, [B]
// Eq. (3).
type OutputNoise struct {
	Parameters int
	StdDev     float64
}

// ExpectedSquaredNorm is E‖z‖² = m·σ². The law of ‖z‖²/σ² is the central χ² with m
// degrees of freedom. m = 0 and σ = 0 give 0.
func (n OutputNoise) ExpectedSquaredNorm() float64 {
	return float64(n.Parameters) * n.StdDev * n.StdDev
}

// ExpectedNorm is E‖z‖ = σ·√2·Γ((m+1)/2)/Γ(m/2), the mean of a central χ; it lies
// between σ√(m−1/2) and σ√m. m = 0 gives 0.
func (n OutputNoise) ExpectedNorm() float64 {
	if n.Parameters == 0 {
		return 0
	}
	m := float64(n.Parameters)
	above, _ := math.Lgamma((m + 1) / 2)
	below, _ := math.Lgamma(m / 2)
	return n.StdDev * math.Sqrt2 * math.Exp(above-below)
}

// SquaredNormQuantile is the value that ‖z‖² stays below with probability p.
func (n OutputNoise) SquaredNormQuantile(p float64) float64 {
	if n.Parameters == 0 || n.StdDev == 0 {
		return 0
	}
	return n.StdDev * n.StdDev * distuv.ChiSquared{K: float64(n.Parameters)}.Quantile(p)
}
