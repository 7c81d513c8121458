package runners

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/replay"
)

// shown is the table of a file whose trainings score what score says.
func shown(t *testing.T, text string, score func(a *training) []float64) *experiments.Table {
	t.Helper()
	s := set()
	functions := s.Functions
	s.Functions = func(ctx context.Context, r *experiments.Run) map[string]any {
		all := functions(ctx, r)
		all["images"] = func(data string, _, _ int, _ string, _ int) *lab.Images {
			few := &images.Set{Shape: [3]int{1, 1, 1}, Labels: []int32{0}, Classes: []string{"a", "b"}, Floats: []float32{0}}
			return &lab.Images{Name: data, Train: few, Test: few}
		}
		return all
	}
	s.Kinds["train"] = replay.Of(func(_ context.Context, _ *experiments.Run, a *training) []float64 { return score(a) })
	e, err := s.Decode("x.yaml", []byte("title: t\nsource: s\nquick_seconds: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := experiments.Replay(t.Context(), e, experiments.Restored(e.Name, experiments.Smoke, map[string][]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// An arm's number that differs stands for its difference to the arm beside it.
func TestArms(t *testing.T) {
	const text = `
name: arms
runner: arms
with:
  on: {mnist: {majority: true, sizes: {rows: 1, test: 1, batch: 1, epochs: 1, runs: 1}}}
  nets: {a: {name: A, net: lenet-5}, b: {name: B, net: mnist-paw-cnn}}
  settings:
  - id: dp
    name: with noise
    data: mnist
    epsilon: "1"
    arms: [{net: a, published: 70, against: b}, {net: b, published: 80, against: a}]
  - {id: sgd, name: SGD, data: mnist, arms: [{net: a}]}
`
	for _, c := range []struct {
		name string
		a, b float64
		want experiments.Verdict
	}{
		{"within a point", 70.9, 20, experiments.Reproduced},
		{"the same order", 40, 60, experiments.SameSign},
		{"the other order", 60, 40, experiments.Not},
	} {
		got := shown(t, text, func(a *training) []float64 {
			if a.Net == "lenet-5" {
				return []float64{c.a}
			}
			return []float64{c.b}
		})
		row, alone := got.Rows[0], got.Rows[2]
		if row.Name != "A, with noise" || row.Verdict != c.want || c.want != experiments.Reproduced && !strings.Contains(row.Why, "against “B, with noise”") {
			t.Errorf("%s: %+v, want %q", c.name, row, c.want)
		}
		if alone.Verdict != experiments.Unpublished || alone.Honest != nil || row.Honest == nil {
			t.Errorf("a row without a published value and noise: %+v", alone)
		}
	}
}

// A crossing is reproduced where its interval meets the printed range, and of the same sign elsewhere.
func TestCrossing(t *testing.T) {
	const text = `
name: curve
unit: ε
runner: curve
with:
  epsilons: [.01, .1, 1, 10, 100]
  seeds: 5
  batch: 1
  lots: null
  epochs: 1
  groups:
  - {data: mnist, rows: 1, test: 1, curves: [{name: falling, net: lenet-5, rates: [1]}, {name: flat, net: mnist-paw-cnn, rates: [1]}], crossings: [{row: x, simple: falling, complex: flat%s}]}
`
	for _, c := range []struct {
		name, printed string
		by            float64
		want          experiments.Verdict
		words         string
	}{
		{"within the printed range", ", low: .5, high: 2", 1, experiments.Reproduced, "the curves cross within the interval"},
		{"elsewhere", ", low: 20, high: 30", 1, experiments.SameSign, "crossover 1"},
		{"nothing printed", "", 1, experiments.Unpublished, "crossover 1"},
		{"the other way round", ", low: .5, high: 2", -1, experiments.Not, "crossover above 100"},
	} {
		row := shown(t, fmt.Sprintf(text, c.printed), func(a *training) (v []float64) {
			k := map[any]int{.01: 0, .1: 1, 1.: 2, 10.: 3, 100.: 4}[a.Epsilon]
			for seed := range 5 {
				v = append(v, 80+float64(seed))
				if a.Net == "lenet-5" {
					v[seed] += -c.by*float64(k-2) + .01*float64((seed*k)%3)
				}
			}
			return v
		}).Rows[0]
		// A curve that is worse at small ε and better at large is several crossings, or one that the definition does
		// not describe: it must not count as reproduced.
		if c.by < 0 {
			if row.Verdict == experiments.Reproduced && row.AsPublished.Mean < 2 {
				t.Errorf("%s: %+v", c.name, row)
			}
		} else if row.Verdict != c.want || !strings.Contains(row.Why, c.words) {
			t.Errorf("%s: %q (%s), want %q and %q", c.name, row.Verdict, row.Why, c.want, c.words)
		}
	}
}

func TestFalls(t *testing.T) {
	const text = `
name: sweep
runner: sweep
with: {set: mnist, epsilon: 1, rows: 1, test: 1, seeds: 2, batch: 1, epochs: 1, frequencies: 64, sizes: [{name: a, hidden: [1], sweep: s}, {name: b, hidden: [2], sweep: s}, {name: c, hidden: [3], sweep: s}]}
claims:
- {use: falls, let: {sweep: '"s"', how: '"published"', points: 5}, claim: x}
`
	for _, c := range []struct {
		name   string
		values [][]float64
		want   experiments.Verdict
	}{
		{"best in the middle", [][]float64{{70, 71}, {80, 81}, {60, 61}}, experiments.Reproduced},
		{"largest best", [][]float64{{70, 71}, {80, 81}, {90, 91}}, experiments.Not},
		{"not clear", [][]float64{{70, 71}, {80, 90}, {79, 71}}, experiments.SameSign},
		{"too little", [][]float64{{70, 71}, {80, 81}, {79, 80}}, experiments.Not},
	} {
		got := shown(t, text, func(a *training) []float64 { return c.values[a.Hidden[0]-1] })
		if got.Claims[0].Verdict != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got.Claims[0], c.want)
		}
	}
}

func TestParametersOfHiddenLayers(t *testing.T) {
	if got := parameters(64, []float64{2048, 256, 64}); got != 674762 {
		t.Errorf("got %d, want 674762 (Table IX)", got)
	}
	if got := parameters(300, []float64{64}); got != 19914 {
		t.Errorf("got %d, want 19914 (Table I)", got)
	}
}

func TestWholeTrainsEverything(t *testing.T) {
	for whole, want := range map[bool]int{false: 33482, true: 1362122} {
		s, err := net("rwt-fcn", whole)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Compile(); err != nil || n.Parameters() != want {
			t.Errorf("whole %t: %d parameters (%v), want %d", whole, n.Parameters(), err, want)
		}
	}
	if _, err := net("no such net", false); err == nil {
		t.Error("an unknown net was found")
	}
	if err := (&training{spec: spec{Net: "lenet-5"}, Batch: 1, Epochs: 1}).Check(); err == nil {
		t.Error("a training without seeds passes")
	}
}

// The appendix: noise 2, lots of 250 and C = 0.5 give DPAdamWOSM a step of 0.25.
func TestEffectiveStep(t *testing.T) {
	for noise, want := range map[float64]float64{2: .25, 4: .125} {
		if got := effective(.5, noise, 250); got < want*(1-1e-5) || got > want*(1+1e-5) {
			t.Errorf("noise %g: %v, want %v", noise, got, want)
		}
	}
}

func TestReached(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores []float64
		want   []float64
	}{
		{"between two, halfway in ln ε", []float64{70, 80, 90}, []float64{2}},
		{"there from the first", []float64{90, 95, 96}, nil},
		{"never", []float64{10, 20, 30}, nil},
		{"the first of two", []float64{80, 90, 70}, []float64{.5}},
	} {
		got := reached([]float64{.25, c.scores[0], 1, c.scores[1], 4, c.scores[2]}, 85)
		if len(got) != len(c.want) || len(got) == 1 && math.Abs(got[0]-c.want[0]) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The example of docs/howto/new-table.md is a replay as it stands.
func TestExampleOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/howto/new-table.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```yaml\nname: table-40\ntitle: A small net against a large one on MNIST\nsource: An Author, Table 40\nquick_seconds: 300 ")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("no example")
	}
	got := shown(t, "name: table-40 "+text, func(a *training) []float64 { return []float64{float64(len(a.Net))} })
	if len(got.Rows) != 2 || len(got.Claims) != 1 || len(got.Notes) != 1 {
		t.Errorf("%d rows, %d claims, %d notes", len(got.Rows), len(got.Claims), len(got.Notes))
	}
}
