package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pawl/core/dp"
)

// purse is a limit and the account of what is charged to it: the budget of a data
// set, or the share of it that one analyst may use. Both are kept by the same rules.
type purse struct {
	epsilon, delta Amount
	user           string // whose entries count; "": everybody's
	kind           filterKind
	account        Account // over entries[:accounted]; nil: to be opened
	accounted      int
	began          time.Time // of the period that account is of
}

type budget struct {
	Grant
	purse
	per Period // how often it renews, and every share with it
}

type share struct {
	Act
	purse
}

func (s *state) divide(r *Record, b shareBody) error {
	if b.Analyst == "" {
		return broken(s.name, r.Seq, "a share without a user")
	}
	s.shares[b.Analyst] = &share{Act: Act{By: r.User, At: r.Time, Reason: b.Reason},
		purse: purse{epsilon: b.Epsilon, delta: b.Delta, user: b.Analyst, kind: b.Filter}}
	return checkTerms(r, b.Filter, Once)
}

// reopen makes every account be read again: one cannot take an event back.
func (s *state) reopen() {
	if s.budget != nil {
		s.budget.account = nil
	}
	for _, share := range s.shares {
		share.account = nil
	}
}

// counts reports whether an entry is charged to the purse in the period in which requests
// are decided.
func (p *purse) counts(s *state, e *entry) bool {
	return e.State != Cancelled && (p.user == "" || p.user == e.By) && s.current(e)
}

// charged returns the events that count for the purse, in order; with a state,
// those in that state.
func (p *purse) charged(s *state, only EntryState) []Assigned {
	var events []Assigned
	for _, e := range s.entries {
		if p.counts(s, e) && (only == "" || only == e.State) {
			events = append(events, s.assigned(e))
		}
	}
	return events
}

// unopened is a copy that reads its entries again.
func (p *purse) unopened() purse {
	return purse{epsilon: p.epsilon, delta: p.delta, user: p.user, kind: p.kind}
}

// empty reports whether nothing counts for the purse.
func (p *purse) empty(s *state) bool {
	return !slices.ContainsFunc(s.entries, func(e *entry) bool { return p.counts(s, e) })
}

func (p *purse) cap(s *state) Cap {
	return Cap{Epsilon: p.epsilon.Float64(), Delta: p.delta.Float64(), Doors: p.kind == filterDoors, First: s.first()}
}

// first is the event that was booked first in the period, nil before. It was chosen before any output
// was seen, also if it was cancelled later; the first that is still charged need not have
// been: so a cancelled one keeps its place. nil too where it was not pawl that ran it first
// here, as with a foreign run, of which nobody knows what had been seen before.
func (s *state) first() dp.Event {
	for _, e := range s.entries {
		switch {
		case !s.current(e):
		case e.Foreign != nil || e.Rebooked != nil:
			return nil
		default:
			return e.event
		}
	}
	return nil
}

// filter returns the account of all charged entries of the purse, caught up with
// the log.
func (p *purse) filter(s *state, a Accountant) (Account, error) {
	if began := s.per().Begin(s.now); p.account == nil || !p.began.Equal(began) {
		p.account = nil
		account, err := a.Account(p.cap(s), s.Relation)
		if err != nil {
			return nil, err
		}
		p.account, p.accounted, p.began = account, 0, began
	}
	for p.accounted < len(s.entries) {
		if e := s.entries[p.accounted]; p.counts(s, e) {
			if err := p.account.Add(s.assigned(e)); err != nil {
				p.account = nil // it may have added half of it
				return nil, err
			}
		}
		p.accounted++
	}
	return p.account, nil
}

// admit decides on an event of a user. Once shares are granted, who has none is
// refused, so that the shares are the whole list of those who may use the data.
func (l *Ledger) admit(s *state, user string, e Assigned) (need, left float64, err error) {
	switch {
	case s.Public && !s.limited():
		return 0, 0, nil
	case s.budget == nil:
		return 0, 0, &RefusedError{Dataset: s.name, Reason: "it is sensitive and has no budget", Advice: fmt.Sprintf("ask the data steward to grant one: pawl ledger create %s --epsilon E --delta D", quote(s.name))}
	}
	if len(s.shares) > 0 {
		share := s.shares[user]
		if share == nil {
			return 0, 0, &RefusedError{Dataset: s.name, Reason: fmt.Sprintf("its budget is divided among analysts, and %s has no share", user),
				Advice: fmt.Sprintf("ask the data steward to grant one: pawl ledger grant %s --analyst %s --epsilon E --reason WHY", quote(s.name), quote(user))}
		}
		if need, left, err = l.admitTo(s, &share.purse, e); err != nil {
			if refused := (*ExhaustedError)(nil); errors.As(err, &refused) {
				refused.OfAll = l.ofAll(s, refused.Suffices, e)
			}
			return need, left, err
		}
	}
	return l.admitTo(s, &s.budget.purse, e)
}

// admitTo decides on one purse. Alone in it, an event satisfies its own smallest
// bound, whatever method gave it; beside others it must pass the filter. A second
// reservation counts as another plan even under the same plan name, because the
// ledger cannot know that it was fixed before the first one's output was seen.
func (l *Ledger) admitTo(s *state, p *purse, e Assigned) (need, left float64, err error) {
	fits := false
	if p.empty(s) {
		left = p.epsilon.Float64()
		if need, _, err = l.accountant.Epsilon(e.Event, s.Relation, p.delta.Float64()); err != nil {
			return 0, 0, fmt.Errorf("pricing the request: %w", err)
		}
		fits = need >= 0 && p.epsilon.allows(need)
	} else {
		account, err := p.filter(s, l.accountant)
		if err != nil {
			return 0, 0, fmt.Errorf("reading the account of %q: %w", s.name, err)
		}
		if fits, need, left, err = account.Admit(e); err != nil {
			return 0, 0, fmt.Errorf("pricing the request: %w", err)
		}
	}
	if !fits {
		alone, _, err := l.accountant.Epsilon(e.Event, s.Relation, p.delta.Float64())
		if err != nil {
			alone = math.Inf(1)
		}
		return need, left, &ExhaustedError{Dataset: s.name, Analyst: p.user, alone: !math.IsInf(alone, 1), Need: NumberOf(RoundUp(need, nil)), Left: NumberOf(RoundDown(left)),
			Epsilon: p.epsilon, Delta: p.delta, Suffices: l.suffices(s, p, e, need), Renews: s.waits(p, alone)}
	}
	return need, left, nil
}
