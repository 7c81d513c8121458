package advise

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/model"
)

func TestGuidelinesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range Guidelines {
		if g.Name == "" || g.When == "" || g.Advice == "" || g.Published == "" || g.Measured == "" || g.Changes == "" {
			t.Errorf("guideline %+v is not complete", g)
		}
		if seen[g.Name] {
			t.Errorf("two guidelines are called %q", g.Name)
		}
		seen[g.Name] = true
	}
}

// What fit does and what advise says are one thing: every decision of Choose and of
// ChooseImages is a guideline, with its evidence.
func TestDecisionsAreGuidelines(t *testing.T) {
	known := map[string]Guideline{}
	for _, g := range Guidelines {
		known[g.Name] = g
	}
	check := func(t *rapid.T, rules []Rule) {
		for _, r := range rules {
			g, ok := known[r.Name]
			if !ok {
				t.Fatalf("decision %q stands on no guideline", r.Rule)
			}
			if r.Published != g.Published || r.Evidence != g.Measured || r.Because == "" {
				t.Fatalf("%s: %+v", r.Name, r)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := facts(math.Exp(rapid.Float64Range(0, 20).Draw(t, "log rows")), math.Exp(rapid.Float64Range(-3, 12).Draw(t, "log noise")))
		f.Target = rapid.SampledFrom([]string{"y", "g", "amount"}).Draw(t, "target")
		if f.Target == "amount" {
			f.Task = model.Regression
		}
		f.Delta = rapid.SampledFrom([]float64{0, 1e-6}).Draw(t, "delta")
		f.Learner = rapid.SampledFrom(append([]Learner{""}, Learners...)).Draw(t, "learner")
		if c, err := Choose(f); err == nil {
			check(t, c.Rules)
			a := ForTable(Question{Kind: TableKind, Task: string(f.Task), Rows: f.Rows, Training: f.Rows, Attributes: 3, Epsilon: 1, Delta: f.Delta, Ratio: f.SignalRatio()}, c)
			ad := a.Advice
			if ad.Entry != string(c.Learner) || ad.Features == "" || ad.Encoding == "" || ad.Model == "" || ad.Optimizer == "" || ad.Tuning == "" || ad.Search == "" {
				t.Fatalf("the answer is not complete: %+v", ad)
			}
			if len(a.Rules) < len(c.Rules) || a.Confidence.Why == "" || a.Expect.Words == "" {
				t.Fatalf("the answer has no reasons: %+v", a)
			}
		}
		s := rapid.SampledFrom([][3]int{{28, 28, 1}, {30, 30, 1}, {1, 1, 64}, {32, 32, 3}}).Draw(t, "shape")
		i := ImageFacts{Height: s[0], Width: s[1], Channels: s[2], Rows: 1000, Epsilon: rapid.Float64Range(0.01, 20).Draw(t, "epsilon"),
			Ratio: rapid.SampledFrom([]float64{0, 10, 100, 300, 600, 5000}).Draw(t, "ratio"), Mirrored: rapid.Bool().Draw(t, "mirrored")}
		r, err := ChooseImages(i)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r.Rules)
	})
}

// A threshold of the rules agrees with the measured table, or says why not.
func TestThresholdsAgreeWithTheTable(t *testing.T) {
	for _, d := range Derive(Measured()) {
		if !d.Agrees && d.Remark == "" {
			t.Errorf("%s: %s in the rules, %s by the table (mean loss %.2f against %.2f points over %d cells), and no reason is given",
				d.What, d.RuleWords(), d.TableWords(), d.Loss, d.Least, d.Cells)
		}
		t.Logf("%s: %s in the rules, %s by the table, agrees %v. %s", d.What, d.RuleWords(), d.TableWords(), d.Agrees, d.Remark)
	}
}

// Thresholds that are known are found.
func TestDeriveFindsAThreshold(t *testing.T) {
	var m Menu
	for i, r := range []float64{1, 2, 4, 8, 16, 32} {
		e := float64(i + 1)
		gain := -3.0
		if r >= 8 {
			gain = 3
		}
		m = append(m, MenuCell{Data: "d", Kind: TableKind, Task: "classification", Epsilon: e, Ratio: r, Entry: string(Majority), Scores: []float64{70}},
			MenuCell{Data: "d", Kind: TableKind, Task: "classification", Epsilon: e, Ratio: r, Entry: string(Descent), Scores: []float64{70 + gain}})
	}
	d := Derive(m)[0]
	if d.Cells != 6 || d.Low != 4 || d.High != 8 || d.Least != 0 {
		t.Errorf("%d cells, from %v to %v with loss %v; want 6, from 4 to 8 with none", d.Cells, d.Low, d.High, d.Least)
	}
	// The rules' 10 takes the majority at r = 8, three points behind in one of six cells.
	if d.Agrees || math.Abs(d.Loss-0.5) > 1e-9 {
		t.Errorf("agrees %v with a loss of %v, want a loss of 0.5", d.Agrees, d.Loss)
	}
	if w := d.TableWords(); !strings.Contains(w, "4 to 8") {
		t.Errorf("printed as %q", w)
	}
}
