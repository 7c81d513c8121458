package entropy

import (
	"fmt"
	"math"
)

// Subset returns the indices of a Poisson sample of [0, n) in increasing order:
// each index joins independently with probability rate. The result reuses the
// memory of dst (its old content is lost) and may be empty. Its members and its
// length are secret.
//
// Gaps between members are geometric, floor(ln U / ln(1−rate)) with U from Open01, so the work
// grows with rate·n and not with n. The quotient carries a relative error below 2^-50 and −ln U
// stays below 64 except with probability e^-64, so the probability that an index joins, given the
// indices before it, is rate ± 2^-43: a relative 1e-7 at rate 1e-6, a residual error far below the
// digits of a stated epsilon. From rate 1/4 on each index gets an exact Bernoulli draw, which is
// then as fast.
//
// rate outside [0, 1], n < 0 and n > 2^31−1 panic.
func (s *Source) Subset(dst []int32, n int, rate float64) []int32 {
	if !(rate >= 0 && rate <= 1) {
		panic(fmt.Sprintf("entropy: sampling rate %v is outside [0, 1]", rate))
	}
	if n < 0 || n > math.MaxInt32 {
		panic(fmt.Sprintf("entropy: population of %d does not fit int32 indices", n))
	}
	dst = dst[:0]
	if rate == 0 {
		return dst
	}
	if rate >= 0.25 {
		for i := range n {
			if s.Bernoulli(rate) {
				dst = append(dst, int32(i))
			}
		}
		return dst
	}
	perIndex := math.Log1p(-rate) // log(1-rate) would lose all digits of a small rate
	for i := 0; ; i++ {
		gap := math.Floor(math.Log(s.Open01()) / perIndex)
		if gap >= float64(n-i) { // compared before conversion: gap may exceed any integer
			return dst
		}
		i += int(gap)
		dst = append(dst, int32(i))
	}
}
