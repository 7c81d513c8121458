package ledgertest

import (
	"fmt"

	"pawl/core/dp"
	"pawl/core/ledger"
)

// Sum is an accountant whose answers can be checked in the head: it knows only
// Pure events, adds their epsilons and ignores delta and scopes. Its filter
// charges 1+Slack times the sum, as real filters charge more than the smallest
// bound of one plan.
type Sum struct{ Slack float64 }

// Epsilon implements ledger.Accountant.
func (a Sum) Epsilon(e dp.Event, _ dp.Relation, _ float64) (float64, string, error) {
	x, err := sum(e)
	return x, "sum", err
}

// Account implements ledger.Accountant.
func (a Sum) Account(limit ledger.Cap, _ dp.Relation) (ledger.Account, error) {
	return &sumAccount{limit: limit.Epsilon, factor: 1 + a.Slack}, nil
}

type sumAccount struct{ limit, factor, spent float64 }

func (a *sumAccount) Admit(next ledger.Assigned) (bool, float64, float64, error) {
	x, err := sum(next.Event)
	if err != nil {
		return false, 0, 0, err
	}
	need := x * a.factor
	return a.spent+need <= a.limit*(1+ledger.Resolution), need, a.limit - a.spent, nil
}

func (a *sumAccount) Add(e ledger.Assigned) error {
	x, err := sum(e.Event)
	a.spent += x * a.factor
	return err
}

func (a *sumAccount) Spent() (float64, error) { return a.spent, nil }

func sum(e dp.Event) (float64, error) {
	switch e := e.(type) {
	case dp.NoOp:
		return 0, nil
	case dp.Pure:
		return e.Epsilon, nil
	case dp.Scoped:
		return sum(e.Event)
	case dp.Compose:
		total := 0.0
		for _, c := range e.Events {
			x, err := sum(c)
			if err != nil {
				return 0, err
			}
			total += x
		}
		return total, nil
	}
	return 0, fmt.Errorf("%s is not known here", dp.KindOf(e))
}
