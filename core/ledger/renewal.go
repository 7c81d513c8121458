package ledger

import "time"

// Period is how often a budget renews. Periods are calendar periods in UTC.
type Period string

// The periods. A week begins on Monday.
const (
	Once    Period = "" // the budget never renews
	Week    Period = "week"
	Month   Period = "month"
	Quarter Period = "quarter"
	Year    Period = "year"
)

var periods = map[Period]struct{ months, days int }{Week: {0, 7}, Month: {1, 0}, Quarter: {3, 0}, Year: {12, 0}}

// ParsePeriod reads week, month, quarter or year.
func ParsePeriod(s string) (Period, error) {
	if _, known := periods[Period(s)]; known {
		return Period(s), nil
	}
	return Once, invalid("%.70q is not a period: use week, month, quarter or year", s)
}

// check refuses what is neither Once nor a period.
func (p Period) check() error {
	if p == Once {
		return nil
	}
	_, err := ParsePeriod(string(p))
	return err
}

// Begin returns the first instant of the period that contains t.
func (p Period) Begin(t time.Time) time.Time {
	length, renews := periods[p]
	if !renews {
		return time.Time{} // one period, which holds all of time
	}
	t = t.UTC()
	year, month, day := t.Date()
	if p == Week {
		day -= (int(t.Weekday()) + 6) % 7
	} else {
		month, day = month-(month-1)%time.Month(length.months), 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Next returns the first instant of the period after the one that contains t.
func (p Period) Next(t time.Time) time.Time {
	return p.Begin(t).AddDate(0, periods[p].months, periods[p].days)
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
	return per == Once || per.Begin(e.When).Equal(per.Begin(s.now))
}

// waits says when a refused event that costs so much alone would be admitted although nobody raises the budget, ""
// where it would not be.
func (s *state) waits(p *purse, alone float64) string {
	if s.per() == Once || !p.epsilon.allows(alone) {
		return ""
	}
	return s.per().Next(s.now).Format(time.DateOnly)
}
