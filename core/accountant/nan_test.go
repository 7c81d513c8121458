package accountant

import (
	"math"
	"testing"

	"pawl/core/dp"
)

// A value that is no number proves nothing: it must not read as a mass, a delta or an epsilon of 0.
func TestNaNLowersNoBound(t *testing.T) {
	nan, zero := math.NaN(), math.Inf(-1)
	for name, got := range map[string]float64{
		"0 + NaN": logAdd(zero, nan), "NaN + 0": logAdd(nan, zero), "NaN + 1": logAdd(nan, 0), "NaN − 0": logSub(nan, zero),
		"1 − NaN": logSub(0, nan), "∞ − ∞": logSub(inf, inf),
	} {
		if !math.IsNaN(got) {
			t.Errorf("ln of %s is %v", name, got)
		}
	}
	d := tail{h: 1, t: 1, k: 0, first: 1, all: []float64{0, 0}, gain: []float64{0, 0}, slack: nan}
	if e := d.epsilonAt(-1); !math.IsInf(e, 1) {
		t.Errorf("a tail without a value has an epsilon of %v", e)
	}
	c := compose(1, []lattice{{start: 0, mass: []float64{0.5, nan}}}, []float64{1})
	if _, ok := c.transform(tilt{1, 40}); ok {
		t.Error("a composition of no number has a tail")
	}
	if e, _ := (kov{count: 3, epsilon: nan}).epsilonAt(0.01); e < 1 {
		t.Errorf("three uses of an epsilon that is no number cost %v", e)
	}
}

// Any tilt gives a bound, also one that is far too steep for the lattice.
func TestSteepTiltsAreBounds(t *testing.T) {
	for _, epsilon := range []float64{0.01, 1.1547819846894583, 3} {
		parts, err := flatten(dp.Repeat{Count: 2, Event: dp.Pure{Epsilon: epsilon}}, addRemove)
		if err != nil {
			t.Fatal(err)
		}
		c, err := curveOf(parts, addRemove)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := privacyLossOf(parts, &account{rel: addRemove, curve: c})
		if !ok {
			t.Fatal("no privacy loss")
		}
		law, tails := response(epsilon, 0).uses(2), 0
		for _, step := range []float64{epsilon / 400, epsilon / 100, epsilon / 3} {
			composed, ok := p.compose(p.directions[0], step, 1e-8)
			if !ok {
				t.Fatal("no composition")
			}
			for s := 0.1; s < 2e6; s *= 1.03 {
				d, ok := composed.transform(tilt{s, 40})
				if !ok {
					continue
				}
				tails++
				for _, x := range []float64{0, 0.5 * epsilon, epsilon, 1.9 * epsilon} {
					if got, least := d.logDelta(x), math.Log(law.hockey(x)); !(got >= least-1e-9) {
						t.Fatalf("%v twice on steps of %v, tilted by %v: ln delta of %v is %v, at least %v is true", epsilon, step, s, x, got, least)
					}
				}
			}
		}
		if tails < 1000 {
			t.Errorf("only %d tails", tails)
		}
	}
}

// A mass that is no number must not be left out of a list of masses, where the others would be the whole law.
func TestSparseLawsKeepTheirMass(t *testing.T) {
	selection := func(mean float64) dp.Event {
		return dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: mean}, Event: dp.Gaussian{NoiseMultiplier: 0.05}}
	}
	parts, err := flatten(selection(2), addRemove)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := lawOf(parts[0].event, addRemove, false)
	if !ok {
		t.Fatal("no law")
	}
	for _, h := range []float64{1, 100, 200, 250, 300} {
		if x, ok := l.discretise(h, 1e-13, true); ok && sum(x.mass)+x.infinite < 1-1e-9 {
			t.Errorf("on steps of %v a law has a mass of %v", h, sum(x.mass)+x.infinite)
		}
	}
	cost := func(n int) float64 {
		var all dp.Compose
		for i := range n {
			all.Events = append(all.Events, selection(2+float64(i)/10))
		}
		r, err := Upper(all, addRemove, 1e-6, MethodMin)
		if err != nil {
			t.Fatal(err)
		}
		return r.Epsilon
	}
	if few, many := cost(33), cost(60); !(many >= few) {
		t.Errorf("33 selections cost %v, 60 cost %v", few, many)
	}
}

// γ is no larger than the one of the mean, also where powers of 1/γ overflow.
func TestGammaOfManyRuns(t *testing.T) {
	for _, eta := range []float64{-1 + 1e-15, -0.9999, -0.99, -0.5, -1e-3, 0, 1, 30} {
		for _, mean := range []float64{1.0001, 3, 1e3, 1e4, 1e6, 1e100} {
			l := -logTNBGamma(eta, mean)
			// ln E[K], with η/(1−e^(−ηL)) = −η·e^(ηL)/(1−e^(ηL)) and 1/L at 0.
			logMean := (1+math.Min(0, eta))*l + math.Log(-math.Expm1(-l)) + math.Log(math.Abs(eta)/-math.Expm1(-math.Abs(eta)*l))
			if eta == 0 {
				logMean = l + math.Log(-math.Expm1(-l)) - math.Log(l)
			}
			if want := math.Log(mean); !(math.Abs(logMean-want) <= 1e-9*(1+want)) {
				t.Errorf("η = %v: ln(1/γ) of %v is for a mean of e^%v, want e^%v", eta, l, logMean, want)
			}
		}
	}
}

func TestUnderflowLowersNoBound(t *testing.T) {
	// e^(−740), the weight of the only mass, has three bits, and its logarithm is ln 1/2 − 740.
	steep := lattice{points: []int{-1000, 0, 400}, mass: []float64{0.5, 0.5, 0}}
	if k, _, _ := steep.moments(1.85, 1); !math.IsInf(k, 1) && math.Abs(k-math.Log(0.5)) > 1e-9 {
		t.Errorf("K = %v", k)
	}
	// With K beyond 10^16 its difference from −t·ε has no digits.
	far := compose(1, []lattice{{start: 1 << 40, mass: []float64{0.5, 0.5}}}, []float64{1e9})
	for _, s := range []float64{1e-6, 1e-3, 1, 10} {
		if _, ok := far.transform(tilt{s, 40}); ok {
			t.Errorf("a law at 2^40, a billion times, has a tail at a tilt of %v", s)
		}
	}
	// e^loss splits a cell: it must not overflow.
	l := law{continuous: &density{noise: gaussianNoise{0.0265}, q: 1}}
	if _, ok := l.discretise(1, 1e-20, false); ok {
		t.Error("a law on losses above 710 was split")
	}
}

// A cost near 0 is not below what it is.
func TestSmallCosts(t *testing.T) {
	weak := dp.PoissonSampled{Rate: 0.5, Event: dp.Repeat{Count: 2, Event: dp.Gaussian{NoiseMultiplier: 1e200}}}
	if r, err := Epsilon(weak, addRemove, 0, MethodMin); err != nil || !math.IsInf(r.Epsilon, 1) {
		t.Errorf("a Gaussian at delta 0 costs %v, %v", r.Epsilon, err)
	}
	for epsilon := 1e-17; epsilon < 1; epsilon *= 3 {
		// Φ(−μ/2) = 1/(1+e^ε) is erf(μ/√8) = tanh(ε/2).
		if mu, least := math.Sqrt(pureInformation(epsilon)), math.Sqrt(8)*math.Erfinv(math.Tanh(epsilon/2)); !(mu >= least*(1-1e-15)) {
			t.Errorf("a pure epsilon of %v is within μ = %v, less than %v", epsilon, mu, least)
		}
	}
}

// A sample of a sample is drawn at a rate that may be below every float64, and so may be what is left of a δ: neither is 0.
func TestUnderflowOfRatesCosts(t *testing.T) {
	rare := func(rate float64, e dp.Event) dp.Event { return dp.PoissonSampled{Rate: rate, Event: e} }
	for name, e := range map[string]dp.Event{
		"rows as they are": rare(1e-200, rare(1e-200, dp.NonPrivate{})),
		"pure":             rare(1e-200, rare(1e-200, dp.Pure{Epsilon: 1})),
		"a small δ":        rare(1e-200, dp.Approximate{Epsilon: 1, Delta: 1e-200}),
	} {
		all := dp.Repeat{Count: math.MaxInt64, Event: e}
		if parts, err := flatten(all, addRemove); err != nil || len(parts) != 1 {
			t.Errorf("%s: %v, %v", name, parts, err)
		}
		if r, err := Upper(all, addRemove, 0, MethodMin); err != nil || !(r.Epsilon > 0) || name != "pure" && !math.IsInf(r.Epsilon, 1) {
			t.Errorf("%s: epsilon is %v at delta 0 (%v)", name, r.Epsilon, err)
		}
	}
}

// math.Log may be off below 2^-1022: what is asked there is answered as at 0.
func TestTinyDeltasAreZero(t *testing.T) {
	const tiny = 0x1p-1060
	gaussian := dp.Gaussian{NoiseMultiplier: 1}
	mixed := dp.Compose{Events: []dp.Event{dp.Repeat{Count: 3, Event: dp.PoissonSampled{Rate: 0.1, Event: gaussian}}, gaussian}}
	for _, e := range []dp.Event{gaussian, mixed, dp.Repeat{Count: 3, Event: gaussian}} {
		for _, m := range []Method{MethodMin, MethodRDP, MethodPLD} {
			if r, err := Upper(e, addRemove, tiny, m); err != nil || !math.IsInf(r.Epsilon, 1) {
				t.Errorf("%v: %v, %v", m, r.Epsilon, err)
			}
		}
	}
	if r, err := Upper(dp.Repeat{Count: 3, Event: dp.Pure{Epsilon: 1}}, addRemove, tiny, MethodMin); err != nil || r.Epsilon != 3 {
		t.Errorf("three pure ones cost %v, %v", r.Epsilon, err)
	}
	if _, err := NewDoors(1, tiny, nil, addRemove); err == nil {
		t.Error("doors have parts of delta that are no normal numbers")
	}
	f, err := NewFilter(100, tiny)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Start(addRemove)
	if err != nil {
		t.Fatal(err)
	}
	if admitted, _, _, err := s.Admits("", gaussian); err != nil || admitted {
		t.Errorf("a filter of next to no delta admits a Gaussian: %v, %v", admitted, err)
	}
}

// What is beyond the range of a float64 costs +Inf in every account.
func TestHugeAmountsAreRefused(t *testing.T) {
	var often, never dp.Event = dp.Pure{Epsilon: 1}, dp.Pure{Epsilon: 0}
	for range 20 {
		often, never = dp.Repeat{Count: math.MaxInt64, Event: often}, dp.Repeat{Count: math.MaxInt64, Event: never}
	}
	huge := dp.Pure{Epsilon: 1e308}
	for name, events := range map[string][]dp.Event{"often": {often}, "never": {never}, "ten": {dp.Repeat{Count: 10, Event: huge}}, "sum": {huge, huge}} {
		f, err := NewFilter(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := f.Start(addRemove)
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDoors(1, 1e-6, nil, addRemove)
		if err != nil {
			t.Fatal(err)
		}
		doors, err := d.Start(addRemove)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []interface {
			Add(string, dp.Event) error
			Admits(string, dp.Event) (bool, float64, float64, error)
			Epsilon() float64
		}{filter, doors} {
			for _, e := range events {
				if err := s.Add("", e); err != nil {
					t.Fatal(err)
				}
			}
			admitted, _, _, err := s.Admits("", dp.Pure{Epsilon: 0.1})
			if e := s.Epsilon(); admitted || err != nil || !(e > 1e300) {
				t.Errorf("%s: spent %v; a further event is admitted: %v, %v", name, e, admitted, err)
			}
		}
	}
}

// The product of two shares is neither 0, where none of them is, nor a number, where one of them is none.
func TestProductFailsClosed(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][3]float64{{0.5, 0.5, 0.25}, {0, 0.5, 0}, {1e-200, 1e-200, leastDelta}, {5e-324, 1, leastDelta}, {nan, 0.5, nan}, {0, nan, nan}, {nan, 0, nan}} {
		if got := product(c[0], c[1]); got != c[2] && !(math.IsNaN(got) && math.IsNaN(c[2])) {
			t.Errorf("%g times %g is %g, want %g", c[0], c[1], got, c[2])
		}
	}
}
