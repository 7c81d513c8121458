package menu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pawl/data/dataset"
	"pawl/evidence/advise"
	"pawl/experiments"
)

// The advice that fit follows is best, within a point of the best of the menu, or tied
// with it in at least 36 of 40 cells of the measured table, and nowhere more than half a
// point below the baseline. A cell that is not measured counts as missed.
func TestAdviceHoldsOnTheMeasuredTable(t *testing.T) {
	c, err := Check(advise.Measured())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Summary())
	if c.Of != 40 || c.Good < 36 || c.Below > 0 {
		for _, j := range c.Cells {
			if !j.Good() || !j.AboveBaseline {
				t.Logf("%s at ε %g, advised %s: %s", j.Data, j.Epsilon, j.Advised, j.Words())
			}
		}
		t.Errorf("good in %d of %d cells, below the baseline in %d; want 36 of 40 and none", c.Good, c.Of, c.Below)
	}
}

var update = flag.Bool("update", false, "write what README and docs/ADVICE.md take from the measured menu")

// The table in docs/ADVICE.md is the measured menu: the advised entry's mean with its interval, and the best where
// it is another.
func TestAdvicePage(t *testing.T) {
	c, err := Check(advise.Measured())
	if err != nil {
		t.Fatal(err)
	}
	insert(t, filepath.Join("..", "..", "docs", "ADVICE.md"), "<!--menu-->\n", c.page())
	insert(t, filepath.Join("..", "..", "README.md"), "<!--menu-->", fmt.Sprintf("%d of %d", c.Good, c.Of))
}

// insert puts the text between begin and the end of the mark, or compares it.
func insert(t *testing.T, path, begin, text string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const end = "<!--/menu-->"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %s … %s", path, strings.TrimSpace(begin), end)
	}
	want := before + begin + text + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s differs from the measured menu: go test ./evidence/menu -run TestAdvicePage -update\n%s", path, text)
	}
}

// page is the table, and the count below it.
func (c Checked) page() string {
	var b strings.Builder
	b.WriteString("| advised entry, and the best where it is another |")
	for _, e := range Judged {
		fmt.Fprintf(&b, " ε %g |", e)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Judged)))
	for i, j := range c.Cells {
		if i%len(Judged) == 0 {
			fmt.Fprintf(&b, "\n| %s |", j.Data)
		}
		text := "not measured"
		if j.Score != nil {
			text = fmt.Sprintf("%.1f ± %.1f", j.Score.Mean, (j.Score.Interval[1]-j.Score.Interval[0])/2)
			if j.Advised == "majority" || j.Advised == "mean" {
				text = j.Advised + " " + text
			}
			if best := fmt.Sprintf("%.1f", j.Best.Mean); j.BestEntry != j.Advised && best != fmt.Sprintf("%.1f", j.Score.Mean) {
				text += fmt.Sprintf(" (%s %s)", j.BestEntry, best)
			}
		}
		b.WriteString(" " + text + " |")
	}
	fmt.Fprintf(&b, "\n\n**%d of %d** cells: best, within a point of the best, or tied with it; %d not measured; %d more than half a point below the baseline.\n", c.Good, c.Of, c.Unmeasured, c.Below)
	return b.String()
}

// Advice needs declarations only: a folder without data changes nothing.
func TestAdvisedReadsNoRows(t *testing.T) {
	t.Setenv(dataset.DataDirVariable, t.TempDir())
	for _, p := range Problems {
		for _, epsilon := range []float64{0.1, 8} {
			entry, err := p.Advised(epsilon)
			if err != nil || entry == "" {
				t.Errorf("%s at ε %g: %q, %v", p.Name, epsilon, entry, err)
			}
			offered, err := p.Entries(epsilon)
			if err != nil || !slices.Contains(offered, entry) {
				t.Errorf("%s at ε %g: %q is not among %v, %v", p.Name, epsilon, entry, offered, err)
			}
		}
	}
}

// Cells that are there are kept, so that an interrupted measurement goes on.
func TestMeasureGoesOn(t *testing.T) {
	var table advise.Menu
	began, saved := 0, 0
	j := Job{Scale: experiments.Smoke, Data: []string{"breast-cancer"}, Epsilons: []float64{0.1, 1}, Entries: []string{"linear", "ebm", "majority"},
		Progress: func(string) { began++ }, Save: func(advise.Menu) error { saved++; return nil }}
	if err := Measure(t.Context(), j, &table); err != nil {
		t.Fatal(err)
	}
	if began != 6 || saved < 6 || len(table) != 6 {
		t.Fatalf("%d cells began, %d were saved, %d are there; want 6", began, saved, len(table))
	}
	want, ok := table.Find("breast-cancer", 1, "linear")
	if !ok || len(want.Scores) != 1 || want.Tested != 96 || !(want.Scores[0] > 50) {
		t.Fatalf("linear at ε 1: %+v", want)
	}
	table = table[:4]
	began = 0
	if err := Measure(t.Context(), j, &table); err != nil {
		t.Fatal(err)
	}
	if began != 2 || len(table) != 6 {
		t.Errorf("after an interruption %d cells were measured and %d are there, want 2 and 6", began, len(table))
	}
	if again, _ := table.Find("breast-cancer", 1, "linear"); !slices.Equal(again.Scores, want.Scores) {
		t.Errorf("a seed gives %v and then %v", want.Scores, again.Scores)
	}
}

// Cells that are measured one by one in other processes make the same table.
func TestMeasureElsewhere(t *testing.T) {
	j := Job{Scale: experiments.Smoke, Data: []string{"breast-cancer"}, Epsilons: []float64{0.1, 1}, Entries: []string{"linear", "majority"}}
	var here, far advise.Menu
	if err := Measure(t.Context(), j, &here); err != nil {
		t.Fatal(err)
	}
	alone := j
	alone.Data, alone.Epsilons, alone.Entries = nil, nil, nil
	j.Elsewhere = alone.One
	if err := Measure(t.Context(), j, &far); err != nil {
		t.Fatal(err)
	}
	if len(far) != 4 || !reflect.DeepEqual(far, here) {
		t.Errorf("%+v, want %+v", far, here)
	}
	if _, err := alone.One(t.Context(), Cell{"breast-cancer", 1, "nothing"}); err == nil || !strings.Contains(err.Error(), "no cell") {
		t.Errorf("a cell that is none: %v", err)
	}
	j.Elsewhere = func(context.Context, Cell) (advise.MenuCell, error) { return advise.MenuCell{}, io.ErrClosedPipe }
	if err := Measure(t.Context(), j, new(advise.Menu)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a queue that fails: %v", err)
	}
}

// Regressions are scored by what they take away of the mean predictor's error.
func TestMeasureRegression(t *testing.T) {
	if _, err := os.Stat(os.Getenv(dataset.DataDirVariable)); err != nil || os.Getenv(dataset.DataDirVariable) == "" {
		t.Skip("insurance needs a data folder: " + dataset.DataDirVariable)
	}
	var table advise.Menu
	j := Job{Scale: experiments.Smoke, Data: []string{"insurance"}, Epsilons: []float64{8}, Entries: []string{"linear", "mean"}}
	if err := Measure(t.Context(), j, &table); err != nil {
		t.Fatal(err)
	}
	linear, _ := table.Find("insurance", 8, "linear")
	mean, _ := table.Find("insurance", 8, "mean")
	if !(linear.Mean() > 60) || !(mean.Mean() < 5) || linear.Baseline != 0 {
		t.Errorf("linear %v, mean %v, baseline %v", linear.Scores, mean.Scores, linear.Baseline)
	}
}
