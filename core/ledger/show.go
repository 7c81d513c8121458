package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"pawl/core/dp"
)

// Statement is what the ledger says about a data set. Every epsilon is taken at
// the budget's delta; spent amounts are rounded up and what is left down, at nine
// decimals, so that Spent + Reserved + Left = Total.
type Statement struct {
	Name        string      `json:"name"`
	Public      bool        `json:"public"`
	Unit        string      `json:"unit"`
	RowsPerUnit int         `json:"rows_per_unit"`
	Relation    dp.Relation `json:"relation"`
	Created     string      `json:"created"`
	// Granted is nil when nobody granted a budget: a public data set without limit.
	Granted  *Grant `json:"granted"`
	Total    Spend  `json:"total"`
	Spent    Spend  `json:"spent"`
	Reserved Spend  `json:"reserved"`
	Left     Spend  `json:"left"`
	// AtOnce is what the same events would have cost in one plan. It decides
	// nothing.
	AtOnce  AtOnce  `json:"if_planned_at_once"`
	Head    Hash    `json:"head"`
	Entries []Entry `json:"entries"`
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
	Epsilon    Number          `json:"epsilon"` // its own smallest bound
	NotPrivate bool            `json:"not_private"`
}

// Show returns the statement of a data set. An event that cannot be priced shows
// as infinite. Pricing many different events takes seconds; nobody waits for it
// but the caller.
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
	c.account, c.accounted = nil, 0
	c.digests, c.byID, c.byReplay = nil, nil, nil
	c.entries = make([]*entry, len(s.entries))
	for i, e := range s.entries {
		copied := *e
		c.entries[i] = &copied
	}
	return &c
}

func (l *Ledger) statement(s *state) (Statement, error) {
	out := Statement{Name: s.name, Public: s.public, Unit: s.unit, RowsPerUnit: s.rows, Relation: s.relation,
		Created: s.created, Head: s.head.Hash, Entries: []Entry{}}
	var total *big.Rat // +Inf
	delta := 0.0       // without a budget the largest that was asked for
	if s.limited() {
		grant := s.budget.Grant
		out.Granted, total, delta = &grant, s.budget.epsilon.rat(), s.budget.delta.Float64()
	} else {
		for _, e := range s.entries {
			delta = max(delta, e.Delta.Float64())
		}
	}
	prices := map[string]Number{} // equal events are common and pricing is slow
	for _, e := range s.entries {
		price, ok := prices[string(e.Event)]
		if !ok {
			price, _ = l.price(e.event, s.relation, delta)
			prices[string(e.Event)] = price
		}
		out.Entries = append(out.Entries, Entry{ID: e.ID, Plan: e.Plan, State: e.state, At: e.at, By: e.by,
			Stages: e.Stages, Event: e.Event, Epsilon: price, NotPrivate: e.NotPrivate})
	}
	if s.live > 0 {
		out.AtOnce.Epsilon, out.AtOnce.Method = l.price(together(s.charged()), s.relation, delta)
	}
	spent, err := l.cost(s, s.charged(Committed), delta)
	if err != nil {
		return out, err
	}
	all, err := l.cost(s, s.charged(), delta)
	if err != nil {
		return out, err
	}
	at := func(r *big.Rat) Spend { return Spend{Epsilon: number(r), Delta: Number(delta)} }
	out.Total, out.Spent, out.Reserved, out.Left = at(total), at(spent), at(minus(all, spent)), at(minus(total, all))
	return out, nil
}

// price is the shown smallest bound of an event.
func (l *Ledger) price(e dp.Event, relation dp.Relation, delta float64) (Number, string) {
	epsilon, method, err := l.accountant.Epsilon(e, relation, delta)
	if err != nil {
		return Number(math.Inf(1)), ""
	}
	return number(roundUp(epsilon, nil)), method
}

// cost is what charged events add up to: by the filter, or with a single entry by
// its own bound, as Reserve decides. Without a budget there is no filter, and the
// bound of all at once stands in.
func (l *Ledger) cost(s *state, events []dp.Event, delta float64) (*big.Rat, error) {
	if len(events) == 0 {
		return new(big.Rat), nil
	}
	if !s.limited() || s.live == 1 {
		epsilon, _, err := l.accountant.Epsilon(together(events), s.relation, delta)
		if err != nil {
			return nil, nil // +Inf
		}
		return roundUp(epsilon, s.limit()), nil
	}
	account, err := s.filter(l.accountant)
	if err == nil && len(events) < s.live {
		if account, err = l.accountant.Account(s.cap(), s.relation); err == nil {
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
	return roundUp(x, s.limit()), nil
}

func together(events []dp.Event) dp.Event {
	if len(events) == 1 {
		return events[0]
	}
	return dp.Compose{Events: events}
}

func (s *state) limit() *Amount {
	if !s.limited() {
		return nil
	}
	return &s.budget.epsilon
}

// Public reports whether the data set is public in the ledger.
func (l *Ledger) Public(ctx context.Context, dataset string) (public bool, err error) {
	err = l.view(ctx, dataset, func(s *state) error { public = s.public; return nil })
	return public, err
}

// Names lists the data sets of the ledger.
func (l *Ledger) Names(ctx context.Context) (names []string, err error) {
	err = l.store.View(ctx, func(tx Tx) error { names, err = tx.Names(); return err })
	return names, err
}

// Records returns the verified log of a data set, for export.
func (l *Ledger) Records(ctx context.Context, dataset string) (records []Record, err error) {
	records, _, err = l.read(ctx, dataset)
	return records, err
}

// Verify reads the whole log of a data set again and returns ErrBroken when it
// was cut, edited or reordered, and ErrNewer when it holds what this version does
// not know. Each of the heads, as printed in earlier reports, must be a hash of
// the chain: that convicts a log that was replaced as a whole.
func (l *Ledger) Verify(ctx context.Context, dataset string, heads ...string) error {
	records, head, err := l.read(ctx, dataset)
	if err != nil {
		return err
	}
	s := newState(dataset)
	for i := range records {
		if err := s.apply(&records[i]); err != nil {
			return err
		}
	}
	if s.head != head {
		return broken(dataset, s.head.Seq, "the log ends here, its head says record %d", head.Seq)
	}
	for _, want := range heads {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.Hash.String() == want }) {
			return fmt.Errorf("%w: data set %q: %.70q is not in its chain", ErrBroken, dataset, want)
		}
	}
	return nil
}

func (l *Ledger) read(ctx context.Context, dataset string) (records []Record, head Head, err error) {
	if err := checkName(dataset); err != nil {
		return nil, head, err
	}
	err = l.store.View(ctx, func(tx Tx) error {
		if head, err = tx.Head(dataset); err != nil {
			return err
		}
		records, err = tx.Records(dataset, 0)
		return err
	})
	if err == nil && len(records) == 0 && head.Seq == 0 {
		err = unknown(dataset)
	}
	return records, head, err
}
