package accountant

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/internal/stattest"
)

func mustFilter(t testing.TB, epsilon, delta float64) Filter {
	t.Helper()
	f, err := NewFilter(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Budgets written as decimals split into decimals (F01, F02).
func TestPureFilterCountsDecimals(t *testing.T) {
	parts := func(n int, epsilon float64) []dp.Event {
		list := make([]dp.Event, n)
		for i := range list {
			list[i] = dp.Pure{Epsilon: epsilon}
		}
		return list
	}
	for _, c := range []struct {
		name   string
		budget float64
		spent  []dp.Event
		next   dp.Event
		want   bool
	}{
		{"ten tenths", 1, parts(9, 0.1), dp.Pure{Epsilon: 0.1}, true},
		{"ten tenths and 1e-9", 1, parts(10, 0.1), dp.Pure{Epsilon: 1e-9}, false},
		{"a tenth and nine tenths", 1, parts(1, 0.1), dp.Pure{Epsilon: 0.9}, true},
		{"eleven elevenths", 1, parts(10, 1.0/11), dp.Pure{Epsilon: 1.0 / 11}, true},
		{"eleven elevenths and 1e-9", 1, parts(11, 1.0/11), dp.Pure{Epsilon: 1e-9}, false},
		{"three tenths", 0.3, parts(2, 0.1), dp.Pure{Epsilon: 0.1}, true},
		{"last digits", 0.0245, parts(1, 0.0122), dp.Pure{Epsilon: 0.0123}, true},
		{"repeat", 1, nil, dp.Repeat{Count: 10, Event: dp.Laplace{NoiseMultiplier: 10}}, true},
		{"repeat, one more", 1, nil, dp.Repeat{Count: 11, Event: dp.Laplace{NoiseMultiplier: 10}}, false},
		{"gaussian", 100, nil, dp.Gaussian{NoiseMultiplier: 100}, false},
		{"nothing when full", 1, parts(10, 0.1), dp.NoOp{}, true},
	} {
		got, need, left, err := admits(mustFilter(t, c.budget, 0), c.spent, c.next, addRemove)
		if err != nil || got != c.want || got != (need <= left) || !(left >= 0) {
			t.Errorf("%s: admitted %v (need %v, left %v), %v; want %v", c.name, got, need, left, err, c.want)
		}
	}
}

func TestFilterRefusesWhatHasNoCurve(t *testing.T) {
	f := mustFilter(t, 10, 1e-5)
	for _, e := range []dp.Event{dp.NonPrivate{}, dp.Approximate{Epsilon: 0.01, Delta: 1e-9},
		dp.Select{Runs: dp.RandomStopping{Gamma: 0.1, Delta2: 1e-7}, Event: dp.Pure{Epsilon: 0.01}}, dp.Gaussian{}} {
		if ok, need, _, err := admits(f, nil, e, addRemove); ok || err != nil || !math.IsInf(need, 1) {
			t.Errorf("%#v: admitted %v, need %v, %v", e, ok, need, err)
		}
	}
	if _, _, _, err := admits(f, nil, dp.Gaussian{NoiseMultiplier: math.NaN()}, addRemove); err == nil {
		t.Error("NaN noise: no error")
	}
	for _, b := range [][2]float64{{0, 1e-5}, {-1, 1e-5}, {math.NaN(), 1e-5}, {inf, 1e-5}, {1, 1}, {1, -1}, {1, math.NaN()}} {
		if _, err := NewFilter(b[0], b[1]); err == nil {
			t.Errorf("budget %v: no error", b)
		}
	}
	if _, err := (Filter{}).Start(addRemove); err == nil {
		t.Error("zero Filter: no error")
	}
}

// What the filter has admitted is (epsilon, delta)-DP by the accountant that
// knows the whole sequence, and the odometer never exceeds the budget.
func TestFilterIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Pow(10, rapid.Float64Range(-1, 1.5).Draw(t, "log10 epsilon"))
		delta := math.Pow(10, rapid.Float64Range(-9, -3).Draw(t, "log10 delta"))
		f, err := NewFilter(epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Start(addRemove)
		if err != nil {
			t.Fatal(err)
		}
		var admitted dp.Compose
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			e := anyEvent(1).Draw(t, "event")
			ok, need, left, err := s.Admits("", e)
			if err != nil || ok != (need <= left) || !(need >= 0) || !(left >= 0) {
				t.Fatalf("%v %v %v %v", ok, need, left, err)
			}
			if !ok {
				continue
			}
			if err := s.Add("", e); err != nil {
				t.Fatal(err)
			}
			admitted.Events = append(admitted.Events, e)
		}
		if spent := s.Epsilon(); spent > epsilon*(1+1e-12) {
			t.Fatalf("spent %v of %v", spent, epsilon)
		}
		r, err := Epsilon(admitted, addRemove, delta, MethodRDP)
		if err != nil || r.Epsilon > epsilon*(1+1e-9) {
			t.Fatalf("admitted events cost %v of %v, %v", r.Epsilon, epsilon, err)
		}
		if again, err := spentBy(f, admitted.Events, addRemove); err != nil || again != s.Epsilon() {
			t.Fatalf("from scratch %v, running %v, %v", again, s.Epsilon(), err)
		}
	})
}

// What is needed beside a sum is what the decimals say: figures that are rounded up show no digit of rounding.
func TestNeedsAreDecimals(t *testing.T) {
	for name, start := range map[string]func() (*Spending, error){
		"filter": func() (*Spending, error) { return mustFilter(t, 1, 0).Start(addRemove) },
		"doors": func() (*Spending, error) {
			d, err := NewDoors(1, 1e-6, nil, addRemove)
			if err != nil {
				t.Fatal(err)
			}
			return d.Start(addRemove)
		},
	} {
		s, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add("", dp.Pure{Epsilon: 0.7}); err != nil {
			t.Fatal(err)
		}
		if ok, need, left, err := s.Admits("", dp.Pure{Epsilon: 0.4}); ok || need != 0.4 || left != 0.3 || err != nil {
			t.Errorf("%s: admitted %v, needs %v, left %v (%v)", name, ok, need, left, err)
		}
	}
}

func TestFilterScopes(t *testing.T) {
	f := mustFilter(t, 1, 0)
	half := func(lower float64, epsilon float64) dp.Event {
		return dp.Scoped{Scope: dp.Scope{Lower: lower, Upper: lower + 0.5}, Event: dp.Pure{Epsilon: epsilon}}
	}
	spent := []dp.Event{half(0, 0.7), half(0.5, 0.4)}
	for _, c := range []struct {
		name       string
		next       dp.Event
		rel        dp.Relation
		want       bool
		need, left float64
	}{
		{"cheap half", half(0.5, 0.6), addRemove, true, 0.6, 0.6},
		{"dear half", half(0, 0.4), addRemove, false, 0.4, 0.3},
		{"everyone", dp.Pure{Epsilon: 0.3}, addRemove, true, 0.3, 0.3},
		{"across the middle", half(0.25, 0.4), addRemove, false, 0.4, 0.3},
		{"replace one pays for both", half(0.5, 0.1), dp.ReplaceOne, false, 0.1, 0},
	} {
		ok, need, left, err := admits(f, spent, c.next, c.rel)
		if err != nil || ok != c.want || math.Abs(need-c.need) > 1e-12 || math.Abs(left-c.left) > 1e-12 {
			t.Errorf("%s: admitted %v, need %v, left %v, %v", c.name, ok, need, left, err)
		}
	}
	over := []dp.Event{half(0, 3), half(0.5, 0.4)}
	if ok, _, _, err := admits(f, over, half(0.5, 0.6), addRemove); !ok || err != nil {
		t.Errorf("a spent half stopped the other: %v", err)
	}
	if ok, _, _, err := admits(f, over, half(0, 1e-9), addRemove); ok || err != nil {
		t.Errorf("an overspent half admitted more: %v", err)
	}
	if s, err := spentBy(f, spent, addRemove); err != nil || s != 0.7 {
		t.Errorf("spent %v, %v; want 0.7", s, err)
	}
	if s, err := spentBy(f, nil, addRemove); err != nil || s != 0 {
		t.Errorf("spent of nothing %v, %v; want 0", s, err)
	}
}

// F17: of two spends of 0.9 on a budget of 1 exactly one fits.
func TestFilterTwoOfNineTenths(t *testing.T) {
	f := mustFilter(t, 1, 1e-5)
	e := costing(t, 0.9, 0.1, 100, func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} })
	if ok, _, _, err := admits(f, nil, e, addRemove); !ok || err != nil {
		t.Errorf("the first was refused: %v", err)
	}
	if ok, _, _, err := admits(f, []dp.Event{e}, e, addRemove); ok || err != nil {
		t.Errorf("the second was admitted: %v", err)
	}
}

// The price of one fixed order on what it was chosen for: a Gaussian of the size
// of the budget costs within 1e-6 of its best order.
func TestFilterOrderSuitsGaussians(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.1, 1, 10} {
		f := mustFilter(t, epsilon, 1e-5)
		limit, _ := f.limit.Float64()
		rho := limit / f.order
		near(t, "zcdp at the limit", mustEpsilon(t, dp.ZCDP{Rho: rho}, addRemove, 1e-5, MethodRDP).Epsilon, epsilon, 1e-6)
	}
}

func TestFilterIsFastOnLongLedgers(t *testing.T) {
	s, err := mustFilter(t, 1, 1e-5).Start(addRemove)
	if err != nil {
		t.Fatal(err)
	}
	scopes := []dp.Scope{{Lower: 0, Upper: 0.8}, {Lower: 0.8, Upper: 0.9}, {Lower: 0.9, Upper: 1}}
	event := func(i int) dp.Event {
		return dp.Scoped{Scope: scopes[i%3], Event: dp.Gaussian{NoiseMultiplier: 500 + float64(i)}}
	}
	for i := range 10000 {
		if err := s.Add("", event(i)); err != nil {
			t.Fatal(err)
		}
	}
	start := stattest.CPU()
	const asks = 100
	for i := range asks {
		if _, _, _, err := s.Admits("", event(i)); err != nil {
			t.Fatal(err)
		}
	}
	// Ten times the promise of 1 ms: the machine that runs the tests is shared.
	if d := (stattest.CPU() - start) / asks; d > 10*time.Millisecond {
		t.Errorf("one question took %v", d)
	}
}

// costing bisects for the event of a family that costs epsilon at 1e-5 by Rényi DP, or a little
// less: at cheap it costs less, at dear more.
func costing(t *testing.T, epsilon, dear, cheap float64, family func(x float64) dp.Event) dp.Event {
	t.Helper()
	for range 60 {
		x := math.Sqrt(dear * cheap)
		if mustEpsilon(t, family(x), addRemove, 1e-5, MethodRDP).Epsilon <= epsilon {
			cheap = x
		} else {
			dear = x
		}
	}
	return family(cheap)
}

// after is a running account with events in it.
func after(f Filter, events []dp.Event, rel dp.Relation) (*Spending, error) {
	s, err := f.Start(rel)
	for i := 0; err == nil && i < len(events); i++ {
		err = s.Add("", events[i])
	}
	return s, err
}

func admits(f Filter, before []dp.Event, next dp.Event, rel dp.Relation) (admitted bool, need, left float64, err error) {
	s, err := after(f, before, rel)
	if err != nil {
		return false, inf, 0, err
	}
	return s.Admits("", next)
}

func spentBy(f Filter, events []dp.Event, rel dp.Relation) (float64, error) {
	s, err := after(f, events, rel)
	if err != nil {
		return inf, err
	}
	return s.Epsilon(), nil
}
