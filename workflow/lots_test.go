package workflow

import (
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/learn"
)

// The additive model of a large table takes lots of its rows. Their noise follows from a price of their own, which
// spends what was asked, and what runs is what was booked: another event would open no row.
func TestLargeTablesTakeLots(t *testing.T) {
	tab := small(1500, nil)
	for _, c := range []struct {
		rows     int64
		lots     bool
		sampling string
	}{{200_000, false, "full batch"}, {300_000, true, "Poisson and full batch"}} { // nine in ten of them train
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
		// The marginals, and the screening of pairs, take all rows.
		if s.Privacy.Sampling != c.sampling {
			t.Errorf("%d rows: the statement says %q", c.rows, s.Privacy.Sampling)
		}
		if g := tab.run(t, in).Learner.(*learn.GAM); g.SamplingRate != rate {
			t.Errorf("%d rows: ran at rate %v", c.rows, g.SamplingRate)
		}
	}
}

// A linear model by lots takes no other look at the rows.
func TestWhatTakesAllRows(t *testing.T) {
	lot := dp.PoissonSampled{Rate: .1, Event: dp.Gaussian{NoiseMultiplier: 1}}
	for _, c := range []struct {
		event dp.Event
		want  bool
	}{
		{dp.Repeat{Count: 5, Event: lot}, false},
		{dp.Gaussian{NoiseMultiplier: 1}, true},
		{dp.Compose{Events: []dp.Event{dp.Repeat{Count: 5, Event: lot}, lot}}, false},
		{dp.Compose{Events: []dp.Event{dp.Repeat{Count: 5, Event: lot}, dp.Gaussian{NoiseMultiplier: 1}}}, true},
	} {
		if got := takesAll(c.event); got != c.want {
			t.Errorf("%v: %v", c.event, got)
		}
	}
}
