package crossover

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/evidence/cells"
	"pawl/evidence/lab"
	"pawl/store/memory"
	"pawl/workflow"
)

// sensitive makes the rows of a built-in table sensitive ones with a budget.
func sensitive(t *testing.T, budget string) *Data {
	t.Helper()
	d := open(t, "breast-cancer")
	own := *d.Table.Schema
	own.Public = false
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	err := l.Create(t.Context(), ledger.Budget{Dataset: "own", Epsilon: budget, Delta: "1e-04", Relation: dp.AddOrRemoveOne})
	if err != nil {
		t.Fatal(err)
	}
	key, err := l.Key(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := (&lab.Table{Name: "own", Schema: &own, Rows: d.Table.Rows}).SealUnder(key)
	if err != nil {
		t.Fatal(err)
	}
	return &Data{
		Name: "own", Key: "own", Table: &lab.Table{Name: "own", Target: d.Table.Target, Schema: &own},
		Purse: &Purse{
			Input: workflow.Input{Dataset: "own", Schema: &own, Target: d.Table.Target, Rows: int64(len(d.Table.Rows)), Test: workflow.HeldOut},
			Env:   workflow.Env{Ledger: l, Rows: rows, Digest: bytes.Repeat([]byte{1}, 32)},
		},
	}
}

func paidStudy(t *testing.T, d *Data, texts ...string) *Study {
	t.Helper()
	cells, err := cells.Open("paid", "runs", "1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Study{Data: d, Specs: specs(t, texts...), Epsilons: []float64{1, 2}, Delta: "1e-04", Seeds: 2, Tuning: Rule, Confidence: .95, Cells: cells}
}

// spent is what the ledger says has been charged, and by how many jobs.
func spent(t *testing.T, d *Data) (epsilon float64, jobs int) {
	t.Helper()
	s, err := figures.Show(t.Context(), d.Purse.Env.Ledger, "own")
	if err != nil {
		t.Fatal(err)
	}
	records, err := d.Purse.Env.Ledger.Records(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Kind == ledger.KindCommit {
			jobs++
		}
	}
	return float64(s.Spent.Epsilon), jobs
}

func TestEveryRunOnSensitiveRowsIsPaidFor(t *testing.T) {
	d := sensitive(t, "14")
	s := paidStudy(t, d, "model:majority", "features:2", "linear", "fcn-64")
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	price, err := s.Price()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Rehearse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if before, jobs := spent(t, d); before != 0 || jobs != 0 {
		t.Fatalf("a price and a rehearsal spent %g in %d jobs", before, jobs)
	}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, jobs := spent(t, d)
	// Four configurations at two ε with two seeds; four choices are jobs of their own.
	if price.Runs != 16 || jobs != 20 {
		t.Errorf("%d runs were priced and %d jobs booked", price.Runs, jobs)
	}
	// That later runs may follow earlier results costs little beside one plan of all.
	if !(after >= .98*price.Epsilon && after <= 1.09*price.Epsilon) {
		t.Errorf("the price is %g and the ledger holds %g", price.Epsilon, after)
	}
	for _, c := range r.Curves {
		if c.Plain != nil {
			t.Errorf("%s was trained without noise", c.Spec)
		}
		// The larger class is the same in every run and so are the held-out rows: only
		// noise makes their scores differ.
		if c.Spec == "model:majority" && c.Points[0].Runs[0] == c.Points[0].Runs[1] && c.Points[1].Runs[0] == c.Points[1].Runs[1] {
			t.Errorf("scores without noise: %v", c.Points)
		}
	}
	// What was paid for is kept.
	if left, err := s.Missing(); err != nil || left.Runs != 0 || left.Epsilon != 0 {
		t.Errorf("%d runs at %g are left to pay for, %v", left.Runs, left.Epsilon, err)
	}
	if again, err := s.Price(); err != nil || again.Epsilon != price.Epsilon || again.Runs != 16 {
		t.Errorf("what is shown cost %g, and %g before it was run, %v", again.Epsilon, price.Epsilon, err)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, _ := spent(t, d); again != after {
		t.Errorf("reading kept runs moved the ledger from %g to %g", after, again)
	}
}

func TestNoRunBeyondTheBudget(t *testing.T) {
	d := sensitive(t, "2.5")
	s := paidStudy(t, d, "linear", "naive-bayes")
	price, err := s.Price()
	if err != nil {
		t.Fatal(err)
	}
	if f, err := figures.WhatIfEach(t.Context(), d.Purse.Env.Ledger, "own", "", "", price.Bookings); err != nil || f.Admitted {
		t.Errorf("a price of %g passes a budget of 2.5: %v", price.Epsilon, err)
	}
	if _, err := s.Run(t.Context()); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("runs went on beyond the budget: %v", err)
	}
	if epsilon, _ := spent(t, d); epsilon > 2.5 {
		t.Errorf("%g was spent of 2.5", epsilon)
	}
}

func TestAnInterruptedRunStaysChargedAndOthersAreKept(t *testing.T) {
	d := sensitive(t, "60")
	s := paidStudy(t, d, "linear", "naive-bayes")
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	s.Cells.(*cells.File).Progress = func(string) {
		if n++; n == 4 {
			cancel()
		}
	}
	if _, err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	left, err := s.Missing()
	if err != nil {
		t.Fatal(err)
	}
	if _, jobs := spent(t, d); jobs != 3 || left.Runs != 5 {
		t.Errorf("%d jobs were booked before the interruption, %d are left", jobs, left.Runs)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, jobs := spent(t, d); jobs != 8 {
		t.Errorf("%d jobs in all", jobs)
	}
}

func TestPriceOfSensitiveRows(t *testing.T) {
	d := sensitive(t, "60")
	s := paidStudy(t, d, "linear", "features:age")
	two, err := s.Price()
	if err != nil {
		t.Fatal(err)
	}
	s.Seeds = 5
	five, err := s.Price()
	if err != nil {
		t.Fatal(err)
	}
	// Composition of 8 runs costs more than the dearest and less than their sum.
	if two.Runs != 8 || !(two.Epsilon > 2 && two.Epsilon < 12 && five.Epsilon > two.Epsilon) {
		t.Errorf("%d runs cost %g, with 5 seeds %g", two.Runs, two.Epsilon, five.Epsilon)
	}
}

func TestNothingUnpaidOnSensitiveRows(t *testing.T) {
	for name, change := range map[string]func(*Study){
		"unpaid":  func(s *Study) { s.Specs = specs(t, "features:2+unpaid", "linear") },
		"stw":     func(s *Study) { s.Specs = specs(t, "linear", "stw") },
		"integer": func(s *Study) { s.Specs = specs(t, "linear", "encoding:integer") },
		"plain":   func(s *Study) { s.Plain = 2 },
		"grid":    func(s *Study) { s.Tuning = Grid },
		"rates":   func(s *Study) { s.Tuning, s.Rates = CommonRate, []float64{1} },
		"rows":    func(s *Study) { s.Rows = []int{100, 200} },
	} {
		s := paidStudy(t, sensitive(t, "60"), "linear", "naive-bayes")
		change(s)
		var mistake *workflow.UsageError
		if err := s.Check(); !errors.As(err, &mistake) {
			t.Errorf("%s passes: %v", name, err)
		}
	}
}
