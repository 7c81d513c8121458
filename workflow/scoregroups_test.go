package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/evidence/quality"
)

// grouped asks for the score of each group of g.
func grouped(tab table, epsilon, delta string, change func(*Input)) Input {
	in := tab.input(epsilon, delta, 1)
	in.ScoreBy, in.Model = "g", "linear"
	if change != nil {
		change(&in)
	}
	return in
}

// All groups together are one event on the scored rows, beside that of the score; both
// fit in what was asked, and training keeps its rows' whole budget.
func TestScoresByGroupArePaidFor(t *testing.T) {
	for name, c := range map[string]struct {
		delta  string
		change func(*Input)
	}{
		"classification": {"1e-6", nil},
		"regression":     {"1e-6", func(in *Input) { in.Target = "amount" }},
		"pure":           {"0", func(in *Input) { in.Model = "" }},
	} {
		tab := small(5000, nil)
		in := grouped(tab, "1", c.delta, c.change)
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		in.ScoreBy = ""
		without, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Epsilon > 1 || plan.Epsilon < 0.999 {
			t.Errorf("%s: the plan costs %g", name, plan.Epsilon)
		}
		if a, b := noiseOf(plan), noiseOf(without); a != b {
			t.Errorf("%s: groups change the training's noise: %g, without them %g", name, a, b)
		}
		on := func(plan *Plan) (events []dp.Event) {
			for _, e := range plan.Event.(dp.Compose).Events {
				if s := e.(dp.Scoped); s.Scope.Lower == plan.scoreScope.Lower { // what one unit of them pays
					events = append(events, s.Event)
				}
			}
			return events
		}
		scored := on(plan)
		own := []string{groupsStage}
		if plan.problem.twoClasses() {
			own = []string{groupLabels, groupBins}
		}
		n := len(scored) - len(own)
		if n != len(on(without)) || scored[n] != plan.scoring.event(own[0]) || scored[len(scored)-1] != plan.scoring.event(own[len(own)-1]) {
			t.Errorf("%s: the scored rows are charged %v, without groups %v", name, scored, on(without))
		}
		price, err := accountant.Epsilon(dp.Compose{Events: scored}, dp.AddOrRemoveOne, plan.problem.delta, accountant.MethodMin)
		if err != nil || price.Epsilon > 1 || price.Epsilon < 0.99 {
			t.Errorf("%s: the scored rows pay %g (%v), want all of 1", name, price.Epsilon, err)
		}
		for _, part := range plan.problem.scoreParts() {
			if with, alone := plan.scoring.noise[part.name], without.scoring.noise[part.name]; !(with > alone*1.2) {
				t.Errorf("%s: %s has noise %g with groups and %g without: who pays for them?", name, part.name, with, alone)
			}
		}
	}
}

// What the ledger holds after the run includes the groups, and a plan that left them
// out of its events cannot open the rows.
func TestForgottenChargeOfGroupsIsNoticed(t *testing.T) {
	tab := small(5000, nil)
	plan, err := NewPlan(grouped(tab, "1", "1e-6", nil))
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
	out, err := plan.Run(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Score.Groups) != 3 {
		t.Fatalf("groups %+v", out.Score.Groups)
	}
	view, err := figures.Show(context.Background(), env.Ledger, "small")
	if err != nil {
		t.Fatal(err)
	}
	if booked, err := dp.DecodeEvent(view.Entries[0].Event); err != nil || !reflect.DeepEqual(booked, plan.Event) || len(booked.(dp.Compose).Events) != 7 {
		t.Errorf("the ledger holds %s (%v), want the training, the score's edges, bins of each half and labels, and its groups", view.Entries[0].Event, err)
	}

	if plan, err = NewPlan(grouped(tab, "1", "1e-6", nil)); err != nil {
		t.Fatal(err)
	}
	events := plan.Event.(dp.Compose).Events
	plan.Event = dp.Compose{Events: events[:len(events)-1]}
	env.Ledger = memoryLedger()
	if _, err := plan.Run(context.Background(), env); err == nil || !strings.Contains(err.Error(), "not reserved") {
		t.Errorf("a forgotten charge: %v", err)
	}
}

// Null: the noisy number of rows of a group is the true one plus noise of deviation
// √4·k·multiplier, of four cells. 200 runs on the same rows; a deviation has a relative standard
// error of 5 %, a correlation one of 7 %. Convicts noise that is off, halved, shared by
// groups, or that forgets the rows of a unit.
func TestScoresByGroupAreNoisy(t *testing.T) {
	const n = 200
	for _, k := range []int{1, 3} {
		tab := small(1800, func(s *schema.Schema) { s.Unit.MaxRows = k })
		rows := tab.seal(t, 1)
		var sizes [2][]float64
		plan, err := NewPlan(grouped(tab, "3", "1e-6", func(in *Input) { in.Model = "majority" }))
		if err != nil {
			t.Fatal(err)
		}
		want := plan.groupNoise()
		for seed := range uint64(n) {
			plan.problem.Seed = &seed
			out, err := plan.Run(context.Background(), Env{Ledger: memoryLedger(), Rows: rows, Digest: bytes.Repeat([]byte{7}, 32)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range sizes {
				sizes[i] = append(sizes[i], out.Score.Groups[i].Rows)
			}
		}
		for i, s := range sizes {
			if got := stat.StdDev(s, nil); math.Abs(got/want-1) > 4.9*0.05 {
				t.Errorf("%d rows per unit: group %d has noise of deviation %g, want %g", k, i, got, want)
			}
		}
		if r := stat.Correlation(sizes[0], sizes[1], nil); math.Abs(r) > 4.9*0.07 {
			t.Errorf("groups share their noise: correlation %g", r)
		}
	}
}

// A group that does not exist is never said to have a score, whoever looks: the noisy
// number of rows decides.
func TestEmptyGroupSaysNothing(t *testing.T) {
	tab := small(3000, func(s *schema.Schema) { s.Columns[1].Categories = append(s.Columns[1].Categories, "nobody") })
	for seed := range uint64(5) {
		out := tab.run(t, grouped(tab, "2", "1e-6", func(in *Input) { in.Seed = &seed }))
		g := out.Score.Groups
		if len(g) != 4 || !g[3].TooFew || g[3].Value == g[3].Value || g[3].Exact != nil {
			t.Fatalf("groups %+v", g)
		}
		for _, v := range g[:3] {
			if v.TooFew || !(v.Interval[0] < v.Value && v.Value < v.Interval[1]) || v.Exact != nil {
				t.Errorf("group %+v", v)
			}
		}
	}
}

// Released values lie near exact ones; on public test rows they are exact and free.
func TestScoresByGroupAgainstExactOnes(t *testing.T) {
	for name, target := range map[string]string{"classification": "y", "regression": "amount"} {
		tab := small(9000, func(s *schema.Schema) { s.Public = true })
		tab.target = target
		out := tab.run(t, grouped(tab, "0.5", "1e-6", nil))
		for _, g := range out.Score.Groups {
			if g.Exact == nil || math.Abs(*g.Exact-g.Value) < 1e-12 || *g.Exact < g.Interval[0] || *g.Exact > g.Interval[1] {
				t.Errorf("%s: group %+v: want a noisy value whose interval holds the exact one", name, g)
			}
		}
		tab.test = tab.rows[:600]
		in := grouped(tab, "4", "1e-6", nil)
		out = tab.run(t, in)
		sum := 0.0
		for _, g := range out.Score.Groups {
			if g.Rows != 200 || g.Exact == nil || *g.Exact != g.Value {
				t.Errorf("%s: group %+v of public rows, want 200 of them, exact", name, g)
			}
			sum += g.Value * g.Rows / 600
		}
		if math.Abs(sum-out.Score.Value) > 1e-9*math.Abs(sum) {
			t.Errorf("%s: groups make %g, all rows %g", name, sum, out.Score.Value)
		}
		for _, s := range out.Plan.Stages {
			if s.Name == groupsStage && len(s.Events) > 0 {
				t.Errorf("%s: public rows are paid for: %v", name, s.Events)
			}
		}
	}
}

func TestBadScoreBy(t *testing.T) {
	many := func(n int) func(*schema.Schema) {
		return func(s *schema.Schema) {
			for i := range n - 3 {
				s.Columns[1].Categories = append(s.Columns[1].Categories, strings.Repeat("d", i+1))
			}
		}
	}
	for _, c := range []struct {
		name, by, want string
		schema         func(*schema.Schema)
		change         func(*Input)
	}{
		{"unknown", "h", "not a column", nil, nil},
		{"number", "x", "is a number", nil, nil},
		{"target", "y", "the target itself", nil, nil},
		{"ignored", "g", "type ignore", func(s *schema.Schema) { s.Columns[1].Type = schema.Ignore }, nil},
		{"one category", "g", "one category", func(s *schema.Schema) { s.Columns[1].Categories = []string{"a"} }, nil},
		{"unit", "g", "unit's identifier", func(s *schema.Schema) { s.Unit.Column = "g" }, nil},
		{"too many to print", "g", "65 categories", many(65), nil},
		{"too many for the budget", "g", "too few for the noise", many(60), nil},
		{"too little budget", "g", "too few for the noise", nil, func(in *Input) { in.Epsilon = "0.02" }},
		{"images", "g", "images", nil, func(in *Input) { in.Dense = true }},
	} {
		tab := small(5000, c.schema)
		in := tab.input("1", "1e-6", 1)
		in.ScoreBy = c.by
		if c.change != nil {
			c.change(&in)
		}
		_, err := NewPlan(in)
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(u.Msg, c.want) || strings.Contains(u.Msg, "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// The statement of a paid run says what the groups cost, and is refused without.
func TestStatementOfGroups(t *testing.T) {
	tab := small(5000, nil)
	in := grouped(tab, "1", "1e-6", nil)
	plan, err := NewPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
	out, err := plan.Run(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	s, err := out.Statement(context.Background(), env, "test", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	b := s.Score.ByGroup
	if b == nil || b.Attribute != "g" || !(b.Epsilon > 0.499 && b.Epsilon < 1) || len(b.Groups) != 3 || b.Groups[0].Test != nil {
		t.Fatalf("by group: %+v", b)
	}
	if st := s.Privacy.ByStage[groupsStage]; st.Epsilon != b.Epsilon || len(s.Privacy.Events) != 7 {
		t.Errorf("stage %+v, %d events", st, len(s.Privacy.Events))
	}
	for _, g := range b.Groups {
		if n := float64(g.Rows); n != math.Round(n) {
			t.Errorf("a number of rows of %g", n)
		}
	}
	without := *plan.problem
	without.ScoreBy = ""
	if (&Plan{problem: &without, job: plan.job}).digest(nil) == plan.digest(nil) {
		t.Error("the plan's name does not tell the groups")
	}
}

// Where one half of the scored units chooses for the other, the halves are disjoint and are all of
// them: a unit pays for each part once, and is in no part twice. What nobody chooses is counted once.
func TestHalvesAreDisjoint(t *testing.T) {
	for _, c := range []struct {
		decision quality.Decision
		scopes   int
		target   string
	}{{quality.Decision{}, 1, "y"}, {quality.Decision{Recall: .8}, 2, "y"}, {quality.Decision{FalseNegative: 5, FalsePositive: 1}, 2, "y"}, {quality.Decision{}, 1, "g"}} {
		plan, err := NewPlan(grouped(small(5000, nil), "2", "1e-6", func(in *Input) {
			if in.Decision, in.Target = c.decision, c.target; c.target == "g" {
				in.ScoreBy = ""
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int{"edges": 1, "bins": 2, "labels": c.scopes, groupLabels: c.scopes, groupBins: 1} {
			scopes := plan.partScopes(name)
			if len(scopes) != want {
				t.Errorf("%+v: %s is released on %d scopes, want %d", c.decision, name, len(scopes), want)
			}
			at := plan.scoreScope.Lower
			for _, s := range scopes {
				if s.Lower != at || !(s.Upper > at) {
					t.Errorf("%+v: %s is released on %v, which is to begin at %g", c.decision, name, s, at)
				}
				at = s.Upper
			}
			if at != plan.scoreScope.Upper {
				t.Errorf("%+v: %s is released up to %g of %v", c.decision, name, at, plan.scoreScope)
			}
		}
	}
}
