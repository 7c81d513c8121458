package accountant

import (
	"maps"
	"math"
	"sync"

	"pawl/core/dp"
)

// recent keeps results, by all that they depend on: one job asks for the cost of
// the same event where it is planned, foretold, charged and stated, and runs that are
// compared differ by their seeds alone. Nothing of it depends on data.
var recent = memo[asked, Result]{most: 1 << 10}

// asked is what a result depends on; event is its one spelling as JSON, in which
// numbers are exact.
type asked struct {
	event string
	rel   dp.Relation
	question
	want want
}

// once answers from the recent results, or computes and keeps.
func once(e dp.Event, rel dp.Relation, q question, w want, compute func() (Result, error)) (Result, error) {
	text, err := dp.EncodeEvent(e)
	if err != nil || len(text) > 1<<16 || math.IsNaN(q.at) {
		// Not an event, for compute to say why, or too long to keep; NaN is no key of a map.
		return compute()
	}
	r, err := recent.get(asked{string(text), rel, q, w}, compute)
	r.Bounds = maps.Clone(r.Bounds)
	return r, err
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
