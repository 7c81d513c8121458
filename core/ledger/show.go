package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"pawl/core/dp"
)

// Statement is the account of a data set. Every epsilon is taken at
// the budget's delta; spent amounts are rounded up and what is left down, at nine
// decimals, so that Spent + Reserved + Left = Total unless Exceeded.
type Statement struct {
	Name        string      `json:"name"`
	Public      bool        `json:"public"`
	Unit        string      `json:"unit"`
	RowsPerUnit int         `json:"rows_per_unit"`
	Relation    dp.Relation `json:"relation,omitzero"` // 0 while nobody has declared it
	Created     string      `json:"created"`
	// Granted is nil when nobody granted a budget: a public data set without limit.
	Granted *Grant `json:"granted"`
	// Frozen is nil unless every reservation is refused.
	Frozen *Act `json:"frozen"`
	// Renewal is nil unless the budget renews. Standing, the shares and AtOnce are of the
	// period that it names.
	Renewal *Renewal `json:"renewal,omitempty"`
	Standing
	// Analysts are the shares of the budget, by name; what others did before there
	// were any counts for the data set alone.
	Analysts []Analyst `json:"analysts"`
	// SeededRuns mark the data set: while there are any, no epsilon of this statement
	// bounds what was put out about its rows. Cleared is how such marks were taken off.
	SeededRuns []SeededRun `json:"seeded_runs"`
	Cleared    []Clearing  `json:"seeded_runs_cleared"`
	// Different is whose word it is that data which resemble this data set hold other units.
	Different []Difference `json:"different"`
	// AtOnce is what the same events would have cost in one plan. It decides
	// nothing.
	AtOnce  AtOnce  `json:"if_planned_at_once"`
	Head    Hash    `json:"head"`
	Entries []Entry `json:"entries"`
	// Reconciled lists what was said of a log that did not hold what had been seen of it.
	Reconciled []Reconciliation `json:"reconciled,omitempty"`
}

// Standing is a limit and what is charged to it.
type Standing struct {
	Total    Spend `json:"total"`
	Spent    Spend `json:"spent"`
	Reserved Spend `json:"reserved"`
	Left     Spend `json:"left"`
	// Exceeded: a foreign run was booked after the fact and did not fit. Only then
	// Spent + Reserved is more than Total.
	Exceeded bool `json:"exceeded"`
}

// Analyst is the share of one user.
type Analyst struct {
	Name    string `json:"name"`
	Granted Act    `json:"granted"`
	Standing
}

// Spend is an amount of privacy loss.
type Spend struct {
	Epsilon Number `json:"epsilon"`
	Delta   Number `json:"delta"`
}

// AtOnce is the smallest valid bound of all events together.
type AtOnce struct {
	Epsilon Number `json:"epsilon"`
	Method  string `json:"accountant"`
}

// Entry is one reservation.
type Entry struct {
	ID         string          `json:"id"`
	Plan       string          `json:"plan"`
	State      EntryState      `json:"state"`
	At         string          `json:"at"`
	By         string          `json:"by"`
	Stages     []string        `json:"stages"`
	Event      json.RawMessage `json:"event"`
	Epsilon    Number          `json:"epsilon"` // a bound of its own
	Method     string          `json:"accountant"`
	NotPrivate bool            `json:"not_private"`
	// Assignment of units to scopes that the event's scopes belong to; empty in
	// entries of versions that did not name it, and of runs outside of pawl.
	Assignment string   `json:"assignment,omitempty"`
	Foreign    *Foreign `json:"foreign,omitempty"`
	// Rebooked says who booked it again after a ledger had lost it, and why.
	Rebooked  *Act  `json:"rebooked,omitempty"`
	Approvals []Act `json:"approvals"`
	// Period is the one that it is charged to; empty where the budget does not renew.
	Period string `json:"period,omitempty"`
}

// Show returns the statement of a data set. An event that cannot be priced shows
// as infinite.
func (l *Ledger) Show(ctx context.Context, dataset string) (Statement, error) {
	var s *state
	if err := l.view(ctx, dataset, func(now *state) error { s = now.snapshot(); return nil }); err != nil {
		return Statement{}, err
	}
	return l.statement(s)
}

// snapshot is a copy to price from when the transaction is over.
func (s *state) snapshot() *state {
	c := *s
	c.digests, c.byID, c.byReplay = nil, nil, nil
	c.liveOf = maps.Clone(s.liveOf)
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
		c.entries[i] = &copied
	}
	return &c
}

func (l *Ledger) statement(s *state) (out Statement, err error) {
	out = Statement{Name: s.name, Public: s.public, Unit: s.unit, RowsPerUnit: s.rows, Relation: s.relation,
		Created: s.created, Frozen: s.frozen, Head: s.head.Hash, Analysts: []Analyst{}, Entries: []Entry{},
		Reconciled: slices.Clone(s.reconciled), SeededRuns: s.seededRuns(), Cleared: append([]Clearing{}, s.cleared...),
		Different: append([]Difference{}, s.different...)}
	delta := s.shownDelta()
	if s.limited() {
		grant := s.budget.Grant
		out.Granted = &grant
	}
	prices := l.pricer(s, delta)
	for _, e := range s.entries {
		shown := Entry{ID: e.ID, Plan: e.Plan, State: e.state, At: e.at, By: e.by, Stages: e.Stages, Event: e.Event,
			NotPrivate: e.NotPrivate, Assignment: e.Assignment, Foreign: e.foreign, Rebooked: e.rebooked, Approvals: append([]Act{}, e.approvals...), Period: s.per().name(e.when)}
		p := prices.one(e.event, e.Event)
		shown.Epsilon, shown.Method = p.epsilon, p.method
		out.Entries = append(out.Entries, shown)
	}
	everything := prices.atOnce((&purse{}).charged(s, ""))
	out.AtOnce = AtOnce{everything.epsilon, everything.method}
	if !s.limited() {
		out.Standing = prices.unlimited(everything)
		return out, nil
	}
	if out.Standing, err = l.standing(s, &s.budget.purse); err != nil {
		return out, err
	}
	if out.Renewal, err = l.renewal(s); err != nil {
		return out, err
	}
	// What holds although plans followed outputs holds for one plan.
	if all := out.Spent.Epsilon + out.Reserved.Epsilon; out.AtOnce.Epsilon > all {
		out.AtOnce = AtOnce{number(roundUp(float64(all), nil)), "filter"}
	}
	for _, name := range slices.Sorted(maps.Keys(s.shares)) {
		share := s.shares[name]
		a := Analyst{Name: name, Granted: share.Act}
		if a.Standing, err = l.standing(s, &share.purse); err != nil {
			return out, err
		}
		out.Analysts = append(out.Analysts, a)
	}
	return out, nil
}

// shownDelta is the budget's; without one, the largest that was asked for.
func (s *state) shownDelta() float64 {
	if s.limited() {
		return s.budget.delta.Float64()
	}
	delta := 0.0
	for _, e := range s.entries {
		delta = max(delta, e.Delta.Float64())
	}
	return delta
}

// unlimited is the standing without a budget: there is no filter, and the bound of
// all entries at once stands in.
func (p *pricer) unlimited(everything price) Standing {
	spent := p.atOnce((&purse{}).charged(p.s, Committed)).epsilon
	at := func(x Number) Spend { return Spend{Epsilon: x, Delta: Number(p.delta)} }
	inf := at(Number(math.Inf(1)))
	return Standing{Total: inf, Spent: at(spent), Reserved: at(everything.epsilon.less(spent)), Left: inf}
}

func (l *Ledger) standing(s *state, p *purse) (Standing, error) {
	spent, err := l.cost(s, p, Committed)
	if err != nil {
		return Standing{}, err
	}
	all, err := l.cost(s, p, "")
	if err != nil {
		return Standing{}, err
	}
	total := p.epsilon.rat()
	if s.allAdmitted(p) {
		// One door may have held for some units and another for the rest, and a first plan
		// may have used its own bound: then no single sum says it, and the total is what holds.
		spent, all = atMost(spent, total), atMost(all, total)
	}
	at := func(r *big.Rat) Spend { return Spend{Epsilon: number(r), Delta: Number(p.delta.Float64())} }
	return Standing{Total: at(total), Spent: at(spent), Reserved: at(minus(all, spent)), Left: at(minus(total, all)),
		Exceeded: all == nil || all.Cmp(total) > 0}, nil
}

// cost is what the charged events of a purse add up to: by the filter, or with a
// single entry by its own bound, as Reserve decides.
func (l *Ledger) cost(s *state, p *purse, only EntryState) (*big.Rat, error) {
	events := p.charged(s, only)
	if len(events) == 0 {
		return new(big.Rat), nil
	}
	if p.live(s) == 1 {
		epsilon, _, err := l.accountant.Epsilon(events[0].Event, s.relation, p.delta.Float64())
		if err != nil {
			return nil, nil // +Inf
		}
		return roundUp(epsilon, &p.epsilon), nil
	}
	account, err := p.filter(s, l.accountant)
	if err == nil && len(events) < p.live(s) {
		if account, err = l.accountant.Account(p.cap(s), s.relation); err == nil {
			for _, e := range events {
				if err = account.Add(e); err != nil {
					break
				}
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the account of %q: %w", s.name, err)
	}
	x, err := account.Spent()
	if err != nil {
		return nil, fmt.Errorf("reading the account of %q: %w", s.name, err)
	}
	return roundUp(x, &p.epsilon), nil
}

// allAdmitted reports whether the budget decided on every entry that is charged to it, so
// that the total bounds what was done.
func (s *state) allAdmitted(p *purse) bool {
	return p.user == "" && !slices.ContainsFunc(s.entries, func(e *entry) bool { return p.counts(s, e) && !e.admitted })
}

// atMost returns the smaller one; nil is +Inf.
func atMost(a, b *big.Rat) *big.Rat {
	if a == nil || a.Cmp(b) > 0 {
		return b
	}
	return a
}
