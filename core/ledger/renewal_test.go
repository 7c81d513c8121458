package ledger_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

// clock is one that a test sets.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func (c *clock) at(t interface{ Fatal(...any) }, day string) {
	at, err := time.Parse(time.DateTime, day)
	if err != nil {
		t.Fatal(err)
	}
	c.Time = at
}

func renewing(t *testing.T, store ledger.Store, user string, per ledger.Period, c *clock) *ledger.Ledger {
	t.Helper()
	l := ledger.New(store, ledgertest.Sum{}, ledger.Options{User: user, Clock: c.now})
	if per != ledger.Once {
		must(t, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne, Per: per}))
	}
	return l
}

func reserved(l *ledger.Ledger, x float64) (*ledger.Permit, error) {
	p, _, err := l.Reserve(ctx, ledgertest.Spend("d", x))
	return p, err
}

// Each month has a budget of its own, and over all of them what was done adds up.
func TestBudgetRenews(t *testing.T) {
	c := &clock{}
	store := memory.New()
	c.at(t, "2027-01-31 23:59:59")
	l := renewing(t, store, "ann", ledger.Month, c)
	late, err := reserved(l, 0.75)
	must(t, err)
	var refused *ledger.ExhaustedError
	if _, err := reserved(l, 0.75); !errors.As(err, &refused) || refused.Renews != "2027-02-01" || !strings.Contains(refused.Hint(), "wait until 2027-02-01") {
		t.Fatalf("beside it: %v", err)
	}
	if _, err := reserved(l, 1.5); !errors.As(err, &refused) || refused.Renews != "" {
		t.Errorf("no month holds it: %v", err)
	}
	c.at(t, "2027-02-01 00:00:00")
	// What was reserved in January and is committed in February is January's.
	must(t, l.Commit(ctx, late))
	if _, err := figures.Foretell(ctx, l, ledgertest.Spend("d", 1)); err != nil {
		t.Errorf("all of February: %v", err)
	}
	f, err := figures.WhatIf(ctx, l, "d", "", dp.Pure{Epsilon: 1})
	if err != nil || !f.Admitted || f.After.Reserved.Epsilon != 1 || f.After.Spent.Epsilon != 0 {
		t.Errorf("what if: %+v, %v", f, err)
	}
	_, err = reserved(l, 0.5)
	must(t, err)
	s, err := figures.Show(ctx, l, "d")
	must(t, err)
	r := s.Renewal
	if r == nil || r.Period != "2027-02" || r.Began != "2027-02-01T00:00:00Z" || r.Renews != "2027-03-01T00:00:00Z" || r.Periods != 2 ||
		r.ByAddition != (figures.Spend{Epsilon: 2, Delta: 2e-6}) || r.Overall != (figures.Spend{Epsilon: 1.25, Delta: 1e-6}) {
		t.Errorf("renewal %+v", r)
	}
	if s.Spent.Epsilon != 0 || s.Reserved.Epsilon != 0.5 || s.Left.Epsilon != 0.5 || s.AtOnce.Epsilon != 0.5 || s.Entries[0].Period != "2027-01" || s.Entries[1].Period != "2027-02" {
		t.Errorf("statement %+v", s)
	}
	// A log that is read anew says the same.
	again, err := figures.Show(ctx, renewing(t, store, "ann", ledger.Once, c), "d")
	if err != nil || *again.Renewal != *r || again.Left != s.Left {
		t.Errorf("read again: %+v, %v", again, err)
	}
}

// A clock that is put back finds the period that was begun, with what is charged to it.
func TestClockGivesNothingBack(t *testing.T) {
	c := &clock{}
	store := memory.New()
	c.at(t, "2027-01-10 12:00:00")
	l := renewing(t, store, "ann", ledger.Month, c)
	_, err := reserved(l, 0.75)
	must(t, err)
	c.at(t, "2027-02-10 12:00:00")
	_, err = reserved(l, 1)
	must(t, err)
	for _, back := range []string{"2027-01-10 12:00:00", "2026-12-31 12:00:00", "1970-01-01 00:00:00"} {
		c.at(t, back)
		for _, l := range []*ledger.Ledger{l, renewing(t, store, "ann", ledger.Once, c)} {
			if _, err := reserved(l, 0.25); !errors.Is(err, ledger.ErrExhausted) {
				t.Errorf("at %s: %v", back, err)
			}
			if s, err := figures.Show(ctx, l, "d"); err != nil || s.Renewal.Period != "2027-02" || s.Left.Epsilon != 0 {
				t.Errorf("at %s: %+v, %v", back, s.Renewal, err)
			}
		}
	}
	// Nor does what is cancelled go to another period than its own.
	c.at(t, "2027-03-10 12:00:00")
	march, err := reserved(l, 0.75)
	must(t, err)
	c.at(t, "2027-04-10 12:00:00")
	_, err = reserved(l, 0.75)
	must(t, err)
	must(t, l.Cancel(ctx, march))
	if s, err := figures.Show(ctx, l, "d"); err != nil || s.Left.Epsilon != 0.25 || s.Renewal.Periods != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Whatever the clocks of the machines say, no period holds more than its budget, and all of
// them not more than one budget for each period that was begun.
func TestPeriodsHoldAgainstClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, store := &clock{time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, memory.New()
		per := rapid.SampledFrom([]ledger.Period{ledger.Week, ledger.Month, ledger.Quarter, ledger.Year}).Draw(t, "per")
		l := ledger.New(store, ledgertest.Sum{}, ledger.Options{User: "ann", Clock: c.now})
		if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne, Per: per}); err != nil {
			t.Fatal(err)
		}
		sums, open := map[string]float64{}, map[string]*ledger.Permit{}
		latest := ""
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			c.Time = c.Add(time.Duration(rapid.IntRange(-40, 60).Draw(t, "days")) * 24 * time.Hour)
			if rapid.Bool().Draw(t, "another process") {
				l = ledger.New(store, ledgertest.Sum{}, ledger.Options{User: "ann", Clock: c.now})
				open = map[string]*ledger.Permit{}
			}
			if rapid.IntRange(0, 3).Draw(t, "cancel") == 0 && len(open) > 0 {
				for id, p := range open {
					if err := l.Cancel(ctx, p); err != nil {
						t.Fatal(err)
					}
					delete(open, id)
					break
				}
			} else if p, _, err := l.Reserve(ctx, ledgertest.Spend("d", float64(rapid.IntRange(1, 8).Draw(t, "eighths"))/8)); err == nil {
				open[p.ID()] = p
			} else if !errors.Is(err, ledger.ErrExhausted) {
				t.Fatal(err)
			}
			s, err := figures.Show(ctx, l, "d")
			if err != nil && !errors.Is(err, ledger.ErrUnknownDataset) {
				t.Fatal(err)
			}
			clear(sums)
			total := 0.0
			for _, e := range s.Entries {
				if e.State != ledger.Cancelled {
					sums[e.Period] += float64(e.Epsilon)
					total += float64(e.Epsilon)
				}
				if e.Period < latest && e.ID == s.Entries[len(s.Entries)-1].ID {
					t.Fatalf("the last entry is of %s, after one of %s", e.Period, latest)
				}
				latest = max(latest, e.Period)
			}
			for period, sum := range sums {
				if sum > 1 {
					t.Fatalf("%s holds %v", period, sum)
				}
			}
			if now := sums[s.Renewal.Period]; float64(s.Spent.Epsilon+s.Reserved.Epsilon) != now || s.Renewal.Periods != len(sums) ||
				float64(s.Renewal.Overall.Epsilon) != total || float64(s.Renewal.ByAddition.Epsilon) != float64(len(sums)) {
				t.Fatalf("%+v %+v, of %v", s.Renewal, s.Standing, sums)
			}
		}
	})
}

func TestPeriodsOfTheCalendar(t *testing.T) {
	for _, x := range []struct {
		per                         ledger.Period
		now, period, began, renewed string
	}{
		{ledger.Week, "2027-01-03 23:59:59", "2026-W53", "2026-12-28", "2027-01-04"},
		{ledger.Week, "2027-01-04 00:00:00", "2027-W01", "2027-01-04", "2027-01-11"},
		{ledger.Month, "2028-02-29 12:00:00", "2028-02", "2028-02-01", "2028-03-01"},
		{ledger.Month, "2027-12-31 23:59:59", "2027-12", "2027-12-01", "2028-01-01"},
		{ledger.Quarter, "2027-06-30 23:59:59", "2027-Q2", "2027-04-01", "2027-07-01"},
		{ledger.Quarter, "2027-12-01 00:00:00", "2027-Q4", "2027-10-01", "2028-01-01"},
		{ledger.Year, "2028-02-29 00:00:00", "2028", "2028-01-01", "2029-01-01"},
	} {
		c := &clock{}
		c.at(t, x.now)
		l := renewing(t, memory.New(), "ann", x.per, c)
		s, err := figures.Show(ctx, l, "d")
		must(t, err)
		if r := s.Renewal; r.Period != x.period || r.Began != x.began+"T00:00:00Z" || r.Renews != x.renewed+"T00:00:00Z" {
			t.Errorf("%s at %s: %+v", x.per, x.now, r)
		}
	}
}

// A steward turns a budget into one that renews, once, and shares renew with it.
func TestGrantOfARenewingBudget(t *testing.T) {
	c := &clock{}
	c.at(t, "2027-01-10 12:00:00")
	l := ledger.New(memory.New(), ledgertest.Sum{}, ledger.Options{User: "ann", Clock: c.now})
	must(t, l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
	_, err := reserved(l, 0.5)
	must(t, err)
	c.at(t, "2027-02-10 12:00:00")
	_, err = reserved(l, 0.5)
	must(t, err)
	if err := l.Renew(ctx, "d", "1", "", "why", "fortnight"); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("an unknown period: %v", err)
	}
	if err := l.Renew(ctx, "d", "0.5", "", "why", ledger.Month); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("less: %v", err)
	}
	must(t, l.Renew(ctx, "d", "1", "", "why", ledger.Month))
	if err := l.Renew(ctx, "d", "1", "", "why", ledger.Month); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("nothing new: %v", err)
	}
	if err := l.Renew(ctx, "d", "2", "", "why", ledger.Week); !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), "renews each month already") {
		t.Errorf("another period: %v", err)
	}
	// January's job stays in January; what February holds counts.
	if s, err := figures.Show(ctx, l, "d"); err != nil || s.Left.Epsilon != 0.5 || s.Renewal.Periods != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, l.GrantShare(ctx, ledger.Share{Dataset: "d", Analyst: "ann", Epsilon: "0.75", Reason: "why"}))
	if _, err := reserved(l, 0.5); !errors.Is(err, ledger.ErrExhausted) {
		t.Errorf("beyond the share: %v", err)
	}
	// A raise keeps the period.
	must(t, l.Grant(ctx, "d", "2", "", "why"))
	c.at(t, "2027-03-10 12:00:00")
	_, err = reserved(l, 0.75)
	must(t, err)
	if s, err := figures.Show(ctx, l, "d"); err != nil || s.Renewal.Per != ledger.Month || s.Analysts[0].Left.Epsilon != 0 || s.Left.Epsilon != 1.25 {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, l.Verify(ctx, "d"))
}

// A period of a later version fails closed.
func TestUnknownPeriodIsNewer(t *testing.T) {
	store := memory.New()
	c := &clock{}
	c.at(t, "2027-01-10 12:00:00")
	l := renewing(t, store, "ann", ledger.Month, c)
	records, err := l.Records(ctx, "d")
	must(t, err)
	r := records[0]
	r.Body = []byte(strings.Replace(string(r.Body), `"per":"month"`, `"per":"decade"`, 1))
	r.Hash = r.Sum()
	other := memory.New()
	must(t, other.Update(ctx, func(tx ledger.Tx) error { return tx.Append(r) }))
	if _, err := figures.Show(ctx, ledger.New(other, ledgertest.Sum{}, ledger.Options{}), "d"); !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("%v", err)
	}
}

// A charge whose time cannot be read fails closed: it would be of no period that anybody asks for.
func TestChargesNeedATime(t *testing.T) {
	c := &clock{}
	c.at(t, "2027-01-10 12:00:00")
	l := renewing(t, memory.New(), "ann", ledger.Month, c)
	_, err := reserved(l, 1)
	must(t, err)
	records, err := l.Records(ctx, "d")
	must(t, err)
	for _, text := range []string{"", "2027-01-10", "2027-01-32T12:00:00Z"} {
		other, prev := memory.New(), ledger.Hash{}
		must(t, other.Update(ctx, func(tx ledger.Tx) error {
			for i, r := range records {
				if r.Kind == ledger.KindReserve {
					r.Time = text
				}
				if i > 0 {
					r.Prev = prev
				}
				r.Hash = r.Sum()
				prev = r.Hash
				if err := tx.Append(r); err != nil {
					return err
				}
			}
			return nil
		}))
		if _, err := reserved(ledger.New(other, ledgertest.Sum{}, ledger.Options{User: "ann", Clock: c.now}), 1); !errors.Is(err, ledger.ErrBroken) {
			t.Errorf("time %q: %v", text, err)
		}
	}
}

// A budget of an earlier version never renews, and can be made to.
func TestEarlierBudgetsRenew(t *testing.T) {
	f, err := os.Open("testdata/granted.jsonl")
	must(t, err)
	defer f.Close()
	c := &clock{}
	c.at(t, "2027-01-10 12:00:00")
	l := ledger.New(memory.New(), ledgertest.Sum{}, ledger.Options{User: "bob", Clock: c.now})
	_, err = l.Import(ctx, f)
	must(t, err)
	s, err := figures.Show(ctx, l, "d")
	if err != nil || s.Renewal != nil {
		t.Fatalf("%+v, %v", s.Renewal, err)
	}
	must(t, l.Renew(ctx, "d", "2", "", "why", ledger.Year))
	if s, err := figures.Show(ctx, l, "d"); err != nil || s.Renewal.Period != "2027" || s.Total.Epsilon != 2 {
		t.Fatalf("%+v, %v", s.Renewal, err)
	}
}
