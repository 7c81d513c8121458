package accountant

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"pawl/core/dp"
)

// places are costs on the segments of the unit hash: a step function on [0, 1), sorted, the
// first from 0.
type places struct {
	from []float64
	cost []costs
}

func (p places) at(point float64) costs {
	i, found := slices.BinarySearch(p.from, point)
	if !found {
		i--
	}
	return p.cost[i]
}

func (p places) plus(o places) (out places) {
	points := slices.Concat(p.from, o.from)
	slices.Sort(points)
	out.from = slices.Compact(points)
	for _, x := range out.from {
		out.cost = append(out.cost, p.at(x).plus(o.at(x)))
	}
	return out
}

// most is the dearest place, in each cost.
func (p places) most() costs {
	worst := p.cost[0]
	for _, c := range p.cost[1:] {
		worst = worst.most(c)
	}
	return worst
}

// sheet holds what was added by class: events whose scopes belong to one assignment of units to
// scopes (see Filter).
type sheet struct {
	rel     dp.Relation
	price   func(parts []part) (costs, error)
	classes map[string]places
	known   map[string]places // costs of events, by their text
	// added says that only what was added is remembered, since prices depend on that.
	added bool
}

func newSheet(rel dp.Relation, price func([]part) (costs, error)) sheet {
	return sheet{rel: rel, price: price, classes: map[string]places{}, known: map[string]places{}}
}

// maxKnown bounds what is remembered of prices.
const maxKnown = 1 << 12

func (t *sheet) add(class string, e dp.Event, cost places) {
	if len(cost.from) == 1 {
		class = "" // it costs every unit the same: no class need remember it
	}
	t.classes[class] = t.of(class).plus(cost)
	t.remember(fmt.Sprintf("%#v", e), cost)
}

func (t *sheet) remember(key string, cost places) {
	if len(t.known) < maxKnown {
		t.known[key] = cost
	}
}

// cost is what an event adds on each segment of the unit hash.
func (t *sheet) cost(e dp.Event) (out places, err error) {
	key := fmt.Sprintf("%#v", e)
	if known, ok := t.known[key]; ok {
		return known, nil
	}
	from, all, err := segments(e, t.rel)
	for i := 0; err == nil && i < len(all); i++ {
		var c costs
		c, err = t.price(all[i])
		out.from, out.cost = append(out.from, from[i]), append(out.cost, c)
	}
	if err != nil {
		return places{}, err
	}
	if !t.added {
		t.remember(key, out)
	}
	return out, nil
}

func (t *sheet) of(class string) places {
	if p, ok := t.classes[class]; ok {
		return p
	}
	return places{[]float64{0}, []costs{noCosts()}}
}

// besides is the sum over the other classes of the largest of each cost.
func (t *sheet) besides(class string) costs {
	total := noCosts()
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
	if admitted && need > left {
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
		return fmt.Errorf("%v is not a neighbouring relation", rel)
	}
	return e.Validate()
}

// segments has the start of each segment of the unit hash on which an event differs, with the
// parts that units there meet.
func segments(e dp.Event, rel dp.Relation) (from []float64, all [][]part, err error) {
	if err := valid(e, rel); err != nil {
		return nil, nil, err
	}
	at := func(point float64) dp.Event { return dp.Resolve(e, point) }
	if from = dp.Breakpoints(e); rel == dp.ReplaceOne {
		// Scopes bring no parallel composition: there is one segment.
		from, at = []float64{0}, func(float64) dp.Event { return dp.Unscoped(e) }
	}
	for _, point := range from {
		parts, err := flatten(at(point), rel)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, parts)
	}
	return from, all, nil
}

// resolveAll returns the parts of the event for every kind of unit, without repeats.
func resolveAll(e dp.Event, rel dp.Relation) (all [][]part, err error) {
	_, everywhere, err := segments(e, rel)
	for _, parts := range everywhere {
		if !slices.ContainsFunc(all, func(p []part) bool { return reflect.DeepEqual(p, parts) }) {
			all = append(all, parts)
		}
	}
	return all, err
}
