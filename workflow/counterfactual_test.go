package workflow

import (
	"math"
	"slices"
	"testing"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/search"
)

// A statement says what the whole budget would buy without the search, from prices alone; where choosing is free it
// says nothing.
func TestCounterfactual(t *testing.T) {
	free := []search.Kind{search.None, search.Public}
	// A split search takes no budget from the training, but rows.
	for _, kind := range []search.Kind{search.None, search.Public, search.PS, search.Grid, search.Split} {
		plan, err := NewNetSearchPlan(huntInput(t, false, kind))
		if err != nil {
			t.Fatal(kind, err)
		}
		s, err := plan.Statement("test", time.Now())
		if err != nil {
			t.Fatal(kind, err)
		}
		c := s.Counterfactual
		if (c == nil) != slices.Contains(free, kind) {
			t.Fatalf("%s: %+v", kind, c)
		}
		if c == nil {
			continue
		}
		if c.Epsilon != s.Search.BaseEpsilon || !(c.Epsilon < c.EpsilonWithout || kind == search.Split) || !(float64(c.EpsilonWithout) <= plan.Epsilon*(1+1e-6)) {
			t.Errorf("%s: epsilon %g alone, %g without, %g in all", kind, c.Epsilon, c.EpsilonWithout, plan.Epsilon)
		}
		// Both multipliers buy what they are said to buy.
		for _, x := range [][2]float64{{float64(c.NoiseMultiplier), float64(c.Epsilon)}, {float64(c.NoiseMultiplierWithout), float64(c.EpsilonWithout)}} {
			if e := gaussianEpsilon(t, plan, x[0]); math.Abs(e-x[1]) > 1e-3*x[1] {
				t.Errorf("%s: noise multiplier %g costs %g, not %g", kind, x[0], e, x[1])
			}
		}
		if !(c.NoiseMultiplier > c.NoiseMultiplierWithout || kind == search.Split) || c.SignalRatio == nil || !(*c.SignalRatio < *c.SignalRatioWithout) {
			t.Errorf("%s: %+v", kind, c)
		}
	}
}

func gaussianEpsilon(t *testing.T, plan *Plan, sigma float64) float64 {
	t.Helper()
	p := plan.problem
	r, err := accountant.Upper(dp.Gaussian{NoiseMultiplier: sigma}, p.relation, p.delta, p.Accountant)
	if err != nil {
		t.Fatal(err)
	}
	return r.Epsilon
}
