package dp

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	train, score := Scope{0, 0.8}, Scope{0.8, 1}
	plan := Compose{[]Event{
		Scoped{train, Select{PoissonRuns{10}, Compose{[]Event{Gaussian{1}, Scoped{score, Pure{1}}}}}},
		Repeat{3, Scoped{score, Laplace{2}}},
		Pure{0.5},
	}}
	for _, c := range []struct {
		name  string
		event Event
		point float64
		want  Event
	}{
		{"no scope", Gaussian{1}, 0.3, Gaussian{1}},
		{"inside", Scoped{train, Gaussian{1}}, 0.799, Gaussian{1}},
		{"upper bound is outside", Scoped{train, Gaussian{1}}, 0.8, NoOp{}},
		{"select of nothing", Select{PoissonRuns{3}, Scoped{train, Pure{1}}}, 0.9, NoOp{}},
		{"repeat of nothing", Repeat{7, Scoped{train, Pure{1}}}, 0.9, NoOp{}},
		{"zero repeats", Repeat{0, Pure{1}}, 0.9, NoOp{}},
		{"sampling of nothing", PoissonSampled{Rate: 0.1, Event: Scoped{train, Pure{1}}}, 0.9, NoOp{}},
		{"empty compose", Compose{}, 0, NoOp{}},
		{"innermost scope decides", Scoped{train, Scoped{score, Pure{1}}}, 0.9, Pure{1}},
		{"plan, train unit", plan, 0.1, Compose{[]Event{Select{PoissonRuns{10}, Compose{[]Event{Gaussian{1}}}}, Pure{0.5}}}},
		{"plan, score unit", plan, 0.8, Compose{[]Event{Select{PoissonRuns{10}, Compose{[]Event{Pure{1}}}}, Repeat{3, Laplace{2}}, Pure{0.5}}}},
	} {
		if got := Resolve(c.event, c.point); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %#v, want %#v", c.name, got, c.want)
		}
	}
	if got := Breakpoints(plan); !slices.Equal(got, []float64{0, 0.8}) {
		t.Errorf("breakpoints %v, want [0 0.8]", got)
	}
	if got, want := Unscoped(Compose{[]Event{Scoped{train, Pure{1}}, Scoped{score, Pure{2}}}}),
		(Compose{[]Event{Pure{1}, Pure{2}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("unscoped: got %#v, want %#v", got, want)
	}
}

// Between two neighbouring breakpoints Resolve must not change.
func TestResolveIsConstantOnSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(4).Draw(t, "event")
		point := rapid.Float64Range(0, 0.9999).Draw(t, "point")
		breaks := Breakpoints(e)
		i, found := slices.BinarySearch(breaks, point)
		if !found {
			i--
		}
		if a, b := Resolve(e, point), Resolve(e, breaks[i]); !reflect.DeepEqual(a, b) {
			t.Fatalf("at %v: %#v; at breakpoint %v: %#v", point, a, breaks[i], b)
		}
	})
}
