package ledger

import (
	"context"
	"errors"
	"math"

	"pawl/core/dp"
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
}

// WhatIf says how a reservation of an event by a user would be decided now, and
// books nothing. The empty user is the ledger's.
func (l *Ledger) WhatIf(ctx context.Context, dataset, user string, e dp.Event) (Forecast, error) {
	if user == "" {
		user = l.user
	}
	f := Forecast{Name: dataset, User: user}
	event, err := dp.EncodeEvent(e)
	if err != nil {
		return f, invalid("%v", err)
	}
	var after *state
	err = l.view(ctx, dataset, func(s *state) error {
		if err := l.accountable(s, e); err != nil {
			return err
		}
		after = s.snapshot()
		if s.frozen != nil {
			f.Refusal = s.refuseFrozen().Error()
			return nil
		}
		need, left, err := l.admit(s, user, e)
		if err != nil {
			if !errors.Is(err, ErrRefused) {
				return err
			}
			f.Refusal = err.Error()
		}
		f.Admitted = err == nil
		f.Need, f.Left = number(roundUp(need, nil)), number(roundDown(left))
		return nil
	})
	if err != nil {
		return f, err
	}
	after.entries = append(after.entries, &entry{reserveBody: reserveBody{Event: event}, event: e, state: Reserved, by: user})
	after.live++
	after.liveOf[user]++
	if after.limited() {
		f.After, err = l.standing(after, &after.budget.purse)
		return f, err
	}
	prices := l.pricer(after, after.shownDelta())
	f.Need = prices.one(e, event).epsilon
	f.Left = Number(math.Inf(1))
	f.After = prices.unlimited(prices.atOnce((&purse{}).charged(after, "")))
	return f, nil
}

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
