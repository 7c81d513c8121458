package figures

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"pawl/core/ledger"
)

// Renewal is the period of a budget to which the figures of a Statement belong, and the bounds over
// all periods.
type Renewal struct {
	Per    ledger.Period `json:"per"`
	Period string        `json:"period"` // such as 2026-11
	Began  string        `json:"began"`  // RFC 3339, UTC
	Renews string        `json:"renews"` // when the next period begins
	// Periods is the number of periods in which something was charged.
	Periods int `json:"periods_with_jobs"`
	// ByAddition bounds the loss of a unit that is in the data of all periods: the sum of what each
	// period may cost.
	ByAddition Spend `json:"over_all_periods_by_addition"`
	// Overall is what one filter counts for everything done, at the budget's delta: a bound if all of
	// it was planned in advance. No total over the periods was fixed, so Overall is not a guarantee if
	// jobs followed from results; ByAddition is.
	Overall Spend `json:"over_all_periods"`
}

// nameOf is that of the period in which t lies: 2026-W48, 2026-11, 2026-Q4 or 2026.
func nameOf(p ledger.Period, t time.Time) string {
	switch t = p.Begin(t); p {
	case ledger.Week:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case ledger.Month:
		return t.Format("2006-01")
	case ledger.Quarter:
		return fmt.Sprintf("%d-Q%d", t.Year(), (int(t.Month())+2)/3)
	case ledger.Year:
		return t.Format("2006")
	}
	return ""
}

// renewal is nil unless the budget renews.
func renewal(v *ledger.View, entries []ledger.Entry) (*Renewal, error) {
	per := v.Per
	if per == ledger.Once || v.Granted == nil {
		return nil, nil
	}
	stamp := func(t time.Time) string { return t.Format(time.RFC3339) }
	r := &Renewal{Per: per, Period: nameOf(per, v.Now), Began: stamp(per.Begin(v.Now)), Renews: stamp(per.Next(v.Now))}
	budget := v.Budget()
	// The sum of the periods.
	sum, began := new(big.Rat), time.Time{}
	for _, e := range entries {
		if at := per.Begin(e.When); e.State != ledger.Cancelled && (r.Periods == 0 || !at.Equal(began)) {
			r.Periods, began = r.Periods+1, at
			then := v.Over(per, e.When, budget.Epsilon)
			most := budget.Epsilon.Rat()
			if !then.Budget().AllAdmitted() {
				all, err := cost(then, then.Budget(), "")
				if err != nil {
					return nil, err
				}
				if all == nil || all.Cmp(most) > 0 {
					most = all
				}
			}
			if sum != nil && most != nil {
				sum = new(big.Rat).Add(sum, most)
			} else {
				sum = nil
			}
		}
	}
	delta := budget.Delta.Float64()
	r.ByAddition = Spend{ledger.NumberOf(sum), ledger.Number(math.Min(1, delta*float64(r.Periods)))}
	// The same as one account without an end. Its filter is that of the sum, which is what
	// the periods promised.
	whole := budget.Epsilon
	if sum != nil && sum.Sign() > 0 {
		var err error
		if whole, err = amountOf(sum); err != nil {
			return nil, err
		}
	}
	ever := v.Over(ledger.Once, v.Now, whole)
	all, err := cost(ever, ever.Budget(), "")
	if err != nil {
		return nil, err
	}
	r.Overall = Spend{ledger.NumberOf(all), ledger.Number(delta)}
	return r, nil
}

// amountOf is the decimal of a sum of decimals.
func amountOf(r *big.Rat) (ledger.Amount, error) {
	for digits := 0; digits <= ledger.MaxAmountLength; digits++ {
		if text := r.FloatString(digits); len(text) <= ledger.MaxAmountLength {
			if a, err := ledger.ParseAmount(text); err == nil && a.Rat().Cmp(r) == 0 {
				return a, nil
			}
		}
	}
	f, _ := r.Float64()
	return ledger.ParseAmount(fmt.Sprint(ledger.Number(f)))
}
