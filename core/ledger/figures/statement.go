// Package figures makes statements and forecasts from a ledger's accounts: what is spent and left, what one more job
// would do, how many jobs still fit. It reads views of accounts and asks them what would be decided. The ledger decides
// and charges without this package, so nothing here can raise a budget or lower a charge.
package figures

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"pawl/core/dp"
	"pawl/core/ledger"
)

// Books is a ledger for reading.
type Books interface {
	View(ctx context.Context, dataset string) (*ledger.View, error)
	Foretell(ctx context.Context, q ledger.Request) (ledger.Receipt, *ledger.View, error)
	Check(ctx context.Context, dataset string, heads ...string) (ledger.Checked, error)
	User() string
}

// Statement is the account of a data set. Every epsilon is at the budget's delta; spent amounts are
// rounded up and amounts left down, at nine decimals, so that Spent + Reserved + Left = Total
// unless Exceeded.
type Statement struct {
	Name        string      `json:"name"`
	Public      bool        `json:"public"`
	Unit        string      `json:"unit"`
	RowsPerUnit int         `json:"rows_per_unit"`
	Relation    dp.Relation `json:"relation,omitzero"` // 0 while nobody has declared it
	Created     string      `json:"created"`
	// Granted is nil if nobody granted a budget: a public data set without limit.
	Granted *ledger.Grant `json:"granted"`
	// Frozen is nil unless every reservation is refused.
	Frozen *ledger.Act `json:"frozen"`
	// Renewal is nil unless the budget renews. Standing, the shares and AtOnce are those of the period
	// that it names.
	Renewal *Renewal `json:"renewal,omitempty"`
	Standing
	// Analysts are the shares of the budget, by name. Charges of other users from before there were
	// shares count for the data set only.
	Analysts []Analyst `json:"analysts"`
	// SeededRuns mark the data set: while there are any, no epsilon of this statement bounds what was
	// released about its rows. Cleared records how such marks were removed.
	SeededRuns []ledger.SeededRun `json:"seeded_runs"`
	Cleared    []ledger.Clearing  `json:"seeded_runs_cleared"`
	// Different records who declared that data which resemble this data set hold other units.
	Different []ledger.Difference `json:"different"`
	// AtOnce is the cost of the same events in one plan. It decides nothing.
	AtOnce  AtOnce      `json:"if_planned_at_once"`
	Head    ledger.Hash `json:"head"`
	Entries []Entry     `json:"entries"`
	// Reconciled lists the reasons for accepting a log that lacked what had been seen of it.
	Reconciled []ledger.Reconciliation `json:"reconciled,omitempty"`
}

// Standing is a limit and what is charged to it.
type Standing struct {
	Total    Spend `json:"total"`
	Spent    Spend `json:"spent"`
	Reserved Spend `json:"reserved"`
	Left     Spend `json:"left"`
	// Exceeded reports that a run made outside pawl was charged after the fact and did not fit. Only
	// then is Spent + Reserved more than Total.
	Exceeded bool `json:"exceeded"`
}

// Analyst is the share of one user.
type Analyst struct {
	Name    string     `json:"name"`
	Granted ledger.Act `json:"granted"`
	Standing
}

// Spend is an amount of privacy loss.
type Spend struct {
	Epsilon ledger.Number `json:"epsilon"`
	Delta   ledger.Number `json:"delta"`
}

// AtOnce is the smallest valid bound of all events together.
type AtOnce struct {
	Epsilon ledger.Number `json:"epsilon"`
	Method  string        `json:"accountant"`
}

// Entry is one reservation.
type Entry struct {
	ID         string            `json:"id"`
	Plan       string            `json:"plan"`
	State      ledger.EntryState `json:"state"`
	At         string            `json:"at"`
	By         string            `json:"by"`
	Stages     []string          `json:"stages"`
	Event      json.RawMessage   `json:"event"`
	Epsilon    ledger.Number     `json:"epsilon"` // its own bound, alone
	Method     string            `json:"accountant"`
	NotPrivate bool              `json:"not_private"`
	// Assignment of units to scopes that the event's scopes belong to; empty in entries of versions
	// that did not record it, and of runs made outside pawl.
	Assignment string          `json:"assignment,omitempty"`
	Foreign    *ledger.Foreign `json:"foreign,omitempty"`
	// Rebooked records who charged it again after a ledger had lost it, and why.
	Rebooked  *ledger.Act  `json:"rebooked,omitempty"`
	Approvals []ledger.Act `json:"approvals"`
	// Period is the period to which it is charged; empty if the budget does not renew.
	Period string `json:"period,omitempty"`
}

// Show returns the statement of a data set. An event that cannot be priced shows
// as infinite.
func Show(ctx context.Context, l Books, dataset string) (out Statement, err error) {
	v, err := l.View(ctx, dataset)
	if err != nil {
		return out, err
	}
	out = Statement{Name: v.Name, Public: v.Public, Unit: v.Unit, RowsPerUnit: v.RowsPerUnit, Relation: v.Relation,
		Created: v.Created, Granted: v.Granted, Frozen: v.Frozen, Head: v.Head, Analysts: []Analyst{}, Entries: []Entry{},
		Reconciled: v.Reconciled, SeededRuns: v.SeededRuns, Cleared: v.Cleared, Different: v.Different}
	prices := pricerOf(v)
	for _, e := range prices.entries {
		p := prices.one(e.Charged.Event, e.Event)
		out.Entries = append(out.Entries, Entry{ID: e.ID, Plan: e.Plan, State: e.State, At: e.At, By: e.By, Stages: e.Stages, Event: e.Event, Epsilon: p.epsilon, Method: p.method,
			NotPrivate: e.NotPrivate, Assignment: e.Assignment, Foreign: e.Foreign, Rebooked: e.Rebooked, Approvals: e.Approvals, Period: nameOf(v.Per, e.When)})
	}
	everything := prices.atOnce(v.Charged(""))
	out.AtOnce = AtOnce{everything.epsilon, everything.method}
	if v.Granted == nil {
		out.Standing = prices.unlimited(everything)
		return out, nil
	}
	if out.Standing, err = standing(v, v.Budget()); err != nil {
		return out, err
	}
	if out.Renewal, err = renewal(v, prices.entries); err != nil {
		return out, err
	}
	// What holds although plans followed outputs holds for one plan.
	if all := out.Spent.Epsilon + out.Reserved.Epsilon; out.AtOnce.Epsilon > all {
		out.AtOnce = AtOnce{ledger.NumberOf(ledger.RoundUp(float64(all), nil)), "filter"}
	}
	for _, share := range v.Shares() {
		a := Analyst{Name: share.User, Granted: share.Act}
		if a.Standing, err = standing(v, share); err != nil {
			return out, err
		}
		out.Analysts = append(out.Analysts, a)
	}
	return out, nil
}

// unlimited is the standing without a budget: there is no filter, and the bound of
// all entries at once stands in.
func (p *pricer) unlimited(everything price) Standing {
	spent := p.atOnce(p.v.Charged(ledger.Committed)).epsilon
	at := func(x ledger.Number) Spend { return Spend{Epsilon: x, Delta: ledger.Number(p.delta)} }
	inf := at(ledger.Number(math.Inf(1)))
	return Standing{Total: inf, Spent: at(spent), Reserved: at(less(everything.epsilon, spent)), Left: inf}
}

func standing(v *ledger.View, p ledger.Purse) (Standing, error) {
	spent, err := cost(v, p, ledger.Committed)
	if err != nil {
		return Standing{}, err
	}
	all, err := cost(v, p, "")
	if err != nil {
		return Standing{}, err
	}
	total := p.Epsilon.Rat()
	if p.AllAdmitted() {
		// One door may have held for some units and another for the rest, and a first plan
		// may have used its own bound: then no single sum says it, and the total is what holds.
		spent, all = atMost(spent, total), atMost(all, total)
	}
	at := func(r *big.Rat) Spend {
		return Spend{Epsilon: ledger.NumberOf(r), Delta: ledger.Number(p.Delta.Float64())}
	}
	return Standing{Total: at(total), Spent: at(spent), Reserved: at(minus(all, spent)), Left: at(minus(total, all)),
		Exceeded: all == nil || all.Cmp(total) > 0}, nil
}

// cost is what the charged events of a purse add up to: by the filter, or with a
// single entry by its own bound, as Reserve decides.
func cost(v *ledger.View, p ledger.Purse, only ledger.EntryState) (*big.Rat, error) {
	events := p.Charged(only)
	if len(events) == 0 {
		return new(big.Rat), nil
	}
	if len(events) == 1 && len(p.Charged("")) == 1 {
		epsilon, _, err := v.Accountant.Epsilon(events[0].Event, v.Relation, p.Delta.Float64())
		if err != nil {
			return nil, nil // +Inf
		}
		return ledger.RoundUp(epsilon, &p.Epsilon), nil
	}
	account, err := ledger.AccountOf(v.Accountant, p.Cap, v.Relation, events)
	if err != nil {
		return nil, fmt.Errorf("reading the account of %q: %w", v.Name, err)
	}
	x, err := account.Spent()
	if err != nil {
		return nil, fmt.Errorf("reading the account of %q: %w", v.Name, err)
	}
	return ledger.RoundUp(x, &p.Epsilon), nil
}

// atMost returns the smaller one; nil is +Inf.
func atMost(a, b *big.Rat) *big.Rat {
	if a == nil || a.Cmp(b) > 0 {
		return b
	}
	return a
}

// minus returns max(0, a − b); nil is +Inf, and anything minus +Inf is 0.
func minus(a, b *big.Rat) *big.Rat {
	switch {
	case b == nil:
		return new(big.Rat)
	case a == nil:
		return nil
	case a.Cmp(b) <= 0:
		return new(big.Rat)
	}
	return new(big.Rat).Sub(a, b)
}

// less returns max(0, n − m) in shown digits; anything less +Inf is 0.
func less(n, m ledger.Number) ledger.Number {
	switch {
	case math.IsInf(float64(m), 1):
		return 0
	case math.IsInf(float64(n), 1):
		return n
	}
	return ledger.NumberOf(minus(ledger.RoundUp(float64(n), nil), ledger.RoundUp(float64(m), nil)))
}
