package accountant

import (
	"fmt"
	"math"
	"testing"

	"pawl/core/accountant/lower"
	"pawl/core/dp"
)

// bracket fails unless got is an upper bound of want that is tight.
func bracket(t *testing.T, name string, got, want, below, above float64) {
	t.Helper()
	if !(got >= want*(1-below) && got <= want*(1+above)) {
		t.Errorf("%s: got %.10g, want %.10g (relative %.2g)", name, got, want, got/want-1)
	}
}

func TestDPSGDPLDGolden(t *testing.T) {
	for _, c := range loadReference(t).DPSGD {
		if c.PLD == nil {
			continue
		}
		r := mustEpsilon(t, dpsgd(c.Q, c.Sigma, c.Steps), addRemove, c.Delta, MethodPLD)
		name := fmt.Sprintf("q=%g sigma=%g T=%d delta=%g", c.Q, c.Sigma, c.Steps, c.Delta)
		known := c.PLDError / *c.PLD
		bracket(t, name, r.Epsilon, *c.PLD, 2e-4+known, 2e-3+known)
		bracket(t, name+", from below", r.Lower, *c.PLD, 0.05+known, 1e-6+known)
	}
}

// pairsLower is a lower bound on what the dominating pairs of an event cost, which no
// mechanism need attain: it says how sharp the lattice is.
func pairsLower(t *testing.T, e dp.Event, delta float64) float64 {
	t.Helper()
	parts, err := flatten(e, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAccount(parts, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := a.privacyLoss()
	if !ok {
		t.Fatal("no distribution")
	}
	epsilon, step := p.epsilonAt(delta)
	var laws []lower.Law[edge]
	for _, l := range p.directions[0] {
		laws = append(laws, l.below())
	}
	return lower.Accountant[edge]{Below: below}.At(laws, p.counts, delta, step, epsilon)
}

func TestCompositionPLDGolden(t *testing.T) {
	ref := loadReference(t)
	check := func(name string, e dp.Event, delta, want float64) {
		t.Helper()
		r := mustEpsilon(t, e, addRemove, delta, MethodPLD)
		bracket(t, name, r.Epsilon, want, 1e-6, 1e-3)
		bracket(t, name+", from below", pairsLower(t, e, delta), want, 0.02, 1e-6)
	}
	for _, c := range ref.LaplaceComposition {
		e := dp.Repeat{Count: c.K, Event: dp.Laplace{NoiseMultiplier: 1 / c.Epsilon}}
		check(fmt.Sprintf("%d x laplace %g", c.K, c.Epsilon), e, c.Delta, c.PLD)
	}
	for _, c := range ref.Pure {
		e := dp.Repeat{Count: c.K, Event: dp.DiscreteLaplace{NoiseMultiplier: 1 / c.Epsilon}}
		check(fmt.Sprintf("%d x pure %g", c.K, c.Epsilon), e, c.Delta, c.KOV)
	}
	for _, c := range ref.Approx {
		e := dp.Repeat{Count: c.K, Event: dp.Approximate{Epsilon: c.Epsilon, Delta: c.Delta0}}
		check(fmt.Sprintf("%d x (%g, %g)", c.K, c.Epsilon, c.Delta0), e, c.Delta, c.KOV)
	}
	for _, c := range ref.Heterogeneous {
		check(c.Name, c.event(t), c.Delta, c.PLD)
	}
	for count, want := range map[int64]string{54: "54", 60: "60"} {
		e := dp.Repeat{Count: count, Event: dpsgd(1.0/600, 2, 300000)}
		r := mustEpsilon(t, e, addRemove, 1e-5, MethodPLD)
		bracket(t, "trainings "+want, r.Epsilon, ref.Search.PLD[want].Remove, 2e-4, 2e-3)
	}
}

// One step has an exact curve in both directions.
func TestHockeyStickGolden(t *testing.T) {
	for _, c := range loadReference(t).HockeyStick {
		if c.Epsilon < 0 {
			continue
		}
		want := math.Max(c.Remove, c.Add)
		r, err := Delta(dpsgd(c.Q, c.Sigma, 1), addRemove, c.Epsilon, MethodPLD)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("q=%g sigma=%g epsilon=%g", c.Q, c.Sigma, c.Epsilon)
		if want < 1e-200 {
			if r.Delta > 1e-100 {
				t.Errorf("%s: got %v, want 0", name, r.Delta)
			}
			continue
		}
		bracket(t, name, r.Delta, want, 1e-9, 5e-2)
	}
}

// Closed forms that the distribution must reproduce from above.
func TestPLDAgainstClosedForms(t *testing.T) {
	for _, sigma := range []float64{0.2, 1, 7, 300} {
		for _, delta := range []float64{1e-20, 1e-9, 1e-5, 1e-3} {
			want := AnalyticGaussianEpsilon(sigma, delta)
			got := mustEpsilon(t, dp.Gaussian{NoiseMultiplier: sigma}, addRemove, delta, MethodPLD).Epsilon
			if !(got >= want && got <= want*1.002+1e-8) {
				t.Errorf("gaussian %g at %g: got %v, want %v", sigma, delta, got, want)
			}
		}
	}
	// Laplace: δ(ε) = 1 − e^((ε−ε₀)/2).
	for _, epsilon := range []float64{0, 0.05, 0.5} {
		r, err := Delta(dp.Laplace{NoiseMultiplier: 1}, addRemove, epsilon, MethodPLD)
		if err != nil {
			t.Fatal(err)
		}
		bracket(t, fmt.Sprintf("laplace at %g", epsilon), r.Delta, -math.Expm1((epsilon-1)/2), 1e-9, 2e-3)
	}
	for _, c := range loadReference(t).Response {
		e := dp.RandomizedResponse{NoiseProbability: c.NoiseP, Categories: c.Buckets}
		r, err := Delta(e, dp.ReplaceOne, c.Pure/2, MethodPLD)
		if err != nil {
			t.Fatal(err)
		}
		k, p := float64(c.Buckets), c.NoiseP
		want := (1 - p + p/k) - math.Exp(c.Pure/2)*p/k
		bracket(t, fmt.Sprintf("%v", e), r.Delta, want, 1e-9, 2e-3)
	}
}

// The smallest bound is never above any single one, and the distribution is never
// above Rényi.
func TestMinIsTheSmallest(t *testing.T) {
	for _, sigma := range []float64{0.5, 2, 20} {
		for _, q := range []float64{1e-4, 0.03, 0.7} {
			for _, steps := range []int64{1, 3000} {
				e := dp.Compose{Events: []dp.Event{dpsgd(q, sigma, steps), dp.Laplace{NoiseMultiplier: 10}}}
				r := mustEpsilon(t, e, addRemove, 1e-6, MethodMin)
				pld, rdp := r.Bounds["pld"], r.Bounds["rdp"]
				if r.Epsilon != math.Min(pld, rdp) || !(pld > 0) || pld > rdp*1.001 {
					t.Errorf("q=%g sigma=%g T=%d: %+v", q, sigma, steps, r)
				}
			}
		}
	}
}

// Delta at the epsilon that was found.
func TestPLDDeltaInvertsEpsilon(t *testing.T) {
	for _, e := range []dp.Event{
		dpsgd(0.01, 1, 1000), dpsgd(0.3, 5, 10), dp.Repeat{Count: 50, Event: dp.Laplace{NoiseMultiplier: 20}},
		dp.Compose{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 3}, dp.Approximate{Epsilon: 0.1, Delta: 1e-8}}},
	} {
		for _, delta := range []float64{1e-8 + 1e-10, 1e-3} {
			epsilon := mustEpsilon(t, e, addRemove, delta, MethodPLD).Epsilon
			r, err := Delta(e, addRemove, epsilon, MethodPLD)
			if err != nil || r.Delta > delta*1.005 || r.Delta < delta*0.95 {
				t.Errorf("%#v: epsilon %v at delta %v has delta %v, %v", e, epsilon, delta, r.Delta, err)
			}
		}
	}
}

func TestPLDExtremes(t *testing.T) {
	for _, sigma := range []float64{1e-300, 1e-3, 1e6, 1e300} {
		for _, q := range []float64{1e-300, 0.5, 1 - 1e-12} {
			for _, steps := range []int64{1, math.MaxInt64} {
				for _, delta := range []float64{0, 1e-300, 1e-5, 1} {
					r := mustEpsilon(t, dpsgd(q, sigma, steps), addRemove, delta, MethodMin)
					if !(r.Epsilon >= 0) {
						t.Errorf("sigma=%g q=%g T=%d delta=%g: %+v", sigma, q, steps, delta, r)
					}
				}
			}
		}
	}
}

// What is known by its Rényi curve alone joins the distribution of the rest: never
// below the exact Gaussian of the same curve, never far above Rényi alone, and
// hardly above it where that part is small.
func TestPLDProfiles(t *testing.T) {
	for _, sigma := range []float64{0.5, 2, 30} {
		for _, count := range []int64{1, 20} {
			for _, delta := range []float64{1e-9, 1e-5, 1e-2} {
				e := dp.Repeat{Count: count, Event: dp.DiscreteGaussian{NoiseMultiplier: sigma}}
				pld := mustEpsilon(t, e, addRemove, delta, MethodPLD).Epsilon
				rdp := mustEpsilon(t, e, addRemove, delta, MethodRDP).Epsilon
				exact := AnalyticGaussianEpsilon(sigma/math.Sqrt(float64(count)), delta)
				if !(pld >= exact) || count == 1 && pld > 1.01*rdp+1e-6 {
					t.Errorf("sigma %g x %d at %g: %v, Gaussian %v, rdp %v", sigma, count, delta, pld, exact, rdp)
				}
			}
		}
	}
	train := dpsgd(0.01, 1, 1000)
	count := dp.DiscreteGaussian{NoiseMultiplier: 20}
	plan := mustEpsilon(t, dp.Compose{Events: []dp.Event{count, train}}, addRemove, 1e-5, MethodMin)
	alone := mustEpsilon(t, train, addRemove, 1e-5, MethodMin)
	better := mustEpsilon(t, dp.Compose{Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 20}, train}}, addRemove, 1e-5, MethodMin)
	if plan.Method != "pld" || plan.Epsilon < better.Lower || plan.Epsilon > 1.02*better.Epsilon || plan.Epsilon < alone.Epsilon {
		t.Errorf("training and a count: %+v; with a Gaussian count %v, without %v", plan, better.Epsilon, alone.Epsilon)
	}
	search := dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 30}, Event: train}
	pld := mustEpsilon(t, search, addRemove, 1e-5, MethodPLD).Epsilon
	rdp := mustEpsilon(t, search, addRemove, 1e-5, MethodRDP).Epsilon
	if pld > 1.01*rdp || pld < 0.9*rdp {
		t.Errorf("a search: pld %v, rdp %v", pld, rdp)
	}
}
