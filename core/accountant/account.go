package accountant

import (
	"fmt"
	"math"

	"pawl/core/dp"
)

// Method names the accountant to use.
type Method string

const (
	// MethodMin takes the smallest of all valid bounds.
	MethodMin Method = "min"
	// MethodRDP takes only Rényi DP with the improved conversion.
	MethodRDP Method = "rdp"
	// MethodPLD takes only the privacy loss distribution. Selections, fixed-size samples, zCDP and
	// discrete Gaussian events enter by their Rényi profile; an event without one (random stopping)
	// costs +Inf.
	MethodPLD Method = "pld"
	// MethodQuick is MethodMin without the loss distribution, for the start of a search. ParseMethod
	// does not accept its name.
	MethodQuick Method = "quick"
)

// ParseMethod reads "min", "rdp" or "pld".
func ParseMethod(s string) (Method, error) {
	if m := Method(s); m != MethodQuick && wants[m] != (want{}) {
		return m, nil
	}
	return "", fmt.Errorf("unknown accountant %q (want min, rdp or pld)", s)
}

// Result is a guarantee and the method that found it.
type Result struct {
	Epsilon, Delta float64
	// Method names the smallest bound: "rdp", "pld", "analytic_gaussian", "pure" (the epsilons add
	// up), "kov" (optimal composition of equal mechanisms), "closed" (pure and approximate epsilons
	// plus one analytic Gaussian), "none" if every bound is infinite; with the prefix "group_" if a
	// unit is replaced by removing one and adding the other.
	Method string
	// Order is the Rényi order of the "rdp" bound, 0 if it was not computed.
	Order float64
	// Lower is a lower bound on the exact epsilon of the mechanism that the event names, from pairs
	// that some neighbours attain in all of its parts at once (package lower), by the optimistic
	// privacy loss distribution or an optimal closed form; 0 if there is none or it was not computed.
	// It shows how much a better accountant could still gain.
	Lower float64
	// Bounds holds every finite bound that was computed, on epsilon (or on delta, for Delta). If an
	// event has scopes, each is its largest value over the units, so Epsilon may be smaller than all
	// of them.
	Bounds map[string]float64
}

// want says which families of bounds to compute, and whether a lower bound too.
type want struct{ closed, rdp, pld, lower bool }

var wants = map[Method]want{
	MethodMin:   {closed: true, rdp: true, pld: true},
	MethodRDP:   {rdp: true},
	MethodPLD:   {pld: true},
	MethodQuick: {closed: true, rdp: true},
}

func wantOf(m Method) (want, error) {
	w, known := wants[m]
	if !known {
		return w, fmt.Errorf("unknown accountant %q", string(m))
	}
	return w, nil
}

// Epsilon returns the smallest proven epsilon of an event at delta in [0, 1]. The whole event must
// have been fixed before data was read. At delta = 0 only pure mechanisms have a finite epsilon; an
// unbounded cost is +Inf without an error. Errors: an invalid event, relation or delta, and a
// mechanism without a bound under the relation (ErrRelation).
func Epsilon(e dp.Event, rel dp.Relation, delta float64, which Method) (Result, error) {
	if !(delta >= 0 && delta <= 1) {
		return Result{}, fmt.Errorf("delta must lie in [0, 1]")
	}
	return ask(e, rel, question{at: delta}, which, true)
}

// Upper is Epsilon without the lower bound, which is slow to compute.
func Upper(e dp.Event, rel dp.Relation, delta float64, which Method) (Result, error) {
	return ask(e, rel, question{at: delta}, which, false)
}

// Delta returns the smallest proven delta of an event at epsilon in [0, +Inf). It is at most 1,
// which gives no protection.
func Delta(e dp.Event, rel dp.Relation, epsilon float64, which Method) (Result, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Result{}, fmt.Errorf("epsilon must be a finite number >= 0")
	}
	return ask(e, rel, question{epsilon, true}, which, false)
}

func ask(e dp.Event, rel dp.Relation, q question, which Method, lower bool) (Result, error) {
	w, err := wantOf(which)
	if err != nil {
		return Result{}, err
	}
	w.lower = lower
	return price(e, rel, q, w)
}

// price answers from the recent results, or computes.
func price(e dp.Event, rel dp.Relation, q question, w want) (Result, error) {
	return once(e, rel, q, w, func() (Result, error) {
		r, err := worstSegment(e, rel, q, w)
		if r.Epsilon, r.Delta = r.Delta, q.at; q.inverse {
			r.Epsilon, r.Delta = q.at, math.Min(1, r.Epsilon)
		}
		return r, err
	})
}

// worstSegment evaluates the bounds for every kind of unit and leaves the
// largest of the smallest in Result.Delta.
func worstSegment(e dp.Event, rel dp.Relation, q question, w want) (Result, error) {
	segments, err := resolveAll(e, rel)
	if err != nil {
		return Result{}, err
	}
	var worst Result
	for i, parts := range segments {
		a, err := newAccount(parts, rel)
		if err != nil {
			return Result{}, err
		}
		list, err := a.answer(q, w)
		if err != nil {
			return Result{}, err
		}
		best := least(list)
		r := Result{Delta: best.value, Method: best.name, Bounds: map[string]float64{}}
		for _, b := range list {
			r.Lower = math.Max(r.Lower, b.lower)
			if b.order > 0 && b.value < inf {
				r.Order = b.order
			}
			if v, ok := r.Bounds[b.name]; b.value < inf && (!ok || b.value < v) {
				r.Bounds[b.name] = b.value
			}
		}
		if i == 0 {
			worst = r
			continue
		}
		for name, v := range worst.Bounds {
			if other, ok := r.Bounds[name]; ok {
				worst.Bounds[name] = math.Max(v, other)
			} else {
				delete(worst.Bounds, name)
			}
		}
		worst.Lower = math.Max(worst.Lower, r.Lower)
		if r.Delta > worst.Delta {
			worst.Delta, worst.Method, worst.Order = r.Delta, r.Method, r.Order
		}
	}
	return worst, nil
}

// bound is one valid upper bound.
type bound struct {
	name  string
	value float64
	order float64
	lower float64
}

// account prices the parts that one kind of unit meets.
type account struct {
	rel  dp.Relation
	rest []part // all but what follows
	// Approximate mechanisms compose by adding up (ε, δ).
	approximate []part
	stopping    []part
	curve       curve
}

func newAccount(parts []part, rel dp.Relation) (*account, error) {
	a := &account{rel: rel}
	for _, p := range parts {
		of := &a.rest
		switch e := p.event.(type) {
		case dp.Approximate:
			if e.Delta > 0 {
				of = &a.approximate
			}
		case dp.Select:
			if _, ok := e.Runs.(dp.RandomStopping); ok {
				of = &a.stopping
			}
		}
		*of = append(*of, p)
	}
	var err error
	a.curve, err = curveOf(a.rest, rel)
	if err == nil && len(a.rest) > manyParts {
		a.curve = a.curve.atIntegers()
	}
	return a, err
}

// answer returns bounds. Basic composition splits delta between the approximate parts (what
// they need), the randomly stopped ones and the rest (half each, where there are both); of
// an epsilon, approximate parts take theirs. The rest composes by each family of bounds.
func (a *account) answer(q question, w want) (bounds []bound, err error) {
	if k, ok := identical(a.approximate, a.rel); ok && w.closed && len(a.rest)+len(a.stopping) == 0 {
		best, _ := q.ask(k)
		if bounds = []bound{{name: "kov", value: best}}; q.inverse {
			return bounds, nil
		}
	}
	add, left := 0.0, q.at
	for _, p := range a.approximate {
		e := p.event.(dp.Approximate)
		adds, uses := e.Epsilon, e.Delta
		if q.inverse {
			adds, uses = uses, adds
		}
		add += p.count * adds
		left -= p.count * uses
	}
	// The subtraction may leave rounding: two units in the last place of epsilon, or less
	// than nothing of delta.
	switch {
	case q.inverse && len(a.approximate) > 0:
		left += 4e-16 * q.at
	case left < 0 && left >= -1e-15*q.at:
		left = 0
	}
	switch {
	case len(a.stopping) == 0:
	case q.inverse:
		// The split depends on delta.
		best := math.Exp(bisect(-745, 0, func(logDelta float64) bool {
			bounds, err := a.answer(question{at: math.Exp(logDelta)}, w)
			return err == nil && least(bounds).value <= q.at
		}))
		return []bound{{name: "closed", value: best}}, nil
	case left >= 0:
		share := left
		if len(a.rest) > 0 {
			share = left / 2
		}
		cost, err := a.stoppingCost(share)
		if err != nil {
			return nil, err
		}
		add += cost
		left -= share
	}
	if left < 0 {
		return bounds, nil
	}
	for _, b := range a.restBounds(w, question{left, q.inverse}) {
		b.value += add
		bounds = append(bounds, b)
	}
	step := 0.0
	if w.pld && len(a.stopping) == 0 && !(w.closed && w.rdp && a.settled()) {
		if p, ok := a.privacyLoss(); ok {
			var value float64
			value, step = q.ask(p)
			bounds = append(bounds, bound{name: "pld", value: value})
		}
	}
	bounds = append(bounds, a.replaced(q, w)...)
	if w.lower && !q.inverse && (w.pld || w.closed && a.exact()) && len(bounds) > 0 {
		bounds[0].lower = a.lowerEpsilon(q.at, least(bounds).value, step)
	}
	return bounds, nil
}

// exact reports whether a closed form is the optimum, so that the distribution
// cannot be below it.
func (a *account) exact() bool {
	if len(a.approximate) > 0 || len(a.rest) == 0 {
		return len(a.rest) == 0
	}
	if g, ok := a.gaussianAndPure(); ok {
		return g.pure == 0
	}
	switch a.rest[0].event.(type) {
	case dp.Pure, dp.DiscreteLaplace:
		_, ok := identical(a.rest, a.rel)
		return ok
	}
	return false
}

// settled reports whether the distribution could not improve on the other bounds:
// a closed form is optimal, or there is one use of one mechanism of which nothing
// but its Rényi curve is known.
func (a *account) settled() bool {
	if a.exact() {
		return true
	}
	if len(a.approximate) > 0 || len(a.rest) != 1 || a.rest[0].count != 1 {
		return false
	}
	switch a.rest[0].event.(type) {
	case dp.ZCDP, dp.DiscreteGaussian, dp.Select, dp.FixedSizeSampled:
		return true
	}
	return false
}

// privacyLoss is the distribution of all parts together, approximate ones too.
func (a *account) privacyLoss() (privacyLoss, bool) {
	if len(a.rest)+len(a.approximate) == 0 {
		return privacyLoss{}, false
	}
	return privacyLossOf(append(append([]part(nil), a.rest...), a.approximate...), a)
}

// least is the smallest bound, +Inf where there is none.
func least(bounds []bound) bound {
	best := bound{name: "none", value: inf}
	for _, b := range bounds {
		if b.value < best.value {
			best = b
		}
	}
	return best
}

// stoppingCost shares delta evenly among the randomly stopped selections.
func (a *account) stoppingCost(delta float64) (float64, error) {
	uses := 0.0
	for _, p := range a.stopping {
		uses += p.count
	}
	sum := 0.0
	for _, p := range a.stopping {
		e := p.event.(dp.Select)
		s := e.Runs.(dp.RandomStopping)
		cost, err := stoppingEpsilon(e.Event, s, a.rel, delta/uses, mostRuns(s))
		if err != nil {
			return 0, err
		}
		sum += p.count * cost
	}
	return sum, nil
}
