package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
)

// A larger order is for a smaller budget and has a smaller limit: this is why what fits a
// budget fits a larger one. A larger delta has a larger limit at the same epsilon.
func TestOrdersNest(t *testing.T) {
	for _, delta := range []float64{1e-12, 1e-6, 1e-3, 0.1} {
		f, larger := orderFilter{-math.Log(delta)}, orderFilter{-math.Log(delta * 1.5)}
		size, limit := inf, inf
		for l := 0.01; f.room(l) > 0; l *= 1.01 {
			e, r := f.epsilon(l), f.limit(l)
			if !(e < size && r < limit && r > 0) {
				t.Fatalf("delta %v, order %v: epsilon %v after %v, limit %v after %v", delta, 1+l, e, size, r, limit)
			}
			// What the limit says is what the conversion leaves of it.
			if e > 0 && math.Abs(r+conversion(1+l, math.Log(delta))-e) > 1e-9*(1+e) {
				t.Fatalf("delta %v, order %v: %v and %v are not %v", delta, 1+l, r, conversion(1+l, math.Log(delta)), e)
			}
			if e > 1e-3 {
				same := bisect(1e-3, l, func(x float64) bool { return larger.epsilon(x) <= e })
				if !(same < l && larger.limit(same) >= r) {
					t.Fatalf("delta %v at %v: order %v and limit %v, with half more order %v and limit %v", delta, e, 1+l, r, 1+same, larger.limit(same))
				}
			}
			size, limit = e, r
		}
	}
}

// The order suits zCDP: of it the door asks what the best order does.
func TestOrdersSuitZCDP(t *testing.T) {
	for _, delta := range []float64{1e-9, 1e-6, 1e-4} {
		d := Doors{epsilon: 1, delta: delta / ordersLaw}
		f := orderFilter{-math.Log(delta)}
		for _, rho := range []float64{1e-7, 1e-5, 1e-3, 0.1, 1, 10} {
			r, _, err := d.ordersOf(part{event: dp.ZCDP{Rho: rho}, count: 1}, addRemove)
			if err != nil {
				t.Fatal(err)
			}
			best := mustEpsilon(t, dp.ZCDP{Rho: rho}, addRemove, delta, MethodRDP).Epsilon
			if got := f.needs(r); !(got >= best*(1-1e-9) && got <= best*1.02) {
				t.Errorf("ρ %v at δ %v: %v, the best order %v", rho, delta, got, best)
			}
		}
	}
}

// What the door asks is never below the best order of the whole, never more with a larger
// delta, and a function of the events in any grouping.
func TestOrdersAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delta := math.Pow(10, rapid.Float64Range(-9, -3).Draw(t, "log10 delta"))
		var all []dp.Event
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			all = append(all, anyEvent(1).Draw(t, "event"))
		}
		approximate := false
		needs := func(delta float64, events ...dp.Event) float64 {
			d := Doors{epsilon: 1, delta: delta}
			total := noCosts()
			for _, e := range events {
				parts, err := flatten(dp.Unscoped(e), addRemove)
				if err != nil {
					t.Fatal(err)
				}
				c, err := d.cheap(parts, addRemove)
				if err != nil {
					t.Fatal(err)
				}
				total = total.plus(c)
			}
			approximate = !total.sums[costOrdersSlack].zero()
			if total.zero() || !within(total.sums[costOrdersSlack], delta*ordersSlack, true) {
				return inf
			}
			return orderFilter{-math.Log(delta * ordersLaw)}.needs(total.orders)
		}
		got := needs(delta, all...)
		if math.IsInf(got, 1) {
			return
		}
		if whole := needs(delta, dp.Compose{Events: all}); math.Abs(whole-got) > 1e-9*(1+got) {
			t.Fatalf("one by one %v, at once %v", got, whole)
		}
		if more := needs(delta*1.7, all...); more > got*(1+1e-9) {
			t.Fatalf("%v at δ %v, %v at a larger one", got, delta, more)
		}
		if approximate {
			return // at once, what is (ε, δ)-DP only is added, which can be more
		}
		r, err := Epsilon(dp.Unscoped(dp.Compose{Events: all}), addRemove, delta*(ordersLaw+ordersSlack), MethodMin)
		if err != nil {
			t.Fatal(err)
		}
		if delete(r.Bounds, "rdp"); len(r.Bounds) > 0 && r.Epsilon > got*(1+1e-9) {
			t.Fatalf("the door asks for %v, all at once costs %v", got, r.Epsilon)
		}
	})
}
