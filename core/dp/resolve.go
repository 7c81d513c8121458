package dp

import "slices"

// Resolve returns what an event is for a unit at hash fraction point in [0, 1):
// a scope-free event in which every part whose scope does not cover the point is
// NoOp, and a Repeat, Compose, Select or sampling of only NoOps is NoOp too.
//
// Where scopes nest, the innermost decides, as it does for permits. That is never
// cheaper than the intersection: a unit outside of the outer scope and inside of
// the inner one is still charged.
//
// Under AddOrRemoveOne and ZeroOut the cost of an event is the largest cost of
// its resolutions, because a neighbour differs in one unit and a unit has one
// hash. Under ReplaceOne a unit may leave one scope and enter another, so the
// parts compose instead: see Unscoped.
func Resolve(e Event, point float64) Event {
	return resolve(e, true, func(s Scope) bool { return s.Lower <= point && point < s.Upper })
}

// Unscoped returns the event with every scope removed: the composition of all
// its parts, whatever the unit. It is what ReplaceOne pays.
func Unscoped(e Event) Event {
	return resolve(e, true, func(Scope) bool { return true })
}

func resolve(e Event, covered bool, covers func(Scope) bool) Event {
	down := func(x Event, wrap func(Event) Event) Event {
		r := resolve(x, covered, covers)
		if isNoOp(r) {
			return NoOp{}
		}
		return wrap(r)
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
		return down(e.Event, func(r Event) Event { return Repeat{Count: e.Count, Event: r} })
	case Shuffled:
		if e.Epochs == 0 {
			return NoOp{}
		}
		return down(e.Event, func(r Event) Event { return Shuffled{Epochs: e.Epochs, Event: r} })
	case PoissonSampled:
		return down(e.Event, func(r Event) Event {
			sampled := PoissonSampled{Rate: e.Rate, Event: r}
			if e.OneSided != nil {
				sampled.OneSided = resolve(e.OneSided, covered, covers)
			}
			return sampled
		})
	case FixedSizeSampled:
		return down(e.Event, func(r Event) Event {
			return FixedSizeSampled{SampleSize: e.SampleSize, SourceSize: e.SourceSize, Event: r}
		})
	case Select:
		return down(e.Event, func(r Event) Event { return Select{Runs: e.Runs, Event: r} })
	}
	if !covered {
		return NoOp{}
	}
	return e
}

// isNoOp avoids comparing interfaces, which panics on a Compose.
func isNoOp(e Event) bool { _, ok := e.(NoOp); return ok }

// Breakpoints returns 0 and every bound of a scope in e below 1, sorted and
// without repeats. Resolve is constant between neighbouring breakpoints, so
// resolving at each of them meets every case.
func Breakpoints(e Event) []float64 {
	points := appendBounds([]float64{0}, e)
	slices.Sort(points)
	return slices.Compact(points)
}

func appendBounds(points []float64, e Event) []float64 {
	switch e := e.(type) {
	case Scoped:
		for _, x := range []float64{e.Scope.Lower, e.Scope.Upper} {
			if x > 0 && x < 1 {
				points = append(points, x)
			}
		}
		return appendBounds(points, e.Event)
	case Compose:
		for _, c := range e.Events {
			points = appendBounds(points, c)
		}
	case Repeat:
		return appendBounds(points, e.Event)
	case Shuffled:
		return appendBounds(points, e.Event)
	case PoissonSampled:
		if e.OneSided != nil {
			points = appendBounds(points, e.OneSided)
		}
		return appendBounds(points, e.Event)
	case FixedSizeSampled:
		return appendBounds(points, e.Event)
	case Select:
		return appendBounds(points, e.Event)
	}
	return points
}
