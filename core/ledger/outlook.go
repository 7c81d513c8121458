package ledger

import (
	"context"

	"pawl/core/dp"
)

// Outlook is what a budget still holds, in plain units.
type Outlook struct {
	// Used is the share of the total that is spent or reserved.
	Used Number `json:"used"`
	// More is how many jobs like the last one that is charged would still be admitted, one
	// after another: about, as they are counted as repeats of one. At most MostMore.
	More int `json:"more_like_the_last"`
	// Refused says that the next one like it would be refused.
	Refused bool `json:"next_refused"`
}

// MostMore bounds Outlook.More.
const MostMore = 1000

// Outlook says how much room a data set's budget leaves; nil where there is no limit or
// nothing is charged. It books nothing.
func (l *Ledger) Outlook(ctx context.Context, dataset string) (*Outlook, error) {
	var s *state
	if err := l.view(ctx, dataset, func(now *state) error { s = now.snapshot(); return nil }); err != nil {
		return nil, err
	}
	var last *entry
	for _, e := range s.entries {
		if e.state != Cancelled {
			last = e
		}
	}
	if !s.limited() || last == nil {
		return nil, nil
	}
	p := &s.budget.purse
	standing, err := l.standing(s, p)
	if err != nil {
		return nil, err
	}
	account, err := p.filter(s, l.accountant)
	if err != nil {
		return nil, err
	}
	out := &Outlook{Used: (standing.Spent.Epsilon + standing.Reserved.Epsilon) / standing.Total.Epsilon}
	like := s.assigned(last)
	fits := func(n int) bool {
		ok, _, _, err := account.Admit(Assigned{like.Assignment, dp.Repeat{Count: int64(n), Event: last.event}})
		return err == nil && ok
	}
	if out.Refused = !fits(1); out.Refused {
		return out, nil
	}
	low, high := 1, 2
	for high < MostMore && fits(high) {
		low, high = high, 2*high
	}
	for high = min(high, MostMore+1); high-low > 1; {
		if mid := (low + high) / 2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	out.More = low
	return out, nil
}
