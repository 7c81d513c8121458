package describe

import (
	"math"

	"pawl/report"
)

// z95 is the normal quantile at 0.975.
const z95 = 1.959963984540054

// ratio is a noisy part of a noisy whole, in rows, with the noise's variances.
type ratio struct {
	part, whole                             float64
	partVariance, covariance, wholeVariance float64
	// perUnit is the largest number of rows of one unit, which may be all alike.
	perUnit float64
}

// fieller are all values p in [low, high] that agree with what was released:
//
//	(part − p·whole)² <= z²·(noise(p) + k·whole·(v0 + v1·p + v2·p²)),
//
// where the bracket is the variance of one row at p: p(1−p) of a share, a constant of a mean. Where
// the noise leaves in doubt whether there are rows, the condition bounds nothing.
func (r ratio) fieller(v0, v1, v2, low, high float64) [2]float64 {
	n, z2 := r.whole, z95*z95
	k := r.perUnit * math.Max(n, 0)
	// a·p² − 2b·p + c <= 0.
	a := n*n - z2*(r.wholeVariance+k*v2)
	b := r.part*n - z2*(r.covariance-k*v1/2)
	c := r.part*r.part - z2*(r.partVariance+k*v0)
	if !(n > 0 && a > 0) {
		return [2]float64{low, high}
	}
	half := math.Sqrt(math.Max(b*b-a*c, 0))
	clamp := func(x float64) float64 { return math.Min(math.Max(x, low), high) }
	return [2]float64{clamp((b - half) / a), clamp((b + half) / a)}
}

// share is the ratio as one of rows of the kind: Wilson's interval where there is no noise.
func (r ratio) share() report.Figure {
	r.part = math.Min(math.Max(r.part, 0), math.Max(r.whole, 0))
	i := r.fieller(0, 1, -1, 0, 1)
	f := report.Figure{Value: report.Number(math.NaN()), Interval: [2]report.Number{report.Number(i[0]), report.Number(i[1])}}
	if r.whole > 0 {
		f.Value = report.Number(r.part / r.whole)
	}
	return f
}

// mean is the ratio as a mean of numbers in [−1, 1] of the given variance, put through scale.
func (r ratio) mean(variance float64, scale func(z float64) float64) report.Figure {
	i := r.fieller(variance, 0, 0, -1, 1)
	f := report.Figure{Value: report.Number(math.NaN()), Interval: [2]report.Number{report.Number(scale(i[0])), report.Number(scale(i[1]))}}
	// Where all is possible, no value is.
	if r.whole > 0 && (i[0] > -1 || i[1] < 1) {
		f.Value = report.Number(scale(math.Min(math.Max(r.part/r.whole, -1), 1)))
	}
	return f
}

// sureOf is how many deviations of the noise a count needs to be shown as it is.
const sureOf = 3

// shown makes counts that are not negative and have the same total, if that is not: large ones
// keep their value, which is without bias, and small ones are moved to the nearest point at which
// they do (max(0, c−τ), one τ for all).
func shown(counts []float64, stdDev float64) []float64 {
	out := make([]float64, len(counts))
	total, small := 0.0, []int(nil)
	for i, c := range counts {
		if c < sureOf*stdDev || c < 0 {
			small, total = append(small, i), total+c
		} else {
			out[i] = c
		}
	}
	if len(small) == 0 {
		return out
	}
	if total <= 0 {
		// What is missing is taken from the large ones, in proportion.
		rest := 0.0
		for _, c := range out {
			rest += c
		}
		if rest > 0 {
			for i := range out {
				out[i] *= math.Max(rest+total, 0) / rest
			}
		}
		return out
	}
	positive := make([]int, len(small))
	copy(positive, small)
	for {
		tau := -total
		for _, i := range positive {
			tau += counts[i]
		}
		tau /= float64(len(positive))
		kept := positive[:0]
		for _, i := range positive {
			if counts[i] > tau {
				kept = append(kept, i)
			}
		}
		if len(kept) == len(positive) {
			for _, i := range kept {
				out[i] = counts[i] - tau
			}
			return out
		}
		positive = kept
	}
}
