package experiments

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	// t quantile 0.975 with 4 degrees of freedom is 2.7764; sd of 1…5 is √2.5.
	e := Of([]float64{1, 2, 3, 4, 5})
	if half := 2.7764451 * math.Sqrt(2.5/5); e.Mean != 3 || math.Abs(e.High-3-half) > 1e-6 || math.Abs(3-e.Low-half) > 1e-6 {
		t.Errorf("Of(1…5) = %+v, want 3 ± %g", e, half)
	}
	if e := Of(nil); e != nil {
		t.Errorf("Of() = %+v, want nil", e)
	}
	b, err := json.Marshal(Of([]float64{7}))
	if err != nil || string(b) != `{"mean":7,"interval":null,"runs":1}` {
		t.Errorf("one run: %s, %v", b, err)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name      string
		row       Row
		tolerance float64
		want      Verdict
	}{
		{"within the tolerance", Row{Published: new(80.0), AsPublished: Of([]float64{82})}, 3, Reproduced},
		{"in the interval", Row{Published: new(80.0), AsPublished: Of([]float64{78, 86})}, 1, Reproduced},
		{"a single run has no interval", Row{Published: new(80.0), AsPublished: Of([]float64{90})}, 1, Not},
		{"far", Row{Published: new(80.0), AsPublished: Of([]float64{90, 90.1, 90.2})}, 1, Not},
		{"nothing published", Row{Honest: Of([]float64{90})}, 1, Unpublished},
		{"honest only", Row{Published: new(80.0), Honest: Of([]float64{80.5})}, 1, Reproduced},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.row.Judge(c.tolerance, "why"); c.row.Verdict != c.want {
				t.Errorf("got %q, want %q", c.row.Verdict, c.want)
			}
			if (c.row.Why != "") != (c.want == Not) {
				t.Errorf("reason %q with verdict %q", c.row.Why, c.row.Verdict)
			}
		})
	}
}

func TestNamesInOrder(t *testing.T) {
	r := NewRegistry(Experiment{Name: "table-10"}, Experiment{Name: "figure-8"}, Experiment{Name: "table-2"}, Experiment{Name: "figure-12"})
	var got []string
	for _, e := range r.List() {
		got = append(got, e.Name)
	}
	if want := "figure-8 figure-12 table-2 table-10"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestEstimateInText(t *testing.T) {
	for _, c := range []struct {
		e    *Estimate
		want string
	}{
		{nil, "–"},
		{Exact(31.62), "31.62"},
		{Of([]float64{7}), "7 (1 run)"},
		{&Estimate{Mean: 84.2345, Low: 83.9, High: 84.5, Runs: 10}, "84.23 ± 0.30 (10)"},
		{&Estimate{Mean: 50, Low: 50 - 1e-13, High: 50 + 1e-13, Runs: 4}, "50.000 ± 0.000 (4)"},
		{&Estimate{Mean: 1e-6, Low: 0, High: 2e-6, Runs: 4}, "1e-06 ± 1e-06 (4)"},
		{&Estimate{Runs: 3}, "0.0000 ± 0.0000 (3)"},
		{&Estimate{Mean: -.94, Low: -30, High: 28.12, Runs: 4}, "-1 ± 29 (4)"},
		{&Estimate{Mean: 123456, Low: 123000, High: 123912, Runs: 2}, "123456 ± 456 (2)"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Long notes are broken at blanks, and no word is lost.
func TestTextWraps(t *testing.T) {
	note := strings.Repeat("réponse ", 40) + strings.Repeat("x", 150) + " end"
	var b strings.Builder
	wrap(&b, note)
	if got := strings.Join(strings.Fields(b.String()), " "); got != note {
		t.Errorf("words changed: %q", got)
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		if n := len([]rune(line)); n > 100 && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("line %d has %d characters: %q", i, n, line)
		}
	}
	if len(lines) < 5 {
		t.Errorf("%d lines", len(lines))
	}
}

// Data that several rows share stand once above them, else in a column.
func TestTextGroupsByData(t *testing.T) {
	for _, c := range []struct {
		name string
		data []string
		want string
	}{
		{"shared", []string{"adult", "adult", "mnist", "mnist"}, "adult\n  row 0"},
		{"each its own", []string{"adult", "mnist", "adult"}, "data used"},
	} {
		table := &Table{}
		for i, d := range c.data {
			table.Rows = append(table.Rows, Row{Name: fmt.Sprint("row ", i), Data: d, Verdict: Unpublished})
		}
		var b strings.Builder
		if err := Text(&b, table); err != nil {
			t.Fatal(err)
		}
		// Columns are padded with blanks.
		var lines []string
		for line := range strings.Lines(b.String()) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("%s: text lacks %q:\n%s", c.name, c.want, text)
		}
	}
}

func TestTextSaysWhatItIs(t *testing.T) {
	e := Experiment{Name: "table-0", Title: "nothing", Source: "nowhere", Run: func(context.Context, *Run) (*Table, error) {
		return &Table{Unit: "%", Rows: []Row{{Name: "a", Published: new(1.0), AsPublished: Of([]float64{1, 2})}}}, nil
	}}
	r, err := NewRun(e.Name, Smoke, "", "")
	if err != nil {
		t.Fatal(err)
	}
	table, err := Replay(context.Background(), e, r)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Text(&b, table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NOT a privacy guarantee", "reproduced", "1.5 ± 6.4 (2)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
}
