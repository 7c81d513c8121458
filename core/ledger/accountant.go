package ledger

import "pawl/core/dp"

// Accountant prices events. The ledger decides by its results and computes no epsilon itself.
// Implementations fail closed: an unknown event costs +Inf or gives an error, never 0.
type Accountant interface {
	// Epsilon returns the smallest valid bound of an event that was fixed before
	// data was read, and the name of the method that gave it.
	Epsilon(e dp.Event, relation dp.Relation, delta float64) (epsilon float64, method string, err error)
	// Account opens an empty account under a cap, for events of which each was
	// chosen after the outputs of the earlier ones were seen.
	Account(limit Cap, relation dp.Relation) (Account, error)
}

// Cap is the budget of an Account.
type Cap struct {
	Epsilon, Delta float64
	// Doors selects the filter with doors (accountant.Doors), which depends on First, the first
	// charged event; false selects one Rényi order, as in earlier versions.
	Doors bool
	First dp.Event
}

// Account is a privacy filter and its odometer. It is used by one goroutine at a
// time.
//
// Every event belongs to an assignment of units to scopes (Assigned). Within one assignment the
// most expensive scope counts; across assignments costs add up, since a unit may lie in the most
// expensive scope of each.
type Account interface {
	// Admit reports whether next fits beside what was added. need is what it would add to Spent and
	// left what remains under the cap, both at the cap's delta.
	Admit(next Assigned) (ok bool, need, left float64, err error)
	// Add charges an event, whether or not it fits.
	Add(e Assigned) error
	// Spent returns the epsilon of all that was added, at the cap's delta.
	Spent() (float64, error)
}

// Assigned is an event with the name of the assignment to which its scopes belong.
type Assigned struct {
	Assignment string
	Event      dp.Event
}

// AccountOf returns an account under a cap to which the events were added.
func AccountOf(a Accountant, limit Cap, relation dp.Relation, events []Assigned) (Account, error) {
	account, err := a.Account(limit, relation)
	for i := 0; err == nil && i < len(events); i++ {
		err = account.Add(events[i])
	}
	return account, err
}
