package release

import "math"

// z95 is the normal quantile at 0.975.
const z95 = 1.959963984540054

// Share is what is known of a share: a noisy part and a noisy whole, in rows, of
// which the share is Part/Whole.
type Share struct {
	Part, Whole float64
	// The noise's variances, and its covariance between part and whole.
	PartVariance, Covariance, WholeVariance float64
	// PerUnit is the largest number of rows k of one unit. They may be all alike, so that
	// n rows say as little as n/k independent ones.
	PerUnit float64
}

// Value is the share within [0, 1], NaN where the noisy whole is not positive.
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

// StdErr is the standard error of Value, NaN where that is.
func (s Share) StdErr() float64 {
	p := s.Value()
	return math.Sqrt(s.PerUnit*p*(1-p)/s.Whole + s.noise(p)/(s.Whole*s.Whole))
}

// Interval holds the share in the population that the scope's units come from, as often
// as a normal deviate lies within z. It is within [0, 1]. These are Fieller's limits: all
// shares p that agree with what was released,
//
//	(part − p·whole)² <= z²·(k·whole·p(1−p) + noise(p)).
//
// The first term is the sampling variance. p(1−p) is that of losses of 0 and 1 of mean p,
// and the largest of any losses in [0, 1]; the rows of a unit, which may be all alike,
// vary together at most k times as much as independent ones. It is taken at every p and
// not at the value, which near 0 and 1 knows little of it; without noise this is Wilson's
// interval of n/k rows. Where the noise leaves in doubt whether there are rows, the
// condition bounds nothing.
//
// A part outside of [0, whole] is moved to the near end, where it may be; the interval
// would be the narrower the less it can be true.
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
