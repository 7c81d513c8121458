package dp

import (
	"reflect"
	"slices"
)

// Resolve returns the event as it affects a unit at hash fraction point in [0, 1): without scopes,
// with NoOp for every part whose scope does not cover the point. A Repeat, Compose, Select or
// sampling of NoOps alone is NoOp too.
//
// If scopes nest, the innermost decides, as it does for permits. This never costs less than the
// intersection: a unit outside the outer scope and inside the inner one is still charged.
//
// Under AddOrRemoveOne and ZeroOut the cost of an event is the largest cost of its resolutions,
// because a neighbour differs in one unit and a unit has one hash. Under ReplaceOne a unit in one
// scope may be replaced by one in another, so the parts compose instead: see Unscoped.
func Resolve(e Event, point float64) Event {
	return resolve(e, true, func(s Scope) bool { return s.Lower <= point && point < s.Upper })
}

// Unscoped returns the event with every scope removed: the composition of all its parts, whatever
// the unit. It is the cost under ReplaceOne.
func Unscoped(e Event) Event {
	return resolve(e, true, func(Scope) bool { return true })
}

func resolve(e Event, covered bool, covers func(Scope) bool) Event {
	var inner []Event
	down := func(x Event) Event {
		r := resolve(x, covered, covers)
		inner = append(inner, r)
		return r
	}
	switch e := e.(type) {
	case Scoped:
		return resolve(e.Event, covers(e.Scope), covers)
	case Compose:
		var parts []Event
		for _, c := range e.Events {
			if r := resolve(c, covered, covers); !isNoOp(r) {
				parts = append(parts, r)
			}
		}
		if len(parts) == 0 {
			return NoOp{}
		}
		return Compose{Events: parts}
	case Repeat:
		if e.Count == 0 {
			return NoOp{}
		}
	case Shuffled:
		if e.Epochs == 0 {
			return NoOp{}
		}
	}
	if r := Rebuild(e, down); len(inner) > 0 && !isNoOp(inner[0]) {
		return r
	} else if len(inner) > 0 || !covered {
		return NoOp{}
	}
	return e
}

// Rebuild returns e with each direct part replaced by f of it; an event without parts is returned
// unchanged.
func Rebuild(e Event, f func(Event) Event) Event {
	old := reflect.ValueOf(e)
	if old.Kind() != reflect.Struct {
		return e
	}
	v := reflect.New(old.Type()).Elem()
	v.Set(old)
	for i := range v.NumField() {
		switch x := v.Field(i).Interface().(type) {
		case Event:
			v.Field(i).Set(reflect.ValueOf(f(x)))
		case []Event:
			parts := make([]Event, len(x))
			for i, part := range x {
				parts[i] = f(part)
			}
			v.Field(i).Set(reflect.ValueOf(parts))
		}
	}
	return v.Interface().(Event)
}

// Clone returns a copy that shares no memory with e.
func Clone(e Event) Event {
	if b, ok := e.(Banded); ok {
		b.Coefficients = slices.Clone(b.Coefficients)
		return b
	}
	return Rebuild(e, Clone)
}

// isNoOp avoids comparing interfaces, which panics on a Compose.
func isNoOp(e Event) bool { _, ok := e.(NoOp); return ok }

// Breakpoints returns 0 and every bound below 1 of a scope in e, sorted and without duplicates.
// Resolve is constant between adjacent breakpoints, so resolving at each of them covers every case.
func Breakpoints(e Event) []float64 {
	points := appendBounds([]float64{0}, e)
	slices.Sort(points)
	return slices.Compact(points)
}

func appendBounds(points []float64, e Event) []float64 {
	if s, ok := e.(Scoped); ok {
		for _, x := range []float64{s.Scope.Lower, s.Scope.Upper} {
			if x > 0 && x < 1 {
				points = append(points, x)
			}
		}
	}
	Rebuild(e, func(x Event) Event { points = appendBounds(points, x); return x })
	return points
}
