package accountant

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
)

// Known answers: the closed forms at rates and epsilons of the literature's examples.
func TestSampledPure(t *testing.T) {
	remove, add := SampledPure(0.01, 0.5)
	near(t, "remove", remove, 0.006466, 1e-4)
	near(t, "add", add, 0.003942, 2e-4)
	near(t, "replace", SampledReplace(0.01, 0.5, 1), 0.010408711, 1e-6)
	near(t, "replace at rate .1", SampledReplace(0.1, 1, 2), 0.224, 1e-3)
	sampled := dp.PoissonSampled{Rate: 0.01, Event: dp.Laplace{NoiseMultiplier: 2}}
	for _, c := range []struct {
		name string
		e    dp.Event
		rel  dp.Relation
		want float64
	}{
		{"laplace", sampled, dp.AddOrRemoveOne, remove},
		{"pure", dp.PoissonSampled{Rate: 0.01, Event: dp.Pure{Epsilon: 0.5}}, dp.ZeroOut, remove},
		{"nested", dp.PoissonSampled{Rate: 0.1, Event: dp.PoissonSampled{Rate: 0.1, Event: dp.Pure{Epsilon: 0.5}}}, dp.AddOrRemoveOne, remove},
		{"discrete laplace", dp.PoissonSampled{Rate: 0.01, Event: dp.DiscreteLaplace{NoiseMultiplier: 2}}, dp.AddOrRemoveOne, remove},
		{"exponential", dp.PoissonSampled{Rate: 0.01, Event: dp.ExponentialMechanism{Epsilon: 0.5}}, dp.AddOrRemoveOne, remove},
		{"two laplace", dp.PoissonSampled{Rate: 0.01, Event: dp.Repeat{Count: 2, Event: dp.Laplace{NoiseMultiplier: 4}}}, dp.AddOrRemoveOne, remove},
		{"selected", dp.PoissonSampled{Rate: 0.01, Event: dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 5}, Event: dp.Pure{Epsilon: 0.25}}}, dp.AddOrRemoveOne, remove},
		{"replaced, unknown one side", sampled, dp.ReplaceOne, 0.5},
		{"replaced", dp.PoissonSampled{Rate: 0.01, Event: dp.Laplace{NoiseMultiplier: 1}, OneSided: dp.Laplace{NoiseMultiplier: 2}}, dp.ReplaceOne, 0.010408711},
		{"replaced response", dp.PoissonSampled{Rate: 0.01, Event: dp.RandomizedResponse{NoiseProbability: 2 / (1 + math.Exp(0.5)), Categories: 2}, OneSided: dp.Pure{Epsilon: 0.5}},
			dp.ReplaceOne, SampledReplace(0.01, 0.5, 0.5)},
	} {
		r, err := Epsilon(c.e, c.rel, 0, MethodMin)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name, r.Epsilon, c.want, 1e-6)
	}
	// (ε, δ) at a rate.
	r, err := Epsilon(dp.PoissonSampled{Rate: 0.01, Event: dp.Approximate{Epsilon: 0.5, Delta: 1e-4}}, dp.AddOrRemoveOne, 1.001e-6, MethodMin)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "approximate", r.Epsilon, remove, 1e-6)
}

// numericPair integrates the hockey stick of the sampled pair of Laplace noise.
func numericPair(q, epsilon0, epsilon float64, added bool) float64 {
	const n = 400_000
	lo, hi := -60/epsilon0, 60/epsilon0
	h := (hi - lo) / n
	sum := 0.0
	for i := range n {
		x := lo + (float64(i)+0.5)*h
		without := epsilon0 / 2 * math.Exp(-math.Abs(x)*epsilon0)
		with := (1-q)*without + q*epsilon0/2*math.Exp(-math.Abs(x-1)*epsilon0)
		if added {
			with, without = without, with
		}
		sum += h * math.Max(0, with-math.Exp(epsilon)*without)
	}
	return sum
}

// The distribution of one sampled Laplace release is its integral, from above and
// from below, and its Rényi curve is the integral of its powers.
func TestSampledLaplaceIsItsIntegral(t *testing.T) {
	for _, c := range []struct{ q, epsilon0 float64 }{{0.01, 0.5}, {0.2, 2}, {0.7, 1}} {
		e := dp.PoissonSampled{Rate: c.q, Event: dp.Laplace{NoiseMultiplier: 1 / c.epsilon0}}
		remove, add := SampledPure(c.q, c.epsilon0)
		for _, part := range []float64{0.2, 0.5, 0.8} {
			for _, added := range []bool{false, true} {
				epsilon := part * map[bool]float64{false: remove, true: add}[added]
				want := numericPair(c.q, c.epsilon0, epsilon, added)
				l, _ := lawOf(e, dp.AddOrRemoveOne, added)
				lat, ok := l.discretise(remove/2000, 1e-30, false)
				if !ok {
					t.Fatal("no lattice")
				}
				got := 0.0
				for i, p := range lat.mass {
					got += p * math.Max(0, -math.Expm1(epsilon-float64(lat.start+i)*remove/2000))
				}
				if got < want*(1-1e-4) || got > want*1.01+1e-9 {
					t.Errorf("rate %v, epsilon %v, added %v: delta %v at %v, the integral is %v", c.q, c.epsilon0, added, got, epsilon, want)
				}
			}
		}
		for _, alpha := range []float64{1.5, 4, 30} {
			worst := 0.0
			for _, added := range []bool{false, true} {
				const n = 200_000
				lo, hi := -60/c.epsilon0, 60/c.epsilon0
				h, sum := (hi-lo)/n, 0.0
				for i := range n {
					x := lo + (float64(i)+0.5)*h
					q := c.epsilon0 / 2 * math.Exp(-math.Abs(x)*c.epsilon0)
					p := (1-c.q)*q + c.q*c.epsilon0/2*math.Exp(-math.Abs(x-1)*c.epsilon0)
					if added {
						p, q = q, p
					}
					sum += h * q * math.Pow(p/q, alpha)
				}
				worst = math.Max(worst, math.Log(sum)/(alpha-1))
			}
			got, err := RDP(e, dp.AddOrRemoveOne, alpha)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got-worst) > 1e-4*worst+5e-8/(alpha-1) {
				t.Errorf("rate %v, epsilon %v, order %v: %v, the integral is %v", c.q, c.epsilon0, alpha, got, worst)
			}
		}
	}
}

// drawPure is a pure mechanism.
func drawPure(t *rapid.T) dp.Event {
	epsilon := rapid.Float64Range(0.01, 3).Draw(t, "epsilon")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return dp.Laplace{NoiseMultiplier: 1 / epsilon}
	case 1:
		return dp.DiscreteLaplace{NoiseMultiplier: 1 / epsilon}
	case 2:
		return dp.ExponentialMechanism{Epsilon: epsilon}
	}
	return dp.Pure{Epsilon: epsilon}
}

// Where the epsilon at a large delta is almost 0, the first lattice is not too fine for a
// bound: this was +Inf.
func TestDistributionOfAlmostNoLoss(t *testing.T) {
	e := dp.Repeat{Count: 20, Event: dp.PoissonSampled{Rate: 0.315826416015625, Event: dp.DiscreteLaplace{NoiseMultiplier: 256.0 / 3}}}
	r, err := Epsilon(e, addRemove, 0.01, MethodPLD)
	if err != nil || r.Epsilon > 1e-6 {
		t.Errorf("%v, %v", r.Epsilon, err)
	}
}

// Sampling never costs more than not sampling, more of it costs more, and composing
// distributions is no worse than adding the closed forms.
func TestSampledPureProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawPure(t)
		q := rapid.Float64Range(0.001, 0.99).Draw(t, "rate")
		more := q + (1-q)*rapid.Float64Range(0, 1).Draw(t, "more")
		count := rapid.Int64Range(1, 20).Draw(t, "count")
		delta := rapid.SampledFrom([]float64{0, 1e-9, 1e-5, 1e-2}).Draw(t, "delta")
		at := func(rate float64, m Method) float64 {
			r, err := Epsilon(dp.Repeat{Count: count, Event: dp.PoissonSampled{Rate: rate, Event: base}}, dp.AddOrRemoveOne, delta, m)
			if err != nil {
				t.Fatal(err)
			}
			if r.Lower > r.Epsilon {
				t.Fatalf("lower bound %v of %v", r.Lower, r.Epsilon)
			}
			return r.Epsilon
		}
		less, whole := at(q, MethodMin), at(1, MethodMin)
		if less > whole*(1+2e-3)+1e-9 {
			t.Fatalf("%v at rate %v costs %v, unsampled %v", base, q, less, whole)
		}
		if m := at(more, MethodMin); less > m*(1+2e-3)+1e-9 {
			t.Fatalf("%v costs %v at rate %v and %v at %v", base, less, q, m, more)
		}
		remove, _ := SampledPure(q, pureEpsilon(base, dp.AddOrRemoveOne))
		if delta > 0 {
			if p := at(q, MethodPLD); p > float64(count)*remove*(1+1e-6)+1e-9 {
				t.Fatalf("%v at rate %v: the distribution says %v, the sum %v", base, q, p, float64(count)*remove)
			}
		}
		if less > float64(count)*remove*(1+1e-9) {
			t.Fatalf("above the sum")
		}
		for _, alpha := range []float64{1.01, 1.7, 3, 20, 500, 1e5} {
			s, err := RDP(dp.PoissonSampled{Rate: q, Event: base}, dp.AddOrRemoveOne, alpha)
			u, err2 := RDP(base, dp.AddOrRemoveOne, alpha)
			v, err3 := RDP(dp.PoissonSampled{Rate: more, Event: base}, dp.AddOrRemoveOne, alpha)
			if err != nil || err2 != nil || err3 != nil || s > u || s > v*(1+1e-7) || math.IsNaN(s) {
				t.Fatalf("%v at order %v: %v sampled, %v at %v, %v not", base, alpha, s, v, more, u)
			}
		}
	})
}

// Replacing: never above what has no amplification, nor below one side alone.
func TestSampledReplaceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.Float64Range(0, 1).Draw(t, "rate")
		epsilon := rapid.Float64Range(0, 5).Draw(t, "epsilon")
		r := rapid.Float64Range(0, 12).Draw(t, "r")
		got := SampledReplace(q, epsilon, r)
		remove, add := SampledPure(q, epsilon)
		if got > r || got > remove+add+1e-12 || got < 0 {
			t.Fatalf("%v, remove %v, add %v", got, remove, add)
		}
		// The extreme ratios are attained by numbers within the bounds.
		for a := -epsilon; a <= epsilon && epsilon > 0; a += epsilon / 50 {
			for b := math.Max(-epsilon, a-r); b <= epsilon; b += epsilon / 50 {
				if x := math.Log((1 - q + q*math.Exp(a)) / (1 - q + q*math.Exp(b))); x > got+1e-9 {
					t.Fatalf("a pair has %v, the bound is %v", x, got)
				}
			}
		}
	})
}

// What is printed as a lower bound is attained: it never exceeds an upper bound, and no
// event whose law only dominates has one.
func TestLowerIsABoundOnTheMechanism(t *testing.T) {
	r, err := Epsilon(dp.Repeat{Count: 100, Event: dp.ExponentialMechanism{Epsilon: 0.1}}, dp.AddOrRemoveOne, 1e-5, MethodMin)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lower < 1.983 || r.Lower > 1.989 || r.Epsilon < r.Lower || r.Epsilon > 2.17 {
		t.Errorf("a hundred exponential mechanisms: %v, lower bound %v; want 2.166 and 1.988", r.Epsilon, r.Lower)
	}
	for _, e := range []dp.Event{
		dp.Pure{Epsilon: 1}, dp.Repeat{Count: 30, Event: dp.Pure{Epsilon: 0.1}}, dp.ZCDP{Rho: 0.1}, dp.Approximate{Epsilon: 1},
		dp.DiscreteGaussian{NoiseMultiplier: 2}, dp.Repeat{Count: 5, Event: dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 1, Mean: 4}, Event: dp.Gaussian{NoiseMultiplier: 4}}},
		dp.Shuffled{Epochs: 3, Event: dp.Gaussian{NoiseMultiplier: 4}},
	} {
		r, err := Epsilon(e, dp.ZeroOut, 1e-5, MethodMin)
		if err != nil || r.Lower != 0 {
			t.Errorf("%v: lower bound %v (%v), but nothing attains its price", e, r.Lower, err)
		}
	}
	for _, e := range []dp.Event{
		dp.Gaussian{NoiseMultiplier: 2}, dp.Repeat{Count: 10, Event: dp.Laplace{NoiseMultiplier: 5}}, dp.Repeat{Count: 10, Event: dp.DiscreteLaplace{NoiseMultiplier: 5}},
		dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 2}}},
		dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 0.1, Event: dp.Laplace{NoiseMultiplier: 2}}},
	} {
		r, err := Epsilon(e, dp.AddOrRemoveOne, 1e-5, MethodMin)
		if err != nil || r.Lower < 0.9*r.Epsilon || r.Lower > r.Epsilon {
			t.Errorf("%v: lower bound %v of %v (%v)", e, r.Lower, r.Epsilon, err)
		}
	}
}

func TestLowerNeverExceedsUpper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []dp.Event
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			var e dp.Event
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				e = dp.Gaussian{NoiseMultiplier: rapid.Float64Range(0.5, 30).Draw(t, "sigma")}
			case 1:
				e = dp.PoissonSampled{Rate: rapid.Float64Range(0.01, 1).Draw(t, "rate"), Event: dp.Gaussian{NoiseMultiplier: rapid.Float64Range(0.5, 10).Draw(t, "sigma")}}
			case 2:
				e = dp.PoissonSampled{Rate: rapid.Float64Range(0.01, 1).Draw(t, "rate"), Event: drawPure(t)}
			case 3:
				e = dp.ZCDP{Rho: rapid.Float64Range(1e-4, 0.5).Draw(t, "rho")}
			case 4:
				e = dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 4}, Event: dp.Gaussian{NoiseMultiplier: rapid.Float64Range(2, 30).Draw(t, "sigma")}}
			default:
				e = drawPure(t)
			}
			parts = append(parts, dp.Repeat{Count: rapid.Int64Range(1, 60).Draw(t, "count"), Event: e})
		}
		delta := rapid.SampledFrom([]float64{1e-9, 1e-5, 1e-3, 0.1}).Draw(t, "delta")
		for _, m := range []Method{MethodMin, MethodPLD, MethodRDP} {
			r, err := Epsilon(dp.Compose{Events: parts}, dp.AddOrRemoveOne, delta, m)
			if err != nil {
				t.Fatal(err)
			}
			if r.Lower > r.Epsilon {
				t.Fatalf("%s: epsilon %v, but at least %v", fmt.Sprint(m), r.Epsilon, r.Lower)
			}
		}
	})
}
