package accountant

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"pawl/core/dp"
)

// SampledPure returns the pure epsilons of an epsilon-DP mechanism on a Poisson sample of rate q,
// if a unit is removed and if one is added:
//
//	remove: ln(1 + q(e^ε − 1)),  add: −ln(1 + q(e^(−ε) − 1))
//
// With M the output without the unit and M' with it, the sampled output with the unit has the
// distribution (1−q)M + qM', and its ratio to M is 1−q+q·M'/M with M'/M in [e^(−ε), e^ε]. Adding is
// the smaller of the two. Rates outside [0, 1] and epsilons that are not >= 0 give +Inf.
func SampledPure(q, epsilon float64) (remove, add float64) {
	// Removing a unit replaces it by nothing, of which M' is M.
	if remove = SampledReplace(q, epsilon, epsilon); math.IsInf(remove, 1) {
		return inf, inf
	}
	return remove, math.Min(remove, atLeastTinyIf(epsilon, -sampledLogRatio(q, -epsilon)))
}

// SampledReplace returns the pure epsilon, under ReplaceOne, of a mechanism on a Poisson sample of
// rate q that is epsilon-DP if a unit is added or removed and r-DP if one is replaced, r <= 2ε
// (otherwise 2ε counts):
//
//	ln[(1 − q + q e^ε) / (1 − q + q e^(ε−r))]
//
// The two outputs are (1−q)M + qM₁ and (1−q)M + qM₂ with a = M₁/M and b = M₂/M in [e^(−ε), e^ε] and
// a/b <= e^r. (1−q+qa)/(1−q+qb) grows with a and falls with b, and at b = a·e^(−r) it grows with a,
// so it is largest at a = e^ε, b = e^(ε−r). With r = 2ε it is the cost of removing one unit and
// adding the other. This holds for each lot of the other units, and the ratio of two sums over lots
// is at most the largest ratio of their terms. Without a one-sided bound (epsilon +Inf) it is r:
// there is no amplification.
func SampledReplace(q, epsilon, r float64) float64 {
	switch {
	case !(q >= 0 && q <= 1) || !(epsilon >= 0) || !(r >= 0):
		return inf
	case q == 0:
		return 0
	case q == 1 || math.IsInf(epsilon, 1):
		return math.Min(r, 2*epsilon)
	}
	r = math.Min(r, 2*epsilon)
	return math.Min(r, atLeastTinyIf(r, sampledLogRatio(q, epsilon)-sampledLogRatio(q, epsilon-r)))
}

// sampledLogRatio is ln(1−q+q·e^x) without overflow or cancelling.
func sampledLogRatio(q, x float64) float64 {
	if x > 40 || x < -1 {
		return logAdd(math.Log1p(-q), math.Log(q)+x)
	}
	return math.Log1p(q * math.Expm1(x))
}

func atLeastTinyIf(something, x float64) float64 {
	if something > 0 {
		return atLeastTiny(math.Max(0, x))
	}
	return 0
}

// sampledPureEpsilon is the pure epsilon of a Poisson-sampled event, +Inf where it has
// none.
func sampledPureEpsilon(e dp.PoissonSampled, rel dp.Relation) float64 {
	base := pureSum(e.Event, rel)
	if rel != dp.ReplaceOne {
		remove, _ := SampledPure(e.Rate, base)
		return remove
	}
	oneSided := inf
	if e.OneSided != nil {
		oneSided = pureSum(e.OneSided, dp.AddOrRemoveOne)
	}
	return SampledReplace(e.Rate, oneSided, base)
}

// sampledCurve is the Rényi curve of a Poisson-sampled mechanism: of a Gaussian by
// SampledGaussianRDP, of a pure one by the integral over its dominating pair (P, Q),
// the larger of D(P' ‖ Q) and D(Q ‖ P') with P' = (1−q)Q + qP (Zhu, Dong and Wang,
// arXiv:2106.08567, Theorem 11). Not sampling at all is a bound as well, since the
// divergence is jointly quasi-convex.
func sampledCurve(e dp.PoissonSampled, rel dp.Relation) (curve, error) {
	if rel == dp.ReplaceOne {
		return replacedCurve(e)
	}
	if g, ok := e.Event.(dp.Gaussian); ok {
		return func(alpha float64) float64 { return SampledGaussianRDP(e.Rate, g.NoiseMultiplier, alpha) }, nil
	}
	plain, err := eventCurve(e.Event, rel)
	if err != nil {
		return nil, err
	}
	epsilon := pureEpsilon(e.Event, rel)
	remove, _ := SampledPure(e.Rate, epsilon)
	response := func(alpha float64) float64 {
		p := 1 / (1 + math.Exp(-epsilon))
		return sampledAtoms(e.Rate, alpha, []atom{{epsilon, p}, {-epsilon, p * math.Exp(-epsilon)}})
	}
	var own func(alpha float64) float64
	switch e.Event.(type) {
	case dp.Laplace:
		own = func(alpha float64) float64 { return sampledLaplace(e.Rate, epsilon, alpha) }
	case dp.ExponentialMechanism:
		own = func(alpha float64) float64 { return sampledRange(e.Rate, epsilon, alpha) }
	}
	return func(alpha float64) float64 {
		r := math.Min(math.Min(remove, plain(alpha)), orInf(response(alpha)))
		if own != nil {
			r = math.Min(r, orInf(own(alpha)))
		}
		return atLeastTinyIf(epsilon, r)
	}, nil
}

// sampledAtoms is the divergence of order alpha of the sampled pair of a law of atoms.
func sampledAtoms(q, alpha float64, atoms []atom) float64 {
	worst, logQ := 0.0, math.Log(q)
	for _, beta := range []float64{alpha, 1 - alpha} {
		s := newLogSum()
		for _, x := range atoms {
			if x.mass > 0 {
				s.add(math.Log(x.mass) - x.loss + logPowerGap(logQ, q, x.loss, beta))
			}
		}
		worst = math.Max(worst, softplus(s.value())/(alpha-1))
	}
	return worst
}

// sampledRange is that of a mechanism whose loss has range epsilon: for some 0 < s < ε
// its outputs are dominated by two atoms s and s−ε (Dong, Durfee and Rogers,
// arXiv:1909.13830), and the largest over s counts: it is searched, at a grid of cells and around
// the best one, and raised by 1e-9 for what the search may miss.
func sampledRange(q, epsilon, alpha float64) float64 {
	if epsilon == 0 || epsilon < 1e-3 {
		return inf // the bound without this form serves
	}
	negative := func(s float64) float64 { return -sampledAtoms(q, alpha, rangeAtoms(epsilon, s)) }
	const cells = 16
	best, at := inf, 0.
	for i := range cells {
		switch v := negative(epsilon * (float64(i) + 0.5) / cells); {
		case v < best:
			best, at = v, float64(i)
		case math.IsNaN(v):
			return inf
		}
	}
	_, v := GoldenMin(negative, math.Max(0, at-0.5)*epsilon/cells, math.Min(cells, at+1.5)*epsilon/cells, 24)
	return -math.Min(best, v) * (1 + 1e-9)
}

// rangeAtoms is the pair of a mechanism of bounded range whose losses are s and s−ε.
func rangeAtoms(epsilon, s float64) []atom {
	p := math.Expm1(s-epsilon) / math.Expm1(-epsilon) // of s: (1−e^(s−ε))/(1−e^(−ε))
	return []atom{{s, p}, {s - epsilon, 1 - p}}
}

// sampledLaplace integrates over the losses in (−ε, ε), whose density under Q is
// e^(−(ℓ+ε)/2)/4, in panels that are short beside 1/α. +Inf beyond what that can do.
func sampledLaplace(q, epsilon, alpha float64) float64 {
	panels := math.Ceil(epsilon*(alpha+2)/2) + 1
	if panels > 400 {
		return inf
	}
	worst, logQ := 0.0, math.Log(q)
	width := 2 * epsilon / panels
	for _, beta := range []float64{alpha, 1 - alpha} {
		s := newLogSum()
		s.add(-epsilon - math.Ln2 + logPowerGap(logQ, q, epsilon, beta))
		s.add(-math.Ln2 + logPowerGap(logQ, q, -epsilon, beta))
		for i := range int(panels) {
			a := -epsilon + float64(i)*width
			for j, x := range legendreNodes {
				loss := a + x*width
				s.add(math.Log(legendreWeights[j]*width/4) - (loss+epsilon)/2 + logPowerGap(logQ, q, loss, beta))
			}
		}
		worst = math.Max(worst, softplus(s.value())/(alpha-1))
	}
	// The rule is exact to rounding; its last digits are given away.
	return worst * (1 + 1e-10)
}

var legendreNodes, legendreWeights = func() (x, w []float64) {
	x, w = make([]float64, 16), make([]float64, 16)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// replacedCurve is the Rényi curve under ReplaceOne of a sampled event with a one-sided
// bound: the smallest of the curve without sampling, of the pure epsilon
// (SampledReplace), and of removing the one and adding the other,
//
//	D_α(P ‖ Q) <= (α − 1/p)/(α−1) · D_{pα}(P ‖ R) + D_{p'(α−1/p)}(R ‖ Q),  1/p + 1/p' = 1
//
// (Mironov, arXiv:1702.07476, Proposition 11), with R the output without the unit and
// any p > 1.
func replacedCurve(e dp.PoissonSampled) (curve, error) {
	plain, err := wholeCurve(e.Event, dp.ReplaceOne)
	if err != nil {
		return nil, err
	}
	side, err := wholeCurve(dp.PoissonSampled{Rate: e.Rate, Event: e.OneSided}, dp.AddOrRemoveOne)
	if err != nil {
		return nil, err
	}
	pure := pureCurve(sampledPureEpsilon(e, dp.ReplaceOne))
	return func(alpha float64) float64 {
		best := math.Min(plain(alpha), pure(alpha))
		through := func(u float64) float64 {
			p := 1 + math.Exp(u)
			conjugate := p / (p - 1)
			return orInf((alpha-1/p)/(alpha-1)*side(p*alpha) + side(conjugate*(alpha-1/p)))
		}
		_, added := GoldenMin(through, -4, 4, 10)
		return math.Min(best, added)
	}, nil
}
