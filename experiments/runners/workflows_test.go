package runners

import (
	"math"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/experiments"
)

// A file that lacks something or contradicts itself is refused by what is wrong with it, before anything is measured.
func TestBadWorkflowsAreRefused(t *testing.T) {
	refused(t, "mission-sms-spam", [][3]string{
		{"usual: text-net, metric", "usual: nothing, metric", "changed.yaml: runners/workflows.yaml:19: problem sms-spam: no usual nothing"},
		{"metric: accuracy", "metric: beauty", "beauty"},
		{"data: [sms-spam]", "data: [secret]", `no data set "secret"`},
		{"candidates: {smoke: 2, quick: 6, paper: 16}", "candidates: {smoke: 2, quick: 6}", "candidates"},
		{"candidates: {smoke: 2, quick: 6, paper: 16}", "candidates: 0", "candidates above 0"},
		{"runs: {smoke: 1, quick: 3, paper: 10}", "run: 3", "problem sms-spam: want train, test and runs"},
		{"by: adam", "bye: adam", `unknown field "bye"`},
		{"net: sms-rnn-simple\n    tokens", "net: no-net\n    tokens", `no net "no-net"`},
		{"usual: text-net, metric", "usual: text-net, split: 3, metric", "for fit alone"},
		{`epsilons: ["1", "3"]`, "epsilons: []", "no rows"},
		{`epsilons: ["1", "3"]`, `epsilons: ["1", "-3"]`, `epsilon "-3"`},
	})
	refused(t, "goals-tables", [][3]string{
		{"aims: [82, 87]", "aims: [82]", "1 aims for 2 epsilons"},
		{"data: kc_house, metric: r2", "data: insurance, metric: r2, preset: thorough", "for images"},
		{"data: kc_house, metric: r2", "data: insurance, metric: r2, public: 1", "from 0 to below 1"},
		{"data: kc_house", "data: house", "house"},
	})
	refused(t, "goals-images", [][3]string{
		{"metric: accuracy, preset: thorough", "metric: accuracy, split: 1", "are for tables"},
		{"preset: thorough", "preset: long", `preset "long"`},
	})
}

func refused(t *testing.T, name string, changes [][3]string) {
	t.Helper()
	content, err := files.ReadFile("tables/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		changed := strings.Replace(string(content), c[0], c[1], 1)
		if changed == string(content) {
			t.Fatalf("nothing to change: %s", c[0])
		}
		e, err := set().Decode("changed.yaml", []byte(changed))
		if err == nil {
			r := experiments.Restored(e.Name, experiments.Smoke, nil)
			r.DataDir = t.TempDir()
			if _, err = e.Run(t.Context(), r); r.Measured() > 0 {
				t.Errorf("%s: %d cells were measured", c[1], r.Measured())
			}
		}
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", c[1], err, c[2])
		}
	}
}

// Wins, ties and losses are counted by the intervals of the differences, and the median is that of their means.
func TestTotalsOfWorkflows(t *testing.T) {
	const text = `
name: totals
runner: workflows
with:
  epsilons: ["1"]
  usual: [{id: u, net: sms-rnn-simple, by: adam, rate: 1, clip: 1, batch: 1, epochs: 1}]
  problems: [{data: a, usual: u, metric: auroc, train: 1, test: 1, runs: 2}, {data: b, usual: u, metric: auroc, train: 1, test: 1, runs: 2},
    {data: c, usual: u, metric: auroc, train: 1, test: 1, runs: 2}, {data: d, usual: u, metric: auroc, train: 1, test: 1, runs: 2}]
  said: []
`
	e, err := set().Decode("x.yaml", []byte("title: t\nsource: s\nquick_seconds: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]float64{}
	for data, gain := range map[string][2]float64{"a": {1.9, 2.1}, "b": {-1, 3}, "c": {-3.9, -4.1}, "d": {2.9, 3.1}} {
		for i, g := range gain {
			end := ", 1 rows, at most 1 test, run " + string(rune('1'+i))
			known[data+", auroc, fit by its rules, ε = 1"+end] = []float64{50 + g, 50}
			known[data+", auroc, drop-in u, adam at 1, clipping norm 1, lots of 1, 1 epochs, ε = 1"+end] = []float64{50, math.NaN()}
		}
	}
	table, err := e.Run(t.Context(), experiments.Restored(e.Name, experiments.Smoke, known))
	if err != nil {
		t.Fatal(err)
	}
	got := table.Claims[0]
	want := "better on 2 of 4, worse on 1, within their intervals of each other on 1; median difference +1.5 points, least on c (-4.0)"
	if got.Evidence != want || got.Verdict != experiments.Unpublished || got.Statement != "ε = 1, all data: fit against drop-in DP-SGD" {
		t.Errorf("%+v, want %q", got, want)
	}
}

// Every table that is not part of pawl has all that says what it is, and a schema with its target.
func TestWildTables(t *testing.T) {
	for name, w := range wild() {
		text, err := files.ReadFile("schemas/" + name + ".yaml")
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := schema.Decode(name, text)
		if err != nil || s.Column(w.Target) < 0 || w.File == "" || w.Source == "" || len(w.SHA256) != 64 {
			t.Errorf("%s: %+v, schema %v", name, w, err)
		}
	}
}
