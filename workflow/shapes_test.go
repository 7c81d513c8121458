package workflow

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"pawl/data/schema"
	"pawl/model"
	"pawl/report"
)

// The shapes of the report are the model: their sum is its score, in order of
// importance; and they follow from its files alone, so that nothing unreleased is in
// them.
func TestShapesAreTheModel(t *testing.T) {
	for target, outputs := range map[string]int{"y": 1, "g": 3, "amount": 1} {
		tab := small(4000, func(s *schema.Schema) { s.Columns[0].Missing = schema.MissingUnknown })
		tab.target = target
		in := tab.input("4", "1e-6", 1)
		in.Model = "ebm"
		out := tab.run(t, in)
		s := out.shapes()
		if s == nil || len(s.Outputs) != outputs || len(s.Attributes) != 3 {
			t.Fatalf("%s: %+v", target, s)
		}
		for i, a := range s.Attributes {
			if i > 0 && a.Importance > s.Attributes[i-1].Importance {
				t.Errorf("%s: %q stands behind %q", target, a.Attribute, s.Attributes[i-1].Attribute)
			}
			if a.Unknown != (a.Attribute == "x") {
				t.Errorf("%s: %q has an unknown bin: %v", target, a.Attribute, a.Unknown)
			}
		}
		unit := 1.0
		if target == "amount" {
			unit = 50
		}
		for _, cells := range tab.rows[:200] {
			scores := make([]float64, outputs)
			out.Model.Scores(scores, cells, nil)
			for k := range scores {
				sum := out.Model.Intercept[k] * unit
				for _, a := range s.Attributes {
					sum += float64(a.Values[k][binOf(a, cells[tab.schema.Column(a.Attribute)])])
				}
				if math.Abs(sum-scores[k]*unit) > 1e-4*unit {
					t.Fatalf("%s: shapes make %g, the model %g", target, sum, scores[k]*unit)
				}
			}
		}
		dir := t.TempDir()
		if err := out.Model.Save(dir, nil, nil); err != nil {
			t.Fatal(err)
		}
		loaded, err := model.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if again := (&Outcome{Model: loaded}).shapes(); !reflect.DeepEqual(again, s) {
			t.Errorf("%s: shapes do not follow from the model's files", target)
		}
	}
}

// binOf finds the bin of a cell by the figure's own edges.
func binOf(a report.Shape, cell float64) int {
	if cell != cell {
		return len(a.Rows) - 1
	}
	if a.Edges == nil {
		return int(cell)
	}
	for j := len(a.Edges) - 2; j > 0; j-- {
		if cell >= float64(a.Edges[j]) {
			return j
		}
	}
	return 0
}

func TestShapesReachTheStatement(t *testing.T) {
	tab := small(4000, nil)
	for name, want := range map[string]bool{"ebm": true, "linear": false} {
		in := tab.input("1", "1e-6", 1)
		in.Model = name
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		env := Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
		out, err := plan.Run(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		s, err := out.Statement(context.Background(), env, "test", time.Unix(0, 0))
		if err != nil || (s.Shapes != nil) != want {
			t.Errorf("%s: shapes %v (%v), want %v", name, s.Shapes != nil, err, want)
		}
		if err := report.Validate(s); err != nil {
			t.Error(err)
		}
	}
}
