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

// A fit on columns that a selection chose, charged as an entry of its own, says what both prices buy together without
// the selection; one on the rows of another data set, or that nobody paid for, says nothing.
func TestCounterfactualOfSelection(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	price := dp.Stated{Event: dp.Scoped{Scope: dp.WholeScope, Event: dp.Gaussian{NoiseMultiplier: 8}}, Relation: dp.AddOrRemoveOne, Unit: "row"}
	other, patient, endless := price, price, price
	other.Relation = dp.ReplaceOne
	patient.Unit = "patient"
	endless.Event = dp.Approximate{Epsilon: 0.1, Delta: 0.1}
	for _, c := range []struct {
		name string
		by   ChosenBy
		want bool
	}{
		{"paid", ChosenBy{Dataset: "breast-cancer", Entry: "1", Events: []dp.Stated{price}}, true},
		{"other data", ChosenBy{Dataset: "wdbc", Entry: "1", Events: []dp.Stated{price}}, false},
		{"unpaid", ChosenBy{Dataset: "breast-cancer", Unpaid: true, Events: []dp.Stated{price}}, false},
		{"free", ChosenBy{Dataset: "breast-cancer"}, false},
		{"other relation", ChosenBy{Dataset: "breast-cancer", Entry: "1", Events: []dp.Stated{other}}, false},
		{"other unit", ChosenBy{Dataset: "breast-cancer", Entry: "1", Events: []dp.Stated{patient}}, false},
		{"no finite price", ChosenBy{Dataset: "breast-cancer", Entry: "1", Events: []dp.Stated{endless}}, false},
	} {
		in := Input{Dataset: "breast-cancer", Schema: tab.schema, Public: true, Target: tab.target, Epsilon: "2", Rows: 286, Features: []string{"deg-malig"}, Chosen: &c.by}
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(c.name, err)
		}
		s, err := plan.Statement("test", time.Now())
		if err != nil {
			t.Fatal(c.name, err)
		}
		f := s.Counterfactual
		if (f != nil) != c.want {
			t.Fatalf("%s: %+v", c.name, f)
		}
		in.Delta = "0"
		pure, err := NewPlan(in)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if s, err := pure.Statement("test", time.Now()); err != nil || s.Counterfactual != nil {
			t.Fatalf("%s, delta 0: %v", c.name, err)
		}
		if f == nil {
			continue
		}
		both, err := accountant.Epsilon(dp.Compose{Events: []dp.Event{plan.Event, price.Event}}, dp.AddOrRemoveOne, plan.problem.delta, plan.problem.Accountant)
		if err != nil {
			t.Fatal(err)
		}
		if e := float64(f.EpsilonWithout); !(e > 2) || math.Abs(e-both.Epsilon) > 1e-5 || float64(f.Epsilon) > 2 || !(*f.SignalRatioWithout > *f.SignalRatio) {
			t.Errorf("%+v, both cost %g", f, both.Epsilon)
		}
		for _, x := range [][2]float64{{float64(f.NoiseMultiplier), float64(f.Epsilon)}, {float64(f.NoiseMultiplierWithout), float64(f.EpsilonWithout)}} {
			if e := gaussianEpsilon(t, plan, x[0]); math.Abs(e-x[1]) > 1e-3*x[1] {
				t.Errorf("noise multiplier %g costs %g, not %g", x[0], e, x[1])
			}
		}
	}
}
