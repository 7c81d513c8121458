package workflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
)

// small is a sensitive table whose label follows one column.
func small(n int, mutate func(*schema.Schema)) table {
	s := &schema.Schema{Version: 1, Dataset: "small", Unit: schema.Unit{Name: "row", MaxRows: 1}, NA: schema.DefaultNA,
		Rows: schema.RowCount{Kind: schema.RowsAbout, N: int64(n)},
		Columns: []schema.Column{
			{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 1},
			{Name: "g", Type: schema.Categorical, Categories: []string{"a", "b", "c"}},
			{Name: "y", Type: schema.Boolean},
			{Name: "amount", Type: schema.Numeric, Lower: 0, Upper: 100},
		}}
	if mutate != nil {
		mutate(s)
	}
	tab := table{name: "small", target: "y", schema: s}
	rng := entropy.Seeded(9)
	for i := range n {
		x := rng.Float64()
		y := 0.0
		if x+0.2*rng.Float64() > 0.6 {
			y = 1
		}
		tab.rows = append(tab.rows, []float64{x, float64(i % 3), y, 100 * x})
		tab.units = append(tab.units, string(rune(i))+"-"+string(rune(i%7)))
	}
	return tab
}

func TestPlanNeverExceedsWhatWasAsked(t *testing.T) {
	private := func(s *schema.Schema) { s.Rows = schema.RowCount{Kind: schema.RowsPrivate} }
	for _, epsilon := range []string{"0.001", "0.02", "0.1", "0.3333333333", "1", "2.5", "10"} {
		for _, c := range []struct {
			name   string
			schema func(*schema.Schema)
			change func(*Input)
		}{
			{"classification", nil, func(*Input) {}},
			{"regression", nil, func(in *Input) { in.Target = "amount" }},
			{"test file", nil, func(in *Input) { in.Test = TestFile }},
			{"rows are paid for", private, func(in *Input) { in.Rows = 0 }},
			{"rdp", nil, func(in *Input) { in.Accountant = accountant.MethodRDP }},
			{"pld", nil, func(in *Input) { in.Accountant = accountant.MethodPLD }},
			{"pure", nil, func(in *Input) { in.Delta = "0" }},
		} {
			tab := small(5000, c.schema)
			in := tab.input(epsilon, "1e-6", 1)
			c.change(&in)
			plan, err := NewPlan(in)
			if err != nil {
				t.Fatalf("%s at ε %s: %v", c.name, epsilon, err)
			}
			asked, _ := new(big.Rat).SetString(epsilon)
			shown := new(big.Rat)
			shown.SetFloat64(plan.Epsilon)
			f, _ := asked.Float64()
			if plan.Epsilon > f {
				t.Errorf("%s: plan shows ε %v, asked %s", c.name, plan.Epsilon, epsilon)
			}
			price, err := accountant.Epsilon(plan.Event, dp.AddOrRemoveOne, plan.problem.delta, in.Accountant)
			if in.Accountant == "" {
				price, err = accountant.Epsilon(plan.Event, dp.AddOrRemoveOne, plan.problem.delta, accountant.MethodMin)
			}
			if err != nil || price.Epsilon > plan.Epsilon {
				t.Errorf("%s at ε %s: the event costs %v, the plan shows %v (%v)", c.name, epsilon, price.Epsilon, plan.Epsilon, err)
			}
			if plan.Epsilon < 0.97*f {
				t.Errorf("%s at ε %s: only %v is used", c.name, epsilon, plan.Epsilon)
			}
		}
	}
}

// What core opened is what was booked: every stage finds its event, none is left
// over, and the ledger holds exactly the plan's event.
func TestRunUsesExactlyWhatWasBooked(t *testing.T) {
	private := func(s *schema.Schema) { s.Rows = schema.RowCount{Kind: schema.RowsPrivate} }
	for _, c := range []struct {
		name   string
		schema func(*schema.Schema)
		change func(*Input)
		opens  int
	}{
		// Edges and labels of all scored units, or their accuracy, with bins in each of two halves; three in
		// one scope; two in one scope.
		{"classification", nil, func(*Input) {}, 1 + 4},
		{"regression", nil, func(in *Input) { in.Target = "amount" }, 1 + 3},
		{"regression, pure", nil, func(in *Input) { in.Target, in.Delta = "amount", "0" }, 1 + 3},
		{"majority", nil, func(in *Input) { in.Model = "majority" }, 1 + 4},
		{"boosting", nil, func(in *Input) { in.Model = "ebm" }, 1 + 4},
		{"naive Bayes", nil, func(in *Input) { in.Model = "naive-bayes" }, 2 + 4},
		{"output perturbation", nil, func(in *Input) { in.Model = "output-perturbation" }, 1 + 4},
		{"minima perturbation", nil, func(in *Input) { in.Model = "amp" }, 1 + 4},
		{"adaptive ridge", nil, func(in *Input) { in.Target, in.Model = "amount", "adassp" }, 1 + 3},
		{"mean", nil, func(in *Input) { in.Target, in.Model = "amount", "mean" }, 1 + 3},
		{"paid rows", private, func(in *Input) { in.Rows = 0 }, 2 + 4},
		{"paid rows at tiny epsilon", private, func(in *Input) { in.Rows, in.Epsilon = 0, "0.001" }, 2 + 4},
		{"pure", nil, func(in *Input) { in.Delta = "0" }, 1 + 4},
		{"pure, three classes", nil, func(in *Input) { in.Delta, in.Target = "0", "g" }, 3 + 4},
		{"three classes in bins", nil, func(in *Input) { in.Epsilon, in.Target = "4", "g" }, 1 + 4},
		{"three classes, few rows", nil, func(in *Input) { in.Epsilon, in.Target = "0.3", "g" }, 1 + 2},
		{"three classes, paid rows", private, func(in *Input) { in.Rows, in.Target = 0, "g" }, 2 + 4},
		{"three classes, majority", nil, func(in *Input) { in.Epsilon, in.Target, in.Model = "4", "g", "majority" }, 1 + 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := small(3000, c.schema)
			in := tab.input("1", "1e-6", 3)
			c.change(&in)
			plan, err := NewPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			if n := leaves(plan.Event); n != c.opens {
				t.Errorf("%d events are booked, want %d", n, c.opens)
			}
			l := memoryLedger()
			out, err := plan.Run(context.Background(), Env{Ledger: l, Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)})
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Model.Validate(); err != nil {
				t.Error(err)
			}
			view, err := figures.Show(context.Background(), l, "small")
			if err != nil {
				t.Fatal(err)
			}
			want, _ := dp.EncodeEvent(plan.Event)
			if len(view.Entries) != 1 || string(view.Entries[0].Event) != string(want) || view.Entries[0].State != ledger.Committed {
				t.Errorf("ledger holds %+v, want one committed entry of %s", view.Entries, want)
			}
			if !out.Seeded || !view.Entries[0].NotPrivate {
				t.Error("a seeded run is not marked NOT PRIVATE")
			}
		})
	}
}

func leaves(e dp.Event) int {
	switch e := e.(type) {
	case dp.Compose:
		n := 0
		for _, c := range e.Events {
			n += leaves(c)
		}
		return n
	case dp.Scoped:
		return leaves(e.Event)
	case dp.NoOp:
		return 0
	}
	return 1
}

// An interrupted run that has opened rows stays charged; one that has not is
// cancelled.
func TestInterruptedRun(t *testing.T) {
	tab := small(3000, nil)
	plan, err := NewPlan(tab.input("1", "1e-6", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"before", "during"} {
		l := memoryLedger()
		ctx, cancel := context.WithCancel(context.Background())
		env := Env{Ledger: l, Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
		if when == "before" {
			b := intake.NewBuilder(intake.SimulationKey("small", 1), tab.schema)
			env.Rows = b.Seal() // sensitive rows under a key that anybody knows never open
		} else {
			env.Progress = func(stage string, done, _ int) {
				if stage == "train" && done == 3 {
					cancel()
				}
			}
		}
		if _, err := plan.Run(ctx, env); err == nil {
			t.Fatalf("%s: the run did not fail", when)
		}
		cancel()
		view, err := figures.Show(context.Background(), l, "small")
		if err != nil {
			t.Fatal(err)
		}
		charged := float64(view.Reserved.Epsilon)+float64(view.Spent.Epsilon) > 0
		if charged != (when == "during") {
			t.Errorf("%s: charged is %v", when, charged)
		}
	}
}

func TestUsageErrorsNameTheMend(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"no target", func(in *Input) { in.Target = "" }, "no target"},
		{"unknown target", func(in *Input) { in.Target = "Y" }, `target "Y" is not a column`},
		{"unknown feature", func(in *Input) { in.Features = []string{"xx"} }, `feature "xx"`},
		{"epsilon zero", func(in *Input) { in.Epsilon = "0" }, "epsilon must be"},
		{"epsilon negative", func(in *Input) { in.Epsilon = "-1" }, "epsilon must be"},
		{"epsilon is text", func(in *Input) { in.Epsilon = "1e-5 " }, "epsilon must be"},
		{"epsilon NaN", func(in *Input) { in.Epsilon = "NaN" }, "epsilon must be"},
		{"epsilon inf", func(in *Input) { in.Epsilon = "inf" }, "epsilon must be"},
		{"epsilon huge", func(in *Input) { in.Epsilon = "1e300" }, "too large"},
		{"epsilon of many digits", func(in *Input) { in.Epsilon = "1e-999999999" }, "epsilon must be"},
		{"delta one", func(in *Input) { in.Delta = "1" }, "delta must be"},
		{"delta above 1/rows", func(in *Input) { in.Delta = "0.001" }, "not below 1/rows"},
		{"preset", func(in *Input) { in.Preset = "fast" }, "unknown preset"},
		{"model", func(in *Input) { in.Model = "elm" }, "unknown model"},
		{"mean of classes", func(in *Input) { in.Model = "mean" }, "fits a regression"},
		{"as published", func(in *Input) { in.AsPublished = true }, "no paper"},
		{"stw on sensitive rows", func(in *Input) { in.Workflow = STW }, "public data only"},
	} {
		in := small(1000, nil).input("1", "1e-6", 1)
		c.change(&in)
		_, err := NewPlan(in)
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

func TestDefaultDelta(t *testing.T) {
	for _, c := range []struct {
		rows int64
		want string
	}{{1, "1e-01"}, {9, "1e-02"}, {10, "1e-02"}, {11, "1e-03"}, {1000, "1e-04"}, {32561, "1e-06"}} {
		if d, text := DefaultDelta(c.rows); text != c.want || d*10*float64(c.rows) > 1+1e-9 {
			t.Errorf("%d rows: %v (%s), want %s", c.rows, d, text, c.want)
		}
	}
}

// A model and its score must not depend on the number of workers or on the order
// of the rows' arrival beyond floating-point sums: equal seeds, equal bits.
func TestEqualSeedsEqualModels(t *testing.T) {
	tab := small(9000, nil)
	a, b := tab.run(t, tab.input("1", "1e-6", 5)), tab.run(t, tab.input("1", "1e-6", 5))
	other := tab.run(t, tab.input("1", "1e-6", 6))
	same := true
	for i, w := range a.Model.Weights {
		if b.Model.Weights[i] != w {
			t.Fatalf("weight %d differs between two runs of one seed", i)
		}
		same = same && other.Model.Weights[i] == w
	}
	if same {
		t.Fatal("another seed gave the same model: the noise is reused")
	}
}

func TestPreflight(t *testing.T) {
	tab := small(1000, nil)
	for _, target := range []string{"y", "g", "amount"} {
		in := tab.input("1", "1e-6", 1)
		in.Target = target
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Preflight(context.Background()); err != nil {
			t.Errorf("target %s: %v", target, err)
		}
	}
}

// Plans of other class weights are other computations: noise of the one must never be used
// on the other.
func TestClassWeightsAreInTheDigest(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range []map[string]float64{nil, {"true": 2}, {"true": 3}, {"false": 2}} {
		in := small(1000, nil).input("1", "1e-6", 1)
		in.ClassWeights = w
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		seen[plan.digest(nil)] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d digests of 4 plans", len(seen))
	}
}

// More cells than one model can hold are refused while a plan is made, before a charge; where the
// rules choose, they choose another model. 300 columns of 256 cells are 76,800, and 251 with the
// tables of pairs more than 65,534.
func TestTooManyCellsAreRefusedBeforeTheCharge(t *testing.T) {
	for columns, fits := range map[int]bool{200: true, 251: false, 300: false} {
		tab := small(10, func(s *schema.Schema) {
			for i := range columns {
				s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("c", i), Type: schema.Numeric, Upper: 1, Missing: schema.MissingUnknown})
			}
			s.Rows.N = 20000
		})
		in := tab.input("1", "1e-6", 1)
		in.Rows = 20000
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Recipe.Learner == "gam"; got != fits {
			t.Errorf("%d columns: the rules take %s", columns, plan.Recipe.Learner)
		}
		in.Model = "gam"
		if _, err := NewPlan(in); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), `too many categories and cells together: model "gam" takes 64125`) {
			t.Errorf("%d columns, asked for: %v", columns, err)
		}
	}
}

// One Gaussian release of multiplier σ₁ = n/r is exactly (ε, δ)-DP, δ the default or the one that is named.
func TestSignalRatio(t *testing.T) {
	for _, c := range []struct {
		delta string
		at    float64
	}{{"", 1e-5}, {"1e-3", 1e-3}} {
		r, noise, err := SignalRatio(10000, 2, c.delta)
		if err != nil || math.Abs(r*noise-10000) > 1e-6 {
			t.Errorf("δ %q: r = %v, σ₁ = %v, %v", c.delta, r, noise, err)
		}
		if d := accountant.AnalyticGaussianDelta(noise, 2); math.Abs(d/c.at-1) > 1e-9 {
			t.Errorf("δ %q: one release has δ = %v, want %v", c.delta, d, c.at)
		}
	}
	for _, bad := range []struct {
		epsilon float64
		delta   string
	}{{0, ""}, {1, "x"}, {1, "0"}} {
		if r, _, err := SignalRatio(10000, bad.epsilon, bad.delta); err == nil || r != 0 {
			t.Errorf("ε %v, δ %q: r = %v, %v", bad.epsilon, bad.delta, r, err)
		}
	}
}
