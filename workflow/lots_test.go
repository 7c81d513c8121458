package workflow

import (
	"testing"
	"time"

	"pawl/learn"
)

// The additive model of a large table takes lots of its rows. Their noise follows from a price of their own, which
// spends what was asked, and what runs is what was booked: another event would open no row.
func TestLargeTablesTakeLots(t *testing.T) {
	tab := small(1500, nil)
	for _, c := range []struct {
		rows int64
		lots bool
	}{{200_000, false}, {300_000, true}} { // nine in ten of them train
		in := tab.input("1", "1e-6", 3)
		in.Rows, in.Model = c.rows, "gam"
		plan, err := NewPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		rate := plan.Recipe.SamplingRate
		if rate < 1 != c.lots {
			t.Errorf("%d rows: rate %v", c.rows, rate)
		}
		if e := plan.Price.Epsilon; !(e <= 1 && e > 0.995) {
			t.Errorf("%d rows: the plan costs %v", c.rows, e)
		}
		s, err := plan.Statement("test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got, said := s.Choice.Hyperparameters["sampling_rate"]; said != c.lots || said && got != rate {
			t.Errorf("%d rows: the statement says %v", c.rows, got)
		}
		if g := tab.run(t, in).Learner.(*learn.GAM); g.SamplingRate != rate {
			t.Errorf("%d rows: ran at rate %v", c.rows, g.SamplingRate)
		}
	}
}
