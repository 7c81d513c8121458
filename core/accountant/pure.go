package accountant

import (
	"math"

	"pawl/core/dp"
)

// pureCurve is the curve of binary randomised response, which dominates every
// epsilon-DP mechanism:
//
//	R(α) = ln[cosh((α−½)ε) / cosh(ε/2)] / (α−1)
//
// written so that it neither cancels at small ε nor overflows at large ε.
func pureCurve(epsilon float64) curve {
	return func(alpha float64) float64 {
		switch {
		case math.IsInf(epsilon, 1):
			return inf
		case epsilon == 0:
			return 0
		case alpha*epsilon > 30:
			r := epsilon + (math.Log1p(math.Exp(-(2*alpha-1)*epsilon))-math.Log1p(math.Exp(-epsilon)))/(alpha-1)
			return math.Min(epsilon, r)
		}
		x := 2 * math.Sinh(alpha*epsilon/2) * math.Sinh((alpha-1)*epsilon/2) / math.Cosh(epsilon/2)
		return math.Min(epsilon, atLeastTiny(math.Log1p(x)/(alpha-1)))
	}
}

// laplaceCurve is the curve of Laplace noise with pure epsilon ε: Mironov,
// arXiv:1702.07476, Proposition 6,
//
//	R(α) = ln[α/(2α−1) e^((α−1)ε) + (α−1)/(2α−1) e^(−αε)] / (α−1)
//
// It is convex in e^ε and 0 at ε=0, so a shift split over coordinates costs no
// more than one along a single coordinate.
func laplaceCurve(epsilon float64) curve {
	return func(alpha float64) float64 {
		if math.IsInf(epsilon, 1) {
			return inf
		}
		t, twice := alpha-1, 2*alpha-1
		if alpha*epsilon < 0.1 {
			// The first-order terms cancel: sum α(tε)^k/k! + t(−αε)^k/k! from k=2.
			sum, a, b := 0.0, alpha*t*epsilon, -t*alpha*epsilon
			for k := 2.0; k < 16; k++ {
				a *= t * epsilon / k
				b *= -alpha * epsilon / k
				sum += a + b
			}
			return math.Min(epsilon, atLeastTiny(math.Log1p(sum/twice)/t))
		}
		return math.Min(epsilon, epsilon+math.Log1p(t*math.Expm1(-twice*epsilon)/twice)/t)
	}
}

// randomizedResponseCurve is exact: with o = p/k the chance of a given wrong
// answer and r = ln(t/o) the log ratio to the true one,
//
//	R(α) = ln[o (e^(αr) + e^((1−α)r) + k−2)] / (α−1)
//	     = ln[1 + 4 o e^(r/2) sinh(αr/2) sinh((α−1)r/2)] / (α−1)
func randomizedResponseCurve(e dp.RandomizedResponse) curve {
	k := float64(e.Categories)
	o := e.NoiseProbability / k
	r := pureEpsilon(e, dp.ReplaceOne)
	return func(alpha float64) float64 {
		switch {
		case math.IsInf(r, 1):
			return inf
		case r == 0:
			return 0
		case alpha*r < 30:
			x := 4 * o * math.Exp(r/2) * math.Sinh(alpha*r/2) * math.Sinh((alpha-1)*r/2)
			return math.Min(r, atLeastTiny(math.Log1p(x)/(alpha-1)))
		}
		s := newLogSum()
		s.add(alpha * r)
		s.add((1 - alpha) * r)
		s.add(math.Log(k - 2))
		return math.Min(r, (math.Log(o)+s.value())/(alpha-1))
	}
}

// exponentialCurve bounds the exponential mechanism, whose privacy loss has range
// epsilon: Dong, Durfee and Rogers, arXiv:1909.13830,
//
//	R(α) <= sup_{0<s<ε} ln[p e^(αs) + (1−p) e^(α(s−ε))] / (α−1),  p = (1−e^(s−ε)) / (e^s − e^(s−ε))
//
// and αε²/8 and the curve of any pure mechanism; the smallest counts. With u = e^s, a = e^(−ε),
// A = 1 − a^α and B = a − a^α the bracket is u^(α−1)·(A − uB)/(1−a), which is largest at
// u = (α−1)A/(αB), where it is u^(α−1)·A/(α(1−a)).
func exponentialCurve(epsilon float64) curve {
	pure := pureCurve(epsilon)
	return func(alpha float64) float64 {
		if epsilon == 0 {
			return 0
		}
		simple := math.Min(pure(alpha), atLeastTiny(alpha*epsilon*epsilon/8))
		if epsilon < 1e-3 || math.IsInf(epsilon, 1) {
			return simple
		}
		logA := math.Log(-math.Expm1(-alpha * epsilon))
		logB := math.Log(-math.Expm1((1-alpha)*epsilon)) - epsilon
		logU := math.Log1p(-1/alpha) + logA - logB
		r := logU + (logA-math.Log(alpha)-math.Log(-math.Expm1(-epsilon)))/(alpha-1)
		// What the logarithms may lose is given away.
		if r += 1e-14 / (alpha - 1); math.IsNaN(r) || r <= 0 {
			return simple
		}
		return math.Min(simple, r*(1+1e-9))
	}
}
