package figures

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/ledger"
)

// Forecast is the answer to a what-if.
type Forecast struct {
	Name     string `json:"name"`
	User     string `json:"user"`
	Admitted bool   `json:"admitted"`
	Refusal  string `json:"refusal"` // why not; "" when admitted
	// Need is what the event adds to the amount spent, and Left what remains under the limit that
	// decided, both as the decision counts them.
	Need ledger.Number `json:"need"`
	Left ledger.Number `json:"left"`
	// After is the state of the budget once the event is charged, whether or not it would be admitted.
	After Standing `json:"after"`
	// Dearer is nil unless the event is admitted and makes later jobs more expensive.
	Dearer *Dearer `json:"makes_later_jobs_dearer,omitempty"`
	// SeededRuns mark the data set: no figure here bounds what their outputs reveal.
	SeededRuns []ledger.SeededRun `json:"seeded_runs"`
}

// WhatIf returns how a reservation of an event by a user would be decided now, and charges nothing.
// An empty user means the ledger's user.
func WhatIf(ctx context.Context, l Books, dataset, user string, e dp.Event) (Forecast, error) {
	return WhatIfEach(ctx, l, dataset, user, "", []dp.Event{e})
}

// WhatIfEach is WhatIf for events that are reserved one after another, so the cost of one plan of
// all of them does not decide. Admitted reports that all are admitted; Need is what they add
// together.
//
// assignment is that of the rows that the events concern, so that their scopes are those of earlier
// events on the same rows; "" if unknown, which costs more.
func WhatIfEach(ctx context.Context, l Books, dataset, user, assignment string, events []dp.Event) (Forecast, error) {
	if user == "" {
		user = l.User()
	}
	f := Forecast{Name: dataset, User: user}
	encoded := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if encoded[i], err = dp.EncodeEvent(e); err != nil {
			return f, fmt.Errorf("%w: %v", ledger.ErrInvalid, err)
		}
	}
	v, err := l.View(ctx, dataset)
	if err != nil {
		return f, err
	}
	f.SeededRuns = v.SeededRuns
	var before Standing
	if v.Granted != nil {
		if before, err = standing(v, v.Budget()); err != nil {
			return f, err
		}
	}
	total := 0.0
	for i, e := range events {
		if f.Refusal == "" {
			need, left, err := v.Admit(user, assignment, e)
			if err != nil {
				if !errors.Is(err, ledger.ErrRefused) {
					return f, err
				}
				f.Refusal = err.Error()
			}
			if total += need; i == 0 {
				f.Left = ledger.NumberOf(ledger.RoundDown(left))
			}
		}
		if err := v.Add(user, assignment, e); err != nil {
			return f, err
		}
	}
	f.Admitted = f.Refusal == ""
	if v.Granted == nil {
		prices := pricerOf(v)
		for i, e := range events {
			f.Need += prices.one(e, encoded[i]).epsilon
		}
		f.Left = ledger.Number(math.Inf(1))
		f.After = prices.unlimited(prices.atOnce(v.Charged("")))
		return f, nil
	}
	f.Need = ledger.NumberOf(ledger.RoundUp(total, nil))
	f.After, err = standing(v, v.Budget())
	if len(events) > 1 {
		// What is asked of the filter for each does not add up to what it counts.
		f.Need = f.After.Spent.Epsilon + f.After.Reserved.Epsilon - before.Spent.Epsilon - before.Reserved.Epsilon
	}
	if err == nil && f.Admitted && len(events) == 1 {
		f.Dearer = dearer(v)
	}
	return f, err
}

// Verdict is how a reservation would be decided now.
type Verdict struct {
	// Receipt is that of Reserve without ID and Head, since there is no entry.
	ledger.Receipt
	// After is the state of the data set's budget with the event charged.
	After Standing
	// Dearer is nil unless the event makes later jobs dearer.
	Dearer *Dearer
}

// Foretell returns the ledger's Foretell and the resulting state of the data set's budget.
func Foretell(ctx context.Context, l Books, q ledger.Request) (v Verdict, err error) {
	receipt, after, err := l.Foretell(ctx, q)
	if err != nil {
		return v, err
	}
	v.Receipt = receipt
	if after.Granted == nil {
		prices := pricerOf(after)
		v.After = prices.unlimited(prices.atOnce(after.Charged("")))
		return v, nil
	}
	if v.After, err = standing(after, after.Budget()); err == nil && !v.Replayed {
		v.Dearer = dearer(after)
	}
	return v, err
}
