package ledger

import (
	"context"
	"errors"
)

// Verdict is how a reservation would be booked now.
type Verdict struct {
	// Receipt is that of Reserve, but for ID and Head: there is no entry.
	Receipt
	// After is where the data set would stand with the event charged.
	After Standing
	// Dearer is nil unless the event makes later jobs dearer.
	Dearer *Dearer
}

// errForetold takes a foretold booking back.
var errForetold = errors.New("foretold: nothing is booked")

// Foretell decides on a request as Reserve would now, by the same code in the same kind of
// transaction, and takes all of it back: nothing is booked, and no permit is given. Its
// errors are those of Reserve, refusals included. The answers can differ only because
// somebody else books between the two.
func (l *Ledger) Foretell(ctx context.Context, q Request) (Verdict, error) {
	var v Verdict
	var after *state
	_, _, err := l.reserve(ctx, q, func(r Receipt, s *state) error {
		v.Receipt, after = r, s.snapshot()
		return errForetold
	})
	if !errors.Is(err, errForetold) {
		return Verdict{}, err
	}
	v.ID, v.Head = "", Hash{}
	if after.limited() {
		if v.After, err = l.standing(after, &after.budget.purse); err == nil && !v.Replayed {
			v.Dearer = l.dearer(after)
		}
		return v, err
	}
	prices := l.pricer(after, after.shownDelta())
	v.After = prices.unlimited(prices.atOnce((&purse{}).charged(after, "")))
	return v, nil
}

// User names who books by this Ledger, as the operating system does.
func (l *Ledger) User() string { return l.user }
