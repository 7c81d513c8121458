package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"pawl/core/dp"
)

// Period is how often a budget renews. Periods are those of the calendar, in UTC.
type Period string

// The periods. A week begins on Monday.
const (
	Once    Period = "" // the budget never renews
	Week    Period = "week"
	Month   Period = "month"
	Quarter Period = "quarter"
	Year    Period = "year"
)

// ParsePeriod reads week, month, quarter or year.
func ParsePeriod(s string) (Period, error) {
	switch p := Period(s); p {
	case Week, Month, Quarter, Year:
		return p, nil
	}
	return Once, invalid("%.70q is not a period: use week, month, quarter or year", s)
}

// begin is the first instant of the period in which t lies.
func (p Period) begin(t time.Time) time.Time {
	t = t.UTC()
	year, month, day := t.Date()
	switch p {
	case Week:
		day -= (int(t.Weekday()) + 6) % 7
	case Month:
		day = 1
	case Quarter:
		month, day = month-(month-1)%3, 1
	case Year:
		month, day = 1, 1
	default:
		return time.Time{} // one period, which holds all of time
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// next is the first instant of the period after the one in which t lies.
func (p Period) next(t time.Time) time.Time {
	switch began := p.begin(t); p {
	case Week:
		return began.AddDate(0, 0, 7)
	case Quarter:
		return began.AddDate(0, 3, 0)
	case Year:
		return began.AddDate(1, 0, 0)
	default:
		return began.AddDate(0, 1, 0)
	}
}

// name is that of the period in which t lies: 2026-W48, 2026-11, 2026-Q4 or 2026.
func (p Period) name(t time.Time) string {
	switch t = p.begin(t); p {
	case Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case Month:
		return t.Format("2006-01")
	case Quarter:
		return fmt.Sprintf("%d-Q%d", t.Year(), (int(t.Month())+2)/3)
	case Year:
		return t.Format("2006")
	}
	return ""
}

// Renewal is the period of a budget that the figures of a Statement belong to, and what
// holds over all of them.
type Renewal struct {
	Per    Period `json:"per"`
	Period string `json:"period"` // such as 2026-11
	Began  string `json:"began"`  // RFC 3339, UTC
	Renews string `json:"renews"` // when the next period begins
	// Periods is the number of those in which something is charged.
	Periods int `json:"periods_with_jobs"`
	// ByAddition bounds what a unit in the data of all periods has lost: the sum of what
	// each period may cost.
	ByAddition Spend `json:"over_all_periods_by_addition"`
	// Overall is what one filter counts for all that was done, at the budget's delta: a bound
	// had all of it been planned in advance. No total over the periods was fixed, so it is no
	// guarantee where jobs followed results; ByAddition is.
	Overall Spend `json:"over_all_periods"`
}

// The rule of a budget that renews. An entry belongs to the period in which it was booked,
// and a request is decided beside the entries of the period in which it is made. Neither
// period is earlier than that of the entry before: a clock that was put back finds the
// period that was begun, with what is charged to it. Conditional on what earlier periods
// released, the releases of one are (E, δ)-DP by its filter; over k periods that is
// (kE, kδ)-DP by composition. What the accountant counts for all of them is less, and holds
// for one plan only.

// per is the period of the budget in force.
func (s *state) per() Period {
	if s.budget == nil {
		return Once
	}
	return s.budget.per
}

// turnTo sets the time at which requests are decided. A clock that goes back stays at the
// last booking.
func (s *state) turnTo(now time.Time) {
	if s.now = now; s.now.Before(s.last) {
		s.now = s.last
	}
}

// bookedAt returns the time by which a record that is booked now belongs to its period: its
// own, or that of the booking before where it is later. A time that cannot be read is an error: the entry
// would belong to a period long gone, and cost nothing.
func (s *state) bookedAt(r *Record) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, r.Time)
	if err != nil {
		return at, broken(s.name, r.Seq, "its time cannot be read")
	}
	if at.After(s.last) {
		s.last = at
	}
	s.turnTo(s.now)
	return s.last, nil
}

// current reports whether an entry belongs to the period in which requests are decided.
func (s *state) current(e *entry) bool {
	per := s.per()
	return per == Once || per.begin(e.when).Equal(per.begin(s.now))
}

// over is the state as it is decided on at another time, for another way of renewing.
func (s *state) over(per Period, at time.Time, epsilon Amount) *state {
	c := *s
	c.now = at
	b := *s.budget
	b.per, b.purse = per, b.unopened()
	b.epsilon = epsilon
	c.budget = &b
	return &c
}

// renewal is nil unless the budget renews.
func (l *Ledger) renewal(s *state) (*Renewal, error) {
	per := s.per()
	if per == Once || !s.limited() {
		return nil, nil
	}
	stamp := func(t time.Time) string { return t.Format(time.RFC3339) }
	r := &Renewal{Per: per, Period: per.name(s.now), Began: stamp(per.begin(s.now)), Renews: stamp(per.next(s.now))}
	// The sum of the periods.
	sum, began := new(big.Rat), time.Time{}
	for _, e := range s.entries {
		if at := per.begin(e.when); e.state != Cancelled && (r.Periods == 0 || !at.Equal(began)) {
			r.Periods, began = r.Periods+1, at
			then := s.over(per, e.when, s.budget.epsilon)
			most := s.budget.epsilon.rat()
			if !then.allAdmitted(&then.budget.purse) {
				cost, err := l.cost(then, &then.budget.purse, "")
				if err != nil {
					return nil, err
				}
				if cost == nil || cost.Cmp(most) > 0 {
					most = cost
				}
			}
			if sum != nil && most != nil {
				sum = new(big.Rat).Add(sum, most)
			} else {
				sum = nil
			}
		}
	}
	delta := s.budget.delta.Float64()
	r.ByAddition = Spend{number(sum), Number(math.Min(1, delta*float64(r.Periods)))}
	// The same as one account without an end. Its filter is that of the sum, which is what
	// the periods promised.
	whole := s.budget.epsilon
	if sum != nil && sum.Sign() > 0 {
		var err error
		if whole, err = amountOf(sum); err != nil {
			return nil, err
		}
	}
	ever := s.over(Once, s.now, whole)
	cost, err := l.cost(ever, &ever.budget.purse, "")
	if err != nil {
		return nil, err
	}
	r.Overall = Spend{number(cost), Number(delta)}
	return r, nil
}

// amountOf is the decimal of a sum of decimals.
func amountOf(r *big.Rat) (Amount, error) {
	for digits := 0; digits <= maxAmountLength; digits++ {
		if text := r.FloatString(digits); len(text) <= maxAmountLength {
			if a, err := ParseAmount(text); err == nil && a.rat().Cmp(r) == 0 {
				return a, nil
			}
		}
	}
	f, _ := r.Float64()
	return ParseAmount(fmt.Sprint(Number(f)))
}

// waits says when a refused event would be admitted although nobody raises the budget, ""
// where it would not be.
func (l *Ledger) waits(s *state, p *purse, e dp.Event) string {
	per := s.per()
	if per == Once {
		return ""
	}
	alone, _, err := l.accountant.Epsilon(e, s.relation, p.delta.Float64())
	if err != nil || !p.epsilon.allows(alone) {
		return ""
	}
	return per.next(s.now).Format(time.DateOnly)
}

// renews decides what a grant makes of the period of a budget: "" keeps what it is.
func (b *budget) renews(per Period) (Period, error) {
	if b.per != Once && per != Once && per != b.per {
		return b.per, errors.New("it renews each " + string(b.per) + " already, and its period cannot change")
	}
	if per == Once {
		return b.per, nil
	}
	return per, nil
}
