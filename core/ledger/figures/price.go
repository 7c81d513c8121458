package figures

import (
	"math"

	"pawl/core/dp"
	"pawl/core/ledger"
)

// The smallest bound of a long training takes a tenth of a second, and a statement
// may have thousands of entries that decide nothing any more. Up to this many
// different events it prices each and all together so; beyond, by the accounts of
// filters, which are larger and take a millisecond, and beyond pricedRoughly by that
// of the budget's own. The method is named.
const (
	pricedExactly = 12
	pricedRoughly = 300
)

// filterSizes are the budgets whose filters price roughly. Each fixes one Rényi
// order and gives a valid bound; the orders of these lie where the best ones of
// trainings do.
var filterSizes = []float64{0.3, 1, 2, 4, 10, 40, 200}

type price struct {
	epsilon ledger.Number
	method  string
}

// pricer prices the events of one statement.
type pricer struct {
	v       *ledger.View
	entries []ledger.Entry
	delta   float64
	sizes   []float64        // of the filters that price; nil: exactly
	known   map[string]price // by event
}

// pricerOf prices at the delta of the budget; without one, at the largest that was asked for.
func pricerOf(v *ledger.View) *pricer {
	p := &pricer{v: v, entries: v.Entries(), known: map[string]price{}}
	different := map[string]bool{}
	for _, e := range p.entries {
		different[string(e.Event)] = true
		p.delta = max(p.delta, e.Delta.Float64())
	}
	if v.Granted != nil {
		p.delta = v.Budget().Delta.Float64()
	}
	if len(different) > pricedExactly {
		p.sizes = filterSizes
		if v.Granted != nil {
			// With the budget's own filter among them "at once" is never above "spent".
			p.sizes = append([]float64{v.Budget().Epsilon.Float64()}, filterSizes...)
		}
		if len(different) > pricedRoughly {
			p.sizes = p.sizes[:1]
		}
	}
	return p
}

// one prices an event; text is its stored form.
func (p *pricer) one(e dp.Event, text []byte) price {
	x, ok := p.known[string(text)]
	if !ok {
		if p.sizes == nil {
			x = p.exactPrice(e)
		} else {
			x = p.roughPrice(ledger.Assigned{Event: e})
		}
		p.known[string(text)] = x
	}
	return x
}

// atOnce prices events as one plan.
func (p *pricer) atOnce(events []ledger.Assigned) price {
	switch {
	case len(events) == 0:
		return price{}
	case p.sizes != nil:
		return p.roughPrice(events...)
	}
	var dearest price
	for _, all := range together(events, p.v.Relation) {
		if x := p.exactPrice(all); !(x.epsilon < dearest.epsilon) {
			dearest = x
		}
	}
	return dearest
}

// roughPrice is the smallest of what the filters count for the events.
func (p *pricer) roughPrice(events ...ledger.Assigned) price {
	least := math.Inf(1)
	for _, size := range p.sizes {
		account, err := ledger.AccountOf(p.v.Accountant, ledger.Cap{Epsilon: size, Delta: p.delta}, p.v.Relation, events)
		if err != nil {
			continue
		}
		if x, err := account.Spent(); err == nil && x < least {
			least = x
		}
	}
	return price{ledger.NumberOf(ledger.RoundUp(least, nil)), "filter"}
}

// exactPrice is quick for what the accountant priced lately.
func (p *pricer) exactPrice(e dp.Event) price {
	epsilon, method, err := p.v.Accountant.Epsilon(e, p.v.Relation, p.delta)
	if err != nil {
		return price{epsilon: ledger.Number(math.Inf(1))}
	}
	return price{ledger.NumberOf(ledger.RoundUp(epsilon, nil)), method}
}

// mostPlaces bounds the places of units that together looks at one by one.
const mostPlaces = 64

// together lists compositions of all events of which the dearest bounds what a unit may
// pay. Where all scopes belong to one assignment there is one, with its scopes. Else a
// unit has a place in each assignment, independently: one composition for each choice
// of places, or, where these are many, one in which every unit is in all scopes.
//
// Under ReplaceOne there is one as well: the old unit and the new one may lie in any scope,
// and the accountant adds everything.
func together(events []ledger.Assigned, relation dp.Relation) []dp.Event {
	if len(events) == 1 {
		return []dp.Event{events[0].Event}
	}
	var all []dp.Event
	if relation == dp.ReplaceOne {
		for _, e := range events {
			all = append(all, e.Event)
		}
		return []dp.Event{dp.Compose{Events: all}}
	}
	var names []string
	of := map[string][]dp.Event{}
	for _, e := range events {
		all = append(all, e.Event)
		if len(dp.Breakpoints(e.Event)) > 1 && of[e.Assignment] == nil {
			names = append(names, e.Assignment)
		}
		if len(dp.Breakpoints(e.Event)) > 1 {
			of[e.Assignment] = append(of[e.Assignment], e.Event)
		}
	}
	if len(names) <= 1 {
		return []dp.Event{dp.Compose{Events: all}}
	}
	places, points := 1, map[string][]float64{}
	for _, name := range names {
		points[name] = dp.Breakpoints(dp.Compose{Events: of[name]})
		if places *= len(points[name]); places > mostPlaces {
			return []dp.Event{dp.Unscoped(dp.Compose{Events: all})}
		}
	}
	out := make([]dp.Event, places)
	for i := range out {
		at, rest := map[string]float64{}, i
		for _, name := range names {
			at[name] = points[name][rest%len(points[name])]
			rest /= len(points[name])
		}
		one := make([]dp.Event, len(events))
		for k, e := range events {
			one[k] = e.Event
			if x, scoped := at[e.Assignment]; scoped {
				one[k] = dp.Resolve(e.Event, x)
			}
		}
		out[i] = dp.Compose{Events: one}
	}
	return out
}
