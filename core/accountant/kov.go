package accountant

import "math"

// kov is the privacy loss of count identical (epsilon, delta0)-DP mechanisms
// under adaptive composition, optimal by Kairouz, Oh and Viswanath,
// arXiv:1311.0776, Theorem 3.3:
//
//	δ(ε') = 1 − (1−δ₀)^k (1 − Σ_j C(k,j) e^((k−j)ε)/(1+e^ε)^k max(0, 1 − e^(ε'−(k−2j)ε)))
type kov struct {
	count, epsilon, delta0 float64
}

// maxKOV bounds the number of terms, hence the time of one evaluation.
const maxKOV = 100_000

// logSlack covers the rounding of lgamma in the weights, relative to δ.
const logSlack = 1e-9

// atoms calls yield for n = 0, 1, ... with the loss of the next atom below the n
// largest, and lnΣp and lnΣp·e^(−loss) over those n. Between the n-th and the
// next loss, δ(ε') is Σp − e^ε' Σp·e^(−loss).
func (m kov) atoms(yield func(next, logW, logV float64) bool) {
	logP := -math.Log1p(math.Exp(-m.epsilon))
	logBinomial := 0.0
	w, v := newLogSum(), newLogSum()
	for j := 0.0; j <= m.count; j++ {
		loss := (m.count - 2*j) * m.epsilon
		if !yield(loss, w.value(), v.value()) {
			return
		}
		weight := logBinomial + m.count*logP - j*m.epsilon
		w.add(weight)
		v.add(weight - loss)
		logBinomial += math.Log((m.count - j) / (j + 1))
	}
}

// basic is the sum of the epsilons, at which δ is 1 − (1−δ₀)^k.
func (m kov) basic() float64 { return m.count * m.epsilon }

func (m kov) failures() float64 { return -math.Expm1(m.count * math.Log1p(-m.delta0)) }

func (m kov) epsilonAt(delta float64) (epsilon, order float64) {
	if delta < m.failures() {
		return inf, 0
	}
	// What the pure part may use once the failures are paid: 1 − (1−δ)/(1−δ₀)^k.
	left := -math.Expm1(math.Log1p(-delta) - m.count*math.Log1p(-m.delta0))
	if !(left >= leastDelta) {
		return m.basic(), 0
	}
	target := math.Log(left) - logSlack
	best := m.basic()
	m.atoms(func(next, logW, logV float64) bool {
		e := logSub(logW, target) - logV
		if e >= next {
			best = math.Min(best, e)
		}
		if e >= next || math.IsNaN(e) && !math.IsInf(logV, -1) { // NaN proves nothing; before the first atom it is expected
			return false
		}
		best = math.Min(best, next)
		return next > 0
	})
	return math.Max(0, best), 0
}

func (m kov) deltaAt(epsilon float64) (delta, order float64) {
	if epsilon >= m.basic() {
		return m.failures(), 0
	}
	pure := 1.0
	m.atoms(func(next, logW, logV float64) bool {
		if next > epsilon {
			return true
		}
		pure = math.Min(1, math.Exp(logSub(logW, epsilon+logV)+logSlack))
		return false
	})
	if m.delta0 == 0 {
		return pure, 0
	}
	return -math.Expm1(math.Log1p(-pure) + m.count*math.Log1p(-m.delta0)), 0
}
