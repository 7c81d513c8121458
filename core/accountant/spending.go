package accountant

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"pawl/core/dp"
)

// rules are those of a filter: what events cost one unit, and which budget that needs.
type rules interface {
	// cheap is what the parts of an event cost at the doors that are fast, dearly what they cost at the others, without
	// end where that takes time unless compare.
	cheap(parts []part, rel dp.Relation) (costs, error)
	dearly(parts []part, rel dp.Relation, compare bool) (costs, error)
	// needs is the smallest epsilon that a sum of costs needs; of the cheap ones unless dear. One that is at most enough
	// need not be the smallest.
	needs(c costs, dear bool, enough float64) float64
}

// Spending is the running account of one budget. The time to add an event or ask about one depends
// on the size of that event and the number of distinct scope bounds and classes, not on the number
// of earlier events. It is not safe for concurrent use.
type Spending struct {
	doors   rules
	epsilon float64
	rel     dp.Relation
	// Costs of the doors that are fast, and of the others, which are priced when
	// they are asked for the first time: till then events wait.
	cheap, dear sheet
	opened      bool
	waiting     []classed
	slow        bool            // something added has a price in dear that takes time
	compared    map[string]bool // what of it has one
}

type classed struct {
	class string
	event dp.Event
}

// start returns an empty account of a budget.
func start(by rules, epsilon float64, rel dp.Relation) (*Spending, error) {
	if !rel.Valid() {
		return nil, fmt.Errorf("%v is not a neighbouring relation", rel)
	}
	s := &Spending{doors: by, epsilon: epsilon, rel: rel, compared: map[string]bool{}}
	s.cheap = newSheet(rel, func(parts []part) (costs, error) { return by.cheap(parts, rel) })
	s.dear = newSheet(rel, s.dearly)
	s.dear.added = true
	return s, nil
}

// Add charges an event, admitted or not, whose scopes belong to a class.
func (s *Spending) Add(class string, e dp.Event) error {
	cost, err := s.cheap.cost(e)
	if err != nil {
		return err
	}
	if s.opened {
		if err := s.addDearly(class, e); err != nil {
			return err
		}
	} else {
		s.waiting = append(s.waiting, classed{class, e})
	}
	s.slow = s.slow || s.takesTime(e)
	s.cheap.add(class, e, cost)
	return nil
}

func (s *Spending) addDearly(class string, e dp.Event) error {
	cost, err := s.dear.cost(e)
	if err != nil {
		return err
	}
	for _, p := range s.partsOf(e) {
		if key := p.key(); !p.quick(s.rel) && len(s.compared) < mostComparisons {
			s.compared[key] = true
		}
	}
	s.dear.add(class, e, cost)
	return nil
}

// dearly is what the parts cost at the doors that are not fast: only so many take time.
func (s *Spending) dearly(parts []part) (costs, error) {
	dear := func(p part) bool { return !p.quick(s.rel) && !s.compared[p.key()] }
	return s.doors.dearly(parts, s.rel, len(s.compared) < mostComparisons || !slices.ContainsFunc(parts, dear))
}

// open prices what waits for it.
func (s *Spending) open() error {
	for len(s.waiting) > 0 {
		if err := s.addDearly(s.waiting[0].class, s.waiting[0].event); err != nil {
			return err
		}
		s.waiting = s.waiting[1:]
	}
	s.opened = true
	return nil
}

// partsOf lists what units anywhere meet of an event; none of a bad one.
func (s *Spending) partsOf(e dp.Event) (all []part) {
	places, _ := resolveAll(e, s.rel)
	return slices.Concat(places...)
}

func (s *Spending) takesTime(e dp.Event) bool {
	return slices.ContainsFunc(s.partsOf(e), func(p part) bool { return !p.quick(s.rel) })
}

func (s *Spending) of(dear bool, class string) places {
	p := s.cheap.of(class)
	if dear {
		p = p.plus(s.dear.of(class))
	}
	return p
}

func (s *Spending) besides(dear bool, class string) costs {
	c := s.cheap.besides(class)
	if dear {
		c = c.plus(s.dear.besides(class))
	}
	return c
}

// names lists the classes, in order; one that nothing is in where there are none.
func (s *Spending) names() []string {
	if len(s.cheap.classes) == 0 {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(s.cheap.classes))
}

// Epsilon returns the smallest epsilon that suffices at every place: the least total
// that, fixed in advance, would have admitted all events so far. The guarantee is the total, not
// this figure if plans follow from outputs. It is 0 for no events and +Inf if all doors are closed.
//
// A unit at place x in one class has paid at most the sum of costs there plus the largest of each
// cost in the other classes. This holds whichever class is examined place by place; the best one
// counts.
func (s *Spending) Epsilon() float64 {
	dear := s.open() == nil
	best := inf
	for _, class := range s.names() {
		others, worst := s.besides(dear, class), 0.0
		for _, c := range s.of(dear, class).cost {
			worst = math.Max(worst, s.doors.needs(c.plus(others), dear, 0))
		}
		best = math.Min(best, worst)
	}
	return best
}

// Admits reports whether next fits beside what was added. Among the units that next touches, the
// one with the least room decides: need is the epsilon that next adds for it, and left the epsilon
// that the budget still has for it. next is admitted exactly if need <= left. If slow doors were
// not needed to admit it, the figures are those of the other doors.
func (s *Spending) Admits(class string, next dp.Event) (admitted bool, need, left float64, err error) {
	if s.slow || s.takesTime(next) {
		if admitted, need, left, err = s.ask(false, class, next); err != nil || admitted {
			return admitted, need, left, err
		}
	}
	if err := s.open(); err != nil {
		return false, inf, 0, err
	}
	return s.ask(true, class, next)
}

// ask is Admits by all doors, or by the cheap ones.
func (s *Spending) ask(dear bool, class string, next dp.Event) (admitted bool, need, left float64, err error) {
	cost, err := s.cheap.cost(next)
	if err != nil {
		return false, inf, 0, err
	}
	all := cost
	if dear {
		more, err := s.dear.cost(next)
		if err != nil {
			return false, inf, 0, err
		}
		all = all.plus(more)
	}
	classes := []string{class}
	if len(cost.from) == 1 {
		classes = s.names()
	}
	worst, before := inf, inf
	for _, class := range classes {
		w, b, touched := s.after(dear, class, all)
		if !touched {
			return true, 0, math.Max(0, s.epsilon-s.Epsilon()), nil
		}
		if w <= worst {
			worst, before = w, b
		}
	}
	return agree(worst <= s.epsilon*(1+FilterResolution), less(worst, before), less(s.epsilon, before))
}

// after is what the dearest unit that an event of a class touches has paid with it, in
// epsilon, and without it; touched is false where there is no such unit.
func (s *Spending) after(dear bool, class string, cost places) (worst, before float64, touched bool) {
	sums, others := s.of(dear, class), s.besides(dear, class)
	for _, x := range sums.plus(cost).from {
		c := cost.at(x)
		if c.zero() {
			continue // a unit that is spent up does not stop an event elsewhere
		}
		old := sums.at(x).plus(others)
		if w := s.doors.needs(old.plus(c), dear, s.epsilon); !touched || !(w < worst) { // also if w is NaN, which nothing admits
			worst, before, touched = w, s.doors.needs(old, dear, s.epsilon), true
		}
	}
	return worst, before, touched
}
