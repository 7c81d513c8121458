package ledger

import (
	"errors"
	"math"

	"pawl/core/ledger/outlook"
)

// suffices is a total with which an event would be admitted beside what is charged: what
// it costs alone where nothing is, else the least that it finds, of three digits, and +Inf
// where none up to largestTotal would do. It asks the filter that a grant of the total would
// have, so that the grant admits the event; 0 is an account that cannot be read.
func (l *Ledger) suffices(s *state, p *purse, e Assigned, need float64) Number {
	if p.empty(s) {
		return NumberOf(RoundUp(need, nil))
	}
	charged := p.charged(s, "")
	admits := func(total float64) bool {
		limit := p.cap(s)
		limit.Epsilon = total
		account, err := AccountOf(l.accountant, limit, s.Relation, charged)
		if err != nil {
			return false
		}
		ok, _, _, err := account.Admit(e)
		return err == nil && ok
	}
	// What the filter counts for all of them may be a total that suffices.
	guess := 0.0
	if account, err := AccountOf(l.accountant, p.cap(s), s.Relation, append(charged, e)); err == nil {
		if x, err := account.Spent(); err == nil {
			guess = x
		}
	}
	return Number(outlook.Total(p.epsilon.Float64(), guess, admits))
}

// ofAll is the total of the budget that a share of the given size and the event need beside
// what is charged, 0 where the budget is large enough.
func (l *Ledger) ofAll(s *state, share Number, e Assigned) Number {
	b := &s.budget.purse
	total := Number(0)
	if float64(share) > b.epsilon.Float64() {
		total = share // a share lies within the budget
	}
	_, _, err := l.admitTo(s, b, e)
	if refused := (*ExhaustedError)(nil); errors.As(err, &refused) {
		if refused.Suffices == 0 {
			return Number(math.Inf(1)) // not known: no figure is named
		}
		total = max(total, refused.Suffices)
	}
	return total
}
