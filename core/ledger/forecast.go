package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
)

// Forecast is the answer to a what-if.
type Forecast struct {
	Name     string `json:"name"`
	User     string `json:"user"`
	Admitted bool   `json:"admitted"`
	Refusal  string `json:"refusal"` // why not; "" when admitted
	// Need is what the event adds to what is spent and Left what the limit that was
	// asked last still holds, as the decision counts them.
	Need Number `json:"need"`
	Left Number `json:"left"`
	// After is where the budget stands once the event is charged, whether or not it
	// would be admitted.
	After Standing `json:"after"`
	// Dearer is nil unless the event is admitted and makes later jobs dearer.
	Dearer *Dearer `json:"makes_later_jobs_dearer,omitempty"`
	// SeededRuns mark the data set: no figure here bounds what they gave away.
	SeededRuns []SeededRun `json:"seeded_runs"`
}

// WhatIf returns how a reservation of an event by a user would be decided now, and
// books nothing. The empty user is the ledger's.
func (l *Ledger) WhatIf(ctx context.Context, dataset, user string, e dp.Event) (Forecast, error) {
	return l.WhatIfEach(ctx, dataset, user, nil, []dp.Event{e})
}

// WhatIfEach is WhatIf for events that are reserved one after another, each beside those
// before it: what one plan of all of them would cost does not decide then. Admitted says
// that all are, Need is what they add together.
//
// rows are those that the events are about, so that their scopes are those of earlier
// events on the same; nil where it is not known whether they are, which costs more.
func (l *Ledger) WhatIfEach(ctx context.Context, dataset, user string, rows *sealed.Rows, events []dp.Event) (Forecast, error) {
	if user == "" {
		user = l.user
	}
	f := Forecast{Name: dataset, User: user}
	booked, foreign := "", &Foreign{}
	if rows != nil {
		booked, foreign = rows.Assignment().String(), nil
	}
	encoded := make([][]byte, len(events))
	for i, e := range events {
		event, err := dp.EncodeEvent(e)
		if err != nil {
			return f, invalid("%v", err)
		}
		encoded[i] = event
	}
	var after *state
	var before Standing
	err := l.view(ctx, dataset, func(s *state) (err error) {
		after, f.SeededRuns = s.snapshot(), s.seededRuns()
		if after.limited() {
			if before, err = l.standing(after, &after.budget.purse); err != nil {
				return err
			}
		}
		if s.frozen != nil {
			f.Refusal = s.refuseFrozen().Error()
		}
		total := 0.0
		for i, e := range events {
			next := &entry{reserveBody: reserveBody{ID: fmt.Sprint("what-if ", i), Event: encoded[i], Assignment: booked}, foreign: foreign, event: e, state: Reserved, by: user, when: after.now}
			if err := l.accountable(s, e); err != nil {
				return err
			}
			if f.Refusal == "" {
				need, left, err := l.admit(after, user, after.assigned(next))
				if err != nil {
					if !errors.Is(err, ErrRefused) {
						return err
					}
					f.Refusal = err.Error()
				}
				if total += need; i == 0 {
					f.Left = number(roundDown(left))
				}
			}
			after.entries = append(after.entries, next)
			after.live++
			after.liveOf[user]++
		}
		if f.Admitted = f.Refusal == ""; s.frozen == nil {
			f.Need = number(roundUp(total, nil))
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	if after.limited() {
		f.After, err = l.standing(after, &after.budget.purse)
		if len(events) > 1 {
			// What is asked of the filter for each does not add up to what it counts.
			f.Need = f.After.Spent.Epsilon + f.After.Reserved.Epsilon - before.Spent.Epsilon - before.Reserved.Epsilon
		}
		if err == nil && f.Admitted && len(events) == 1 {
			f.Dearer = l.dearer(after)
		}
		return f, err
	}
	prices := l.pricer(after, after.shownDelta())
	f.Need = 0
	for i, e := range events {
		f.Need += prices.one(e, encoded[i]).epsilon
	}
	f.Left = Number(math.Inf(1))
	f.After = prices.unlimited(prices.atOnce((&purse{}).charged(after, "")))
	return f, nil
}

// FirstTotal is the epsilon that the first use of a sensitive data set grants to itself, "" where
// that is what the job costs.
func (l *Ledger) FirstTotal() string { return l.total }

// Limit returns the budget in force; limited is false where there is none.
func (l *Ledger) Limit(ctx context.Context, dataset string) (epsilon, delta Amount, limited bool, err error) {
	err = l.view(ctx, dataset, func(s *state) error {
		if limited = s.limited(); limited {
			epsilon, delta = s.budget.epsilon, s.budget.delta
		}
		return nil
	})
	return epsilon, delta, limited, err
}
