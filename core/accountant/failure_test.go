package accountant

import (
	"math"
	"testing"

	"pawl/core/dp"
)

// bought is what levels and bounds cost: two Gaussians, and a mass τ with which anything may happen.
func bought(multiplier, tau float64) dp.Event {
	half := dp.Gaussian{NoiseMultiplier: multiplier * math.Sqrt2}
	return dp.Compose{Events: []dp.Event{half, dp.Approximate{Delta: tau}, half}}
}

// A failure of mass τ beside Gaussians takes τ of delta and leaves the price of the Gaussians exact.
func TestFailureAddsToDelta(t *testing.T) {
	for _, multiplier := range []float64{1, 4.2247, 18.7, 60} {
		for _, delta := range []float64{1e-5, 1e-6} {
			for _, share := range []float64{.3, 1.0 / 128} {
				tau := share * delta
				r, err := Epsilon(bought(multiplier, tau), addRemove, delta, MethodMin)
				if err != nil {
					t.Fatal(err)
				}
				if want := AnalyticGaussianEpsilon(multiplier, delta-tau); math.Abs(r.Epsilon-want) > 1e-9*want {
					t.Errorf("multiplier %g, τ %g: ε %.12g, want %.12g", multiplier, tau, r.Epsilon, want)
				}
				// A second place: the pair itself, (1−τ)N(μ,1) and (1−τ)N(0,1) with an atom of τ each, by
				// adding up (p − e^ε·q)₊ on a fine line.
				mu, sum, step := 1/multiplier, 0.0, 1e-4
				for x := -12.0; x < 12+mu; x += step {
					p, q := math.Exp(-(x-mu)*(x-mu)/2), math.Exp(-x*x/2)
					sum += math.Max(0, p-math.Exp(r.Epsilon)*q) * step / math.Sqrt(2*math.Pi)
				}
				if exact := tau + (1-tau)*sum; exact > delta*(1+1e-6) || exact < delta*(1-1e-3) {
					t.Errorf("multiplier %g, τ %g: the pair has δ %.9g at ε %.9g, want just below %g", multiplier, tau, exact, r.Epsilon, delta)
				}
			}
		}
	}
}

// A schema that was bought leaves a budget open: what is spent with it and later jobs is near to what one plan of
// all would cost, and eight of them do not lock a data set, as long as τ is small beside the doors' slack. A τ
// beyond all of it shuts every door.
func TestFailuresLeaveTheDoorsOpen(t *testing.T) {
	const delta = 1e-6
	infer, fit := bought(12.9, delta/128), dp.Event(job)
	for _, n := range []int{1, 2, 4, 8} {
		events := []dp.Event{}
		for range n {
			events = append(events, infer, fit)
		}
		s := doorsOf(t, 100, delta, events...)
		once := mustEpsilon(t, dp.Compose{Events: events}, addRemove, delta, MethodMin)
		if got := s.Epsilon(); !(got <= 1.2*once.Epsilon) || got < once.Epsilon {
			t.Errorf("%d schemas and fits: spent %.4f, at once %.4f", n, got, once.Epsilon)
		}
		ok, _, _, err := s.Admits("", fit)
		if err != nil || !ok {
			t.Errorf("after %d schemas and fits nothing is admitted: %v", n, err)
		}
	}
	for _, tau := range []float64{delta / 2, delta, .5, 1} {
		if got := doorsOf(t, 100, delta, bought(12.9, tau), fit).Epsilon(); !math.IsInf(got, 1) {
			t.Errorf("τ %g of δ %g: spent %g", tau, delta, got)
		}
	}
	for _, bad := range []float64{math.NaN(), -1e-9, 1.1, math.Inf(1)} {
		if r, err := Epsilon(bought(12.9, bad), addRemove, delta, MethodMin); err == nil && !math.IsInf(r.Epsilon, 1) {
			t.Errorf("τ %g: ε %g", bad, r.Epsilon)
		}
	}
}
