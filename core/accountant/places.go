package accountant

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"pawl/core/dp"
)

// A cost is what events add up to: exact and never negative.
type cost[T any] interface {
	plus(T) T
	most(T) T // the larger of each part
	zero() bool
}

// places are costs on the segments of the unit hash: a step function on [0, 1), sorted, the
// first from 0.
type places[T cost[T]] struct {
	from []float64
	cost []T
}

func (p places[T]) at(point float64) T {
	i, found := slices.BinarySearch(p.from, point)
	if !found {
		i--
	}
	return p.cost[i]
}

func (p places[T]) plus(o places[T]) (out places[T]) {
	points := slices.Concat(p.from, o.from)
	slices.Sort(points)
	out.from = slices.Compact(points)
	for _, x := range out.from {
		out.cost = append(out.cost, p.at(x).plus(o.at(x)))
	}
	return out
}

// most is the dearest place, in each cost.
func (p places[T]) most() T {
	worst := p.cost[0]
	for _, c := range p.cost[1:] {
		worst = worst.most(c)
	}
	return worst
}

// sheet holds what was added by class: events whose scopes belong to one assignment of units to
// scopes (see Filter).
type sheet[T cost[T]] struct {
	rel     dp.Relation
	nothing T
	price   func(parts []part) (T, error)
	classes map[string]places[T]
	known   map[string]places[T] // costs of events, by their text
	// added says that only what was added is remembered, since prices depend on that.
	added bool
}

func newSheet[T cost[T]](rel dp.Relation, nothing T, price func([]part) (T, error)) sheet[T] {
	return sheet[T]{rel: rel, nothing: nothing, price: price, classes: map[string]places[T]{}, known: map[string]places[T]{}}
}

// maxKnown bounds what is remembered of prices.
const maxKnown = 1 << 12

func (t *sheet[T]) add(class string, e dp.Event, cost places[T]) {
	if len(cost.from) == 1 {
		class = "" // it costs every unit the same: no class need remember it
	}
	t.classes[class] = t.of(class).plus(cost)
	t.remember(fmt.Sprintf("%#v", e), cost)
}

func (t *sheet[T]) remember(key string, cost places[T]) {
	if len(t.known) < maxKnown {
		t.known[key] = cost
	}
}

// cost is what an event adds on each segment of the unit hash.
func (t *sheet[T]) cost(e dp.Event) (out places[T], err error) {
	if err := valid(e, t.rel); err != nil {
		return out, err
	}
	key := fmt.Sprintf("%#v", e)
	if known, ok := t.known[key]; ok {
		return known, nil
	}
	for _, point := range pointsOf(e, t.rel) {
		parts, err := partsAt(e, t.rel, point)
		if err != nil {
			return out, err
		}
		c, err := t.price(parts)
		if err != nil {
			return out, err
		}
		out.from, out.cost = append(out.from, point), append(out.cost, c)
	}
	if !t.added {
		t.remember(key, out)
	}
	return out, nil
}

func (t *sheet[T]) of(class string) places[T] {
	if p, ok := t.classes[class]; ok {
		return p
	}
	return places[T]{[]float64{0}, []T{t.nothing}}
}

// besides is the sum over the other classes of the largest of each cost.
func (t *sheet[T]) besides(class string) T {
	total := t.nothing
	for name, p := range t.classes {
		if name != class {
			total = total.plus(p.most())
		}
	}
	return total
}

// agree makes figures that are rounded agree with a decision that is not: an event is admitted
// exactly if need <= left.
func agree(admitted bool, need, left float64) (bool, float64, float64, error) {
	if left = math.Max(0, left); admitted && need > left {
		left = need
	} else if !admitted && need <= left {
		left = math.Max(0, math.Nextafter(need, -1))
	}
	return admitted, need, left, nil
}

// valid refuses what is no event or no relation.
func valid(e dp.Event, rel dp.Relation) error {
	switch {
	case e == nil:
		return fmt.Errorf("%w: event is missing", dp.ErrInvalidEvent)
	case !rel.Valid():
		return fmt.Errorf("%v is not a neighboring relation", rel)
	}
	return e.Validate()
}

// pointsOf has a point of each segment of the unit hash on which an event differs. Under
// ReplaceOne scopes bring no parallel composition: there is one segment.
func pointsOf(e dp.Event, rel dp.Relation) []float64 {
	if rel == dp.ReplaceOne {
		return []float64{0}
	}
	return dp.Breakpoints(e)
}

func partsAt(e dp.Event, rel dp.Relation, point float64) ([]part, error) {
	if rel == dp.ReplaceOne {
		return flatten(dp.Unscoped(e), rel)
	}
	return flatten(dp.Resolve(e, point), rel)
}

// resolveAll returns the parts of the event for every kind of unit, without repeats.
func resolveAll(e dp.Event, rel dp.Relation) (all [][]part, err error) {
	if err := valid(e, rel); err != nil {
		return nil, err
	}
	for _, point := range pointsOf(e, rel) {
		parts, err := partsAt(e, rel, point)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(p []part) bool { return reflect.DeepEqual(p, parts) }) {
			all = append(all, parts)
		}
	}
	return all, nil
}

// memo remembers values of a function of its key alone, at most so many; errors are not kept.
type memo[K comparable, V any] struct {
	sync.Mutex
	most  int
	known map[K]V
}

func (m *memo[K, V]) get(key K, compute func() (V, error)) (V, error) {
	m.Lock()
	x, ok := m.known[key]
	m.Unlock()
	if ok {
		return x, nil
	}
	x, err := compute()
	if err != nil {
		return x, err
	}
	m.Lock()
	defer m.Unlock()
	if len(m.known) >= m.most || m.known == nil {
		m.known = map[K]V{}
	}
	m.known[key] = x
	return x, nil
}
