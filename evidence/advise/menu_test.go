package advise

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/model"
)

func TestMenuRoundTrip(t *testing.T) {
	m := Menu{
		{Data: "adult", Kind: TableKind, Task: "classification", Rows: 32561, Epsilon: 0.1, Delta: 1e-6, Ratio: 896.93, Entry: "linear", Scores: []float64{84.5, 85}, Tested: 16281, Baseline: 76.38, Command: "pawl advise measure"},
		{Data: "mnist", Kind: ImageKind, Task: "classification", Rows: 60000, Epsilon: 1, Delta: 1e-6, Ratio: 14201, Entry: "scatter-linear", Scores: []float64{98}, Tested: 10000, Baseline: 11.35},
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadMenu(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Errorf("read back (-written +read):\n%s", d)
	}
}

func TestReadMenuRefuses(t *testing.T) {
	head := strings.Join(menuHeader, ",") + "\n"
	for _, c := range []struct{ name, content, want string }{
		{"nothing", "", "header"},
		{"another header", "a,b\n", "header"},
		{"no number", head + "d,table,classification,x,1,1e-6,5,linear,1,0,2,1,0,10,1,c\n", "line 2: a number is malformed"},
		{"not finite", head + "d,table,classification,5,1,1e-6,Inf,linear,1,0,2,1,0,10,1,c\n", "line 2: a number is malformed"},
		{"no scores", head + "d,table,classification,5,1,1e-6,5,linear,1,0,2,1,0,10,,c\n", "no scores"},
	} {
		if _, err := ReadMenu(strings.NewReader(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestInterval(t *testing.T) {
	// t quantile 0.975 with 4 degrees of freedom is 2.7764; sd of 1…5 is √2.5.
	low, high := MenuCell{Scores: []float64{1, 2, 3, 4, 5}}.Interval()
	if half := 2.7764451 * math.Sqrt(2.5/5); math.Abs(high-3-half) > 1e-6 || math.Abs(3-low-half) > 1e-6 {
		t.Errorf("[%v, %v], want 3 ± %v", low, high, half)
	}
	// One run: 1.96·√(0.9·0.1/10000) in points.
	low, high = MenuCell{Scores: []float64{90}, Tested: 10000}.Interval()
	if math.Abs(high-90.588) > 1e-9 || math.Abs(low-89.412) > 1e-9 {
		t.Errorf("one run: [%v, %v], want 90 ± 0.588", low, high)
	}
	if low, high := (MenuCell{Task: "regression", Scores: []float64{40}, Tested: 10}).Interval(); high-low != 200 {
		t.Errorf("one run of a regression: [%v, %v], want that nothing is known", low, high)
	}
}

func TestJudge(t *testing.T) {
	cell := func(entry string, scores ...float64) MenuCell {
		return MenuCell{Data: "d", Epsilon: 1, Entry: entry, Scores: scores, Baseline: 70}
	}
	for _, c := range []struct {
		name    string
		cells   Menu
		outcome Outcome
		above   bool
	}{
		{"best", Menu{cell("a", 80, 80.2), cell("b", 79, 79.2)}, Best, true},
		{"within a point", Menu{cell("a", 80, 80.2), cell("b", 80.9, 81.1)}, Within, true},
		{"intervals overlap", Menu{cell("a", 78, 82), cell("b", 81, 83)}, Tie, true},
		{"behind", Menu{cell("a", 80, 80.01), cell("b", 82, 82.01)}, Behind, true},
		{"below the baseline", Menu{cell("a", 69, 69.2), cell("b", 60, 61)}, Best, false},
		{"half a point below counts as not below", Menu{cell("a", 69.5, 69.5), cell("b", 60, 61)}, Best, true},
		{"alone", Menu{cell("a", 80, 81)}, Unmeasured, true},
		{"not there", Menu{cell("b", 80, 81), cell("c", 80, 81)}, Unmeasured, true},
	} {
		j := c.cells.Judge("d", 1, "a")
		if j.Outcome != c.outcome || j.AboveBaseline != c.above {
			t.Errorf("%s: %s, not below the baseline %v; want %s, %v", c.name, j.Outcome, j.AboveBaseline, c.outcome, c.above)
		}
		if _, err := json.Marshal(j); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The table that the program carries can be read, and every number in it makes sense.
func TestMeasuredTable(t *testing.T) {
	m := Measured()
	seen := map[string]bool{}
	for _, c := range m {
		key := c.Data + " " + plain(c.Epsilon) + " " + c.Entry
		if seen[key] {
			t.Errorf("%s occurs twice", key)
		}
		seen[key] = true
		if c.Rows < 1 || !(c.Epsilon > 0) || !(c.Ratio > 0) || c.Tested < 1 || !strings.Contains(c.Command, c.Data) {
			t.Errorf("%s: %+v", key, c)
		}
		for _, v := range append([]float64{c.Baseline}, c.Scores...) {
			if v > 100 || c.Task == "classification" && v < 0 {
				t.Errorf("%s: a score of %v points", key, v)
			}
		}
	}
	t.Logf("%d cells", len(m))
}

// A diagram is well-formed XML whatever the names, and marks one path at least through
// every decision.
func TestDiagram(t *testing.T) {
	answers := map[string]*Answer{}
	for name, r := range map[string]float64{"constant": 3, "careful": 12, "usual": 500, "many": 50000} {
		f := facts(32561, 32561/r)
		c, err := Choose(f)
		if err != nil {
			t.Fatal(err)
		}
		answers[name] = ForTable(Question{Data: `<"&>`, Kind: TableKind, Task: "classification", Rows: 32561, Training: 32561, Attributes: 3, Classes: 2, Epsilon: 1, Delta: 1e-6, NoiseMultiplier: 32561 / r, Ratio: r}, c)
	}
	f := facts(32561, 40)
	f.Target, f.Task = "amount", model.Regression
	c, err := Choose(f)
	if err != nil {
		t.Fatal(err)
	}
	answers["number"] = ForTable(Question{Kind: TableKind, Task: "regression", Rows: 32561, Training: 32561, Epsilon: 1, Delta: 1e-6, Ratio: f.SignalRatio()}, c)
	i, err := ChooseImages(ImageFacts{Height: 28, Width: 28, Channels: 1, Rows: 60000, Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	answers["images"] = ForImages(Question{Kind: ImageKind, Task: "classification", Rows: 60000, Training: 60000, Shape: []int{28, 28, 1}, Epsilon: 1, Delta: 1e-6, Ratio: 14000}, i)
	for name, a := range answers {
		for _, d := range decisions() {
			taken := 0
			for _, o := range d.options {
				if o.taken(a) {
					taken++
				}
			}
			if taken == 0 {
				t.Errorf("%s: no way is taken at %q", name, d.question)
			}
		}
		var b bytes.Buffer
		if err := Diagram(&b, a); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
