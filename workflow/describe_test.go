package workflow

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/report"
)

func (tab table) describing(epsilon, delta string, seed uint64) DescribeInput {
	in := tab.input(epsilon, delta, seed)
	return DescribeInput{Input: in}
}

func (tab table) described(t testing.TB, in DescribeInput) *report.Description {
	t.Helper()
	plan, err := NewDescribePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Describe(context.Background(), Env{Ledger: memoryLedger(), Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Description
}

// Adult at epsilon 0.5: the median error of a count is at most 1 % of the rows. Seeds 0 to 4 are
// fixed. The noise on a count is 0.2 % of the rows, so that other seeds give the same.
func TestDescribeAdult(t *testing.T) {
	tab := builtin(t, "adult")
	in := tab.describing("", "", 0)
	in.Seed = nil
	exact := tab.described(t, in)
	if !exact.Exact || exact.Rows.Value != 32561 || exact.Columns[0].Levels[39].Count.Value != 816 {
		t.Fatalf("exact: %v rows, %+v", exact.Rows.Value, exact.Columns[0].Levels[39])
	}
	var errs, estimates, rates []float64
	covered, intervals := 0, 0
	for seed := range uint64(5) {
		d := tab.described(t, tab.describing("0.5", "", seed))
		for j := range d.Columns {
			for i := range d.Columns[j].Levels {
				got, want := d.Columns[j].Levels[i].Count, exact.Columns[j].Levels[i].Count
				errs = append(errs, math.Abs(float64(got.Value-want.Value))/32561)
				estimates = append(estimates, math.Abs(float64(got.Estimate-want.Value))/32561)
				intervals++
				if got.Interval[0] <= want.Value && want.Value <= got.Interval[1] {
					covered++
				}
			}
			for k, g := range d.Columns[j].Target {
				if len(g.Levels) == 1 && d.Columns[j].Mean == nil {
					rates = append(rates, math.Abs(float64(g.Rates[1].Value-exact.Columns[j].Target[k].Rates[1].Value)))
				}
			}
		}
	}
	rates = slices.DeleteFunc(rates, func(x float64) bool { return x != x })
	t.Logf("%d counts: median error %.3f %% of the rows, largest %.3f %%, of estimates without bias %.3f %%; %.1f %% of intervals hold; %d rates of the target: median error %.2f points",
		len(errs), 100*median(errs), 100*slices.Max(errs), 100*median(estimates), 100*float64(covered)/float64(intervals), len(rates), 100*median(rates))
	if median(errs) > 0.01 || median(estimates) > 0.01 {
		t.Errorf("median errors %.4f, %.4f", median(errs), median(estimates))
	}
}

// What is priced is what was asked, with and without a delta, a target and correlations.
func TestDescribePrice(t *testing.T) {
	tab := builtin(t, "adult")
	for _, c := range []struct {
		delta   string
		columns []string
		stages  int
	}{{"1e-6", nil, 2}, {"0", nil, 1}, {"1e-6", []string{"sex"}, 2}} {
		in := tab.describing("0.5", c.delta, 1)
		in.Features = c.columns
		plan, err := NewDescribePlan(in)
		if err != nil {
			t.Fatal(err)
		}
		if !(plan.Epsilon <= 0.5 && plan.Epsilon > 0.499) || len(plan.Stages) != c.stages {
			t.Errorf("delta %s: epsilon %v, %d stages", c.delta, plan.Epsilon, len(plan.Stages))
		}
		if c.columns == nil {
			continue
		}
		// Of one column there are no correlations.
		in.Target = ""
		if plan, err = NewDescribePlan(in); err != nil || len(plan.Stages) != 1 {
			t.Errorf("one column: %v", err)
		}
	}
}

// The charge is booked before rows are opened, and stays where the run is interrupted then; beyond
// the budget nothing is opened.
func TestDescribeCharges(t *testing.T) {
	tab := builtin(t, "adult")
	tab.schema.Public = false
	in := tab.describing("0.5", "1e-6", 1)
	in.Seed = nil // a seeded run may be repeated at no cost
	plan, err := NewDescribePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	l := memoryLedger()
	if err := l.Create(context.Background(), ledger.Budget{Dataset: "adult", Epsilon: "0.6", Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	env := Env{Ledger: l, Rows: tab.seal(t, 1), Digest: bytes.Repeat([]byte{7}, 32)}
	spent := func() float64 {
		st, err := figures.Show(context.Background(), l, "adult")
		if err != nil {
			t.Fatal(err)
		}
		return float64(st.Spent.Epsilon + st.Reserved.Epsilon)
	}
	// Before rows open the charge is given back.
	ctx, cancel := context.WithCancel(context.Background())
	env.Progress = func(string, int, int) { cancel() }
	if out, err := plan.Describe(ctx, env); !errors.Is(err, context.Canceled) || out.Description != nil || spent() != 0 {
		t.Errorf("interrupted: %v, %v, spent %v", out.Description, err, spent())
	}
	late := &interrupted{Context: context.Background()}
	env.Progress = func(string, int, int) { late.after = 1 } // sum.Cells asks before it opens, and after it added up
	out, err := plan.Describe(late, env)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stays charged") || out.Description != nil || !(spent() > 0.4) {
		t.Errorf("interrupted later: %v, spent %v", err, spent())
	}
	env.Progress = nil
	if out, err := plan.Describe(context.Background(), env); !errors.Is(err, ledger.ErrRefused) || out.Description != nil {
		t.Errorf("beyond the budget: %v", err)
	}
	in = tab.describing("", "", 1)
	in.Public = false
	if _, err := NewDescribePlan(in); err == nil || !strings.Contains(err.Error(), "missing --epsilon") {
		t.Errorf("sensitive rows for nothing: %v", err)
	}
}

// interrupted ends when it was asked so often, where after is above 0.
type interrupted struct {
	context.Context
	after, asked int
}

func (c *interrupted) Err() error {
	if c.after > 0 {
		if c.asked++; c.asked > c.after {
			return context.Canceled
		}
	}
	return nil
}

// A forecast of noise refuses the description, but for Anyway, which the plan records.
func TestDescribeHopeless(t *testing.T) {
	tab := builtin(t, "breast-cancer")
	in := tab.describing("0.01", "1e-6", 1)
	if _, err := NewDescribePlan(in); err == nil || !strings.Contains(err.Error(), "little but noise") {
		t.Errorf("hopeless: %v", err)
	}
	in.Anyway = true
	plan, err := NewDescribePlan(in)
	if err != nil || !strings.Contains(strings.Join(plan.Warnings, "\n"), "allowed by --anyway") {
		t.Errorf("anyway: %v", err)
	}
}
