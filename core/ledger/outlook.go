package ledger

import (
	"context"
	"fmt"
	"math"

	"pawl/core/dp"
	"pawl/core/ledger/outlook"
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
	// Largest is what one more job of the kind of the last may cost alone, at the budget's
	// delta: about the largest epsilon that is admitted, where all its noise is scaled by one
	// factor. Rounded down; 0 where none is admitted, or where noise does not say what the
	// job costs.
	Largest Number `json:"largest_next_epsilon"`
}

// MostMore bounds Outlook.More.
const MostMore = outlook.MostMore

// Outlook returns how much room a data set's budget leaves; nil if there is no limit or
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
	standing, err := l.standing(s, &s.budget.purse)
	if err != nil {
		return nil, err
	}
	out := &Outlook{Used: (standing.Spent.Epsilon + standing.Reserved.Epsilon) / standing.Total.Epsilon}
	like := s.assigned(last)
	if out.More, err = l.room(s, like); err != nil {
		return nil, err
	}
	out.Refused = out.More == 0
	out.Largest = l.largest(s, like, out.Refused)
	return out, nil
}

// room is how many events like one are admitted one after another, at most MostMore.
func (l *Ledger) room(s *state, like Assigned) (int, error) {
	p := &s.budget.purse
	account, err := p.filter(s, l.accountant)
	if err != nil {
		return 0, err
	}
	fits := func(n int) bool {
		if n == 1 {
			_, _, err := l.admitTo(s, p, like)
			return err == nil
		}
		ok, _, _, err := account.Admit(Assigned{like.Assignment, dp.Repeat{Count: int64(n), Event: like.Event}})
		return err == nil && ok
	}
	return outlook.Count(fits), nil
}

// largest finds the least factor of the noise of an event with which it is still admitted,
// and says what that costs alone.
func (l *Ledger) largest(s *state, like Assigned, refused bool) Number {
	p := &s.budget.purse
	fits := func(factor float64) bool {
		_, _, err := l.admitTo(s, p, Assigned{like.Assignment, outlook.WithNoise(like.Event, factor)})
		return err == nil
	}
	least, ok := outlook.LeastNoise(fits, refused)
	if !ok {
		return 0
	}
	alone, _, err := l.accountant.Epsilon(outlook.WithNoise(like.Event, least), s.relation, p.delta.Float64())
	if err != nil {
		return 0
	}
	return number(roundDown(math.Min(alone, p.epsilon.Float64())))
}

// Dearer is a job that leaves clearly less room than most jobs of its epsilon.
type Dearer struct {
	// After is how many jobs of Epsilon, each one Gaussian release, the budget holds once the
	// job is charged, and Usual how many after one Gaussian release of the epsilon of the job.
	After   int    `json:"jobs_after_this"`
	Usual   int    `json:"jobs_after_a_usual_one"`
	Epsilon Number `json:"epsilon_of_each"`
}

// yardstick is the share of a budget's epsilon that one of the later jobs costs by which
// room is measured.
const yardstick = 0.1

// clearly is the share of the usual room below which a job makes later ones dearer.
const clearly = 0.75

// dearer measures the room that the last entry of a state leaves; nil where it is about
// what is usual, and where that cannot be said.
func (l *Ledger) dearer(s *state) *Dearer {
	delta := s.budget.delta.Float64()
	if delta == 0 || len(s.entries) == 0 {
		return nil // pure epsilons add up, and nothing else is admitted
	}
	last := s.entries[len(s.entries)-1]
	alone, _, err := l.accountant.Epsilon(last.event, s.relation, delta)
	if err != nil {
		return nil
	}
	one, usual := l.gaussian(yardstick*s.budget.epsilon.Float64(), delta, s.relation), l.gaussian(alone, delta, s.relation)
	if one == nil || usual == nil {
		return nil
	}
	out := &Dearer{Epsilon: number(roundUp(yardstick*s.budget.epsilon.Float64(), nil))}
	like := Assigned{"later", one}
	if out.After, err = l.room(s, like); err != nil {
		return nil
	}
	other := s.snapshot()
	instead := *last
	instead.event, instead.Assignment = usual, ""
	other.entries[len(other.entries)-1] = &instead
	if out.Usual, err = l.room(other, like); err != nil || float64(out.After) >= clearly*float64(out.Usual) {
		return nil
	}
	return out
}

// gaussian is one Gaussian release of an epsilon, nil where there is none.
func (l *Ledger) gaussian(epsilon, delta float64, relation dp.Relation) dp.Event {
	return outlook.Gaussian(epsilon, func(e dp.Event) (float64, error) {
		x, _, err := l.accountant.Epsilon(e, relation, delta)
		return x, err
	})
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
	return fmt.Sprintf("this job makes later jobs dearer: after it the budget holds %s of epsilon %v, after most other jobs of the same epsilon %s", after, d.Epsilon, usual)
}
