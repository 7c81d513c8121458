package sealed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// ErrNotReserved is returned if a mechanism requests rows with an event that
// the permit does not hold, or has already used.
var ErrNotReserved = errors.New("event was not reserved in the ledger")

// Permit is the right to run the events of one reservation, each once. Only packages under core/
// can make one, and only the ledger does.
//
// A Permit turns "charge before touching data" into a data structure: rows open only against an
// equal event that was charged and is still unused, so a mechanism with less noise, more steps or a
// second run finds no event to take.
//
// It also owns the randomness. Taking an event gives the stream of that event only, so no caller
// can choose a mechanism's noise, use it twice or hide that it came from a seed.
//
// The zero Permit holds nothing. A copy is an alias: it takes from the same events, and never gets
// a stream that was already taken.
type Permit struct {
	terms
	*streams
}

// streams are what a permit counts by itself.
type streams struct {
	root *entropy.Source // never read: all streams are children of it
	pool *pool
	// child: of another permit, which outlives it.
	child bool

	// Guarded by pool.mu.
	taken  map[string]uint64  // by label of the stream: how often it was taken
	handed map[childName]bool // children that were handed out
	closed bool
}

// terms are what a permit and its children share for good.
type terms struct {
	id       string
	dataset  string
	relation dp.Relation
	maxRows  int
	// assignment of units to scopes that the scopes of the events belong to.
	assignment Assignment
}

// pool holds the reserved events, for a permit and all its children.
type pool struct {
	mu     sync.Mutex
	items  []item
	opened bool
	closed bool
}

type childName struct {
	label string
	n     uint64
}

type item struct {
	scope dp.Scope
	event dp.Event
	used  bool
}

// NewPermit splits event (a Compose of Scoped events, or one event) into items
// that can each be taken once. src is the root of the permit's streams; it must serve
// no other permit, unless both run the same computation on the same rows.
func NewPermit(id, dataset string, relation dp.Relation, maxRows int, event dp.Event, src *entropy.Source) (*Permit, error) {
	if !relation.Valid() {
		return nil, fmt.Errorf("permit: %v is not a neighbouring relation", relation)
	}
	if maxRows < 1 {
		return nil, fmt.Errorf("permit: rows per unit must be at least 1")
	}
	if src == nil {
		return nil, errors.New("permit: a source of randomness is required")
	}
	if err := event.Validate(); err != nil {
		return nil, err
	}
	p := &Permit{terms: terms{id: id, dataset: dataset, relation: relation, maxRows: maxRows}, streams: &streams{root: src, pool: &pool{}}}
	p.pool.add(dp.WholeScope, event)
	return p, nil
}

// Assign binds a permit to the rows for which it was priced, before it is issued.
func Assign(p *Permit, a Assignment) *Permit {
	p.assignment = a
	return p
}

func (p *pool) add(scope dp.Scope, event dp.Event) {
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

// take consumes one reserved item of equal scope and event, and returns the stream
// of this taking: a child of the permit's root, named by scope, event and the number
// of equal takings of this permit before it. Whoever takes the same events again from
// a permit of the same root gets the same streams, and no two takings share one. The
// stream begins when it is first asked for.
func (p *Permit) take(scope dp.Scope, event dp.Event) (func() *entropy.Source, error) {
	if p.streams == nil {
		return nil, ErrNotReserved
	}
	label, err := streamOf(scope, event)
	if err != nil {
		return nil, err
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.closed || p.pool.closed {
		return nil, fmt.Errorf("permit %s is closed: %w", p.id, ErrNotReserved)
	}
	// An equal event first: one that covers it may be somebody else's, who runs beside.
	for _, pays := range []func(reserved, wanted dp.Event) bool{equal, covers} {
		for i := range p.pool.items {
			it := &p.pool.items[i]
			if !it.used && it.scope == scope && pays(it.event, event) {
				it.used = true
				p.pool.opened = true
				if p.taken == nil {
					p.taken = map[string]uint64{}
				}
				n := p.taken[label]
				p.taken[label]++
				return sync.OnceValue(func() *entropy.Source { return p.root.Split(label, n) }), nil
			}
		}
	}
	return nil, fmt.Errorf("%s on %s: %w", dp.KindOf(event), scope, ErrNotReserved)
}

// Children of a root have labels that begin with one of these, so no name that a
// caller chooses meets the stream of an event.
const (
	eventStream   = "event "
	childStream   = "child "
	outsideStream = "outside "
)

// streamOf names the stream of an event by what was wanted, not by what paid for it.
func streamOf(scope dp.Scope, event dp.Event) (string, error) {
	encoded, err := dp.EncodeEvent(event)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReserved, err) // what has no encoding was not booked
	}
	// Adding 0 makes −0 the 0 that it equals.
	b := binary.LittleEndian.AppendUint64(nil, math.Float64bits(scope.Lower+0))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(scope.Upper+0))
	sum := sha256.Sum256(append(b, encoded...))
	return eventStream + hex.EncodeToString(sum[:]), nil
}

// Child returns a permit that takes from the same reserved events, with its own streams: for trials
// that run concurrently, or of which some may be skipped when a study continues. Its streams depend
// only on label, n and what it takes, so those of a trial are the same in any order of trials. Each
// label and n is issued once: a second request is an error, since two trials would share their
// noise.
func (p *Permit) Child(label string, n uint64) (*Permit, error) {
	if p.streams == nil {
		return nil, ErrNotReserved
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	name := childName{label, n}
	if p.handed[name] {
		return nil, fmt.Errorf("permit %s: part %q %d was handed out before, and a second one would have its noise", p.id, label, n)
	}
	if p.handed == nil {
		p.handed = map[childName]bool{}
	}
	p.handed[name] = true
	return &Permit{terms: p.terms, streams: &streams{root: p.root.Split(childStream+label, n), pool: p.pool, child: true, closed: p.closed}}, nil
}

// Randomness returns a stream for computations without rows of the data set: first weights,
// candidates, sets of features, simulations on public rows. It is never the stream of an event,
// whatever the label. The same name gives the same stream again.
func (p *Permit) Randomness(label string, n ...uint64) *entropy.Source {
	if p.streams == nil {
		return new(entropy.Source) // panics on every use
	}
	return p.root.Split(outsideStream+label, n...)
}

// Seeded reports whether the noise under this permit follows from a seed: what it
// releases is NOT PRIVATE.
func (p *Permit) Seeded() bool { return p.streams != nil && p.root.Seeded() }

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

// Runs consumes a reserved Select. It returns the stream of the selection, from which
// the number of runs and the candidates are drawn, and a function that makes the fresh
// permit of run i, once for each i: it holds the events of the base run and has
// streams that depend on i alone.
func Runs(p *Permit, sel dp.Select) (*entropy.Source, func(i int) (*Permit, error), error) {
	stream, err := p.take(dp.WholeScope, sel)
	if err != nil {
		return nil, nil, err
	}
	src := stream()
	var mu sync.Mutex
	made := map[int]bool{}
	return src, func(i int) (*Permit, error) {
		mu.Lock()
		defer mu.Unlock()
		if made[i] {
			return nil, fmt.Errorf("permit %s: run %d has its permit", p.id, i)
		}
		made[i] = true
		one, err := NewPermit(p.id, p.dataset, p.relation, p.maxRows, sel.Event, src.Split("run", uint64(i)))
		if err != nil {
			return nil, err
		}
		return Assign(one, p.assignment), nil
	}, nil
}

// Opened reports whether rows may have been read under this permit or a child of it.
func (p *Permit) Opened() bool {
	if p.streams == nil {
		return false
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return p.pool.opened
}

// Close ends the permit: neither it nor its children can take anything afterwards.
func (p *Permit) Close() {
	if p.streams == nil {
		return
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.closed = true
	if !p.child {
		p.pool.closed = true
	}
}

// ID returns the name of the reservation in the ledger.
func (p *Permit) ID() string { return p.id }

// Dataset returns the name of the data set whose budget was charged.
func (p *Permit) Dataset() string { return p.dataset }

// Relation returns the neighbouring relation of the reservation.
func (p *Permit) Relation() dp.Relation { return p.relation }

// MaxRows returns the number of rows per unit for which the reservation was priced.
func (p *Permit) MaxRows() int { return p.maxRows }

// RowsApart returns the largest number of rows in which two neighbouring data sets differ, added
// and removed rows together: MaxRows, and twice that under ReplaceOne, where the rows of another
// unit replace those of one. By the triangle inequality, RowsApart times the largest change by one
// row bounds the change of every sum over rows.
func (p *Permit) RowsApart() int {
	if p.relation == dp.ReplaceOne {
		return 2 * p.maxRows
	}
	return p.maxRows
}
