package report

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestJSONRoundTrip(t *testing.T) {
	for name, s := range demos() {
		s.Choice.Hyperparameters = nil // numbers in it come back as float64
		first := write(t, WriteJSON, s)
		var back Statement
		if err := json.Unmarshal([]byte(first), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if second := write(t, WriteJSON, &back); first != second {
			t.Errorf("%s: second writing differs:\n%s", name, cmp.Diff(first, second))
		}
		ignore := cmpopts.IgnoreFields(Privacy{}, "Events") // indented within the file
		if d := cmp.Diff(s, &back, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b Number) bool { return a == b || a != a && b != b }), ignore); d != "" {
			t.Errorf("%s: statement changed on the way (-want +got):\n%s", name, d)
		}
	}
}

func TestJSONForms(t *testing.T) {
	s := benchmarkDemo()
	nan := Number(math.NaN())
	s.Score.Baseline = nan
	s.Privacy.Delta = Number(math.Copysign(0, -1))
	s.Warnings, s.Advice, s.Privacy.Events, s.Privacy.NotCovered, s.Choice.Features = nil, nil, nil, nil, nil
	s.Choice.Hyperparameters = map[string]any{"clipping_norm": math.Inf(1), "rates": []float64{1, math.Inf(-1)}, "deep": map[string]any{"x": []any{math.NaN()}}}
	out := write(t, WriteJSON, s)
	for _, want := range []string{`"RDP": "inf"`, `"delta": 0,`, `"baseline": null`, `"warnings": []`, `"advice": []`, `"events": []`, `"not_covered": []`, `"features": []`, `"clipping_norm": "inf"`, `"-inf"`} {
		if !strings.Contains(out, want) {
			t.Errorf("statement lacks %s", want)
		}
	}
	if s.Warnings != nil || s.Choice.Hyperparameters["clipping_norm"] != math.Inf(1) {
		t.Error("WriteJSON changed the statement it was given")
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*Statement)
	}{
		{"no version", func(s *Statement) { s.Version = 0 }},
		{"no unit", func(s *Statement) { s.Privacy.Unit = "" }},
		{"no rows per unit", func(s *Statement) { s.Privacy.RowsPerUnit = 0 }},
		{"no relation", func(s *Statement) { s.Privacy.Relation = "" }},
		{"epsilon NaN", func(s *Statement) { s.Privacy.Epsilon = Number(math.NaN()) }},
		{"epsilon negative", func(s *Statement) { s.Privacy.Epsilon = -1 }},
		{"epsilon infinite", func(s *Statement) { s.Privacy.Epsilon = Number(math.Inf(1)) }},
		{"epsilon below its bounds", func(s *Statement) { s.Privacy.Epsilon = 0.99 }},
		{"bound NaN", func(s *Statement) { s.Privacy.EpsilonBounds["RDP"] = Number(math.NaN()) }},
		{"delta NaN", func(s *Statement) { s.Privacy.Delta = Number(math.NaN()) }},
		{"delta above one", func(s *Statement) { s.Privacy.Delta = 1.5 }},
		{"stage NaN", func(s *Statement) { s.Privacy.ByStage["x"] = Stage{Epsilon: Number(math.NaN())} }},
		{"metric", func(s *Statement) { s.Score.Metric = "f1" }},
		{"exact score", func(s *Statement) { s.Score.Test = new(Number) }},
	} {
		s := hospital()
		if err := Validate(s); err != nil {
			t.Fatal(err)
		}
		c.damage(s)
		if err := Validate(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Validate = %v, want ErrInvalid", c.name, err)
		}
	}
	if err := Validate(nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
}
