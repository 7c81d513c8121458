package pricing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/internal/stattest"
	"pawl/store/memory"
)

var ctx = context.Background()

func newLedger(t testing.TB, epsilon, delta string) *ledger.Ledger {
	t.Helper()
	return created(t, ledger.Budget{Epsilon: epsilon, Delta: delta})
}

func created(t testing.TB, b ledger.Budget) *ledger.Ledger {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	b.Dataset, b.Relation = "d", dp.AddOrRemoveOne
	if err := l.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	return l
}

func reserve(l *ledger.Ledger, e dp.Event) error { return reserveOn(l, nil, e) }

func reserveOn(l *ledger.Ledger, rows *intake.Rows, e dp.Event) error {
	q := ledgertest.Spend("d", 0)
	q.Event, q.Rows = e, rows
	if rows != nil {
		q.UnitColumn = rows.Schema().Unit.Column
	}
	_, _, err := l.Reserve(ctx, q)
	return err
}

func show(t testing.TB, l *ledger.Ledger) figures.Statement {
	t.Helper()
	st, err := figures.Show(ctx, l, "d")
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func gaussian(t testing.TB, epsilon, delta float64) dp.Event {
	t.Helper()
	z, err := accountant.GaussianNoiseMultiplier(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return dp.Gaussian{NoiseMultiplier: z}
}

// dpsgd is 10 epochs of 60,000 examples in lots of 256, noise multiplier 1.1:
// 0.919 at delta 1e-5 by PLD, 1.0988 by RDP for one run; 1.3189 and 1.4638 for two.
var dpsgd = dp.Repeat{Count: 2344, Event: dp.PoissonSampled{Rate: 256. / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}}

// All of a budget can be spent at once, although the filter reads more than that.
func TestWholeBudgetIsSpendable(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		event   dp.Event
	}{
		{"0.95", gaussian(t, 0.95, 1e-5)},
		{"1", gaussian(t, 1, 1e-5)},
		{"0.92", dpsgd},
		{"3", dp.Pure{Epsilon: 3}},
	} {
		l := newLedger(t, c.epsilon, "1e-5")
		if err := reserve(l, c.event); err != nil {
			t.Errorf("epsilon %s: %v", c.epsilon, err)
			continue
		}
		st := show(t, l)
		if st.Reserved.Epsilon > st.Total.Epsilon || float64(st.Left.Epsilon) > 0.01 {
			t.Errorf("epsilon %s: reserved %v, left %v", c.epsilon, st.Reserved.Epsilon, st.Left.Epsilon)
		}
		if err := reserve(l, dp.Gaussian{NoiseMultiplier: 50}); !errors.Is(err, ledger.ErrExhausted) {
			t.Errorf("epsilon %s: more beside it: %v", c.epsilon, err)
		}
	}
}

// A second run is not a first one again, nor twice the first.
func TestSecondRunComposes(t *testing.T) {
	l := newLedger(t, "2", "1e-5")
	for range 2 {
		if err := reserve(l, dpsgd); err != nil {
			t.Fatal(err)
		}
	}
	st := show(t, l)
	if got := float64(st.Reserved.Epsilon); got < 1.4638 || got > 1.8 {
		t.Errorf("two runs cost %v to the filter, want at least 1.4638 (RDP at its best order)", got)
	}
	if got := float64(st.AtOnce.Epsilon); got < 1.3180 || got > 1.3200 {
		t.Errorf("two runs at once: %v, want 1.3189", got)
	}
}

func TestTwoSpendsOfNineTenths(t *testing.T) {
	l := newLedger(t, "1", "1e-5")
	if err := reserve(l, gaussian(t, 0.9, 1e-5)); err != nil {
		t.Fatal(err)
	}
	if err := reserve(l, gaussian(t, 0.9, 1e-5)); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("the second spend of 0.9: %v", err)
	}
}

func TestPureDecimals(t *testing.T) {
	l := newLedger(t, "1", "0")
	for i := range 11 {
		if err := reserve(l, dp.Pure{Epsilon: 1. / 11}); err != nil {
			t.Fatalf("part %d of 11: %v", i+1, err)
		}
	}
	if st := show(t, l); st.Reserved.Epsilon != 1 || st.Left.Epsilon != 0 {
		t.Errorf("reserved %v, left %v", st.Reserved.Epsilon, st.Left.Epsilon)
	}
	if err := reserve(l, dp.Pure{Epsilon: 1e-9}); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("1e-9 more: %v", err)
	}
}

func quarter(t testing.TB, i int) dp.Event {
	return dp.Scoped{Scope: dp.Scope{Lower: float64(i) / 4, Upper: float64(i+1) / 4}, Event: gaussian(t, 0.6, 1e-5)}
}

func TestDisjointScopesShareABudget(t *testing.T) {
	l := newLedger(t, "1", "1e-5")
	rows := ledgertest.Rows(t, l, "d")
	for i := range 4 {
		if err := reserveOn(l, rows, quarter(t, i)); err != nil {
			t.Fatalf("scope %d: %v", i, err)
		}
	}
	if st := show(t, l); st.Reserved.Epsilon > 0.71 || st.AtOnce.Epsilon > 0.61 {
		t.Errorf("four disjoint scopes cost %v, at once %v", st.Reserved.Epsilon, st.AtOnce.Epsilon)
	}
}

// Scopes of different assignments of units are not disjoint: a unit may lie in the
// dearest of each. Two versions of rows are two assignments, and so is every entry that
// does not say which rows it was about; units of a column are one whatever the version.
func TestScopesOfDifferentAssignmentsAddUp(t *testing.T) {
	version := func(l *ledger.Ledger, column string, record string) *intake.Rows {
		key, err := l.Key(ctx, "d")
		if err != nil {
			t.Fatal(err)
		}
		s := &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", Column: column, MaxRows: 1}}
		b := intake.NewBuilder(key, s)
		if err := b.Add(nil, schema.Record{Unit: record, Raw: []byte(record)}); err != nil {
			t.Fatal(err)
		}
		return b.Seal()
	}
	for _, tt := range []struct {
		name          string
		column        string
		first, second string
		rows, fits    bool
	}{
		{"one version", "", "a", "a", true, true},
		{"two versions of rows", "", "a", "b", true, false},
		{"two versions with a unit column", "id", "a", "b", true, true},
		{"rows that nobody named", "", "", "", false, false},
	} {
		l := newLedger(t, "0.8", "1e-5")
		var one, two *intake.Rows
		if tt.rows {
			one, two = version(l, tt.column, tt.first), version(l, tt.column, tt.second)
		}
		if err := reserveOn(l, one, quarter(t, 0)); err != nil {
			t.Fatal(err)
		}
		err := reserveOn(l, two, quarter(t, 1))
		if (err == nil) != tt.fits || err != nil && !errors.Is(err, ledger.ErrExhausted) {
			t.Errorf("%s: two scopes of .6 in a budget of .8: %v", tt.name, err)
		}
		if !tt.fits {
			l = newLedger(t, "2", "1e-5")
			if one != nil {
				one, two = version(l, tt.column, tt.first), version(l, tt.column, tt.second)
			}
			for i, rows := range []*intake.Rows{one, two} {
				if err := reserveOn(l, rows, quarter(t, i)); err != nil {
					t.Fatal(err)
				}
			}
			both := float64(show(t, l).AtOnce.Epsilon)
			alone, err := accountant.Epsilon(dp.Compose{Events: []dp.Event{gaussian(t, 0.6, 1e-5), gaussian(t, 0.6, 1e-5)}}, dp.AddOrRemoveOne, 1e-5, accountant.MethodMin)
			if err != nil || math.Abs(both-alone.Epsilon) > 1e-6 {
				t.Errorf("%s: at once %v, want the %v of both on one unit (%v)", tt.name, both, alone.Epsilon, err)
			}
		}
	}
}

// Whoever is written in another way is another unit, in another place: the same table with
// 7.0 for 7 asks for --updated, and its costs add to those of before. Persons that come, go
// or stand in more rows are where they were.
func TestIdentifiersWrittenAnew(t *testing.T) {
	rows := func(l *ledger.Ledger, write func(i int) string, n int) *intake.Rows {
		key, err := l.Key(ctx, "d")
		if err != nil {
			t.Fatal(err)
		}
		b := intake.NewBuilder(key, &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", Column: "id", MaxRows: 1}})
		for i := range n {
			if err := b.Add(nil, schema.Record{Unit: write(i), Raw: []byte{1}}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Seal()
	}
	plain := func(i int) string { return fmt.Sprint(i) }
	for name, tt := range map[string]struct {
		second *func(i int) string
		n      int
		fits   bool
	}{
		"the same":         {&plain, 50, true},
		"some more":        {&plain, 80, true},
		"some less":        {&plain, 20, true},
		"written with .0":  {ptr(func(i int) string { return fmt.Sprintf("%d.0", i) }), 50, false},
		"one of them anew": {ptr(func(i int) string { return fmt.Sprintf([]string{"%d", "%03d"}[min(i/49, 1)], i) }), 50, false},
	} {
		l := newLedger(t, "0.8", "1e-5")
		if err := reserveOn(l, rows(l, plain, 50), quarter(t, 0)); err != nil {
			t.Fatal(err)
		}
		if err := reserveOn(l, rows(l, *tt.second, tt.n), quarter(t, 1)); (err == nil) != tt.fits || err != nil && !errors.Is(err, ledger.ErrExhausted) {
			t.Errorf("%s: two scopes of .6 in a budget of .8: %v", name, err)
		}
		if err := reserveOn(l, rows(l, plain, 50), quarter(t, 2)); tt.fits && err != nil {
			t.Errorf("%s: and again as before: %v", name, err)
		}
	}
}

func ptr[T any](x T) *T { return &x }

// Under replace-one the old and the new unit may lie in any scope of any assignment: at
// once, too, everything adds up.
func TestAtOnceUnderReplaceOne(t *testing.T) {
	price := func(records ...string) float64 {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
		if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "50", Delta: "1e-6", Relation: dp.ReplaceOne}); err != nil {
			t.Fatal(err)
		}
		for i, record := range records {
			key, err := l.Key(ctx, "d")
			if err != nil {
				t.Fatal(err)
			}
			b := intake.NewBuilder(key, &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", MaxRows: 1}})
			if err := b.Add(nil, schema.Record{Raw: []byte(record)}); err != nil {
				t.Fatal(err)
			}
			q := ledgertest.Spend("d", 0)
			q.Relation, q.Rows = dp.ReplaceOne, b.Seal()
			q.Event = dp.Compose{Events: []dp.Event{dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: .8}, Event: dp.Gaussian{NoiseMultiplier: float64(2 + i)}},
				dp.Scoped{Scope: dp.Scope{Lower: .8, Upper: 1}, Event: dp.Gaussian{NoiseMultiplier: float64(2 + i)}}}}
			if _, _, err := l.Reserve(ctx, q); err != nil {
				t.Fatal(err)
			}
		}
		return float64(show(t, l).AtOnce.Epsilon)
	}
	if one, two := price("a", "a"), price("a", "b"); one != two {
		t.Errorf("one assignment costs %v, two %v", one, two)
	}
}

// Entries of versions that did not name assignments: of a unit column they are of its
// one assignment; of rows each stands alone.
func TestEntriesWithoutAssignment(t *testing.T) {
	for column, fits := range map[string]bool{"id": true, "": false} {
		l := newLedger(t, "0.8", "1e-5")
		q := ledgertest.Spend("d", 0)
		q.UnitColumn, q.Event = column, quarter(t, 0) // no rows, as earlier versions booked it
		if _, _, err := l.Reserve(ctx, q); err != nil {
			t.Fatal(err)
		}
		key, err := l.Key(ctx, "d")
		if err != nil {
			t.Fatal(err)
		}
		q.Rows = intake.NewBuilder(key, &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "row", Column: column, MaxRows: 1}}).Seal()
		q.Event = quarter(t, 1)
		if _, _, err := l.Reserve(ctx, q); (err == nil) != fits {
			t.Errorf("unit column %q: %v", column, err)
		}
	}
}

// Whoever ran something elsewhere did not assign units as pawl does: its scopes overlap with all others.
func TestForeignRunsHavePlacesOfTheirOwn(t *testing.T) {
	for name, column := range map[string]string{"rows": "", "units of a column": "id"} {
		l := newLedger(t, "0.8", "1e-5")
		q := ledgertest.Spend("d", 0)
		q.UnitColumn, q.Event = column, quarter(t, 0)
		if _, _, err := l.Reserve(ctx, q); err != nil {
			t.Fatal(err)
		}
		b := ledger.Booking{Dataset: "d", Event: quarter(t, 1), By: "bob", Reason: "run at the other site"}
		if _, err := l.Book(ctx, b); !errors.Is(err, ledger.ErrExhausted) {
			t.Errorf("%s: a foreign run in another scope, two of .6 in a budget of .8: %v", name, err)
		}
		b.AfterTheFact = true
		if _, err := l.Book(ctx, b); err != nil {
			t.Fatal(err)
		}
		if both := show(t, l).AtOnce.Epsilon; both < 0.81 {
			t.Errorf("%s: at once %v", name, both)
		}
	}
}

func TestUnpriceableEventsAreRefused(t *testing.T) {
	for _, e := range []dp.Event{dp.NonPrivate{}, dp.Gaussian{}, dp.Repeat{Count: 3, Event: dp.NonPrivate{}}} {
		l := newLedger(t, "10", "1e-5")
		if err := reserve(l, e); !errors.Is(err, ledger.ErrExhausted) || !strings.Contains(err.Error(), "needs epsilon inf") {
			t.Errorf("%v as the first: %v", e, err)
		}
		if err := reserve(l, dp.Gaussian{NoiseMultiplier: 10}); err != nil {
			t.Fatal(err)
		}
		if err := reserve(l, e); !errors.Is(err, ledger.ErrExhausted) {
			t.Errorf("%v as the second: %v", e, err)
		}
	}
}

// Whatever is admitted, one by one, stays within the budget by the smallest bound
// of all of it: the filter is never below it.
func TestAdmittedStaysWithinBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
		budget := rapid.Float64Range(0.1, 4).Draw(t, "epsilon")
		if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: fmt.Sprintf("%.3f", budget), Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			var e dp.Event
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				e = dp.Gaussian{NoiseMultiplier: rapid.Float64Range(1, 30).Draw(t, "noise")}
			case 1:
				e = dp.Laplace{NoiseMultiplier: rapid.Float64Range(1, 30).Draw(t, "noise")}
			case 2:
				e = dp.ZCDP{Rho: rapid.Float64Range(0.001, 0.1).Draw(t, "rho")}
			}
			if rapid.Bool().Draw(t, "scoped") {
				e = dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: rapid.SampledFrom([]float64{0.5, 0.8}).Draw(t, "upper")}, Event: e}
			}
			if err := reserve(l, e); err != nil && !errors.Is(err, ledger.ErrExhausted) {
				t.Fatal(err)
			}
		}
		st, err := figures.Show(ctx, l, "d")
		if err != nil {
			t.Fatal(err)
		}
		if float64(st.AtOnce.Epsilon) > float64(st.Reserved.Epsilon)+1e-9 || st.Reserved.Epsilon > st.Total.Epsilon {
			t.Fatalf("at once %v, reserved %v, total %v", st.AtOnce.Epsilon, st.Reserved.Epsilon, st.Total.Epsilon)
		}
	})
}

// A what-if decides as the reservation after it does, and says where that leads.
func TestWhatIfForetells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "2", Delta: rapid.SampledFrom([]string{"0", "1e-6"}).Draw(t, "delta"), Relation: dp.AddOrRemoveOne}))
		if rapid.Bool().Draw(t, "shares") {
			must(l.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "ann", Epsilon: "1", Reason: "r"}))
		}
		for range rapid.IntRange(1, 5).Draw(t, "events") {
			var e dp.Event = dp.Laplace{NoiseMultiplier: rapid.Float64Range(0.5, 20).Draw(t, "noise")}
			if rapid.Bool().Draw(t, "gaussian") {
				e = dp.Gaussian{NoiseMultiplier: rapid.Float64Range(1, 30).Draw(t, "noise")}
			}
			if rapid.Bool().Draw(t, "scoped") {
				e = dp.Scoped{Scope: dp.Scope{Lower: 0.5, Upper: 1}, Event: e}
			}
			f, err := figures.WhatIf(ctx, l, "d", "", e)
			must(err)
			err = reserve(l, e)
			if f.Admitted != (err == nil) || f.Admitted != (f.Refusal == "") || err != nil && !errors.Is(err, ledger.ErrExhausted) {
				t.Fatalf("foretold %+v, then %v", f, err)
			}
			if err != nil {
				continue
			}
			st, err := figures.Show(ctx, l, "d")
			must(err)
			if st.Standing != f.After {
				t.Fatalf("foretold %+v, then %+v", f.After, st.Standing)
			}
			for _, a := range st.Analysts {
				if a.Exceeded || a.Reserved.Epsilon > 1 {
					t.Fatalf("share %+v", a)
				}
			}
		}
	})
}

// A long log is shown in a blink, by valid bounds that are named.
func TestStatementOfManyDifferentRuns(t *testing.T) {
	l := newLedger(t, "20", "1e-5")
	for i := range 50 {
		run := dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 256. / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1 + float64(i)/1000}}}
		if err := reserve(l, run); err != nil {
			t.Fatal(err)
		}
	}
	began := stattest.CPU()
	st := show(t, l)
	if took := stattest.CPU() - began; took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	exact, err := accountant.Epsilon(dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 256. / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1}}},
		dp.AddOrRemoveOne, 1e-5, accountant.MethodMin)
	if err != nil {
		t.Fatal(err)
	}
	e := st.Entries[0]
	if e.Method != "filter" || float64(e.Epsilon) < exact.Epsilon || float64(e.Epsilon) > 5*exact.Epsilon {
		t.Errorf("an entry of %v is shown as %v by %q", exact.Epsilon, e.Epsilon, e.Method)
	}
	if st.AtOnce.Method != "filter" || st.AtOnce.Epsilon > st.Reserved.Epsilon {
		t.Errorf("at once %+v beside %v reserved", st.AtOnce, st.Reserved.Epsilon)
	}
}

// BenchmarkAdmit is one admission of a DP-SGD run beside n entries, in memory.
func BenchmarkAdmit(b *testing.B) {
	for _, n := range []int{0, 1000, 10000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			l := newLedger(b, "1e6", "1e-5")
			for i := range n {
				if err := reserve(l, dp.Gaussian{NoiseMultiplier: 1 + float64(i)/1000}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if n == 0 {
					l = newLedger(b, "10", "1e-5")
				}
				if err := reserve(l, dpsgd); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is spent is a function of what was done, a refusal names the total that would do,
// and that total does.
func TestSpentAndTheTotalThatSuffices(t *testing.T) {
	job := gaussian(t, 1, 1e-6)
	var spent []ledger.Number
	for _, total := range []string{"2", "3", "5", "8", "20"} {
		l := newLedger(t, total, "1e-6")
		for range 3 {
			if err := reserve(l, job); err != nil {
				t.Fatalf("of %s: %v", total, err)
			}
		}
		st := show(t, l)
		if spent = append(spent, st.Reserved.Epsilon); st.Exceeded || st.Reserved.Epsilon != spent[0] || st.Reserved.Epsilon > 1.05*st.AtOnce.Epsilon {
			t.Errorf("of %s: reserved %v, at once %v", total, st.Reserved, st.AtOnce)
		}
	}
	l := newLedger(t, "2", "1e-6")
	var refused *ledger.ExhaustedError
	for range 3 {
		if err := reserve(l, job); err != nil {
			t.Fatal(err)
		}
	}
	if err := reserve(l, job); !errors.As(err, &refused) || !(refused.Suffices > 2 && refused.Suffices < 3) || !strings.Contains(refused.Hint(), "--epsilon "+refused.Suffices.String()) {
		t.Fatalf("%v, %+v", err, refused)
	}
	if err := l.Grant(ctx, "d", refused.Suffices.String(), "", "more"); err != nil {
		t.Fatal(err)
	}
	if err := reserve(l, job); err != nil {
		t.Errorf("the total that would do does not: %v", err)
	}
}

// One total at the first use, and other jobs follow.
func TestTotalAtFirstUse(t *testing.T) {
	store := memory.New()
	first := ledger.New(store, pricing.Accountant{}, ledger.Options{User: "ann", Total: "4"})
	spend := func(l *ledger.Ledger, e dp.Event, epsilon, delta string) error {
		q := ledgertest.Spend("d", 0)
		q.Event, q.Epsilon, q.Delta = e, epsilon, delta
		_, _, err := l.Reserve(ctx, q)
		return err
	}
	for _, e := range []dp.Event{dp.Laplace{NoiseMultiplier: 2}, gaussian(t, 1, 1e-6), gaussian(t, 0.5, 1e-6)} {
		if err := spend(first, e, "1", "0"); err != nil {
			t.Fatal(err)
		}
	}
	st := show(t, first)
	if !st.Granted.Self || st.Total.Epsilon != 4 || st.Total.Delta != 1e-6 || st.Exceeded {
		t.Errorf("%+v of %+v", st.Granted, st.Total)
	}
	other := ledger.New(store, pricing.Accountant{}, ledger.Options{User: "ann", Total: "5"})
	if err := spend(other, dp.Laplace{NoiseMultiplier: 100}, "1", "0"); !errors.Is(err, ledger.ErrRefused) || errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("another total beside one that stands: %v", err)
	}
	if err := spend(ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann", Total: "11"}), dp.Laplace{NoiseMultiplier: 1}, "1", "0"); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("more than one may grant to oneself: %v", err)
	}
}

// The outlook says how many jobs like the last follow, and they do.
func TestOutlook(t *testing.T) {
	l := newLedger(t, "2", "1e-6")
	job := gaussian(t, 0.5, 1e-6)
	if o, err := figures.OutlookOf(ctx, l, "d"); o != nil || err != nil {
		t.Fatalf("of nothing: %+v, %v", o, err)
	}
	for range 2 {
		if err := reserve(l, job); err != nil {
			t.Fatal(err)
		}
	}
	o, err := figures.OutlookOf(ctx, l, "d")
	if err != nil || o.Refused || o.More < 3 || !(o.Used > 0.3 && o.Used < 0.6) {
		t.Fatalf("%+v, %v", o, err)
	}
	more := 0
	for reserve(l, job) == nil {
		more++
	}
	if more != o.More {
		t.Errorf("%d followed, %d were foretold", more, o.More)
	}
	if o, err := figures.OutlookOf(ctx, l, "d"); err != nil || !o.Refused || o.More != 0 {
		t.Errorf("of a full budget: %+v, %v", o, err)
	}
}

// What the next job may cost is admitted, and clearly more is not.
func TestLargestNextJob(t *testing.T) {
	for name, of := range map[string]func(epsilon float64) dp.Event{
		"gaussian": func(epsilon float64) dp.Event { return gaussian(t, epsilon, 1e-6) },
		"pure":     func(epsilon float64) dp.Event { return dp.Pure{Epsilon: epsilon} },
		"scoped": func(epsilon float64) dp.Event {
			return dp.Compose{Events: []dp.Event{dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.5}, Event: gaussian(t, epsilon, 1e-6)},
				dp.Scoped{Scope: dp.Scope{Lower: 0.5, Upper: 1}, Event: gaussian(t, epsilon, 1e-6)}}}
		},
	} {
		for _, size := range []float64{0.2, 1, 1.7} {
			try := func() (*ledger.Ledger, *figures.Outlook) {
				l := newLedger(t, "2", "1e-6")
				if err := reserve(l, of(size)); err != nil {
					t.Fatal(err)
				}
				o, err := figures.OutlookOf(ctx, l, "d")
				if err != nil {
					t.Fatal(err)
				}
				return l, o
			}
			l, o := try()
			if !(o.Largest > 0) {
				t.Errorf("%s of %v: %+v", name, size, o)
				continue
			}
			if err := reserve(l, of(float64(o.Largest)*1.02)); err == nil {
				t.Errorf("%s of %v: more than %v is admitted", name, size, o.Largest)
			}
			if err := reserve(l, of(float64(o.Largest)*0.999)); err != nil {
				t.Errorf("%s of %v: %v", name, size, err)
			}
		}
	}
	l := newLedger(t, "2", "1e-6")
	if err := reserve(l, dp.Approximate{Epsilon: 1, Delta: 9e-7}); err != nil {
		t.Fatal(err)
	}
	if o, err := figures.OutlookOf(ctx, l, "d"); err != nil || !o.Refused || o.Largest != 0 {
		t.Errorf("after a job that uses up delta: %+v, %v", o, err)
	}
}

// A refusal names a total that suffices: a steward grants it, and the job is admitted; by
// the filter of this version and of earlier ones, for shares as well as for the whole.
func TestTotalOfARefusalSuffices(t *testing.T) {
	events := []dp.Event{dpsgd, dp.Pure{Epsilon: 0.5}, dp.Laplace{NoiseMultiplier: 2}, dp.ZCDP{Rho: 0.05}, gaussian(t, 0.7, 1e-6), gaussian(t, 0.2, 1e-6),
		dp.Approximate{Epsilon: 0.4, Delta: 1e-9}, dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.8}, Event: gaussian(t, 1, 1e-6)},
		dp.Select{Runs: dp.PoissonRuns{Mean: 5}, Event: dp.Gaussian{NoiseMultiplier: 8}}}
	earlier, err := os.ReadFile("../testdata/granted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	grants := 0
	rapid.Check(t, func(rt *rapid.T) {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "bob"})
		q := ledgertest.Spend("d", 0)
		old := rapid.Bool().Draw(rt, "of an earlier version")
		if old {
			if _, err := l.Import(ctx, bytes.NewReader(earlier)); err != nil { // with a share of bob
				rt.Fatal(err)
			}
			q.Unit, q.RowsPerUnit = "patient", 2
		} else if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: rapid.SampledFrom([]string{"0.6", "1", "2"}).Draw(rt, "total"), Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(rt, "jobs") {
			q.Event = rapid.SampledFrom(events).Draw(rt, "event")
			_, _, err := l.Reserve(ctx, q)
			var refused *ledger.ExhaustedError
			if err == nil {
				continue
			}
			if !errors.As(err, &refused) || !(refused.Suffices > 0) {
				rt.Fatalf("%v: %+v", err, refused)
			}
			if math.IsInf(float64(max(refused.Suffices, refused.OfAll)), 1) {
				if hint := refused.Hint(); strings.Contains(hint, "inf") || strings.Contains(hint, "this total suffices") {
					rt.Fatalf("no total is known: %s", hint)
				}
				continue
			}
			hint := refused.Hint()
			if total := max(refused.Suffices, refused.OfAll); refused.Analyst == "" || refused.OfAll > 0 {
				if !strings.Contains(hint, "pawl ledger grant d --epsilon "+total.String()+" --reason WHY") {
					rt.Fatalf("it does not name %v: %s", total, hint)
				}
				if err := l.Grant(ctx, "d", total.String(), "", "more"); err != nil {
					rt.Fatal(err)
				}
			}
			if refused.Analyst != "" {
				if !strings.Contains(hint, "pawl ledger grant d --analyst bob --epsilon "+refused.Suffices.String()+" --reason WHY") {
					rt.Fatalf("it does not name %v: %s", refused.Suffices, hint)
				}
				if err := l.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "bob", Epsilon: refused.Suffices.String(), Reason: "more"}); err != nil {
					rt.Fatal(err)
				}
			}
			if _, _, err := l.Reserve(ctx, q); err != nil {
				rt.Fatalf("the total that would do does not: %v; it said %s", err, hint)
			}
			grants++
		}
	})
	if grants == 0 {
		t.Error("nothing was refused")
	}
}

// A job that closes the doors which hold most is told of before it is charged, and one like
// most is not.
func TestDearerJobs(t *testing.T) {
	warned := func(e dp.Event) *figures.Dearer {
		t.Helper()
		l := newLedger(t, "4", "1e-6")
		q := ledgertest.Spend("d", 0)
		q.Event = e
		v, err := figures.Foretell(ctx, l, q)
		if err != nil {
			t.Fatal(err)
		}
		f, err := figures.WhatIf(ctx, l, "d", "", e)
		if err != nil || (f.Dearer == nil) != (v.Dearer == nil) {
			t.Errorf("%v: what-if says %+v, foretold %+v (%v)", e, f.Dearer, v.Dearer, err)
		}
		return v.Dearer
	}
	for _, e := range []dp.Event{gaussian(t, 0.5, 1e-6), gaussian(t, 3.9, 1e-6), dpsgd, dp.ZCDP{Rho: 0.01}, dp.Pure{Epsilon: 0.01},
		dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.8}, Event: gaussian(t, 1, 1e-6)}} {
		if d := warned(e); d != nil {
			t.Errorf("%v: %v", e, d)
		}
	}
	d := warned(dp.Approximate{Epsilon: 0.5, Delta: 5e-7})
	if d == nil || d.After != 0 || d.Usual < 20 || !strings.HasPrefix(d.String(), "this job makes later jobs more expensive: after it the budget admits no more job of epsilon 0.4, after most other jobs of the same epsilon about ") {
		t.Errorf("a job that uses up delta: %v", d)
	}
	l := newLedger(t, "4", "0")
	q := ledgertest.Spend("d", 1)
	if v, err := figures.Foretell(ctx, l, q); err != nil || v.Dearer != nil {
		t.Errorf("pure epsilons add up: %+v, %v", v.Dearer, err)
	}
}
