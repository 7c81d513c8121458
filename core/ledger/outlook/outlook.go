// Package outlook searches for figures that the ledger shows beside its decisions: how many jobs still fit, how
// little noise a job may have, which total would suffice. Its arguments are functions, such as whether an event
// would be admitted; it decides and charges nothing.
package outlook

import (
	"math"
	"strconv"

	"pawl/core/dp"
)

// MostMore bounds Count.
const MostMore = 1000

// Count returns the largest number that fits, at most MostMore, and 0 if one does not.
func Count(fits func(n int) bool) int {
	if !fits(1) {
		return 0
	}
	low, high := 1, 2
	for high < MostMore && fits(high) {
		low, high = high, 2*high
	}
	for high = min(high, MostMore+1); high-low > 1; {
		if mid := (low + high) / 2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// LeastNoise returns the least factor of an event's noise that fits, within half a percent, from 2⁻²⁰ to 2²⁰;
// ok is false outside. refused reports that the factor 1 does not fit.
func LeastNoise(fits func(factor float64) bool, refused bool) (factor float64, ok bool) {
	const most = 1 << 20
	low, high := 1.0, 1.0 // refused at low, admitted at high
	switch {
	case refused:
		if !fits(most) {
			return 0, false // before all that is less
		}
		for high = 2; !fits(high); low, high = high, min(high*high, most) {
		}
	default:
		for low = 0.5; fits(low); low, high = low/2, low {
			if low < 1./most {
				return 0, false
			}
		}
	}
	for high/low > 1.005 {
		if mid := math.Sqrt(low * high); fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// Gaussian returns one Gaussian release that costs epsilon, by the price of events; nil if an event
// has no price.
func Gaussian(epsilon float64, price func(dp.Event) (float64, error)) dp.Event {
	low, high := 1e-4, 1e9 // dearer, cheaper
	for high/low > 1.001 {
		middle := math.Sqrt(low * high)
		x, err := price(dp.Gaussian{NoiseMultiplier: middle})
		if err != nil {
			return nil
		}
		if x <= epsilon {
			high = middle
		} else {
			low = middle
		}
	}
	return dp.Gaussian{NoiseMultiplier: high}
}

// largestTotal bounds the totals that Total tries.
const largestTotal = 1e6

// Total returns the least total above now, with three digits, that admits; guess, if it lies between now
// and 1e6 and admits; and +Inf if no total up to 1e6 admits.
func Total(now, guess float64, admits func(total float64) bool) float64 {
	// A larger total admits whatever a smaller one does.
	low := now
	high := low
	if guess > low && guess <= largestTotal {
		high = threeDigits(guess)
		if admits(high) {
			return high
		}
		low = high
	}
	for high = threeDigits(2 * high); !admits(high); high = threeDigits(2 * high) {
		if low = high; high > largestTotal {
			return math.Inf(1)
		}
	}
	for high/low > 1.004 {
		middle := threeDigits(math.Sqrt(low * high))
		if middle >= high {
			break
		}
		if admits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// WithNoise returns an event with its noise scaled, or its epsilon if nothing else is known: half
// the noise is about twice the epsilon. An event without noise stays unchanged, and an unknown kind
// costs +Inf.
func WithNoise(e dp.Event, factor float64) dp.Event {
	switch e := e.(type) {
	case dp.NoOp, dp.NonPrivate:
		return e
	case dp.Gaussian:
		return dp.Gaussian{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.Laplace:
		return dp.Laplace{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.DiscreteGaussian:
		return dp.DiscreteGaussian{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.DiscreteLaplace:
		return dp.DiscreteLaplace{NoiseMultiplier: e.NoiseMultiplier * factor}
	case dp.RandomizedResponse:
		// The truth is k(1−p)/p + 1 = e^ε times as likely as any other answer.
		k, p := float64(e.Categories), e.NoiseProbability
		if p == 0 {
			return e
		}
		odds := math.Expm1(math.Log1p(k*(1-p)/p) / factor)
		return dp.RandomizedResponse{NoiseProbability: k / (k + odds), Categories: e.Categories}
	case dp.ExponentialMechanism:
		return dp.ExponentialMechanism{Epsilon: e.Epsilon / factor}
	case dp.Pure:
		return dp.Pure{Epsilon: e.Epsilon / factor}
	case dp.Approximate:
		return dp.Approximate{Epsilon: e.Epsilon / factor, Delta: e.Delta}
	case dp.ZCDP:
		return dp.ZCDP{Rho: e.Rho / factor / factor}
	case dp.Banded:
		e.NoiseMultiplier *= factor
		return e
	case dp.PoissonSampled, dp.FixedSizeSampled, dp.Shuffled, dp.Repeat, dp.Scoped, dp.Select, dp.Compose:
		return dp.Rebuild(e, func(x dp.Event) dp.Event { return WithNoise(x, factor) })
	}
	return dp.NonPrivate{}
}

// threeDigits is the least decimal of three digits that is at least x, and x where it has
// no more.
func threeDigits(x float64) float64 {
	near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil || math.IsInf(x, 0) || !(x > 0) || near >= x {
		return near
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	up, err := strconv.ParseFloat(strconv.FormatFloat(near+unit, 'g', 3, 64), 64)
	if err != nil || up < x {
		return x
	}
	return up
}
