package ledger

import (
	"errors"
	"math"
	"strconv"
)

// largestTotal bounds the totals that suffices tries.
const largestTotal = 1e6

// suffices is a total with which an event would be admitted beside what is charged: what
// it costs alone where nothing is, else the least that it finds, of three digits, and +Inf
// where none up to largestTotal would do. It asks the filter that a grant of the total would
// have, so that the grant admits the event; 0 is an account that cannot be read.
func (l *Ledger) suffices(s *state, p *purse, e Assigned, need float64) Number {
	if p.live(s) == 0 {
		return number(roundUp(need, nil))
	}
	charged := p.charged(s, "")
	admits := func(total float64) bool {
		limit := p.cap(s)
		limit.Epsilon = total
		account, err := l.accountant.Account(limit, s.relation)
		for i := 0; err == nil && i < len(charged); i++ {
			err = account.Add(charged[i])
		}
		if err != nil {
			return false
		}
		ok, _, _, err := account.Admit(e)
		return err == nil && ok
	}
	// A larger total admits whatever a smaller one does.
	low := p.epsilon.Float64()
	high := low
	if guess := l.spentWith(s, p, charged, e); guess > low && guess <= largestTotal {
		high = threeDigits(guess)
		if admits(high) {
			return Number(high)
		}
		low = high
	}
	for high = threeDigits(2 * high); !admits(high); high = threeDigits(2 * high) {
		if low = high; high > largestTotal {
			return Number(math.Inf(1))
		}
	}
	for high/low > 1.004 {
		middle := threeDigits(math.Sqrt(low * high))
		if middle >= high {
			break
		}
		if admits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return Number(high)
}

// spentWith is what the filter counts for the charged events and one more, where that may
// be a total that suffices; 0 where it cannot be read.
func (l *Ledger) spentWith(s *state, p *purse, charged []Assigned, e Assigned) float64 {
	account, err := l.accountant.Account(p.cap(s), s.relation)
	for i := 0; err == nil && i < len(charged); i++ {
		err = account.Add(charged[i])
	}
	if err == nil {
		err = account.Add(e)
	}
	if err != nil {
		return 0
	}
	x, err := account.Spent()
	if err != nil {
		return 0
	}
	return x
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

// threeDigits is the least decimal of three digits that is at least x, and x where it has
// no more.
func threeDigits(x float64) float64 {
	near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil || math.IsInf(x, 0) || !(x > 0) || near >= x {
		return near
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	up, err := strconv.ParseFloat(strconv.FormatFloat(near+unit, 'g', 3, 64), 64)
	if err != nil || up < x {
		return x
	}
	return up
}
