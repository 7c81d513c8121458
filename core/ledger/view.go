package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"pawl/core/dp"
)

// View is a copy of the account of a data set at one moment, for reading and for asking what would be decided. Events
// added to it are charged nowhere. core/ledger/figures makes statements and forecasts from it.
type View struct {
	Name string
	Terms
	Created    string
	Granted    *Grant // nil if no budget limits the data set
	Per        Period // how often the budget renews
	Now        time.Time
	Frozen     *Act // nil unless every reservation is refused
	Head       Hash
	SeededRuns []SeededRun
	Cleared    []Clearing
	Different  []Difference
	Reconciled []Reconciliation
	Accountant Accountant
	l          *Ledger
	s          *state
}

// Entry is one reservation, as recorded.
type Entry struct {
	Reservation
	At, By    string
	State     EntryState
	When      time.Time // at, but never before the entry before: determines the period it belongs to
	Charged   Assigned  // the event, with the assignment of its scopes
	Foreign   *Foreign  // nil: pawl ran it
	Rebooked  *Act      // nil: it was booked when it ran
	Approvals []Act
}

// Purse is a limit of a View, that of the budget or of an analyst's share, with the events charged
// to it.
type Purse struct {
	Act                   // who granted a share
	User           string // whose share it is; "": the budget
	Epsilon, Delta Amount
	Cap            Cap
	v              *View
	p              *purse
}

// View returns the current account of a data set.
func (l *Ledger) View(ctx context.Context, dataset string) (v *View, err error) {
	err = l.view(ctx, dataset, func(s *state) error { v = l.viewOf(s.snapshot()); return nil })
	return v, err
}

func (l *Ledger) viewOf(s *state) *View {
	v := &View{Name: s.name, Terms: s.Terms, Created: s.created, Per: s.per(), Now: s.now, Frozen: s.frozen, Head: s.head.Hash, SeededRuns: s.seededRuns(), Cleared: append([]Clearing{}, s.cleared...),
		Different: append([]Difference{}, s.different...), Reconciled: slices.Clone(s.reconciled), Accountant: l.accountant, l: l, s: s}
	if s.limited() {
		v.Granted = &s.budget.Grant
	}
	return v
}

// errForetold takes a foretold booking back.
var errForetold = errors.New("foretold: nothing is charged")

// Foretell decides on a request as Reserve would now, by the same code in the same kind of transaction, and rolls it
// back: nothing is charged, and no permit is issued. It returns the receipt, without ID and Head, as there is no
// entry, and the account as it would be. Its errors are those of Reserve, refusals included. The answers can differ
// only if another charge is recorded between the two calls.
func (l *Ledger) Foretell(ctx context.Context, q Request) (receipt Receipt, after *View, err error) {
	_, _, err = l.reserve(ctx, q, func(r Receipt, s *state) error {
		receipt, after = r, l.viewOf(s.snapshot())
		return errForetold
	})
	if !errors.Is(err, errForetold) {
		return Receipt{}, nil, err
	}
	receipt.ID, receipt.Head = "", Hash{}
	return receipt, after, nil
}

// snapshot is a copy that does not change with the log, nor the log with it: it shares no memory that a View gives out.
func (s *state) snapshot() *state {
	c := *s
	c.digests, c.byID, c.byReplay = nil, nil, nil
	if s.budget != nil {
		c.budget = &budget{Grant: s.budget.Grant, purse: s.budget.unopened(), per: s.budget.per}
	}
	c.shares = make(map[string]*share, len(s.shares))
	for name, old := range s.shares {
		c.shares[name] = &share{Act: old.Act, purse: old.unopened()}
	}
	c.entries = make([]*entry, len(s.entries))
	for i, e := range s.entries {
		copied := *e
		copied.event, copied.Event, copied.Stages = dp.Clone(e.event), slices.Clone(e.Event), slices.Clone(e.Stages)
		copied.Approvals, copied.Foreign, copied.Rebooked = slices.Clone(e.Approvals), cloned(e.Foreign), cloned(e.Rebooked)
		c.entries[i] = &copied
	}
	c.frozen = cloned(s.frozen)
	return &c
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// Entries lists all reservations, including cancelled ones, in order.
func (v *View) Entries() (all []Entry) {
	for _, e := range v.s.entries {
		all = append(all, e.shown(v.s))
	}
	return all
}

func (e *entry) shown(s *state) Entry {
	out := e.Entry
	out.Charged, out.Approvals = s.assigned(e), append([]Act{}, e.Approvals...)
	return out
}

// Charged lists the events charged in the period of the View, by anybody; with a state, only those in that
// state.
func (v *View) Charged(only EntryState) []Assigned { return (&purse{}).charged(v.s, only) }

// Budget returns the budget of a View that has one.
func (v *View) Budget() Purse { return v.purse(Act{}, &v.s.budget.purse) }

// Shares returns the shares of the budget, by name.
func (v *View) Shares() (all []Purse) {
	for _, name := range slices.Sorted(maps.Keys(v.s.shares)) {
		all = append(all, v.purse(v.s.shares[name].Act, &v.s.shares[name].purse))
	}
	return all
}

func (v *View) purse(by Act, p *purse) Purse {
	return Purse{Act: by, User: p.user, Epsilon: p.epsilon, Delta: p.delta, Cap: p.cap(v.s), v: v, p: p}
}

// Charged lists the events charged to the purse, in order; with a state, only those in that state.
func (p Purse) Charged(only EntryState) []Assigned { return p.p.charged(p.v.s, only) }

// AllAdmitted reports whether the budget admitted every entry that is charged to it, so that the
// total bounds them all.
func (p Purse) AllAdmitted() bool {
	return p.User == "" && !slices.ContainsFunc(p.v.s.entries, func(e *entry) bool { return p.p.counts(p.v.s, e) && !e.admitted })
}

// Admit decides on one more event as the ledger would under this purse alone.
func (p Purse) Admit(e Assigned) error {
	_, _, err := p.v.l.admitTo(p.v.s, p.p, e)
	return err
}

// Admit decides on one more event of a user as Reserve would now. assignment is that of the rows, "" if unknown.
func (v *View) Admit(user, assignment string, e dp.Event) (need, left float64, err error) {
	next := v.entry(user, assignment, e)
	if err := v.l.accountable(v.s, e); err != nil {
		return 0, 0, err
	}
	if v.s.frozen != nil {
		return 0, 0, v.s.refuseFrozen()
	}
	return v.l.admit(v.s, user, v.s.assigned(next))
}

// Add charges an event to the View, whether or not it is admitted.
func (v *View) Add(user, assignment string, e dp.Event) (err error) {
	next := v.entry(user, assignment, e)
	next.Event, err = dp.EncodeEvent(e)
	v.s.entries = append(v.s.entries, next)
	return err
}

func (v *View) entry(user, assignment string, e dp.Event) *entry {
	next := &entry{event: e, Entry: Entry{State: Reserved, By: user, When: v.s.now,
		Reservation: Reservation{ID: "what-if " + strconv.Itoa(len(v.s.entries)), Assignment: assignment}}}
	if assignment == "" {
		next.Foreign = &Foreign{}
	}
	return next
}

// Instead returns the View with another event in place of the last charged one.
func (v *View) Instead(e dp.Event) *View {
	s := v.s.snapshot()
	last := s.entries[len(s.entries)-1]
	last.event, last.Assignment = e, ""
	return v.l.viewOf(s)
}

// Over returns the View at another time, with another period of renewal and another total.
func (v *View) Over(per Period, at time.Time, epsilon Amount) *View {
	s := *v.s
	s.now = at
	b := *s.budget
	b.per, b.purse = per, b.unopened()
	b.epsilon = epsilon
	s.budget = &b
	return v.l.viewOf(&s)
}
