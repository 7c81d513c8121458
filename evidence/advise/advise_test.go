package advise

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/model"
)

func facts(rows, noise float64) Facts {
	return Facts{
		Schema: &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
			{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 1},
			{Name: "g", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
			{Name: "y", Type: schema.Boolean},
			{Name: "amount", Type: schema.Numeric, Lower: 0, Upper: 9}}},
		Target: "y", Task: model.Classification, Rows: rows, NoiseMultiplier: noise, Epsilon: 1, Delta: 1e-6, Preset: Balanced,
	}
}

// The rule at the rows that the recipe was measured on: Adult (32,561 rows).
func TestBinaryRule(t *testing.T) {
	for _, c := range []struct {
		r, clip float64
		linear  bool
		learner Learner
	}{
		{4, 0, false, Majority}, {13, 0.07, true, Descent}, {56, 0.15, false, Descent}, {201, 0.15, false, Descent},
		{897, 0.15 * math.Sqrt(897.0/500), false, Descent}, {21091, 0.6, false, Descent},
	} {
		got, err := Choose(facts(32561, 32561/c.r))
		if err != nil {
			t.Fatal(err)
		}
		if got.Learner != c.learner || math.Abs(got.ClippingNorm-c.clip) > 1e-9 || got.Encoding.Linear != c.linear {
			t.Errorf("r = %v: %s, clipping norm %v, linear %v; want %+v", c.r, got.Learner, got.ClippingNorm, got.Encoding.Linear, c)
		}
	}
	if got, _ := Choose(facts(32561, 32561.0/7704)); got.Encoding.Bins != 64 || got.Steps != 377 {
		t.Errorf("Adult at ε 1: %d bins, %d steps, want 64 and 377", got.Encoding.Bins, got.Steps)
	}
}

// Every recipe is usable: finite, positive, stable, and says why.
func TestRecipesAreUsable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := facts(math.Exp(rapid.Float64Range(0, 20).Draw(t, "log rows")), math.Exp(rapid.Float64Range(-3, 12).Draw(t, "log noise")))
		f.Target = rapid.SampledFrom([]string{"y", "g", "amount"}).Draw(t, "target")
		if f.Target == "amount" {
			f.Task = model.Regression
		}
		f.Preset = rapid.SampledFrom([]Preset{Quick, Balanced, Thorough}).Draw(t, "preset")
		c, err := Choose(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Rules) == 0 {
			t.Fatal("no rule says why")
		}
		for _, r := range c.Rules {
			if r.Rule == "" || r.Because == "" || r.Evidence == "" || r.Changes == "" {
				t.Fatalf("rule %+v is not complete", r)
			}
		}
		if _, err := encode.New(f.Schema, f.Target, c.Encoding); err != nil {
			t.Fatal(err)
		}
		if c.Learner != Descent {
			return
		}
		// A heavy ball with momentum 0.9 on curvature 1/4 is stable below 15.
		if !(c.ClippingNorm > 0 && c.ClippingNorm <= 1 && c.LearningRate > 0 && c.LearningRate <= 12) || c.Steps < 1 || c.Steps > 800 {
			t.Fatalf("recipe %+v cannot be run", c)
		}
		if !(c.SamplingRate > 0 && c.SamplingRate <= 1) {
			t.Fatalf("sampling rate %v", c.SamplingRate)
		}
	})
}

// A preset changes time and never what is paid for.
func TestPresetsChangeTimeOnly(t *testing.T) {
	f := facts(32561, 32561.0/7704)
	f.Preset = Quick
	quick, _ := Choose(f)
	f.Preset = Thorough
	thorough, _ := Choose(f)
	if quick.Steps >= thorough.Steps || quick.ClippingNorm != thorough.ClippingNorm {
		t.Errorf("quick %d steps at %v, thorough %d at %v", quick.Steps, quick.ClippingNorm, thorough.Steps, thorough.ClippingNorm)
	}
}

func TestPureEpsilon(t *testing.T) {
	f := facts(10_000, 0)
	f.Delta = 0
	if c, err := Choose(f); err != nil || c.Learner != Objective {
		t.Errorf("10,000 rows at pure ε 1: %v, %v", c.Learner, err)
	}
	f.Rows = 50
	if c, err := Choose(f); err != nil || c.Learner != Majority || c.Useful {
		t.Errorf("50 rows at pure ε 1: %v, useful %v, %v", c.Learner, c.Useful, err)
	}
	f.Learner = Descent
	if _, err := Choose(f); err == nil {
		t.Error("noisy descent was offered at delta 0")
	}
}
