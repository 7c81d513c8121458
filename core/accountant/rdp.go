package accountant

import (
	"fmt"
	"math"

	"pawl/core/dp"
)

// curve is a Rényi curve: an upper bound on the divergence (nats) of neighbouring
// outputs at every order alpha > 1. +Inf where there is none.
type curve func(alpha float64) float64

// RDP returns the Rényi divergence (nats) of an event at one order alpha > 1, the largest over all
// units if it has scopes. Composition adds. An event without a finite bound gives +Inf and no
// error; an invalid event, an order outside (1, +Inf) and an event that the relation does not cover
// are errors.
func RDP(e dp.Event, rel dp.Relation, alpha float64) (float64, error) {
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return 0, fmt.Errorf("alpha must be a finite number > 1")
	}
	segments, err := resolveAll(e, rel)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, s := range segments {
		c, err := curveOf(s, rel)
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, c(alpha))
	}
	return worst, nil
}

// curveOf composes the curves of the parts. Values are remembered, because
// selection and sampling ask for the same orders again and again.
func curveOf(parts []part, rel dp.Relation) (curve, error) {
	curves := make([]curve, len(parts))
	for i, p := range parts {
		c, err := eventCurve(p.event, rel)
		if err != nil {
			return nil, err
		}
		curves[i] = c
	}
	known := map[float64]float64{}
	return func(alpha float64) float64 {
		if r, ok := known[alpha]; ok {
			return r
		}
		sum, values := 0.0, make([]float64, len(curves))
		forEach(len(curves), func(i int) { values[i] = curves[i](alpha) })
		for i, v := range values {
			sum += parts[i].count * v
		}
		if math.IsNaN(sum) || sum < 0 {
			sum = inf
		}
		known[alpha] = sum
		return sum
	}, nil
}

// wholeCurve is the curve of an event that is taken apart.
func wholeCurve(e dp.Event, rel dp.Relation) (curve, error) {
	parts, err := flatten(e, rel)
	if err != nil {
		return nil, err
	}
	return curveOf(parts, rel)
}

func unbounded(float64) float64 { return inf }

// eventCurve is the curve of one use of a flattened event.
func eventCurve(e dp.Event, rel dp.Relation) (curve, error) {
	switch e := e.(type) {
	case dp.NonPrivate:
		return unbounded, nil
	case dp.Approximate:
		if e.Delta == 0 {
			return pureCurve(e.Epsilon), nil
		}
		return unbounded, nil
	case dp.Gaussian:
		return zcdpCurve(0.5 / e.NoiseMultiplier / e.NoiseMultiplier), nil
	case dp.DiscreteGaussian:
		return zcdpCurve(0.5 / e.NoiseMultiplier / e.NoiseMultiplier), nil
	case dp.ZCDP:
		return zcdpCurve(e.Rho), nil
	case dp.Laplace:
		return laplaceCurve(atLeastTiny(1 / e.NoiseMultiplier)), nil
	case dp.RandomizedResponse:
		return randomizedResponseCurve(e), nil
	case dp.ExponentialMechanism:
		return exponentialCurve(e.Epsilon), nil
	case dp.DiscreteLaplace, dp.Pure:
		return pureCurve(pureEpsilon(e, rel)), nil
	case dp.PoissonSampled:
		return sampledCurve(e, rel)
	case dp.FixedSizeSampled:
		return fixedSizeCurve(e, rel)
	case dp.Select:
		return selectCurve(e, rel)
	}
	return nil, fmt.Errorf("event %q has no accountant", dp.KindOf(e))
}

// zcdpCurve is R(α) = ρα (Bun and Steinke, arXiv:1605.02065); a Gaussian of
// multiplier σ has exactly ρ = 1/(2σ²), at every order.
func zcdpCurve(rho float64) curve {
	return func(alpha float64) float64 {
		if rho == 0 {
			// A Gaussian whose ρ underflows; ZCDP{0} is charged the same.
			return math.SmallestNonzeroFloat64
		}
		return rho * alpha
	}
}

// fixedSizeCurve bounds an event run on m of n units drawn without replacement,
// γ = m/n, under ReplaceOne: Wang, Balle and Kasiviswanathan, arXiv:1808.00087,
// Theorem 9, at integer orders
//
//	(α−1)R'(α) <= ln(1 + γ² C(α,2) min{4(e^R(2) − 1), e^R(2) min{2, (e^R(∞) − 1)²}}
//	              + Σ_{j=3..α} γ^j C(α,j) e^((j−1)R(j)) min{2, (e^R(∞) − 1)^j})
//
// The smaller of this and the unsampled curve counts.
func fixedSizeCurve(e dp.FixedSizeSampled, rel dp.Relation) (curve, error) {
	base, err := wholeCurve(e.Event, rel)
	if err != nil {
		return nil, err
	}
	logRate := math.Log(float64(e.SampleSize)) - math.Log(float64(e.SourceSize))
	logPure := math.Log(math.Expm1(pureSum(e.Event, rel)))
	cap := func(j float64) float64 { return math.Min(math.Ln2, j*logPure) }
	amplified := interpolate(maxSumOrder, func(n float64) float64 {
		s := newLogSum()
		logBinomial := math.Log(n)
		for j := 2.0; j <= n; j++ {
			logBinomial += math.Log((n - j + 1) / j)
			term := (j-1)*base(j) + cap(j)
			if j == 2 {
				term = math.Min(2*math.Ln2+math.Log(math.Expm1(base(2))), term)
			}
			s.add(j*logRate + logBinomial + term)
		}
		return softplus(s.value())
	})
	return func(alpha float64) float64 {
		plain := base(alpha)
		if alpha > maxSumOrder || math.IsInf(plain, 1) {
			return plain
		}
		if r := amplified(alpha); !math.IsNaN(r) {
			return math.Min(plain, atLeastTiny(r))
		}
		return plain
	}, nil
}

// interpolate is a bound on a curve by (n−1)·R(n) at whole orders n: for each pair of outputs
// (α−1)·D_α is convex in α and 0 at α = 1, so it lies below the line between two orders.
// Beyond an order the distances grow by a sixteenth.
func interpolate(beyond float64, scaled func(n float64) float64) curve {
	known := map[float64]float64{1: 0}
	at := func(n float64) float64 {
		k, ok := known[n]
		if !ok {
			k = scaled(n)
			known[n] = k
		}
		return k
	}
	return func(alpha float64) float64 {
		step := 1.0
		if alpha > beyond {
			step = math.Pow(2, math.Floor(math.Log2(alpha))-4)
		}
		below := step * math.Floor(alpha/step)
		k := at(below)
		if w := (alpha - below) / step; w > 0 {
			k = (1-w)*k + w*at(below+step)
		}
		return k / (alpha - 1)
	}
}
