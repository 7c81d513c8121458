package accountant

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/internal/stattest"
)

// manyEvents is a plan of n different events of one kind or of all kinds.
func manyEvents(kind string, n int) dp.Event {
	rng := rand.New(rand.NewPCG(1, uint64(len(kind))))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	var events []dp.Event
	for i := range n {
		k := kind
		if kind == "all" {
			k = []string{"sampled", "laplace", "gaussian", "exponential", "sampled laplace", "pure", "discrete gaussian"}[i%7]
		}
		var e dp.Event
		switch k {
		case "sampled", "trainings":
			e = dp.PoissonSampled{Rate: between(0.001, 0.02), Event: dp.Gaussian{NoiseMultiplier: between(1, 4)}}
			if k == "trainings" {
				e = dp.Repeat{Count: 1 + rng.Int64N(500), Event: e}
			}
		case "laplace":
			e = dp.Laplace{NoiseMultiplier: between(20, 220)}
		case "gaussian":
			e = dp.Gaussian{NoiseMultiplier: between(30, 130)}
		case "exponential":
			e = dp.ExponentialMechanism{Epsilon: between(0.001, 0.03)}
		case "sampled laplace":
			e = dp.PoissonSampled{Rate: between(0.001, 0.2), Event: dp.Laplace{NoiseMultiplier: between(1, 20)}}
		case "pure":
			e = dp.Pure{Epsilon: between(0.001, 0.01)}
		case "discrete gaussian":
			e = dp.DiscreteGaussian{NoiseMultiplier: between(50, 150)}
		}
		events = append(events, e)
	}
	return dp.Compose{Events: events}
}

// A thousand different events take a moment. Two seconds are the promise on an idle
// machine; the test allows for a busy one.
func TestManyDifferentEventsInSeconds(t *testing.T) {
	for _, kind := range []string{"sampled", "laplace", "gaussian", "exponential", "sampled laplace", "all"} {
		e := manyEvents(kind, 1000)
		start := stattest.CPU()
		r, err := Epsilon(e, dp.AddOrRemoveOne, 1e-5, MethodMin)
		if err != nil || math.IsInf(r.Epsilon, 1) || r.Epsilon <= 0 {
			t.Fatal(kind, r, err)
		}
		if kind != "gaussian" {
			if _, _, ok, err := Curve(e, dp.AddOrRemoveOne, []float64{1e-3, 0.1}, MethodMin); !ok || err != nil {
				t.Fatal(kind, ok, err)
			}
		}
		if took := stattest.CPU() - start; took > 15*time.Second {
			t.Errorf("%s: %v", kind, took)
		} else {
			t.Logf("%s: epsilon %.4f (%s) in %v", kind, r.Epsilon, r.Method, took)
		}
	}
}

func BenchmarkManySampled(b *testing.B) {
	e := manyEvents("sampled", 1000)
	for b.Loop() {
		if _, err := Epsilon(e, dp.AddOrRemoveOne, 1e-5, MethodMin); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkManyTrainings(b *testing.B) {
	e := manyEvents("trainings", 1000)
	for b.Loop() {
		if _, err := Epsilon(e, dp.AddOrRemoveOne, 1e-5, MethodMin); err != nil {
			b.Fatal(err)
		}
	}
}

// The sparse lattice is an upper bound, and near the sharp one: equal events that are
// told apart by a hair cost what their composition as equal ones costs.
func TestManyIsSharp(t *testing.T) {
	for _, base := range []func(x float64) dp.Event{
		func(x float64) dp.Event {
			return dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1 * x}}
		},
		func(x float64) dp.Event { return dp.Laplace{NoiseMultiplier: 30 * x} },
		func(x float64) dp.Event {
			return dp.PoissonSampled{Rate: 0.1, Event: dp.Laplace{NoiseMultiplier: 3 * x}}
		},
	} {
		for _, delta := range []float64{1e-9, 1e-5, 1e-2} {
			const n = 200
			var events []dp.Event
			for i := range n {
				events = append(events, base(1+1e-9*float64(i)))
			}
			many := mustEpsilon(t, dp.Compose{Events: events}, addRemove, delta, MethodPLD)
			one := mustEpsilon(t, dp.Repeat{Count: n, Event: base(1 + 1e-9*n)}, addRemove, delta, MethodPLD)
			if many.Epsilon < one.Lower*(1-1e-6) || many.Epsilon > one.Epsilon*1.003+1e-6 {
				t.Errorf("%v at %v: %v, at least %v, together %v", base(1), delta, many.Epsilon, one.Lower, one.Epsilon)
			}
		}
	}
}

// Every cell of a sparse lattice keeps P-mass and Q-mass, and its curve is nowhere below
// that of a fine dense one.
func TestSparseDominates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e dp.Event
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			e = dp.PoissonSampled{Rate: rapid.Float64Range(0.001, 1).Draw(t, "rate"), Event: dp.Gaussian{NoiseMultiplier: rapid.Float64Range(0.4, 20).Draw(t, "sigma")}}
		case 1:
			e = dp.PoissonSampled{Rate: rapid.Float64Range(0.001, 0.999).Draw(t, "rate"), Event: dp.Laplace{NoiseMultiplier: rapid.Float64Range(0.3, 20).Draw(t, "scale")}}
		default:
			e = dp.Laplace{NoiseMultiplier: rapid.Float64Range(0.3, 20).Draw(t, "scale")}
		}
		l, ok := lawOf(e, dp.AddOrRemoveOne, rapid.Bool().Draw(t, "added"))
		if !ok {
			t.Fatal("no law")
		}
		h := rapid.Float64Range(1e-3, 0.3).Draw(t, "step")
		s, ok := l.discretise(h, 1e-14, true)
		if !ok {
			t.Skip("a law too wide for the grid, which says so: there is nothing to compare")
		}
		fine, ok := l.discretise(h/64, 1e-14, false)
		if !ok {
			t.Skip("too wide for the finer grid, which is the oracle")
		}
		at := func(l lattice, h, epsilon float64) float64 {
			d := l.infinite
			for i, p := range l.mass {
				x := float64(l.start+i) * h
				if l.points != nil {
					x = float64(l.points[i]) * h
				}
				d += p * math.Max(0, -math.Expm1(epsilon-x))
			}
			return d
		}
		if total := at(s, h, math.Inf(-1)); math.Abs(total-1) > 1e-9 {
			t.Fatalf("mass %v", total)
		}
		for k := -20; k <= 40; k++ {
			epsilon := float64(k) * 0.1
			// The fine one is an upper bound itself, by a bias of second order.
			if a, b := at(s, h, epsilon), at(fine, h/64, epsilon); a < b*(1-2e-2)-1e-9 {
				t.Fatalf("%v, step %v, epsilon %v: %v, the fine lattice says %v", e, h, epsilon, a, b)
			}
		}
	})
}

// Interpolated orders bound the curve from above.
func TestAtIntegersIsABound(t *testing.T) {
	for _, q := range []float64{0.001, 0.1} {
		c := curve(func(alpha float64) float64 { return SampledGaussianRDP(q, 1.3, alpha) })
		between := c.atIntegers()
		for _, alpha := range []float64{1.01, 1.5, 2, 2.4, 7, 7.9, 33, 100.5, 4000} {
			if got, want := between(alpha), c(alpha); got < want*(1-1e-9) {
				t.Errorf("order %v: %v is below %v", alpha, got, want)
			}
		}
	}
}
