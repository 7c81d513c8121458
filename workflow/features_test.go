package workflow

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/report"
	"pawl/search/feature"
)

// The statement says which attributes were kept, who chose, and what it cost: nothing
// by rule, the stage's price where rows were looked at, no price where nobody paid.
func TestKeptAttributesAndTheirCost(t *testing.T) {
	public := func(s *schema.Schema) { s.Public = true }
	for _, c := range []struct {
		name    string
		schema  func(*schema.Schema)
		change  func(*Input)
		method  string
		leftOut []string
		check   func(k *report.Selection) bool
	}{
		{"by rule", nil, nil, "", []string{}, func(k *report.Selection) bool { return k.Epsilon == 0 && k.Share == 0 && !k.Unpaid }},
		{"named", nil, func(in *Input) { in.Features = []string{"x", "amount"} }, "", []string{"g"},
			func(k *report.Selection) bool {
				return k.Epsilon == 0 && k.How == "named by the operator; no row was used"
			}},
		{"stw", public, func(in *Input) { in.Workflow = STW }, "", nil, func(k *report.Selection) bool { return k.Unpaid && k.Epsilon == 0 }},
		{"select", nil, nil, "mutual-information", []string{"g"},
			func(k *report.Selection) bool {
				return math.Abs(float64(k.Share)-1) < 1e-3 && k.Epsilon > 1.9 && !k.Together
			}},
		{"random", nil, nil, "random", nil, func(k *report.Selection) bool { return k.Epsilon == 0 && !k.Unpaid && len(k.LeftOut) == 1 }},
	} {
		tab := small(8000, c.schema)
		in := tab.input("2", "1e-6", 1)
		in.Preset = advise.Quick
		if c.change != nil {
			c.change(&in)
		}
		env := Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
		s, err := stated(in, c.method, env)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		k := s.Choice.Selection
		if k == nil || k.Offered != 3 || !c.check(k) || len(k.LeftOut)+len(s.Choice.Features) != 3 {
			t.Errorf("%s: %+v, features %v", c.name, k, s.Choice.Features)
			continue
		}
		if c.leftOut != nil && !slices.Equal(k.LeftOut, c.leftOut) {
			t.Errorf("%s: left out %v, want %v", c.name, k.LeftOut, c.leftOut)
		}
	}
}

// stated is the statement of a fit, or of a selection of two features by a method.
func stated(in Input, method string, env Env) (*report.Statement, error) {
	ctx := context.Background()
	if method == "" {
		plan, err := NewPlan(in)
		if err != nil {
			return nil, err
		}
		out, err := plan.Run(ctx, env)
		if err != nil {
			return nil, err
		}
		return out.Statement(ctx, env, "test", time.Unix(0, 0))
	}
	plan, err := NewSelectPlan(SelectInput{Input: in, Method: method, Count: 2, Level: feature.AttributeLevel})
	if err != nil {
		return nil, err
	}
	out, err := plan.Choose(ctx, env)
	if err != nil {
		return nil, err
	}
	return out.Statement(ctx, env, "test", time.Unix(0, 0))
}
