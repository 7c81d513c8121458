package ledger

import (
	"context"
	"fmt"

	"pawl/core/dp"
)

// Booking is a request to charge a run made outside pawl. Its event holds for the unit and the
// relation of the data set's budget.
type Booking struct {
	Dataset string
	Event   dp.Event
	By      string // who ran it; "": the user of the ledger
	Reason  string
	// AfterTheFact charges a run that has already happened, whether or not it fits: an account without
	// what is known to be spent would be false. If it does not fit, later requests are refused.
	AfterTheFact bool
}

// Foreign marks an entry of a run made outside pawl.
type Foreign struct {
	BookedBy     string `json:"booked_by"`
	Reason       string `json:"reason"`
	AfterTheFact bool   `json:"after_the_fact"`
}

// Book charges and commits a run made outside pawl, and returns the id of its entry. A run that has
// not happened yet has to pass the same decision as a reservation. An event that the accountant
// cannot price gives an error that wraps ErrUnaccountable.
func (l *Ledger) Book(ctx context.Context, b Booking) (id string, err error) {
	if b.By == "" {
		b.By = l.user
	}
	if err := checkUser(b.By); err != nil {
		return "", err
	}
	event, err := dp.EncodeEvent(b.Event)
	if err != nil {
		return "", invalid("%v", err)
	}
	id = newID()
	err = l.act(ctx, b.Dataset, "charging a run made outside pawl", b.Reason, func(t *txn, s *state) error {
		if err := l.accountable(s, b.Event); err != nil {
			return err
		}
		if !b.AfterTheFact {
			if s.frozen != nil {
				return s.refuseFrozen()
			}
			if _, _, err := l.admit(s, b.By, Assigned{"entry " + id, b.Event}); err != nil {
				return err
			}
		}
		return t.append(s, KindBook, bookBody{ID: id, By: b.By, Event: event, Reason: b.Reason, AfterTheFact: b.AfterTheFact})
	})
	return id, err
}

// accountable refuses an event that would make the account of the data set
// unreadable from here on. An infinite cost is readable.
func (l *Ledger) accountable(s *state, e dp.Event) error {
	limit := Cap{Epsilon: 1, Delta: 1e-6} // of a data set without a budget
	if s.budget != nil {
		limit = s.budget.cap(s)
	}
	if _, err := AccountOf(l.accountant, limit, s.Relation, []Assigned{{Event: e}}); err != nil {
		return fmt.Errorf("%w: %v", ErrUnaccountable, err)
	}
	return nil
}

func (s *state) book(r *Record, b bookBody) error {
	return s.charge(r, &entry{digest: s.digest, Entry: Entry{State: Committed, At: r.Time, By: b.By,
		Reservation: Reservation{ID: b.ID, Plan: "foreign", Event: b.Event, Stages: []string{"foreign run"}},
		Foreign:     &Foreign{BookedBy: r.User, Reason: b.Reason, AfterTheFact: b.AfterTheFact}}})
}
