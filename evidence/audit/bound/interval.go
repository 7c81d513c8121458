package bound

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Interval is an estimate of a probability with a confidence interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Lower    float64 `json:"lower"`
	Upper    float64 `json:"upper"`
}

// ClopperPearson is the exact two-sided interval for a probability of which k
// successes were seen in n independent trials: each side errs with probability
// (1−confidence)/2 at most, for every n and every probability (Clopper and Pearson,
// Biometrika 26, 1934).
func ClopperPearson(k, n int, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if n < 1 || k < 0 || k > n {
		return Interval{}, invalid("%d successes in %d trials", k, n)
	}
	side := (1 - confidence) / 2
	return Interval{float64(k) / float64(n), Lower(k, n, side), Upper(k, n, side)}, nil
}

// Lower is the one-sided Clopper–Pearson bound: the p at which n trials give k
// successes or more with probability alpha,
//
//	I_p(k, n−k+1) = alpha,
//
// so that Lower exceeds the true probability with probability alpha at most. k = 0
// gives 0, k = n gives alpha^(1/n). Arguments without meaning (k outside of [0, n],
// n < 1, alpha outside of (0, 1)) give 0, which bounds nothing. Computed by bisection;
// the end of the bracket on the safe side is returned.
func Lower(k, n int, alpha float64) float64 {
	switch {
	case !sound(k, n, alpha) || k == 0:
		return 0
	case k == n:
		return math.Exp(math.Log(alpha) / float64(n))
	}
	low, _ := bracket(func(p float64) bool {
		return mathext.RegIncBeta(float64(k), float64(n-k+1), p) > alpha
	})
	return low
}

// Upper is the other side: the true probability exceeds it with probability alpha at
// most. k = n gives 1, k = 0 gives 1 − alpha^(1/n); arguments without meaning give 1.
func Upper(k, n int, alpha float64) float64 {
	switch {
	case !sound(k, n, alpha) || k == n:
		return 1
	case k == 0:
		return -math.Expm1(math.Log(alpha) / float64(n))
	}
	// The mirrored tail is computed in its own right: one minus a bound near 1 would
	// lose the digits of a small probability.
	_, high := bracket(func(p float64) bool {
		return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) < alpha
	})
	return high
}

func sound(k, n int, alpha float64) bool { return n >= 1 && k >= 0 && k <= n && alpha > 0 && alpha < 1 }

// bracket narrows [0, 1] to where above turns true.
func bracket(above func(p float64) bool) (low, high float64) {
	low, high = 0, 1
	for range 120 {
		mid := (low + high) / 2
		if mid == low || mid == high || high-low <= 1e-13*high {
			break
		}
		if above(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return low, high
}

// wilson is Wilson's approximate bound at z standard errors, above the estimate for
// positive z and below it for negative z. It chooses thresholds, where any rule will
// do, and never enters a bound that is reported.
func wilson(k, n int, z float64) float64 {
	m := float64(n)
	p := float64(k) / m
	mid := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return min(max((mid+half)/(1+z*z/m), 0), 1)
}
