package bound

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/core/accountant"
)

// Counts are the outcomes of one test that was fixed before it was run: how often it
// said "in" in trials of the world that holds the unit (TruePositives of Positives)
// and of the world that does not (FalsePositives of Negatives). Trials are independent.
type Counts struct {
	TruePositives  int `json:"true_positives"`
	Positives      int `json:"positives"`
	FalsePositives int `json:"false_positives"`
	Negatives      int `json:"negatives"`
}

// Check reports counts that no experiment can have.
func (c Counts) Check() error {
	if c.Positives < 1 || c.Negatives < 1 {
		return invalid("a test needs trials in both worlds, got %d and %d", c.Positives, c.Negatives)
	}
	if c.TruePositives < 0 || c.TruePositives > c.Positives || c.FalsePositives < 0 || c.FalsePositives > c.Negatives {
		return invalid("%d of %d and %d of %d are not counts", c.TruePositives, c.Positives, c.FalsePositives, c.Negatives)
	}
	return nil
}

// Reversed are the counts of the test that says the opposite.
func (c Counts) Reversed() Counts {
	return Counts{c.Positives - c.TruePositives, c.Positives, c.Negatives - c.FalsePositives, c.Negatives}
}

// rates are a lower bound on the true positive and an upper bound on the false positive
// rate, both right with probability 1−alpha: each errs with alpha/2.
func (c Counts) rates(alpha float64) (low, high float64) {
	return Lower(c.TruePositives, c.Positives, alpha/2), Upper(c.FalsePositives, c.Negatives, alpha/2)
}

// Epsilon is a lower bound on the ε of every (ε, δ)-DP mechanism at this δ:
//
//	max(0, ln((p − δ)/q), ln((1 − q − δ)/(1 − p)))
//
// where p <= TPR and q >= FPR are one-sided Clopper–Pearson bounds of (1−confidence)/2
// each, so that both hold with the stated confidence; the second term is the same test
// read as one for "out" and costs nothing more. 100 of 100 against 0 of 100 give 3.281
// at δ = 0 and 95 %.
//
// It looks in one direction: a test that is more often right when it is reversed gives
// 0. See EpsilonEither. Errors: impossible counts, δ or confidence out of range.
func (c Counts) Epsilon(delta, confidence float64) (float64, error) {
	if err := c.check(delta, confidence); err != nil {
		return 0, err
	}
	p, q := c.rates(1 - confidence)
	return epsilonAt(p, q, delta), nil
}

// EpsilonEither is Epsilon for a test of which it was not fixed which answer means "in":
// the larger bound of both directions, each at half the error (Bonferroni), so that a
// test that is always wrong counts as one that is always right. 100 of 100 against 0 of
// 100 give 3.106 at δ = 0 and 95 %, and so do 0 against 100.
func (c Counts) EpsilonEither(delta, confidence float64) (float64, error) {
	if err := c.check(delta, confidence); err != nil {
		return 0, err
	}
	half := 1 - (1-confidence)/2
	straight, err := c.Epsilon(delta, half)
	if err != nil {
		return 0, err
	}
	reversed, err := c.Reversed().Epsilon(delta, half)
	return max(straight, reversed), err
}

func (c Counts) check(delta, confidence float64) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := checkDelta(delta); err != nil {
		return err
	}
	return checkConfidence(confidence)
}

func epsilonAt(p, q, delta float64) float64 {
	best := 0.0
	for _, v := range [2]float64{math.Log((p - delta) / q), math.Log((1 - q - delta) / (1 - p))} {
		if v > best { // a NaN, of a difference below 0, is not
			best = v
		}
	}
	return best
}

// Mu is a lower bound on the μ of every Gaussian-DP mechanism (Dong, Roth and Su,
// arXiv:1905.02383):
//
//	max(0, Φ⁻¹(p) − Φ⁻¹(q))
//
// with the bounds of Epsilon. It is -Inf free: a bound of no content gives 0.
func (c Counts) Mu(confidence float64) (float64, error) {
	if err := c.check(0, confidence); err != nil {
		return 0, err
	}
	p, q := c.rates(1 - confidence)
	return muAt(p, q), nil
}

func muAt(p, q float64) float64 {
	if mu := distuv.UnitNormal.Quantile(p) - distuv.UnitNormal.Quantile(q); mu > 0 {
		return mu
	}
	return 0
}

// GaussianEpsilon is the ε at δ of the Gaussian mechanism with μ = Mu. It is tighter than
// Epsilon and bounds mechanisms of which it is known that their trade-off curve is that
// of a Gaussian; for others it is a comparison, not a bound (Nasr, Hayes, Steinke, Balle,
// Tramèr, Jagielski, Carlini and Terzis, arXiv:2302.07956).
func (c Counts) GaussianEpsilon(delta, confidence float64) (float64, error) {
	if err := c.check(delta, confidence); err != nil {
		return 0, err
	}
	mu, err := c.Mu(confidence)
	if err != nil || mu == 0 {
		return 0, err
	}
	return accountant.AnalyticGaussianEpsilon(1/mu, delta), nil
}
