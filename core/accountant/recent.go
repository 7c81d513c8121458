package accountant

import (
	"maps"
	"math"
	"sync"

	"pawl/core/dp"
)

// recent keeps the last results, by all that they depend on: one job asks for the cost of
// the same event where it is planned, foretold, charged and stated, and runs that are
// compared differ by their seeds alone. Nothing of it depends on data.
var recent struct {
	sync.Mutex
	known map[question]Result
	order [256]question // a ring of the keys of known
	next  int
}

// question is what a result depends on; event is its one spelling as JSON, in which
// numbers are exact.
type question struct {
	event string
	rel   dp.Relation
	delta float64
	want  want
}

// once answers from the recent results, or computes and keeps. Errors are not kept.
func once(e dp.Event, rel dp.Relation, delta float64, w want, compute func() (Result, error)) (Result, error) {
	text, err := dp.EncodeEvent(e)
	if err != nil || len(text) > 1<<16 || math.IsNaN(delta) {
		// Not an event, for compute to say why, or too long to keep; NaN is no key of a map.
		return compute()
	}
	q := question{string(text), rel, delta, w}
	recent.Lock()
	r, ok := recent.known[q]
	recent.Unlock()
	if !ok {
		if r, err = compute(); err != nil {
			return r, err
		}
		recent.Lock()
		if recent.known == nil {
			recent.known = make(map[question]Result)
		}
		delete(recent.known, recent.order[recent.next])
		recent.known[q], recent.order[recent.next] = r, q
		recent.next = (recent.next + 1) % len(recent.order)
		recent.Unlock()
	}
	r.Bounds = maps.Clone(r.Bounds)
	return r, nil
}
