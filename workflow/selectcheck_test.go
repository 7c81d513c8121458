package workflow

import (
	"errors"
	"strings"
	"testing"

	"pawl/feature"
)

func TestSelectUsageErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		method string
		change func(*SelectInput)
		want   string
	}{
		{"no method", "", func(*SelectInput) {}, "no method"},
		{"unknown method", "dsf", func(*SelectInput) {}, `unknown method "dsf"`},
		{"no epsilon", "dfs", func(in *SelectInput) { in.Epsilon = "" }, "no epsilon"},
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
