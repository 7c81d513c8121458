package release

import "math"

// z95 is the normal quantile at 0.975.
const z95 = 1.959963984540054

// Share is a noisy share: a noisy part and a noisy whole, in rows, and their noise. The share is
// Part/Whole.
type Share struct {
	Part, Whole float64
	// The noise's variances, and its covariance between part and whole.
	PartVariance, Covariance, WholeVariance float64
	// PerUnit is the largest number of rows k of one unit. They may be all alike, so n rows may carry
	// no more information than n/k independent ones.
	PerUnit float64
}

// Value returns the share within [0, 1], NaN if the noisy whole is not positive.
func (s Share) Value() float64 {
	if !(s.Whole > 0) {
		return math.NaN()
	}
	return min(max(s.Part/s.Whole, 0), 1)
}

// noise is the variance of part − p·whole by noise.
func (s Share) noise(p float64) float64 {
	return s.PartVariance - 2*p*s.Covariance + p*p*s.WholeVariance
}

// StdErr returns the standard error of Value, NaN if Value is NaN.
func (s Share) StdErr() float64 {
	p := s.Value()
	return math.Sqrt(s.PerUnit*p*(1-p)/s.Whole + s.noise(p)/(s.Whole*s.Whole))
}

// Interval returns an interval for the share in the population from which the scope's units come,
// with the confidence that a normal deviate lies within z. It lies within [0, 1]. Its ends are
// Fieller's limits: it has all shares p that agree with the release,
//
//	(part − p·whole)² <= z²·(k·whole·p(1−p) + noise(p)).
//
// The first term is the sampling variance. p(1−p) is the variance of losses of 0 and 1 with mean p,
// and the largest for any losses in [0, 1]; the rows of a unit, which may be all alike, vary
// together at most k times as much as independent ones. It is evaluated at every p and not at the
// value, which is a poor guide near 0 and 1; without noise this is Wilson's interval for n/k rows.
// If the noise leaves in doubt whether there are rows, the condition bounds nothing.
//
// A part outside [0, whole] is moved to the nearer end; otherwise the interval would become
// narrower the less possible the part is.
func (s Share) Interval(z float64) [2]float64 {
	x, n, z2 := min(max(s.Part, 0), s.Whole), s.Whole, z*z
	// a·p² − 2b·p + c <= 0.
	a := n*n + z2*(s.PerUnit*n-s.WholeVariance)
	b := x*n + z2*(s.PerUnit*n/2-s.Covariance)
	c := x*x - z2*s.PartVariance
	if !(n > 0 && a > 0) {
		return [2]float64{0, 1}
	}
	half := math.Sqrt(max(b*b-a*c, 0))
	return [2]float64{min(max((b-half)/a, 0), 1), min(max((b+half)/a, 0), 1)}
}

// ofTheLargest is the 95 % interval of the largest of several shares, of which the given
// number may be it. s is the one that looks largest, and may be so by luck: the lower end
// keeps a margin for each (Bonferroni). The upper end needs none.
func (s Share) ofTheLargest(contenders int) [2]float64 {
	i := s.Interval(z95)
	i[0] = s.Interval(math.Sqrt2 * math.Erfinv(1-0.05/float64(contenders)))[0]
	return i
}

// contenders is the number of counts that may be the largest but for chance: those within
// 1.96 standard errors of a difference of the largest, and itself. std is the noise's
// standard deviation, perUnit the number of rows of one unit.
func contenders(counts []float64, std, perUnit float64) (n int) {
	top := counts[0]
	for _, c := range counts {
		top = max(top, c)
	}
	gap := z95 * math.Sqrt(2*(std*std+perUnit*max(top, 0)))
	for _, c := range counts {
		if c >= top-gap {
			n++
		}
	}
	return n
}
