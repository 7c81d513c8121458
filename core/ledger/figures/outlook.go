package figures

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/outlook"
)

// Outlook describes in plain units what remains of a budget.
type Outlook struct {
	// Used is the share of the total that is spent or reserved.
	Used ledger.Number `json:"used"`
	// More is the approximate number of jobs like the last charged one that would still be admitted,
	// one after another (they are counted as repeats of one job). It is at most MostMore.
	More int `json:"more_like_the_last"`
	// Refused reports that the next such job would be refused.
	Refused bool `json:"next_refused"`
	// Largest is approximately the largest epsilon, at the budget's delta, that one more job like the
	// last may cost alone if all its noise is scaled by one factor. It is rounded down, and 0 if no
	// such job is admitted or if its cost does not follow from its noise.
	Largest ledger.Number `json:"largest_next_epsilon"`
}

// MostMore bounds Outlook.More.
const MostMore = outlook.MostMore

// OutlookOf returns how much room a data set's budget leaves, nil if there is no limit or nothing
// is charged. It charges nothing.
func OutlookOf(ctx context.Context, l Books, dataset string) (*Outlook, error) {
	v, err := l.View(ctx, dataset)
	if err != nil {
		return nil, err
	}
	var like *ledger.Assigned
	for _, e := range v.Entries() {
		if e.State != ledger.Cancelled {
			like = &e.Charged
		}
	}
	if v.Granted == nil || like == nil {
		return nil, nil
	}
	now, err := standing(v, v.Budget())
	if err != nil {
		return nil, err
	}
	out := &Outlook{Used: (now.Spent.Epsilon + now.Reserved.Epsilon) / now.Total.Epsilon}
	if out.More, err = room(v, *like); err != nil {
		return nil, err
	}
	out.Refused = out.More == 0
	out.Largest = largest(v, *like, out.Refused)
	return out, nil
}

// room is how many events like one are admitted one after another, at most MostMore.
func room(v *ledger.View, like ledger.Assigned) (int, error) {
	p := v.Budget()
	account, err := ledger.AccountOf(v.Accountant, p.Cap, v.Relation, p.Charged(""))
	if err != nil {
		return 0, err
	}
	fits := func(n int) bool {
		if n == 1 {
			return p.Admit(like) == nil
		}
		ok, _, _, err := account.Admit(ledger.Assigned{Assignment: like.Assignment, Event: dp.Repeat{Count: int64(n), Event: like.Event}})
		return err == nil && ok
	}
	return outlook.Count(fits), nil
}

// largest finds the least factor of the noise of an event with which it is still admitted,
// and says what that costs alone.
func largest(v *ledger.View, like ledger.Assigned, refused bool) ledger.Number {
	p := v.Budget()
	least, ok := outlook.LeastNoise(func(factor float64) bool {
		return p.Admit(ledger.Assigned{Assignment: like.Assignment, Event: outlook.WithNoise(like.Event, factor)}) == nil
	}, refused)
	if !ok {
		return 0
	}
	alone, _, err := v.Accountant.Epsilon(outlook.WithNoise(like.Event, least), v.Relation, p.Delta.Float64())
	if err != nil {
		return 0
	}
	return ledger.NumberOf(ledger.RoundDown(math.Min(alone, p.Epsilon.Float64())))
}

// Dearer describes a job that leaves clearly less room than most jobs of its epsilon.
type Dearer struct {
	// After is the number of jobs of Epsilon, each one Gaussian release, for which the budget has room
	// once the job is charged; Usual is the number after one Gaussian release of the job's epsilon.
	After   int           `json:"jobs_after_this"`
	Usual   int           `json:"jobs_after_a_usual_one"`
	Epsilon ledger.Number `json:"epsilon_of_each"`
}

// yardstick is the share of a budget's epsilon that one of the later jobs costs by which
// room is measured.
const yardstick = 0.1

// clearly is the share of the usual room below which a job makes later ones dearer.
const clearly = 0.75

// dearer measures the room that the last entry of a view leaves; nil where it is about
// what is usual, and where that cannot be said.
func dearer(v *ledger.View) *Dearer {
	p, entries := v.Budget(), v.Entries()
	delta := p.Delta.Float64()
	if delta == 0 || len(entries) == 0 {
		return nil // pure epsilons add up, and nothing else is admitted
	}
	alone, _, err := v.Accountant.Epsilon(entries[len(entries)-1].Charged.Event, v.Relation, delta)
	if err != nil {
		return nil
	}
	gaussian := func(epsilon float64) dp.Event {
		return outlook.Gaussian(epsilon, func(e dp.Event) (float64, error) {
			x, _, err := v.Accountant.Epsilon(e, v.Relation, delta)
			return x, err
		})
	}
	each := yardstick * p.Epsilon.Float64()
	one, usual := gaussian(each), gaussian(alone)
	if one == nil || usual == nil {
		return nil
	}
	out := &Dearer{Epsilon: ledger.NumberOf(ledger.RoundUp(each, nil))}
	like := ledger.Assigned{Assignment: "later", Event: one}
	if out.After, err = room(v, like); err != nil {
		return nil
	}
	if out.Usual, err = room(v.Instead(usual), like); err != nil || float64(out.After) >= clearly*float64(out.Usual) {
		return nil
	}
	return out
}

// String returns it as one sentence.
func (d *Dearer) String() string {
	after := fmt.Sprintf("about %d more jobs", d.After)
	switch {
	case d.After == 0:
		after = "no more job"
	case d.After == 1:
		after = "about 1 more job"
	}
	usual := fmt.Sprint("about ", d.Usual)
	if d.Usual >= MostMore {
		usual = fmt.Sprintf("%d or more", MostMore)
	}
	return fmt.Sprintf("this job makes later jobs more expensive: after it the budget admits %s of epsilon %v, after most other jobs of the same epsilon %s", after, d.Epsilon, usual)
}
