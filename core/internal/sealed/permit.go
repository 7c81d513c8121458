package sealed

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"pawl/core/dp"
)

// ErrNotReserved is returned when a mechanism asks for rows with an event that
// the permit does not hold, or has already used.
var ErrNotReserved = errors.New("event was not reserved in the ledger")

// Permit is the right to run the events of one reservation, each once. Only
// packages under core/ can make one, and the ledger is the only one that does.
//
// A Permit turns "charge before touching data" into a data structure: rows open
// only against an event of equal value that was booked and is still unused, so a
// mechanism with less noise, more steps or a second run finds no event to take.
type Permit struct {
	id       string
	dataset  string
	relation dp.Relation
	maxRows  int
	// assignment of units to scopes that the scopes of the events belong to.
	assignment Assignment

	mu     sync.Mutex
	items  []item
	opened bool
	closed bool
}

type item struct {
	scope dp.Scope
	event dp.Event
	used  bool
}

// NewPermit splits event (a Compose of Scoped events, or one event) into items
// that can each be taken once.
func NewPermit(id, dataset string, relation dp.Relation, maxRows int, event dp.Event) (*Permit, error) {
	if !relation.Valid() {
		return nil, fmt.Errorf("permit: %v is not a neighboring relation", relation)
	}
	if maxRows < 1 {
		return nil, fmt.Errorf("permit: rows per unit must be at least 1")
	}
	p := &Permit{id: id, dataset: dataset, relation: relation, maxRows: maxRows}
	if err := event.Validate(); err != nil {
		return nil, err
	}
	p.add(dp.WholeScope, event)
	return p, nil
}

// Assign binds a permit to the rows that it was priced for, before it is handed out.
func Assign(p *Permit, a Assignment) *Permit {
	p.assignment = a
	return p
}

func (p *Permit) add(scope dp.Scope, event dp.Event) {
	switch e := event.(type) {
	case dp.Compose:
		for _, c := range e.Events {
			p.add(scope, c)
		}
	case dp.Scoped:
		p.add(e.Scope, e.Event)
	case dp.NoOp:
	default:
		p.items = append(p.items, item{scope: scope, event: event})
	}
}

// take consumes one reserved item of equal scope and event.
func (p *Permit) take(scope dp.Scope, event dp.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("permit %s is closed: %w", p.id, ErrNotReserved)
	}
	// An equal event first: one that covers it may be somebody else's, who runs beside.
	for _, pays := range []func(reserved, wanted dp.Event) bool{equal, covers} {
		for i := range p.items {
			it := &p.items[i]
			if !it.used && it.scope == scope && pays(it.event, event) {
				it.used = true
				p.opened = true
				return nil
			}
		}
	}
	return fmt.Errorf("%s on %s: %w", event.Kind(), scope, ErrNotReserved)
}

func equal(reserved, wanted dp.Event) bool { return reflect.DeepEqual(reserved, wanted) }

// covers reports whether a reservation of one event pays for another: equal
// events, or two compositions of full-batch Gaussian releases of which the second
// has no more precision (Σ count/multiplier²). The number of steps may then
// follow a rule without a new reservation; the guarantee does not change.
func covers(reserved, wanted dp.Event) bool {
	if equal(reserved, wanted) {
		return true
	}
	r, okR := precision(reserved)
	w, okW := precision(wanted)
	return okR && okW && w <= r
}

func precision(e dp.Event) (float64, bool) {
	count := 1.0
	if rep, ok := e.(dp.Repeat); ok {
		if rep.Count < 1 {
			return 0, false
		}
		count, e = float64(rep.Count), rep.Event
	}
	g, ok := e.(dp.Gaussian)
	if !ok || !(g.NoiseMultiplier > 0) {
		return 0, false
	}
	return count / g.NoiseMultiplier / g.NoiseMultiplier, true
}

// Runs consumes a reserved Select and returns a function that makes one fresh
// permit for each of its runs, holding the events of the base run.
func Runs(p *Permit, sel dp.Select) (func() (*Permit, error), error) {
	if err := p.take(dp.WholeScope, sel); err != nil {
		return nil, err
	}
	return func() (*Permit, error) {
		one, err := NewPermit(p.id, p.dataset, p.relation, p.maxRows, sel.Event)
		if err != nil {
			return nil, err
		}
		return Assign(one, p.assignment), nil
	}, nil
}

// Opened reports whether rows may have been read under this permit.
func (p *Permit) Opened() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.opened }

// Close ends the permit: nothing can be taken any more.
func (p *Permit) Close() { p.mu.Lock(); p.closed = true; p.mu.Unlock() }

// ID names the reservation in the ledger.
func (p *Permit) ID() string { return p.id }

// Dataset names the data set whose budget was charged.
func (p *Permit) Dataset() string { return p.dataset }

// Relation is the neighbouring relation of the reservation.
func (p *Permit) Relation() dp.Relation { return p.relation }

// MaxRows is the number of rows per unit that the reservation was priced for.
func (p *Permit) MaxRows() int { return p.maxRows }

// RowsApart is the largest number of rows in which two neighbouring data sets
// differ, added and removed ones counted alike: MaxRows, and twice that under
// ReplaceOne, where the rows of one unit leave and those of another enter. By the
// triangle inequality RowsApart times what one row can change bounds every sum
// over rows.
func (p *Permit) RowsApart() int {
	if p.relation == dp.ReplaceOne {
		return 2 * p.maxRows
	}
	return p.maxRows
}
