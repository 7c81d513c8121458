package ledger_test

import (
	"errors"
	"testing"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/data/schema"
)

// Once rows were opened under a permit, or under one that was made from it for a
// run of a selection, nothing takes the charge back.
func TestOpenedRowsStayCharged(t *testing.T) {
	rows := sealed.New("d", &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}}, nil, nil)
	sel := dp.Select{Runs: dp.PoissonRuns{Mean: 2}, Event: dp.Pure{Epsilon: 0.25}}
	l, _ := newLedger(t, selects{})
	for _, c := range []struct {
		name  string
		event dp.Event
		open  func(p *ledger.Permit) *ledger.Permit // returns the permit to cancel
	}{
		{"opened", dp.Pure{Epsilon: 0.25}, func(p *ledger.Permit) *ledger.Permit {
			if _, err := sealed.Open(rows, p, dp.WholeScope, dp.Pure{Epsilon: 0.25}); err != nil {
				t.Fatal(err)
			}
			return p
		}},
		{"a run of a selection, never opened", sel, func(p *ledger.Permit) *ledger.Permit {
			_, next, err := sealed.Runs(p, sel)
			must(t, err)
			run, err := next(0)
			must(t, err)
			return run
		}},
		{"the permit of a selection that runs", sel, func(p *ledger.Permit) *ledger.Permit {
			_, _, err := sealed.Runs(p, sel)
			must(t, err)
			return p
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ledgertest.Spend("d", 0)
			q.Event = c.event
			p, receipt, err := l.Reserve(ctx, q)
			must(t, err)
			if err := l.Cancel(ctx, c.open(p)); err == nil {
				t.Error("the charge was taken back")
			} else if p.Opened() && !errors.Is(err, ledger.ErrOpened) && !errors.Is(err, ledger.ErrInvalid) {
				t.Error(err)
			}
			if _, err := sealed.Open(rows, p, dp.WholeScope, c.event); err == nil {
				t.Error("rows open under a permit that was used up or closed")
			}
			st, err := figures.Show(ctx, l, "d")
			must(t, err)
			for _, e := range st.Entries {
				if e.ID == receipt.ID && e.State != ledger.Reserved {
					t.Errorf("the entry is %s", e.State)
				}
			}
			must(t, l.Commit(ctx, p)) // a failed cancel does not block what follows
		})
	}
}

func TestCancelledPermitOpensNothing(t *testing.T) {
	rows := sealed.New("d", &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1}}, nil, nil)
	l, _ := newLedger(t, ledgertest.Sum{})
	for name, settle := range map[string]func(*ledger.Permit) error{
		"cancel": func(p *ledger.Permit) error { return l.Cancel(ctx, p) },
		"commit": func(p *ledger.Permit) error { return l.Commit(ctx, p) },
	} {
		p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.25))
		must(t, err)
		must(t, settle(p))
		if _, err := sealed.Open(rows, p, dp.WholeScope, dp.Pure{Epsilon: 0.25}); err == nil {
			t.Errorf("rows open after %s", name)
		}
	}
}

// selects prices a selection as one run: this is no accountant to use.
type selects struct{ ledgertest.Sum }

func (s selects) Epsilon(e dp.Event, r dp.Relation, d float64) (float64, string, error) {
	return s.Sum.Epsilon(unselected(e), r, d)
}

func (s selects) Account(limit ledger.Cap, r dp.Relation) (ledger.Account, error) {
	a, err := s.Sum.Account(limit, r)
	return selectsAccount{a}, err
}

type selectsAccount struct{ ledger.Account }

func (a selectsAccount) Admit(e ledger.Assigned) (bool, float64, float64, error) {
	return a.Account.Admit(ledger.Assigned{Event: unselected(e.Event)})
}
func (a selectsAccount) Add(e ledger.Assigned) error {
	return a.Account.Add(ledger.Assigned{Event: unselected(e.Event)})
}

func unselected(e dp.Event) dp.Event {
	switch e := e.(type) {
	case dp.Select:
		return dp.Compose{Events: []dp.Event{e.Event}}
	case dp.Compose:
		var all []dp.Event
		for _, c := range e.Events {
			all = append(all, unselected(c))
		}
		return dp.Compose{Events: all}
	}
	return e
}
