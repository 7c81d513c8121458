package sealed

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// a permit of many equal and other events, under a root that tests may make again.
func streamPermit(t *testing.T, seed uint64) *Permit {
	t.Helper()
	g, half := dp.Gaussian{NoiseMultiplier: 2}, dp.Scope{Lower: 0, Upper: 0.5}
	var all []dp.Event
	for range 8 {
		all = append(all, g, dp.DiscreteLaplace{NoiseMultiplier: 2}, dp.Scoped{Scope: half, Event: g})
	}
	p, err := NewPermit("id", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: all}, entropy.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// noiseOf opens rows for an event and returns the first word of its stream.
func noiseOf(t *testing.T, p *Permit, scope dp.Scope, e dp.Event) uint64 {
	t.Helper()
	v, err := Open(rows(t), p, scope, e)
	if err != nil {
		t.Fatal(err)
	}
	return v.Noise().Uint64()
}

// No two takings share a stream: equal events, other events and scopes, children,
// children of children, runs of a selection, and randomness for the outside.
func TestNoStreamIsTakenTwice(t *testing.T) {
	g, half := dp.Gaussian{NoiseMultiplier: 2}, dp.Scope{Lower: 0, Upper: 0.5}
	seen := map[uint64]string{}
	add := func(name string, v uint64) {
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s have one stream", name, other)
		}
		seen[v] = name
	}
	child := func(p *Permit, label string, n uint64) *Permit {
		c, err := p.Child(label, n)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	p := streamPermit(t, 1)
	takers := map[string]*Permit{"permit": p, "trial 0": child(p, "trial", 0), "trial 1": child(p, "trial", 1), "other 0": child(p, "other", 0)}
	takers["trial 0 of trial 0"] = child(takers["trial 0"], "trial", 0)
	for name, q := range takers {
		add(name+" gaussian", noiseOf(t, q, dp.WholeScope, g))
		add(name+" half", noiseOf(t, q, half, g))
		add(name+" laplace", noiseOf(t, q, dp.WholeScope, dp.DiscreteLaplace{NoiseMultiplier: 2}))
		add(name+" outside", q.Randomness("").Uint64())
	}
	add("gaussian again", noiseOf(t, p, dp.WholeScope, g))
	// A stream is that of what was wanted, also where a larger reservation pays.
	add("covered", noiseOf(t, p, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 3}))
	label, err := streamOf(dp.WholeScope, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{label, strings.TrimPrefix(label, eventStream), "trial", childStream + "trial"} {
		add("outside as "+name, p.Randomness(name, 0).Uint64())
	}
	add("seed 2", noiseOf(t, streamPermit(t, 2), dp.WholeScope, g))

	base := dp.Compose{Events: []dp.Event{g, g}}
	sel := dp.Select{Runs: dp.PoissonRuns{Mean: 3}, Event: base}
	q := permit(t, sel) // root: seed 1 as well
	src, runOf, err := Runs(q, sel)
	if err != nil {
		t.Fatal(err)
	}
	add("selection", src.Uint64())
	for i := range 3 {
		run, err := runOf(i)
		if err != nil {
			t.Fatal(err)
		}
		add(fmt.Sprint("run ", i), noiseOf(t, run, dp.WholeScope, g))
		add(fmt.Sprint("run again ", i), noiseOf(t, run, dp.WholeScope, g))
		add(fmt.Sprint("run outside ", i), run.Randomness("").Uint64())
	}
}

// Who takes the same again from the same root gets the same streams, in whatever order
// other events and children are taken.
func TestStreamsFollowFromTheTaking(t *testing.T) {
	g, l := dp.Gaussian{NoiseMultiplier: 2}, dp.DiscreteLaplace{NoiseMultiplier: 2}
	trials := func(order ...uint64) map[uint64][3]uint64 {
		p := streamPermit(t, 3)
		out := map[uint64][3]uint64{}
		for _, n := range order {
			c, err := p.Child("trial", n)
			if err != nil {
				t.Fatal(err)
			}
			out[n] = [3]uint64{noiseOf(t, c, dp.WholeScope, g), noiseOf(t, c, dp.WholeScope, g), c.Randomness("initial").Uint64()}
		}
		return out
	}
	want := trials(0, 1, 2, 3)
	for _, order := range [][]uint64{{3, 1, 0, 2}, {2}, {1, 3}} {
		for n, got := range trials(order...) {
			if got != want[n] {
				t.Errorf("trial %d in order %v has %v, want %v", n, order, got, want[n])
			}
		}
	}
	a, b := streamPermit(t, 3), streamPermit(t, 3)
	first := []uint64{noiseOf(t, a, dp.WholeScope, g), noiseOf(t, a, dp.WholeScope, l), noiseOf(t, a, dp.WholeScope, g)}
	second := []uint64{noiseOf(t, b, dp.WholeScope, g), noiseOf(t, b, dp.WholeScope, g), noiseOf(t, b, dp.WholeScope, l)}
	if first[0] != second[0] || first[1] != second[2] || first[2] != second[1] {
		t.Errorf("streams %v and %v follow from the order of other events", first, second)
	}
}

// A child takes what its parent holds, is handed out once, and ends with its parent.
func TestChildrenTakeFromTheParent(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	p, err := NewPermit("id", "d", dp.ReplaceOne, 3, dp.Compose{Events: []dp.Event{g, g, g}}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Child("trial", 7)
	if err != nil {
		t.Fatal(err)
	}
	if c.ID() != p.ID() || c.Dataset() != "d" || c.Relation() != dp.ReplaceOne || c.RowsApart() != 6 || !c.Seeded() {
		t.Error("a child is under other terms")
	}
	if _, err := p.Child("trial", 7); err == nil {
		t.Error("a trial was handed out twice")
	}
	noiseOf(t, c, dp.WholeScope, g)
	if !p.Opened() {
		t.Error("rows were opened under a child, and the permit does not know")
	}
	noiseOf(t, p, dp.WholeScope, g)
	c.Close()
	if _, err := Open(rows(t), c, dp.WholeScope, g); err == nil {
		t.Error("a closed child opens rows")
	}
	d, err := p.Child("trial", 8)
	if err != nil {
		t.Fatal(err)
	}
	noiseOf(t, d, dp.WholeScope, g)
	if _, err := Open(rows(t), p, dp.WholeScope, g); err == nil {
		t.Error("children took three events, and the permit has one left")
	}
	if p, err = NewPermit("id", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: []dp.Event{g, g}}, entropy.Seeded(1)); err != nil {
		t.Fatal(err)
	}
	if d, err = p.Child("trial", 1); err != nil {
		t.Fatal(err)
	}
	noiseOf(t, d, dp.WholeScope, g)
	p.Close()
	if _, err := Open(rows(t), d, dp.WholeScope, g); err == nil {
		t.Error("a child outlives its permit")
	}
}

// Children that take side by side take each event once.
func TestChildrenSideBySide(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	const events = 40
	p, err := NewPermit("id", "d", dp.AddOrRemoveOne, 1, dp.Compose{Events: slices.Repeat([]dp.Event{g}, events)}, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	taken, r := 0, rows(t)
	for n := range uint64(8) {
		c, err := p.Child("trial", n)
		if err != nil {
			t.Fatal(err)
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range events {
				if _, err := Open(r, c, dp.WholeScope, g); err == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			}
		}()
	}
	wait.Wait()
	if taken != events {
		t.Errorf("%d events were taken of %d", taken, events)
	}
}

// Public rows have no stream, and a permit without a root is none.
func TestNoStreamWithoutAPermit(t *testing.T) {
	if _, err := NewPermit("id", "d", dp.AddOrRemoveOne, 1, dp.Gaussian{NoiseMultiplier: 1}, nil); err == nil {
		t.Error("a permit without a source of randomness")
	}
	if rows(t).view(dp.WholeScope).Noise() != nil {
		t.Error("a view without an event has a stream")
	}
}

// A copy of a permit, which code outside of core can make, is the permit itself.
func TestCopiesOfAPermitAreAliases(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	p := streamPermit(t, 1)
	one, two := *p, *p
	if a, b := noiseOf(t, &one, dp.WholeScope, g), noiseOf(t, &two, dp.WholeScope, g); a == b {
		t.Error("two copies of a permit have one stream")
	}
	if _, err := one.Child("trial", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Child("trial", 1); err == nil {
		t.Error("two copies handed out one trial")
	}
	one.Close()
	if _, err := Open(rows(t), &two, dp.WholeScope, g); err == nil {
		t.Error("a copy outlives its permit")
	}
	var none Permit
	if _, err := Open(New("", rows(t).schema, nil, nil), &none, dp.WholeScope, g); err == nil || none.Opened() || none.Seeded() {
		t.Error("the zero permit holds something")
	}
	if _, err := none.Child("trial", 1); err == nil {
		t.Error("the zero permit has parts")
	}
	none.Close()
}

// Printing a permit shows no key.
func TestPermitsPrintNoKey(t *testing.T) {
	p := permit(t, dp.Gaussian{NoiseMultiplier: 1})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if out := fmt.Sprintf(verb, p); strings.Contains(out, "seeded:true") || strings.Contains(out, "root:[") {
			t.Errorf("%s shows the stream: %s", verb, out)
		}
	}
}
