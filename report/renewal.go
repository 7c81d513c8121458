package report

import "fmt"

// Renewal says of a budget that renews what its figures mean for a unit whose rows are in
// the data of every period.
type Renewal struct {
	Per    string `json:"per"`    // week, month, quarter or year
	Period string `json:"period"` // the one that total, spent, reserved and left belong to
	Began  string `json:"began"`  // RFC 3339
	Renews string `json:"renews"` // RFC 3339, when the next one begins
	// ChargedTo is the period that this run is charged to: that in which it was reserved.
	ChargedTo string `json:"charged_to,omitempty"`
	// Each is the budget of every period.
	Each Amount `json:"each_period"`
	// Periods is how many had jobs; ByAddition bounds all of them together. Overall would,
	// at the budget's delta, had all jobs been planned in advance; it is no guarantee if they followed results.
	Periods    int    `json:"periods_with_jobs"`
	ByAddition Amount `json:"over_all_periods_by_addition"`
	Overall    Amount `json:"over_all_periods"`
}

// OverPeriods says in words what a budget that renews means over time.
func OverPeriods(r *Renewal) string {
	text := fmt.Sprintf("The budget renews each %s: epsilon %s at delta %s bounds the releases of %s only. For a person who is in the data in every %s the releases add up: after k %ss, to at most k times both values.",
		r.Per, down2(r.Each.Epsilon), deltaPlain(r.Each.Delta), r.Period, r.Per, r.Per)
	if r.Periods == 0 {
		return text
	}
	text += fmt.Sprintf(" So far, with jobs in %s: at most epsilon %s at delta %s by addition", count(r.Periods, r.Per), up2(r.ByAddition.Epsilon), deltaPlain(r.ByAddition.Delta))
	return text + fmt.Sprintf("; had all jobs been planned in advance, at most epsilon %s at delta %s.", up2(r.Overall.Epsilon), deltaPlain(r.Overall.Delta))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
