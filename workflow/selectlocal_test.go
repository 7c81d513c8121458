package workflow

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger/figures"
	"pawl/data/schema"
	"pawl/search/feature"
)

func (tab table) localInput(epsilon string, count int, seed uint64) SelectInput {
	in := tab.selectInput("dfs", epsilon, count, seed)
	in.Mode = Local
	return in
}

func (tab table) local(t *testing.T, in SelectInput) *Selected {
	t.Helper()
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Choose(context.Background(), tab.env(t, memoryLedger()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Choice and rows together cost what was asked under replace-one, and the statement says
// so; as many rows leave as are declared.
func TestLocalBooksChoiceAndRows(t *testing.T) {
	tab := small(5000, nil)
	for _, labels := range []LabelMode{"", PublicLabels} {
		for _, epsilon := range []string{"3", "8"} {
			in := tab.localInput(epsilon, 2, 1)
			in.Labels, in.Rows = labels, 4900 // about
			plan, err := NewSelectPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			l := memoryLedger()
			env := tab.env(t, l)
			out, err := plan.Choose(context.Background(), env)
			if err != nil {
				t.Fatal(err)
			}
			s, err := out.Statement(context.Background(), env, "v", time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			asked, _ := plan.problem.epsilon.Float64()
			all, err := accountant.Epsilon(plan.Event, dp.ReplaceOne, plan.problem.delta, accountant.MethodMin)
			if err != nil || !(all.Epsilon <= asked) || all.Epsilon < 0.98*asked || s.Privacy.Relation != "replace_one" {
				t.Errorf("epsilon %s costs %v (%v) under %s", epsilon, all.Epsilon, err, s.Privacy.Relation)
			}
			events := 3
			if labels == PublicLabels {
				events = 2
			}
			if len(s.Privacy.Events) != events || len(s.Privacy.ByStage) != 2 {
				t.Errorf("%d events in %d stages, want %d in 2", len(s.Privacy.Events), len(s.Privacy.ByStage), events)
			}
			if out.Table.Rows != 4900 || len(out.Table.Labels) != 4900 || len(out.Table.X) != 4900*len(out.Table.Columns) {
				t.Errorf("%d rows, %d labels", out.Table.Rows, len(out.Table.Labels))
			}
			says := slices.ContainsFunc(s.Privacy.NotCovered, func(s string) bool { return strings.Contains(s, "--labels public") })
			if says != (labels == PublicLabels) {
				t.Errorf("labels %q: not covered: %q", labels, s.Privacy.NotCovered)
			}
			view, err := figures.Show(context.Background(), l, tab.name)
			if err != nil || view.Relation != dp.ReplaceOne || len(view.Entries) != 1 {
				t.Errorf("the ledger shows %+v (%v)", view, err)
			}
		}
	}
}

// Entries carry noise of the stated deviation around what the row holds, and classes the
// stated response. Null: over 6,000 equal rows the variance of 6,000·c entries is the
// stated one, and a class differs with probability q/2; |z| <= 4.8916 is 1e-6 each. It sees
// noise that is missing, halved, added twice, or for another norm, and a response that is not
// drawn.
func TestLocalRowsCarryTheirNoise(t *testing.T) {
	const n = 6000
	tab := small(n, nil)
	for i := range tab.rows {
		tab.rows[i] = []float64{0.25, 1, 1, 75}
	}
	for _, level := range []feature.Level{feature.AttributeLevel, feature.ColumnLevel} {
		in := tab.localInput("6", 3, 5)
		in.Level = level
		out := tab.local(t, in)
		exact := map[string]float64{"x": 0.25, "amount": 0.75, "g=a": 0, "g=b": 1, "g=c": 0}
		table := out.Table
		squares, count := 0.0, 0.0
		for i, v := range table.X {
			want, ok := exact[table.Columns[i%len(table.Columns)]]
			if !ok {
				t.Fatalf("a column %q", table.Columns[i%len(table.Columns)])
			}
			squares += (v - want) * (v - want)
			count++
		}
		if z := (squares/(table.StdDev*table.StdDev) - count) / math.Sqrt(2*count); math.Abs(z) > 4.8916 {
			t.Errorf("%s level: variance is %.4f of the stated one (z = %.1f)", level, squares/count/table.StdDev/table.StdDev, z)
		}
		if want := 2 * table.Norm * out.Plan.job.(*local).rows; math.Abs(table.StdDev/want-1) > 1e-9 {
			t.Errorf("%s level: deviation %v, want %v", level, table.StdDev, want)
		}
		other := 0.0
		for _, c := range table.Labels {
			if c != 1 {
				other++
			}
		}
		q := table.LabelNoise / 2
		if z := (other - n*q) / math.Sqrt(n*q*(1-q)); !(q > 0) || math.Abs(z) > 4.8916 {
			t.Errorf("%s level: %v of %d classes differ, want %.0f (z = %.1f)", level, other, n, n*q, z)
		}
	}
}

// Public labels are those of the rows, −1 (none) where a row has none.
func TestLocalPublicLabels(t *testing.T) {
	tab := small(5000, nil)
	tab.rows[7][2] = math.NaN()
	in := tab.localInput("6", 2, 1)
	in.Labels = PublicLabels
	var want, got [3]int
	for _, row := range tab.rows {
		if row[2] != row[2] {
			want[2]++
		} else {
			want[int(row[2])]++
		}
	}
	for _, c := range tab.local(t, in).Table.Labels {
		got[(c+3)%3]++
	}
	if got != want {
		t.Errorf("classes %v, want %v", got, want)
	}
}

// No row is longer than the public norm, whatever is chosen and whatever is unknown, so that
// none is cut; some row is that long.
func TestLocalNormHolds(t *testing.T) {
	tab := small(5000, func(s *schema.Schema) {
		s.Columns = append(s.Columns, schema.Column{Name: "o", Type: schema.Categorical, Ordered: true, Categories: []string{"p", "q", "r"}},
			schema.Column{Name: "h", Type: schema.Categorical, Categories: []string{"1", "2", "3", "4", "5"}, Missing: schema.MissingUnknown})
	})
	in := tab.localInput("6", 2, 1)
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	sums := sumsOf(plan)
	longest := 0.0
	rapid.Check(t, func(t *rapid.T) {
		var entries []int
		for j := range sums.columns {
			if rapid.Bool().Draw(t, "chosen") {
				entries = append(entries, j)
			}
		}
		if len(entries) == 0 {
			return
		}
		center, norm := sums.centered(entries)
		r := sums.rowsOf(entries, center, norm)
		number := func(upper float64) float64 {
			return rapid.OneOf(rapid.Just(0.0), rapid.Just(upper), rapid.Just(math.NaN()), rapid.Float64Range(0, upper)).Draw(t, "number")
		}
		level := func(n int) float64 {
			if l := rapid.IntRange(-1, n-1).Draw(t, "level"); l >= 0 {
				return float64(l)
			}
			return math.NaN()
		}
		x := make([]float64, len(entries))
		r.Row(x, []float64{number(1), level(3), level(2), number(100), level(3), level(5)})
		squares := 0.0
		for _, v := range x {
			squares += v * v
		}
		if !(squares <= norm*norm*(1+1e-12)) {
			t.Errorf("entries %v: norm %v above %v", entries, math.Sqrt(squares), norm)
		}
		longest = max(longest, math.Sqrt(squares)/norm)
	})
	if longest < 1-1e-9 {
		t.Errorf("the longest row has %v of the norm: the bound is loose", longest)
	}
}

// Under replace-one a sum has twice the noise, and the figure that is shown says so.
func TestLocalChoiceNoise(t *testing.T) {
	plan, err := NewSelectPlan(small(5000, nil).localInput("6", 2, 1))
	if err != nil {
		t.Fatal(err)
	}
	noise := choiceOf(plan).noise
	if got, want := sumsOf(plan).stdDev(noise), noise*math.Sqrt2*2; math.Abs(got/want-1) > 1e-10 {
		t.Errorf("noise %v on a count, want %v", got, want)
	}
}

func TestLabelEpsilon(t *testing.T) {
	for _, c := range []struct {
		epsilon, from, to float64
		classes           int
	}{{0.01, 0.004, 0.006, 2}, {10, 2.2, 3.2, 2}, {10, 3, 6, 100}, {100, 3, 12, 2}} {
		if e := labelEpsilon(c.epsilon, c.classes); !(e >= c.from && e <= c.to) {
			t.Errorf("epsilon %v, %d classes: labels take %v, want %v to %v", c.epsilon, c.classes, e, c.from, c.to)
		}
	}
}

func TestLocalUsageErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*SelectInput)
		want   string
	}{
		{"unknown mode", func(in *SelectInput) { in.Mode = "remote" }, `unknown mode "remote"`},
		{"another method", func(in *SelectInput) { in.Method = "t-statistic" }, "that of method dfs"},
		{"add or remove", func(in *SelectInput) { in.Relation = dp.AddOrRemoveOne }, "no guarantee under add_or_remove_one"},
		{"zero out", func(in *SelectInput) { in.Relation = dp.ZeroOut }, "no guarantee under zero_out"},
		{"replace one of central", func(in *SelectInput) { in.Mode, in.Relation = Central, dp.ReplaceOne }, "charged under add_or_remove_one"},
		{"labels of central", func(in *SelectInput) { in.Mode, in.Labels = Central, PublicLabels }, "releases no rows"},
		{"unknown labels", func(in *SelectInput) { in.Labels = "noisy" }, "unknown treatment"},
		{"randomized as published", func(in *SelectInput) { in.AsPublished, in.Labels = true, RandomizedLabels }, "released unchanged"},
		{"several rows", func(in *SelectInput) { in.Schema.Unit.MaxRows = 2 }, "one row for each unit"},
		{"private rows", func(in *SelectInput) { in.Rows = 0 }, "public number of rows"},
		{"epsilon for no table", func(in *SelectInput) { in.Epsilon = "0.5" }, "too small for any table"},
		{"epsilon for no choice", func(in *SelectInput) { in.Epsilon = "0.001" }, "the noise exceeds the sums"},
		{"pure", func(in *SelectInput) { in.Delta = "0" }, "no pure epsilon"},
		{"learner", func(in *SelectInput) { in.Search.Learner = "dp-sgd" }, "settings of pafs as published"},
	} {
		in := small(3000, nil).localInput("5", 2, 1)
		c.change(&in)
		_, err := NewSelectPlan(in)
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// As published: noise of 2·N·ln(1/δ)/ε on every entry, N the largest L1 norm of the rows
// themselves; nothing is claimed, and sensitive rows stay shut. Null as in
// TestLocalRowsCarryTheirNoise.
func TestLocalAsPublished(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	in := tab.localInput("5", 10, 1)
	in.AsPublished, in.Delta = true, ""
	plan, err := NewSelectPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	env := tab.env(t, memoryLedger())
	out, err := plan.Choose(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	table := out.Table
	if len(table.Columns) != 10 || table.Rows != len(tab.rows) {
		t.Fatalf("%d columns, %d rows", len(table.Columns), table.Rows)
	}
	if want := 2 * table.Norm * math.Log(1e4) / 5; table.Norm != math.Round(table.Norm) || table.Norm < 4 || math.Abs(table.StdDev/want-1) > 1e-12 {
		t.Errorf("norm %v, deviation %v, want %v", table.Norm, table.StdDev, want)
	}
	squares, count := 0.0, float64(len(table.X))
	for _, v := range table.X {
		squares += v * v
	}
	// An indicator adds at most 1 to a square of about 18².
	if r := squares / count / (table.StdDev * table.StdDev); math.Abs(r-1) > 4.8916*math.Sqrt(2/count)+0.005 {
		t.Errorf("variance is %.3f of the stated one", r)
	}
	s, err := out.Statement(context.Background(), env, "v", time.Unix(0, 0))
	if err != nil || !math.IsInf(float64(s.Privacy.Epsilon), 1) || !s.NotPrivate || out.PublishedEpsilon != 5 {
		t.Errorf("claims %v, published %v (%v)", s.Privacy.Epsilon, out.PublishedEpsilon, err)
	}

	sensitive := small(5000, nil)
	in = sensitive.localInput("5", 2, 1)
	in.AsPublished, in.Public, in.Delta = true, true, "" // a caller's mistake
	if plan, err = NewSelectPlan(in); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Choose(context.Background(), sensitive.env(t, memoryLedger())); err == nil {
		t.Error("sensitive rows were read")
	}
}
