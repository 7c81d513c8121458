package optim

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestScheduleFactors(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     Schedule
		t     int
		steps int
		want  float64
	}{
		{"constant", Schedule{}, 7, 10, 1},
		{"named constant", Schedule{Shape: "constant"}, 9, 10, 1},
		{"cosine starts at 1", Schedule{Shape: "cosine"}, 0, 10, 1},
		{"cosine halfway", Schedule{Shape: "cosine"}, 5, 10, 0.5},
		{"line ends above 0", Schedule{Shape: "linear"}, 9, 10, 0.1},
		{"warm-up begins", Schedule{Warmup: 0.4}, 0, 10, 0.2},
		{"warm-up ends", Schedule{Warmup: 0.4}, 4, 10, 1},
		{"line after a warm-up", Schedule{Shape: "linear", Warmup: 0.5}, 5, 10, 1},
		{"one step", Schedule{Shape: "cosine", Warmup: 0.2}, 0, 1, 1},
	} {
		if got := c.s.Factor(c.t, c.steps); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
	for _, s := range []Schedule{{Shape: "square"}, {Warmup: 1}, {Warmup: -0.1}, {Warmup: math.NaN()}} {
		if s.Validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

func TestScheduleFactorsLieInUnitInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Schedule{Shape: rapid.SampledFrom([]string{"", "constant", "cosine", "linear"}).Draw(t, "shape"), Warmup: rapid.Float64Range(0, 0.999).Draw(t, "warmup")}
		steps := rapid.IntRange(1, 300).Draw(t, "steps")
		for i := range steps {
			if f := s.Factor(i, steps); !(f > 0 && f <= 1) {
				t.Fatalf("step %d: %g", i, f)
			}
		}
		if e := s.EffectiveSteps(steps); !(e > 0 && e <= float64(steps)) {
			t.Fatalf("%g effective steps of %d", e, steps)
		}
	})
}

// Under every schedule the noise of the run adds up to the deviation κ/R that the
// rule promises. Null: the sum of 500 steps in 400 coordinates is normal with that
// deviation; its mean square deviates by more than 4.9 standard errors, 0.347, with
// chance 1e-6. The seed is fixed.
func TestRuleHoldsUnderSchedules(t *testing.T) {
	for _, s := range []Schedule{{}, {Shape: "cosine"}, {Shape: "linear", Warmup: 0.1}, {Shape: "constant", Warmup: 0.5}} {
		const steps, width = 500, 400
		r := StepRule{Noise: Noise{ClippingNorm: 0.5, NoiseMultiplier: 2, ExpectedBatchSize: 100}, Kappa: 2.5, Radius: 10, Steps: steps, Schedule: s}
		rate, err := r.LearningRate()
		if err != nil {
			t.Fatal(err)
		}
		o := NewScheduled(&SGD{LearningRate: rate}, s, steps)
		rng := rand.New(rand.NewPCG(1, 2))
		w, g := make([]float32, width), make([]float32, width)
		for range steps {
			for i := range g {
				g[i] = float32(r.Deviation() * rng.NormFloat64())
			}
			o.Step(w, g)
		}
		square := 0.0
		for _, v := range w {
			square += float64(v) * float64(v)
		}
		if ratio := square / width / math.Pow(r.Kappa/r.Radius, 2); math.Abs(ratio-1) > 0.347 {
			t.Errorf("%+v: variance is %.3f of the rule's", s, ratio)
		}
	}
}

// A schedule moves the step of each optimizer, and a constant one changes no bit.
func TestScheduled(t *testing.T) {
	for name, make := range map[string]func() Optimizer{
		"sgd": func() Optimizer { return &SGD{LearningRate: 0.5} }, "momentum": func() Optimizer { return &Momentum{LearningRate: 0.5, Momentum: 0.9} },
		"adam": func() Optimizer { return &Adam{} }, "wosm": func() Optimizer { return &AdamWOSM{StepSize: 0.1} },
	} {
		plain, constant, line := make(), NewScheduled(make(), Schedule{}, 4), NewScheduled(make(), Schedule{Shape: "linear"}, 4)
		a, b, c := []float32{1}, []float32{1}, []float32{1}
		for range 4 {
			plain.Step(a, []float32{0.3})
			constant.Step(b, []float32{0.3})
			line.Step(c, []float32{0.3})
		}
		if a[0] != b[0] || !(c[0] > a[0] && c[0] < 1) {
			t.Errorf("%s: plain %g, constant %g, line %g", name, a[0], b[0], c[0])
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an optimizer of another kind is taken")
		}
	}()
	NewScheduled(&Scheduled{}, Schedule{}, 4)
}
