package accountant

import (
	"fmt"
	"math"

	"pawl/core/dp"
)

// selectCurve is the Rényi curve of releasing only the best of a secret random
// number of runs, each with curve R (Papernot and Steinke, arXiv:2110.03620).
//
// Truncated negative binomial, Theorem 2: for every α̂ >= 1
//
//	R'(α) = R(α) + (1+η)[(1 − 1/α̂) R(α̂) + ln(1/γ)/α̂] + ln E[K]/(α−1)
//
// Poisson of mean μ, Theorem 6: R'(α) = R(α) + μδ̂ + ln μ/(α−1), where a run is
// (ε̂, δ̂)-DP at ε̂ = ln(1 + 1/(α−1)).
//
// Both hold at every α, and Rényi divergence grows with the order, so R' at a
// small order is lowered to its value at a larger one. RandomStopping has no
// Rényi curve: see stoppingEpsilon.
func selectCurve(e dp.Select, rel dp.Relation) (curve, error) {
	parts, err := flatten(e.Event, rel)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return func(float64) float64 { return 0 }, nil
	}
	run, err := newAccount(parts, rel)
	if err != nil {
		return nil, err
	}
	base := run.curve
	if len(run.approximate)+len(run.stopping) > 0 {
		base = unbounded
	}
	var extra func(alpha float64) float64
	switch runs := e.Runs.(type) {
	case dp.TruncatedNegativeBinomial:
		logGamma := logTNBGamma(runs.Eta, runs.Mean)
		_, once := bestOrder(func(a float64) float64 { return (1-1/a)*base(a) - logGamma/a })
		once *= 1 + runs.Eta
		extra = func(alpha float64) float64 { return once + math.Log(runs.Mean)/(alpha-1) }
	case dp.PoissonRuns:
		extra = func(alpha float64) float64 {
			bounds, err := run.answer(question{math.Log1p(1 / (alpha - 1)), true}, want{closed: true, rdp: true})
			if err != nil {
				return inf
			}
			return runs.Mean*least(bounds).value + math.Max(0, math.Log(runs.Mean))/(alpha-1)
		}
	case dp.RandomStopping:
		return unbounded, nil
	default:
		return nil, fmt.Errorf("selection with %q runs has no accountant", dp.RunsKindOf(runs))
	}
	at := func(alpha float64) float64 { return base(alpha) + extra(alpha) }
	lowestOrder, lowest := bestOrder(at)
	pure := pureCurve(pureEpsilon(e, rel))
	return func(alpha float64) float64 {
		r := lowest
		if alpha > lowestOrder {
			r = at(alpha)
		}
		if math.IsNaN(r) {
			r = inf
		}
		return math.Min(r, pure(alpha))
	}, nil
}

// logTNBGamma returns ln γ of the truncated negative binomial with parameter
// eta > −1 and mean > 1, by bisection on ln γ, rounded towards a smaller γ (a
// larger cost):
//
//	E[K] = η(1−γ) / (γ(1−γ^η)),  η = 0: (1/γ − 1)/ln(1/γ)
//
// Papernot and Steinke, Definition 1.
func logTNBGamma(eta, mean float64) float64 {
	// With L = ln(1/γ): E[K] = expm1(L)·η/(1−e^(−ηL)), increasing in L from 1. Below η = 0 both powers may overflow
	// where their quotient does not. L is at most ln(mean)/(1+η) and a little.
	meanAt := func(l float64) float64 {
		switch {
		case math.Abs(eta*l) < 1e-9:
			return math.Expm1(l) / l
		case eta < 0:
			return -eta * math.Exp((1+eta)*l) * math.Expm1(-l) / math.Expm1(eta*l)
		}
		return math.Expm1(l) * eta / -math.Expm1(-eta*l)
	}
	return -bisect(0, 1e20, func(l float64) bool { return meanAt(l) >= mean })
}

// TNBGamma returns the success parameter γ of the truncated negative binomial distribution of runs.
func TNBGamma(runs dp.TruncatedNegativeBinomial) (float64, error) {
	if err := runs.Validate(); err != nil {
		return 0, err
	}
	return math.Exp(logTNBGamma(runs.Eta, runs.Mean)), nil
}

// stoppingDelta1 is the delta that each run may use so that hard stopping after at most
// most runs meets delta: Liu and Talwar, arXiv:1811.07971, Theorem 3.4, in the
// larger of its two readings,
//
//	ε = 3ε₁ + 3√(2δ₁),  δ = 3√(2δ₁)·runs + δ₂
func stoppingDelta1(runs, delta, delta2 float64) float64 {
	root := (delta - delta2) / (3 * runs)
	return root * root / 2
}

// stoppingEpsilon is the epsilon at delta of a Select with RandomStopping.
func stoppingEpsilon(e dp.Event, s dp.RandomStopping, rel dp.Relation, delta, mostRuns float64) (float64, error) {
	parts, err := flatten(e, rel)
	if err != nil || len(parts) == 0 {
		return 0, err
	}
	run, err := newAccount(parts, rel)
	if err != nil {
		return 0, err
	}
	// A pure run has δ₁ = 0 and leaves only the cut after the last run.
	best := inf
	if delta >= s.Delta2 {
		best = 3 * pureSum(e, rel)
	}
	if delta > s.Delta2 {
		delta1 := stoppingDelta1(mostRuns, delta, s.Delta2)
		bounds, err := run.answer(question{at: delta1}, want{closed: true, rdp: true})
		if err != nil {
			return 0, err
		}
		best = math.Min(best, 3*least(bounds).value+3*math.Sqrt(2*delta1))
	}
	return best, nil
}

// mostRuns is the number after which RandomStopping stops at the latest.
func mostRuns(s dp.RandomStopping) float64 { return math.Ceil(-math.Log(s.Delta2) / s.Gamma) }
