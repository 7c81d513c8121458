package workflow

import (
	"errors"
	"strings"
	"testing"

	"pawl/core/release"
	"pawl/search/feature"
)

func TestSelectUsageErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		method string
		change func(*SelectInput)
		want   string
	}{
		{"no method", "", func(*SelectInput) {}, "missing --method"},
		{"unknown method", "dsf", func(*SelectInput) {}, `unknown method "dsf"`},
		{"no epsilon", "dfs", func(in *SelectInput) { in.Epsilon = "" }, "missing --epsilon"},
		{"epsilon NaN", "dfs", func(in *SelectInput) { in.Epsilon = "NaN" }, "epsilon must be"},
		{"pure", "dfs", func(in *SelectInput) { in.Delta = "0" }, "no pure epsilon"},
		{"pure pafs", "pafs", func(in *SelectInput) { in.Delta = "0" }, "delta > 0"},
		{"k is missing", "dfs", func(in *SelectInput) { in.Count = feature.Auto }, "cannot choose their number"},
		{"k is 0", "dfs", func(in *SelectInput) { in.Count = 0 }, "k is 0"},
		{"k above the features", "cfs-greedy", func(in *SelectInput) { in.Count = 4 }, "k is 4, and there are 3"},
		{"k of all", "all", func(in *SelectInput) { in.Count = 2 }, "takes all 3"},
		{"k of pafs", "pafs", func(in *SelectInput) { in.Count = 2 }, "number of features itself"},
		{"target is a number", "dfs", func(in *SelectInput) { in.Target = "amount" }, "is a number"},
		{"level", "dfs", func(in *SelectInput) { in.Level = "row" }, `unknown level "row"`},
		{"level of pafs", "pafs", func(in *SelectInput) { in.Level = feature.ColumnLevel }, "columns of the schema"},
		{"one bin", "cfs-greedy", func(in *SelectInput) { in.Bins = 1 }, "want 2 to 1000"},
		{"bins below 0", "cfs-greedy", func(in *SelectInput) { in.Bins = -1 }, "want 2 to 1000"},
		{"bins of sums", "dfs", func(in *SelectInput) { in.Bins = 4 }, "counts no bins"},
		{"private rows", "cfs-greedy", func(in *SelectInput) { in.Rows = 0 }, "public number of rows"},
		{"private rows of pafs", "pafs", func(in *SelectInput) { in.Rows = 0 }, "public number of rows"},
		{"noise above the counts", "cfs-greedy", func(in *SelectInput) { in.Epsilon = "0.001" }, "the noise exceeds the counts"},
		{"noise above the sums", "dfs", func(in *SelectInput) { in.Epsilon = "0.001" }, "the noise exceeds the sums"},
		{"noise above the squares", "t-statistic", func(in *SelectInput) { in.Epsilon = "0.001" }, "the noise exceeds the sums"},
		{"noise above every model", "pafs", func(in *SelectInput) { in.Epsilon = "0.001" }, "no model can be trained"},
		{"one class", "dfs", func(in *SelectInput) { in.Schema.Columns[1].Categories, in.Target = []string{"a"}, "g" }, "one class"},
		{"one category", "cfs-greedy", func(in *SelectInput) { in.Schema.Columns[1].Categories = []string{"a"} }, "one category"},
	} {
		in := small(3000, nil).selectInput(c.method, "1", 2, 1)
		c.change(&in)
		_, err := NewSelectPlan(in)
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}

	// 286 rows against 1278 cells: refused by public figures, before any charge.
	_, err := NewSelectPlan(builtin(t, "breast-cancer").selectInput("cfs-greedy", "0.1", 0, 1))
	var u *UsageError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "do not select privately") {
		t.Errorf("breast-cancer at ε 0.1: %v", err)
	}
}

// A class whose count noise pushed below what it hides has means of that much, not of
// its sums over 1; exact counts stay as they are.
func TestEmptiedClassHasNoHugeMeans(t *testing.T) {
	plan, err := NewSelectPlan(small(3000, nil).selectInput("dfs", "1", 2, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ noise, count, want float64 }{{10, -4, 10}, {10, 0.5, 10}, {10, 200, 200}, {0.2, 0, 1}, {0, 0, 0}} {
		sums := &release.Sums{Counts: []float64{c.count, 100}}
		if got := sumsOf(plan).statistics(sums, c.noise).Classes.Counts; got[0] != c.want || got[1] != 100 {
			t.Errorf("count %v under noise %v reads %v, want %v and 100", c.count, c.noise, got, c.want)
		}
	}
}
