package workflow

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/search/feature"
)

// The search chooses among the 43 columns of the paper, is booked as what it is, repeats
// under a seed, and reads no sensitive row.
func TestPAFSAsPublished(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	in := tab.selectInput("pafs", "", 0, 3)
	in.AsPublished, in.Delta = true, ""
	in.Search = Published{Population: 20, Generations: 2, Fits: 3}
	run := func(in SelectInput) *Selected {
		t.Helper()
		plan, err := NewSelectPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		l := memoryLedger()
		out, err := plan.Choose(context.Background(), tab.env(t, l))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := plan.Event.(dp.NonPrivate); !ok || !math.IsInf(plan.Epsilon, 1) {
			t.Errorf("booked as %#v, epsilon %v", plan.Event, plan.Epsilon)
		}
		if v, err := figures.Show(context.Background(), l, tab.name); err != nil || !math.IsInf(float64(v.Spent.Epsilon), 1) {
			t.Errorf("the ledger shows %v spent (%v)", v.Spent, err)
		}
		return out
	}
	out := run(in)
	s := out.Search
	if s.Columns != 43 || s.Train != 191 || s.Test != 95 || s.Epsilon != 0.1 || s.Trainings != 3*s.Subsets || s.Subsets < 20 || s.Proposed < s.Subsets {
		t.Errorf("searched %+v", s)
	}
	if len(out.Selection.Chosen) == 0 || out.Selection.Level != feature.ColumnLevel || !(out.Selection.Merit > 0.4 && out.Selection.Merit <= 1) {
		t.Errorf("chose %+v", out.Selection)
	}
	// c = 2,314 fits at ε = 0.1 are 49.63 by the same formula.
	if e := out.PublishedEpsilon; !(e > 1 && e < 10) {
		t.Errorf("the paper's formula gives %v for %d subsets", e, s.Subsets)
	}
	if again := run(in); !slices.Equal(chosenNames(again.Selection), chosenNames(out.Selection)) {
		t.Errorf("equal seeds choose %v and %v", chosenNames(again.Selection), chosenNames(out.Selection))
	}
	in.Search.Learner, in.Search.Fits, in.Epsilon = DescentLearner, 1, "2"
	if out := run(in); out.Search.Learner != DescentLearner || out.Search.Epsilon != 2 {
		t.Errorf("searched %+v", out.Search)
	}

	sensitive := small(300, nil)
	in = sensitive.selectInput("pafs", "", 0, 1)
	in.AsPublished, in.Public, in.Delta, in.Search = true, true, "", Published{Population: 4, Generations: 1} // a caller's mistake
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Choose(context.Background(), sensitive.env(t, memoryLedger())); err == nil {
		t.Error("sensitive rows were read")
	}
}

func TestPAFSAsPublishedUsageErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*SelectInput)
		want   string
	}{
		{"sensitive rows", func(in *SelectInput) { in.Public = false }, "public data only"},
		{"learner", func(in *SelectInput) { in.Search.Learner = "svm" }, `unknown learner "svm"`},
		{"population", func(in *SelectInput) { in.Search.Population = 1 }, "want 2 to"},
		{"rounds", func(in *SelectInput) { in.Search.Generations = -1 }, "want 1 to"},
		{"fits", func(in *SelectInput) { in.Search.Fits = -1 }, "want 1 to"},
		{"k", func(in *SelectInput) { in.Count = 2 }, "number of features itself"},
		{"level", func(in *SelectInput) { in.Level = feature.AttributeLevel }, "columns of the encoding"},
		{"bins", func(in *SelectInput) { in.Bins = 4 }, "numbers unchanged"},
		{"delta", func(in *SelectInput) { in.Delta = "1e-6" }, "none of its own"},
		{"three classes", func(in *SelectInput) { in.Target = "g" }, "two classes"},
		{"epsilon", func(in *SelectInput) { in.Epsilon = "-1" }, "epsilon must be"},
		{"honest with settings", func(in *SelectInput) { in.AsPublished, in.Epsilon, in.Search.Fits = false, "1", 3 }, "settings of pafs as published"},
	} {
		in := small(3000, func(s *schema.Schema) { s.Public = true }).selectInput("pafs", "", 0, 1)
		in.AsPublished, in.Delta = true, ""
		c.change(&in)
		_, err := NewSelectPlan(in)
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}
