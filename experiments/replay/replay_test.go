package replay

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"pawl/experiments"
)

const small = `name: table-0
title: a title
source: a source
unit: "%"
quick_seconds: 1
runner: shared
with:
  runs: {smoke: 2, quick: 3, paper: 5}
  arms: [{id: a, at: 80, published: 90}, {id: b, at: 91, published: 90.5}]
rows:
- each: {x: arms}
  name: "arm {x.id}, {runs} runs"
  data: none
  published: x.published
  ours: v(x.id)
  baseline: 50
  tolerance: 1
  why: "ours differs by {ours.Mean - published:%+.1f}"
  same: x.id == "a"
  more: "; the same way: {same}"
claims:
- {claim: b is better, better: 'v("b")', than: 'v("a")'}
- {claim: a is not far below, better: 'v("a")', than: 'v("b")', within: 20, evidence: "by {d.Mean:%.0f}"}
- {use: above, let: {limit: 85}, claim: a is above the limit}
notes:
- {note: "{join(map(arms, .id), ' and ')}"}
- {if: "paper", note: at scale paper}
published_epsilon:
- {each: {x: arms}, name: "{x.id}", value: x.at / 10}
`

const shared = `cells:
- each: {x: arms}
  key: [x.id]
  cell: "arm {x.id}, {runs} runs"
  do: draw
  with: {at: "{x.at}", runs: "{runs}"}
rows: []
forms:
  above: {let: {e: 'of(v("a"))'}, holds: e.Low > limit, nearly: e.Mean > limit, evidence: "mean {e.Mean:%g}"}
`

type drawn struct {
	At   float64 `json:"at"`
	Runs int     `json:"runs"`
}

func testSet() *Set {
	return &Set{
		Files:     fstest.MapFS{"shared/shared.yaml": {Data: []byte(shared)}},
		Functions: func(context.Context, *experiments.Run) map[string]any { return nil },
		Kinds: map[string]Kind{"draw": Of(func(_ context.Context, _ *experiments.Run, d *drawn) (out []float64) {
			for i := range d.Runs {
				out = append(out, d.At+float64(i%2)/10)
			}
			return out
		})},
	}
}

func TestTable(t *testing.T) {
	e, err := testSet().Decode("x.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	r, err := experiments.NewRun(e.Name, experiments.Smoke, "v", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := experiments.Replay(t.Context(), e, r)
	if err != nil {
		t.Fatal(err)
	}
	if cells, _ := r.Cells(); len(cells) != 2 || len(cells["arm a, 2 runs"]) != 2 {
		t.Errorf("cells %v", cells)
	}
	a, b := got.Rows[0], got.Rows[1]
	if a.Name != "arm a, 2 runs" || a.Verdict != experiments.SameSign || a.Why != "ours differs by -10.0; the same way: true" || a.Baseline.Mean != 50 {
		t.Errorf("row of a: %+v", a)
	}
	if b.Verdict != experiments.Reproduced || b.Why != "" || *b.Published != 90.5 {
		t.Errorf("row of b: %+v", b)
	}
	want := []experiments.Claim{
		{Statement: "b is better", Verdict: experiments.Reproduced, Evidence: "difference 11.0000 ± 0.0000 (2) points, seed by seed"},
		{Statement: "a is not far below", Verdict: experiments.Reproduced, Evidence: "by -11"},
		{Statement: "a is above the limit", Verdict: experiments.Not, Evidence: "mean 80.05"},
	}
	for i, c := range want {
		if got.Claims[i].Statement != c.Statement || got.Claims[i].Verdict != c.Verdict || i > 0 && got.Claims[i].Evidence != c.Evidence {
			t.Errorf("claim %+v, want %+v", got.Claims[i], c)
		}
	}
	if len(got.Notes) != 1 || got.Notes[0] != "a and b" || got.PublishedEpsilon["b"] != 9.1 {
		t.Errorf("notes %q, ε %v", got.Notes, got.PublishedEpsilon)
	}
}

// What is wrong with a file is said in one line with its place, most of it before anything is measured.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"unknown key", "unit:", "units:", `x.yaml:4: unknown field "units"`},
		{"no title", "title: a title", "title: ''", "x.yaml: want a name, title"},
		{"unknown runner", "runner: shared", "runner: none", `x.yaml: no runner "none"`},
		{"bad expression", "published: x.published", "published: x.published +", "x.yaml:14:"},
		{"open brace", `"{x.id}"`, `"{x.id"`, "a brace is not closed"},
		{"unknown name", "x.at / 10", "y.at / 10", "there is no y"},
		{"unknown key of a series", `'v("b")', than`, `'v("c")', than`, "no cell has the key"},
		{"no number", "value: x.at / 10", "value: x.id", "no number"},
		{"unknown form", "use: above", "use: below", `no form "below"`},
		{"a table that refuses", "with:\n", "with:\n  asked: '{runs > 1 ? refuse(\"one run, please\") : 1}'\n", "one run, please"},
		{"no rows", "each: {x: arms}\n  name", "each: {x: []}\n  name", "x.yaml: no rows"},
	} {
		changed := strings.Replace(small, c.from, c.to, 1)
		e, err := testSet().Decode("x.yaml", []byte(changed))
		if err == nil {
			r, _ := experiments.NewRun("table-0", experiments.Smoke, "v", "")
			if _, err = e.Run(t.Context(), r); r.Measured() > 0 && c.name == "unknown key of a series" {
				t.Errorf("%s: %d cells were measured before it was said", c.name, r.Measured())
			}
		}
		if changed == small || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in one line", c.name, err, c.want)
		}
	}
	// Names are looked at when the file is read: nothing is measured for a table that cannot be printed.
	for _, c := range []struct{ from, to, want string }{
		{`than: 'v("a")'`, `than: 'w("a")'`, `x.yaml:22: "w(\"a\")": there is no w`},
		{"{limit: 85}", "{limits: 85}", `x.yaml: runners/shared.yaml:9: "e.Low > limit": there is no limit; did you mean limits?`},
		{"{x.id}, {runs} runs", "{x.id}, {runts} runs", `there is no runts; did you mean runs?`},
		{"with:\n  runs:", "with:\n  ruins:", "there is no runs"},
		{"{d.Mean:%.0f}", "{same}", "there is no same"},
		{"{x.id}\", value", "{y.id}\", value", "there is no y"},
	} {
		changed := strings.Replace(small, c.from, c.to, 1)
		if _, err := testSet().Decode("x.yaml", []byte(changed)); changed == small || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q before anything is measured", c.to, err, c.want)
		}
	}
	s := testSet()
	s.Files = fstest.MapFS{"shared/shared.yaml": {Data: []byte(strings.Replace(shared, "runs: \"{runs}\"", "run: 1", 1))}}
	e, err := s.Decode("x.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), experiments.Restored("x", experiments.Smoke, nil)); err == nil || !strings.Contains(err.Error(), `unknown field "run"`) {
		t.Errorf("an argument that is none: %v", err)
	}
}

// A cell can be an expression, which is evaluated where the cell is not stored; one with a procedure as well is refused.
func TestComputedCells(t *testing.T) {
	const text = "name: table-1\ntitle: t\nsource: s\nunit: \"%\"\nquick_seconds: 1\ncells:\n- {each: {k: 0..1}, key: [k], cell: \"cell {k}\", value: \"k > 0 ? [k, 2 * k] : refuse('asked')\"}\n" +
		"rows:\n- {each: {k: 0..1}, name: \"{k}\", data: none, ours: v(k)}\n"
	e, err := testSet().Decode("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), experiments.Restored(e.Name, experiments.Smoke, nil)); err == nil || !strings.Contains(err.Error(), "asked") {
		t.Errorf("a cell that is refused: %v", err)
	}
	got, err := e.Run(t.Context(), experiments.Restored(e.Name, experiments.Smoke, map[string][]float64{"cell 0": {7}}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows[0].AsPublished.Mean != 7 || got.Rows[1].AsPublished.Mean != 1.5 {
		t.Errorf("rows %v, %v, want 7 as stored and 1.5 as computed", got.Rows[0].AsPublished, got.Rows[1].AsPublished)
	}
	for _, more := range []string{"do: draw, value", "do: nothing, key"} {
		if _, err := testSet().Decode("x.yaml", []byte(strings.Replace(text, "value", more, 1))); err == nil || !strings.Contains(err.Error(), "x.yaml:7") {
			t.Errorf("%s: %v", more, err)
		}
	}
}
