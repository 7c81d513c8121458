// Package pricing gives the ledger the accountants of core/accountant. It is separate so that the
// ledger can be read, and tested, without them.
package pricing

import (
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
)

// Accountant prices one plan by the smallest of all valid bounds, and adaptively chosen events by a
// filter: the filter with doors, one Rényi order for budgets of earlier versions, and the pure sum
// at delta = 0.
type Accountant struct{}

// Epsilon implements ledger.Accountant.
func (Accountant) Epsilon(e dp.Event, relation dp.Relation, delta float64) (float64, string, error) {
	r, err := accountant.Epsilon(e, relation, delta, accountant.MethodMin)
	return r.Epsilon, r.Method, err
}

// Account implements ledger.Accountant.
func (Accountant) Account(limit ledger.Cap, relation dp.Relation) (ledger.Account, error) {
	var filter interface {
		Start(dp.Relation) (*accountant.Spending, error)
	}
	var err error
	if limit.Doors && limit.Delta > 0 {
		filter, err = accountant.NewDoors(limit.Epsilon, limit.Delta, limit.First, relation)
	} else {
		filter, err = accountant.NewFilter(limit.Epsilon, limit.Delta)
	}
	if err != nil {
		return nil, err
	}
	spending, err := filter.Start(relation)
	return account{spending}, err
}

type account struct{ *accountant.Spending }

func (a account) Admit(next ledger.Assigned) (bool, float64, float64, error) {
	return a.Admits(next.Assignment, next.Event)
}
func (a account) Add(e ledger.Assigned) error { return a.Spending.Add(e.Assignment, e.Event) }
func (a account) Spent() (float64, error)     { return a.Epsilon(), nil }
