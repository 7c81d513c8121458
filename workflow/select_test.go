package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/search/feature"
)

// selectInput asks for count features, or lets the method choose where it can.
func (tab table) selectInput(method, epsilon string, count int, seed uint64) SelectInput {
	in := SelectInput{Input: tab.input(epsilon, "1e-6", seed), Method: method, Count: feature.Auto}
	if NeedsCount(method) {
		in.Count = count
	}
	return in
}

func (tab table) env(t testing.TB, l *ledger.Ledger) Env {
	t.Helper()
	return Env{Ledger: l, Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
}

func chosenNames(s *feature.Selection) []string {
	var names []string
	for _, c := range s.Chosen {
		names = append(names, c.Column.Name)
	}
	return names
}

// What core opened is what was booked, by every method: one event, at most what was
// asked, and nothing where nothing is looked at.
func TestSelectBooksWhatItLooksAt(t *testing.T) {
	for _, m := range SelectMethods {
		t.Run(m.Name, func(t *testing.T) {
			tab := small(5000, nil)
			plan, err := NewSelectPlan(tab.selectInput(m.Name, "1", 2, 3))
			if err != nil {
				t.Fatal(err)
			}
			l := memoryLedger()
			env := tab.env(t, l)
			out, err := plan.Choose(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			if !out.Seeded || out.Selection.Selector != m.Name {
				t.Errorf("seeded %v, selector %q", out.Seeded, out.Selection.Selector)
			}
			for _, name := range chosenNames(out.Selection) {
				if !slices.Contains([]string{"x", "g", "amount"}, name) {
					t.Errorf("%q was chosen and is no feature of the schema", name)
				}
			}
			s, err := out.Statement(context.Background(), env, "test", time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if !s.NotPrivate || s.Score != nil || !slices.Equal(s.Choice.Features, chosenNames(out.Selection)) {
				t.Errorf("statement: not private %v, score %v, features %v", s.NotPrivate, s.Score, s.Choice.Features)
			}
			view, err := figures.Show(context.Background(), l, "small")
			if m.Name == "random" || m.Name == "all" {
				if !errors.Is(err, ledger.ErrUnknownDataset) || leaves(plan.Event) != 0 || plan.Epsilon != 0 || len(s.Privacy.Events) != 0 {
					t.Errorf("a choice that looks at nothing costs %v and books %+v (%v)", plan.Epsilon, view, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, _ := dp.EncodeEvent(plan.Event)
			if len(view.Entries) != 1 || string(view.Entries[0].Event) != string(want) || view.Entries[0].State != ledger.Committed || !view.Entries[0].NotPrivate {
				t.Errorf("ledger holds %+v, want one committed entry of %s, NOT PRIVATE", view.Entries, want)
			}
			if len(s.Privacy.Events) != 1 {
				t.Errorf("the statement has %d events, want 1", len(s.Privacy.Events))
			}
		})
	}
}

func TestSelectNeverExceedsWhatWasAsked(t *testing.T) {
	tab := small(200_000, nil)
	for _, m := range SelectMethods {
		for _, epsilon := range []string{"0.02", "0.3333333333", "10"} {
			for _, method := range []accountant.Method{accountant.MethodMin, accountant.MethodRDP, accountant.MethodPLD} {
				in := tab.selectInput(m.Name, epsilon, 2, 1)
				in.Accountant = method
				plan, err := NewSelectPlan(in)
				if err != nil {
					t.Errorf("%s at ε %s by %s: %v", m.Name, epsilon, method, err)
					continue
				}
				price, err := accountant.Epsilon(plan.Event, dp.AddOrRemoveOne, plan.problem.delta, method)
				asked, _ := plan.problem.epsilon.Float64()
				if err != nil || plan.Epsilon > asked || price.Epsilon > plan.Epsilon {
					t.Errorf("%s at ε %s by %s: shows %v, costs %v (%v)", m.Name, epsilon, method, plan.Epsilon, price.Epsilon, err)
				}
				if !in.free() && plan.Epsilon < 0.97*asked {
					t.Errorf("%s at ε %s by %s: only %v is used", m.Name, epsilon, method, plan.Epsilon)
				}
			}
		}
	}
}

// A charge that was forgotten, or that was smaller than the release, opens nothing.
func TestSelectOpensNothingWithoutItsCharge(t *testing.T) {
	tab := small(5000, nil)
	for _, m := range SelectMethods {
		in := tab.selectInput(m.Name, "1", 2, 3)
		if in.free() {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			plan, err := NewSelectPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			less, err := NewSelectPlan(tab.selectInput(m.Name, "0.5", 2, 3))
			if err != nil {
				t.Fatal(err)
			}
			env := tab.env(t, memoryLedger())
			release := func(permit *ledger.Permit) error {
				if m.Name == "pafs" {
					_, err := plan.job.(*pafs).selectSet(context.Background(), permit, env.Rows)
					return err
				}
				c := choiceOf(plan)
				_, err := c.from.noisy(context.Background(), permit, env.Rows, c.noise)
				return err
			}
			if m.Name != "pafs" && release(nil) == nil {
				t.Error("rows were opened without a permit")
			}
			permit, _, err := less.reserve(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			if release(permit) == nil || permit.Opened() {
				t.Error("rows were opened by half the charge")
			}
			if permit, _, err = plan.reserve(context.Background(), tab.env(t, memoryLedger())); err != nil {
				t.Fatal(err)
			}
			if err := release(permit); err != nil {
				t.Errorf("the whole charge: %v", err)
			}
			if release(permit) == nil {
				t.Error("one charge opened the rows twice")
			}
		})
	}
}

// Noise is all that separates a paid choice from one on exact statistics.
func TestSelectWithoutNoiseIsExact(t *testing.T) {
	tab := builtin(t, "adult")
	for _, m := range []string{"cfs-greedy", "mutual-information", "symmetrical-uncertainty", "dfs", "t-statistic", "threshold"} {
		plan, err := NewSelectPlan(tab.selectInput(m, "100000", 6, 1))
		if err != nil {
			t.Fatal(err)
		}
		env := tab.env(t, memoryLedger())
		out, err := plan.Choose(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		s, err := choiceOf(plan).from.exact(env.Rows)
		if err != nil {
			t.Fatal(err)
		}
		want, err := choiceOf(plan).pick(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := chosenNames(out.Selection); len(got) < 2 || !slices.Equal(got, chosenNames(want)) {
			t.Errorf("%s at a huge ε: %v, on exact statistics %v", m, got, chosenNames(want))
		}
	}
}

// And it is there: with noise off, seeds would agree on every score.
func TestSelectAddsNoise(t *testing.T) {
	tab := small(5000, nil)
	for _, m := range SelectMethods {
		if in := tab.selectInput(m.Name, "0.5", 3, 1); in.free() || m.Name == "cfs-ga" {
			continue // a genetic search reads the tables of cfs-greedy
		}
		scores := map[float64]bool{}
		for seed := range uint64(3) {
			plan, err := NewSelectPlan(tab.selectInput(m.Name, "0.5", 3, seed))
			if err != nil {
				t.Fatal(err)
			}
			out, err := plan.Choose(context.Background(), tab.env(t, memoryLedger()))
			if err != nil {
				t.Fatal(err)
			}
			if score := out.Selection.Chosen[0].Score; m.Name == "pafs" {
				scores[out.Selection.Merit] = true
			} else {
				scores[score] = true
			}
		}
		if len(scores) != 3 {
			t.Errorf("%s: three seeds gave the scores %v", m.Name, scores)
		}
	}
}

// The deviation that the reading of sums relies on is that of the release. Null: the
// variance of 2 classes × 300 seeds is its square; the ratio then has deviation
// √(2/600) = 0.058, and 4.8916 of these are passed once in a million. A forgotten √2 or
// rows per unit would make it 2 or 9.
func TestSumsNoiseIsThatOfTheRelease(t *testing.T) {
	tab := small(60, func(s *schema.Schema) { s.Unit.MaxRows = 3; s.Rows.N = 100_000 })
	for _, m := range []string{"dfs", "t-statistic"} {
		in := tab.selectInput(m, "1", 2, 1)
		in.Rows = 100_000
		plan, err := NewSelectPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		sums, noise := sumsOf(plan), choiceOf(plan).noise
		permitOf := func(seed uint64) (*ledger.Permit, Env) {
			env := tab.env(t, memoryLedger())
			plan.problem.Seed = &seed
			permit, _, err := plan.reserve(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			return permit, env
		}
		exact := [2]float64{}
		for _, row := range tab.rows {
			exact[int(row[2])]++
		}
		squares := 0.0
		for seed := range uint64(300) {
			permit, env := permitOf(seed)
			found, err := sums.release(noise).Release(context.Background(), permit, env.Rows)
			if err != nil {
				t.Fatal(err)
			}
			for a, n := range found.Counts {
				squares += (n - exact[a]) * (n - exact[a])
			}
		}
		stated := sums.stdDev(noise)
		if ratio := squares / 600 / stated / stated; math.Abs(ratio-1) > 4.8916*math.Sqrt(2.0/600) {
			t.Errorf("%s: variance is %.3f times the stated one", m, ratio)
		}
	}
}

// What was paid for must not fail on what the rows hold: one class, or next to no row.
func TestSelectOfPoorRows(t *testing.T) {
	one := small(3000, nil)
	for _, row := range one.rows {
		row[2] = 0
	}
	few := small(3000, nil)
	few.rows, few.units = few.rows[:3], few.units[:3]
	for name, tab := range map[string]table{"one class": one, "three rows": few} {
		for _, m := range SelectMethods {
			for seed := range uint64(5) {
				in := tab.selectInput(m.Name, "0.5", 2, seed)
				in.Rows = 3000
				plan, err := NewSelectPlan(in)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := plan.Choose(context.Background(), tab.env(t, memoryLedger())); err != nil {
					t.Errorf("%s, %s: %v", name, m.Name, err)
				}
			}
		}
	}
}

// pafs releases a winner and its score by one Select event, and nothing of the losers.
func TestPAFSReleasesTheWinnerAlone(t *testing.T) {
	tab := small(5000, nil)
	in := tab.selectInput("pafs", "1", 0, 5)
	in.Features = []string{"x", "g"}
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	compose, ok := plan.Event.(dp.Compose)
	if !ok || len(compose.Events) != 1 {
		t.Fatalf("the plan books %v, want one event", plan.Event)
	}
	scoped, ok := compose.Events[0].(dp.Scoped)
	if !ok {
		t.Fatalf("the plan books %T, want a scoped event", compose.Events[0])
	}
	if _, ok := scoped.Event.(dp.Select); !ok || scoped.Scope != dp.WholeScope {
		t.Errorf("the plan books %T on %v, want a selection on all rows", scoped.Event, scoped.Scope)
	}
	out, err := plan.Choose(context.Background(), tab.env(t, memoryLedger()))
	if err != nil {
		t.Fatal(err)
	}
	names := chosenNames(out.Selection)
	if len(names) == 0 || len(names) > 2 || slices.Contains(names, "amount") {
		t.Errorf("chosen %v, want some of x and g", names)
	}
	for _, c := range out.Selection.Chosen {
		if !math.IsNaN(c.Score) {
			t.Errorf("%s has the score %v of its own, and only the set was scored", c.Column.Name, c.Score)
		}
	}
	if m := out.Selection.Merit; !(m >= 0 && m <= 1) {
		t.Errorf("merit %v", m)
	}
}

// As published, the choice reads rows without paying: on public rows only, whatever the
// plan was told.
func TestSelectAsPublished(t *testing.T) {
	sensitive := small(5000, nil)
	in := sensitive.selectInput("cfs-greedy", "", 0, 1)
	in.AsPublished = true
	var u *UsageError
	if _, err := NewSelectPlan(in); !errors.As(err, &u) || !strings.Contains(err.Error(), "public data only") {
		t.Errorf("sensitive rows: %v", err)
	}
	in.Public = true // a caller's mistake
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Choose(context.Background(), sensitive.env(t, memoryLedger())); err == nil {
		t.Error("exact statistics of sensitive rows were read")
	}

	tab := builtin(t, "breast-cancer")
	in = tab.selectInput("cfs-ga", "", 0, 1)
	in.AsPublished = true
	if plan, err = NewSelectPlan(in); err != nil {
		t.Fatal(err)
	}
	l := memoryLedger()
	env := tab.env(t, l)
	out, err := plan.Choose(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	s, err := out.Statement(context.Background(), env, "test", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(float64(s.Privacy.Epsilon), 1) || !s.NotPrivate || !math.IsInf(float64(s.Privacy.ByStage["select"].Epsilon), 1) {
		t.Errorf("claims ε %v, stage %v, not private %v", s.Privacy.Epsilon, s.Privacy.ByStage["select"].Epsilon, s.NotPrivate)
	}
	if e := out.PublishedEpsilon; !(e > 0) {
		t.Errorf("published ε is %v", e)
	}
	// The ledger knows from now on that exact statistics of these rows have left.
	if v, err := figures.Show(context.Background(), l, tab.name); err != nil || !v.Public || !math.IsInf(float64(v.Spent.Epsilon), 1) {
		t.Errorf("the ledger shows %+v (%v), want a public data set with an entry without bound", v.Spent, err)
	}
}

// Two ways to the same figures: means of indicators from sums by class, and shares of a
// class from its table, for every level of every attribute, unknown ones included.
func TestSumsAgreeWithTables(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	env := tab.env(t, memoryLedger())
	read := func(method string) (*Plan, *feature.Statistics) {
		in := tab.selectInput(method, "", 1, 1)
		in.AsPublished = true
		plan, err := NewSelectPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		s, err := choiceOf(plan).from.exact(env.Rows)
		if err != nil {
			t.Fatal(err)
		}
		return plan, s
	}
	plan, sums := read("dfs")
	_, tables := read("mutual-information")
	distances, err := sums.Classes.Distances(feature.Sum)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for j, col := range sumsOf(plan).columns {
		names[col.Name] = true
		table := tables.LabelTables[col.Attribute]
		var class, at [2]float64
		for level := range table.Rows {
			for y := range table.Cols {
				class[y] += table.Counts[level*table.Cols+y]
				if level == col.Level {
					at[y] += table.Counts[level*table.Cols+y]
				}
			}
		}
		if want := math.Abs(at[0]/class[0] - at[1]/class[1]); math.Abs(distances[j]-want) > 1e-12 {
			t.Errorf("%s: distance %v by sums, %v by its table", col.Name, distances[j], want)
		}
	}
	for _, name := range []string{"node-caps=(unknown)", "deg-malig=1", "deg-malig=3", "inv-nodes=0-2"} {
		if !names[name] {
			t.Errorf("no column %q", name)
		}
	}
}
