package accountant

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/internal/stattest"
)

// job is a full-batch Gaussian of epsilon 1 at delta 1e-6.
var job = dp.Gaussian{NoiseMultiplier: 4.2247}

func sampledSteps(rate, noise float64, count int64) dp.Event {
	return dp.Repeat{Count: count, Event: dp.PoissonSampled{Rate: rate, Event: dp.Gaussian{NoiseMultiplier: noise}}}
}

func doorsOf(t testing.TB, epsilon, delta float64, events ...dp.Event) *Spending {
	t.Helper()
	var first dp.Event
	if len(events) > 0 {
		first = events[0]
	}
	d, err := NewDoors(epsilon, delta, first, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Start(addRemove)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := s.Add("", e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// The doors' parts of delta add up to delta, each with its own slack.
func TestDoorsShareDelta(t *testing.T) {
	// addition; gaussian; sampled; orders
	if sum := additionShare + gaussianLaw + gaussianSlack + sampledLaw + ordersLaw + ordersSlack; sum != 1 {
		t.Errorf("the doors use %v of delta", sum)
	}
}

// What adaptive admission costs over one plan, at any budget.
func TestDoorsWasteLittle(t *testing.T) {
	scoped := func(lower, upper float64, e dp.Event) dp.Event {
		return dp.Scoped{Scope: dp.Scope{Lower: lower, Upper: upper}, Event: e}
	}
	count := func(noise float64) dp.Event { return dp.DiscreteGaussian{NoiseMultiplier: noise} }
	// As pawl books them at δ 1e-6: bounds of ε .2, a selection of .3, fits of 1 that train on
	// four fifths and score on the rest.
	bounds, choice := count(20.5592), count(14.0313)
	fit := func(train dp.Event) dp.Event {
		return dp.Compose{Events: []dp.Event{scoped(0, 0.8, train), scoped(0.8, 1, count(4.5309))}}
	}
	descent, sgd := fit(dp.Repeat{Count: 121, Event: dp.Gaussian{NoiseMultiplier: 46.4715}}), fit(sampledSteps(0.01, 1.115, 1000))
	training := sampledSteps(0.01, 1, 1000)
	for _, c := range []struct {
		name   string
		events []dp.Event
		counts []int
		most   float64
	}{
		{"gaussian", []dp.Event{job}, []int{3, 10, 30}, 1.05},
		{"sampled .01", []dp.Event{training}, []int{1, 3, 10, 30}, 1.2},
		{"sampled .004", []dp.Event{sampledSteps(0.004, 0.8, 3000)}, []int{1, 3, 10, 30}, 1.2},
		{"sampled .05", []dp.Event{sampledSteps(0.05, 2, 400)}, []int{1, 3, 10, 30}, 1.2},
		{"mixed", []dp.Event{job, training}, []int{1, 5, 10, 30}, 1.2},
		{"sampled first", []dp.Event{training, job}, []int{1, 5, 10}, 1.2},
		{"with a score", []dp.Event{job, dp.ZCDP{Rho: 0.003}}, []int{3, 10, 30}, 1.15},
		{"fits", []dp.Event{descent}, []int{2, 5}, 1.1},
		{"bounds, choice, fit", []dp.Event{bounds, choice, descent}, []int{1, 3}, 1.1},
		{"bounds, choice, DP-SGD", []dp.Event{bounds, choice, sgd}, []int{1, 3}, 1.2},
		{"two different fits", []dp.Event{descent, sgd}, []int{1, 5}, 1.15},
		{"counts and fits", []dp.Event{dp.Laplace{NoiseMultiplier: 2}, descent, count(10)}, []int{1, 3}, 1.15},
		// What it costs where few jobs have heavy tails and the first is no such job.
		{"low noise, mixed", []dp.Event{job, sampledSteps(0.004, 0.8, 3000)}, []int{1, 2, 3}, 1.45},
		{"low noise, mixed", []dp.Event{job, sampledSteps(0.004, 0.8, 3000)}, []int{10, 30}, 1.15},
	} {
		for _, n := range c.counts {
			var all []dp.Event
			for range n {
				all = append(all, c.events...)
			}
			once := mustEpsilon(t, dp.Compose{Events: all}, addRemove, 1e-6, MethodMin).Epsilon
			spent := doorsOf(t, 2, 1e-6, all...).Epsilon()
			if !(spent >= once*(1-1e-9) && spent <= c.most*once) {
				t.Errorf("%d × %s: spent %.4f, at once %.4f: %.3f", n, c.name, spent, once, spent/once)
			}
			for _, total := range []float64{1.7, 20} {
				if again := doorsOf(t, total, 1e-6, all...).Epsilon(); again != spent {
					t.Errorf("%d × %s: spent %v of 2 and %v of %v", n, c.name, spent, again, total)
				}
			}
		}
	}
}

// The filter never asks for more than the sum of pure epsilons.
func TestDoorsAddPureEpsilons(t *testing.T) {
	s := doorsOf(t, 1, 1e-6)
	for i := range 10 {
		ok, need, left, err := s.Admits("", dp.Laplace{NoiseMultiplier: 10})
		if err != nil || !ok {
			t.Fatalf("%d: %v, need %v, left %v, %v", i, ok, need, left, err)
		}
		if err := s.Add("", dp.Laplace{NoiseMultiplier: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Epsilon() != 1 {
		t.Errorf("ten tenths are %v", s.Epsilon())
	}
	if ok, _, _, _ := s.Admits("", dp.Laplace{NoiseMultiplier: 1e6}); ok {
		t.Error("admitted beyond")
	}
	if x := doorsOf(t, 2, 1e-6, dp.Pure{Epsilon: 1e-12}, dp.Pure{Epsilon: 1e-12}).Epsilon(); x > 2.0001e-12 {
		t.Errorf("two spends of 1e-12 cost %v", x)
	}
}

// After what is (ε, δ)-DP only, the next is admitted exactly while the sums fit.
func TestDoorsAfterApproximate(t *testing.T) {
	amp := dp.Approximate{Epsilon: 1, Delta: 1e-8}
	s := doorsOf(t, 3, 1e-6, amp, amp)
	if ok, _, _, err := s.Admits("", amp); !ok || err != nil {
		t.Errorf("a third of three was refused: %v", err)
	}
	if ok, _, _, _ := s.Admits("", dp.Approximate{Epsilon: 1.001, Delta: 1e-8}); ok {
		t.Error("more than three was admitted")
	}
	if ok, _, _, _ := s.Admits("", dp.Approximate{Epsilon: 0.5, Delta: 1.1e-7}); ok {
		t.Error("more delta than there is was admitted")
	}
	// (1, 1e-8): a hundredth of delta is what the addition door gives it.
	sigma, err := GaussianNoiseMultiplier(1, 1e-8)
	if err != nil {
		t.Fatal(err)
	}
	if ok, need, left, _ := doorsOf(t, 2, 1e-6, amp).Admits("", dp.Gaussian{NoiseMultiplier: sigma * 1.000001}); !ok {
		t.Errorf("needs %v, left %v", need, left)
	}
	if ok, _, _, _ := doorsOf(t, 50, 1e-6, amp).Admits("", job); !ok {
		t.Error("a job was refused after an (ε, δ)-DP one, of 50")
	}
	// As pawl books them: amp with δ/64 and lt with δ/32 for its stopping. Jobs follow at
	// little more than without, though neither is a Gaussian of any size.
	small, lt := dp.Approximate{Epsilon: 0.2, Delta: 1e-6 / 64}, dp.Select{Runs: dp.RandomStopping{Gamma: 0.1, Delta2: 1e-6 / 32}, Event: dp.Pure{Epsilon: 0.05}}
	jobs := []dp.Event{job, sampledSteps(0.05, 2, 400), job}
	alone := doorsOf(t, 9, 1e-6, jobs...).Epsilon()
	for _, c := range []struct {
		name   string
		before []dp.Event
		most   float64
	}{{"four amp", []dp.Event{small, small, small, small}, alone * 1.22}, {"one lt", []dp.Event{lt}, alone*1.15 + 0.15}} {
		s := doorsOf(t, c.most, 1e-6, c.before...)
		for i, next := range jobs {
			if ok, need, left, err := s.Admits("", next); !ok || err != nil {
				t.Errorf("job %d after %s: needs %v, left %v of %v, %v", i, c.name, need, left, c.most, err)
			}
			if err := s.Add("", next); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Each of these brings a delta of its own, and no door has that much.
	for _, e := range []dp.Event{small, lt} {
		s := doorsOf(t, 50, 1e-6)
		admitted := 0
		for range 12 {
			ok, _, _, err := s.Admits("", e)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			admitted++
			if err := s.Add("", e); err != nil {
				t.Fatal(err)
			}
		}
		if want := map[bool]int{true: 8, false: 2}[e == dp.Event(small)]; admitted != want {
			t.Errorf("%d of %v were admitted, want %d", admitted, e, want)
		}
	}
	if s := doorsOf(t, 50, 1e-6, small, small, small, small, small); !math.IsInf(s.doors.needs(s.of(false, "").cost[0], false, 0), 1) {
		t.Error("the orders door holds beyond its delta")
	}
	if ok, _, _, _ := doorsOf(t, 50, 1e-6, dp.NonPrivate{}).Admits("", job); ok {
		t.Error("admitted beside what has no cost")
	}
}

func TestDoorsScopesAndClasses(t *testing.T) {
	half := func(lower, epsilon float64) dp.Event {
		return dp.Scoped{Scope: dp.Scope{Lower: lower, Upper: lower + 0.5}, Event: dp.Pure{Epsilon: epsilon}}
	}
	d, err := NewDoors(1, 1e-6, nil, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.Start(addRemove)
	add := func(class string, e dp.Event) {
		if err := s.Add(class, e); err != nil {
			t.Fatal(err)
		}
	}
	add("a", half(0, 0.6))
	add("a", half(0.5, 0.5))
	for _, c := range []struct {
		class string
		next  dp.Event
		want  bool
	}{
		{"a", half(0.5, 0.5), true}, {"a", half(0.5, 0.51), false}, {"a", half(0, 0.4), true}, {"a", half(0, 0.41), false},
		{"b", half(0.5, 0.4), true}, {"b", half(0.5, 0.41), false}, {"", dp.Pure{Epsilon: 0.4}, true}, {"b", dp.Pure{Epsilon: 0.41}, false}, {"b", dp.NoOp{}, true},
	} {
		if ok, need, left, err := s.Admits(c.class, c.next); ok != c.want || err != nil || ok != (need <= left) {
			t.Errorf("%s %v: %v, need %v, left %v, %v", c.class, c.next, ok, need, left, err)
		}
	}
	if x := s.Epsilon(); x != 0.6 {
		t.Errorf("within a class the largest counts: %v", x)
	}
	if add("b", half(0.5, 0.3)); s.Epsilon() != 0.9 {
		t.Errorf("across classes the sum counts: %v", s.Epsilon())
	}
	// A Gaussian on one half and Laplace noise on the other: each unit has a door of its own.
	s, _ = d.Start(addRemove)
	add("a", dp.Scoped{Scope: dp.Scope{Upper: 0.5}, Event: dp.Gaussian{NoiseMultiplier: 4.5}})
	if ok, _, _, _ := s.Admits("a", half(0.5, 0.99)); !ok {
		t.Error("units of two scopes need not be in one door")
	}
}

// What the doors admit is (ε, δ)-DP by the accountant that knows the whole sequence, and
// the first answer is that of every later process.
func TestDoorsAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Pow(10, rapid.Float64Range(-1, 1.5).Draw(t, "log10 epsilon"))
		delta := math.Pow(10, rapid.Float64Range(-9, -3).Draw(t, "log10 delta"))
		var all []dp.Event
		var s *Spending
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			e := anyEvent(1).Draw(t, "event")
			if s == nil {
				d, err := NewDoors(epsilon, delta, e, addRemove)
				if err != nil {
					t.Fatal(err)
				}
				s, _ = d.Start(addRemove)
			}
			ok, need, left, err := s.Admits("", e)
			if err != nil || ok != (need <= left) || !(left >= 0) {
				t.Fatalf("%v %v %v %v", ok, need, left, err)
			}
			if !ok {
				continue
			}
			if err := s.Add("", e); err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		if len(all) == 0 {
			return
		}
		if spent := s.Epsilon(); spent > epsilon*(1+1e-12) {
			t.Fatalf("spent %v of %v", spent, epsilon)
		}
		places, err := resolveAll(dp.Compose{Events: all}, addRemove)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range places {
			a, err := newAccount(parts, addRemove)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.approximate)+len(a.stopping) > 0 {
				return // at once, what is (ε, δ)-DP only is added, which can be more
			}
		}
		r, err := Epsilon(dp.Compose{Events: all}, addRemove, delta, MethodMin)
		if err != nil {
			t.Fatal(err)
		}
		// Part by part it can cost far less than all at once by a lattice that is too coarse.
		apart := 0.0
		for _, e := range all {
			one, err := Epsilon(e, addRemove, delta/float64(len(all)), MethodMin)
			if err != nil {
				t.Fatal(err)
			}
			apart += one.Epsilon
		}
		// A Rényi curve alone, as beside a selection, is too far above the truth to be held
		// against the doors: all at once can cost far more by it than part by part.
		if delete(r.Bounds, "rdp"); len(r.Bounds) > 0 && math.Min(r.Epsilon, apart) > epsilon*(1+1e-9) {
			t.Fatalf("admitted events cost %v of %v", math.Min(r.Epsilon, apart), epsilon)
		}
	})
}

// The Gaussian, and the steps, that stand for a mechanism are nowhere below it by more than
// the slack: by the accountant's own delta, at points other than those compared.
func TestDoorsDominate(t *testing.T) {
	d, err := NewDoors(1, 1e-6, nil, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []part{
		{event: dp.PoissonSampled{Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1}}, count: 1000},
		{event: dp.PoissonSampled{Rate: 0.004, Event: dp.Gaussian{NoiseMultiplier: 0.8}}, count: 300},
		{event: dp.Pure{Epsilon: 1}, count: 1}, {event: dp.Laplace{NoiseMultiplier: 2}, count: 7}, {event: dp.ZCDP{Rho: 0.01}, count: 3}, {event: dp.DiscreteLaplace{NoiseMultiplier: 5}, count: 20},
	} {
		event := dp.Repeat{Count: int64(p.count), Event: p.event}
		info, err := d.inform(p, addRemove)
		if err != nil {
			t.Fatal(err)
		}
		for x := 0.01; x < 3; x *= 2.6 {
			// An upper bound itself: it may be above the exact value by its own tolerance.
			r, err := Delta(event, addRemove, x, MethodMin)
			if most := AnalyticGaussianDelta(1/math.Sqrt(info.mu2), x) + info.slack; err != nil || r.Delta > most*1.01+1e-18 {
				t.Errorf("%v × %v at %v: delta %v, the Gaussian's %v, %v", p.count, p.event, x, r.Delta, most, err)
			}
		}
		if info.mu2 > 0 && !(info.slack <= d.delta*slackUnit) {
			t.Errorf("%v: slack %v", p, info.slack)
		}
	}
	r := referenceOf(sampledSteps(0.01, 1, 300), addRemove)
	for _, c := range []struct {
		event dp.Event
		steps float64
	}{
		{sampledSteps(0.01, 1, 40), 40}, {sampledSteps(0.009, 1.02, 300), 300}, {sampledSteps(0.011, 1, 1), inf},
		{sampledSteps(0.01, 0.99, 1), inf}, {job, inf}, {dp.PoissonSampled{Rate: 0.01, Event: dp.Laplace{NoiseMultiplier: 5}}, inf},
	} {
		parts, err := flatten(c.event, addRemove)
		if err != nil || len(parts) != 1 || r.steps(parts[0]) != c.steps {
			t.Errorf("%v: want %v steps, %v", c.event, c.steps, err)
		}
	}
	if referenceOf(job, addRemove) != nil || referenceOf(sampledSteps(0.01, 1, 300), dp.ReplaceOne) != nil {
		t.Error("a reference that nothing follows")
	}
}

// A move is an event that an adversary may choose.
type move struct {
	name   string
	costs  costs
	losses []atom // the law under P
}

// adversary is the largest H_ε that adaptive choice among moves reaches while a rule
// admits what was used of each.
func adversary(epsilon float64, moves []move, most []int, admits func(costs) bool) float64 {
	return play(epsilon, moves, most, make([]int, len(moves)), func(used []int) bool {
		sums := noCosts()
		for m, n := range used {
			for range n {
				sums = sums.plus(moves[m].costs)
			}
		}
		return admits(sums)
	})(0)
}

// play is what an adversary reaches by the loss that he has, when start was used: exact
// dynamic programming over what was used and a lattice of losses. Between the points of the
// lattice losses are rounded down, so it is a lower bound.
func play(epsilon float64, moves []move, most, start []int, admits func(used []int) bool) func(loss float64) float64 {
	const step, low, high = 0.02, -4.0, 12.0
	points := int((high-low)/step) + 1
	at := func(i int) float64 { return low + step*float64(i) }
	read := func(v []float64, loss float64) float64 {
		if math.IsInf(loss, 1) {
			return 1
		}
		j := int(math.Floor((loss-low)/step + 1e-9))
		if j < 0 {
			return 0
		}
		return v[min(j, points-1)]
	}
	known := map[string][]float64{}
	var value func(used []int) []float64
	value = func(used []int) []float64 {
		key := fmt.Sprint(used)
		if v, ok := known[key]; ok {
			return v
		}
		v := make([]float64, points)
		for i := range v {
			v[i] = math.Max(0, -math.Expm1(epsilon-at(i)))
		}
		for m, x := range moves {
			if used[m] == most[m] {
				continue
			}
			used[m]++
			if admits(used) {
				next := value(used)
				for i := range v {
					sum := 0.0
					for _, a := range x.losses {
						sum += a.mass * read(next, at(i)+a.loss)
					}
					v[i] = math.Max(v[i], sum)
				}
			}
			used[m]--
		}
		known[key] = v
		return v
	}
	v := value(slices.Clone(start))
	return func(loss float64) float64 { return read(v, loss) }
}

func moveOf(t testing.TB, d Doors, name string, e dp.Event, losses []atom) move {
	t.Helper()
	parts, err := flatten(e, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.cheap(parts, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	more, err := d.dearly(parts, addRemove, true)
	if err != nil {
		t.Fatal(err)
	}
	return move{name, c.plus(more), losses}
}

func gaussianLosses(mu float64) (out []atom) {
	const step = 0.02
	for x := -8 * mu; x < 8*mu+mu*mu; x += step {
		at := math.Floor((x+mu*mu/2)/step) * step
		lo, _ := normalTails((at - mu*mu/2) / mu)
		hi, _ := normalTails((at + step - mu*mu/2) / mu)
		out = append(out, atom{at, hi - lo})
	}
	return out
}

func responseLosses(epsilon, delta float64) []atom {
	p := (1 - delta) / (1 + math.Exp(-epsilon))
	return []atom{{epsilon, p}, {-epsilon, p * math.Exp(-epsilon)}, {inf, delta}}
}

// An adversary that chooses each event after the outputs of those before stays within
// delta, whichever doors he leaves by; "admit if either filter does, each at the full
// delta" does not.
func TestDoorsHoldAgainstAnAdversary(t *testing.T) {
	const epsilon, delta = 5, 1e-6
	d, err := NewDoors(epsilon, delta, nil, addRemove)
	if err != nil {
		t.Fatal(err)
	}
	// A loss of 3 with chance .001, and hardly any otherwise.
	const rare = 0.001
	other := math.Log((1 - rare) / (1 - rare*math.Exp(-3)))
	risky := moveOf(t, d, "risky", dp.Pure{Epsilon: 3}, []atom{{3, rare}, {other, 1 - rare}})
	moves := []move{risky}
	for _, mu := range []float64{0.3, 0.6} {
		moves = append(moves, moveOf(t, d, "gaussian", dp.Gaussian{NoiseMultiplier: 1 / mu}, gaussianLosses(mu)))
	}
	for _, e := range []dp.Approximate{{Epsilon: 2, Delta: delta * additionShare}, {Epsilon: 1, Delta: delta * ordersSlack / 2}} {
		moves = append(moves, moveOf(t, d, "approximate", e, responseLosses(e.Epsilon, e.Delta)))
	}
	moves = append(moves, moveOf(t, d, "response", dp.Pure{Epsilon: 0.5}, responseLosses(0.5, 0)))
	most := []int{1, 4, 3, 1, 3, 6}
	got := adversary(epsilon, moves, most, func(c costs) bool { return d.needs(c, true, 0) <= epsilon })
	if !(got <= delta && got > delta/100) {
		t.Errorf("the adversary reaches %.3g of a delta of %.3g", got, float64(delta))
	}
	// Each door alone keeps to its own part.
	for _, door := range []struct {
		name string
		open []int
		most float64
	}{
		{"pure", []int{costPure}, 1e-300}, {"addition", []int{costAddEpsilon, costAddDelta}, additionShare},
		{"gaussian", []int{costInformation, costSlack}, gaussianLaw + gaussianSlack}, {"orders", []int{costOrdersSlack}, ordersLaw + ordersSlack},
	} {
		alone := adversary(epsilon, moves, most, func(c costs) bool {
			for i := range c.sums {
				if !slices.Contains(door.open, i) {
					c.sums[i].inf = true
				}
			}
			if door.name != "orders" {
				c.sums[costOrdersSlack].inf = true
			}
			return d.needs(c, true, 0) <= epsilon
		})
		if alone > door.most*delta || door.name != "pure" && alone < door.most*delta/100 {
			t.Errorf("by the %s door alone the adversary reaches %.3g of δ, which has %.3g", door.name, alone/delta, door.most)
		}
	}

	// The refuted rule: information at full delta, or addition at full delta.
	size := func(full float64) *big.Rat {
		sigma, err := GaussianNoiseMultiplier(epsilon, full)
		if err != nil {
			t.Fatal(err)
		}
		return new(big.Rat).SetFloat64(1 / sigma / sigma)
	}
	limit := size(delta)
	// The information of the risky one is that of its own law.
	mu := bisect(0, 6, func(mu float64) bool {
		for x := 0.0; x < 3; x += 0.01 {
			if rare*-math.Expm1(x-3) > AnalyticGaussianDelta(1/mu, x) {
				return false
			}
		}
		return true
	})
	risky.costs.sums[costInformation] = newAmount(mu*mu, 1, false)
	left, _ := new(big.Rat).Sub(limit, risky.costs.sums[costInformation].rat).Float64()
	tight := math.Sqrt(left) * 0.9999
	bad := []move{risky, moveOf(t, d, "tight", dp.Gaussian{NoiseMultiplier: 1 / tight}, gaussianLosses(tight)),
		moveOf(t, d, "approximate", dp.Approximate{Epsilon: 2, Delta: delta}, responseLosses(2, delta))}
	either := func(c costs) bool {
		information := !c.sums[costInformation].inf && c.sums[costInformation].rat.Cmp(limit) <= 0 && c.sums[costSlack].zero()
		return information || c.sums[costAddEpsilon].float() <= epsilon && within(c.sums[costAddDelta], delta, true)
	}
	// Pure and (ε, δ) moves have their own pair in the addition; the Gaussian has none there.
	bad[1].costs.sums[costAddEpsilon] = amount{rat: new(big.Rat), inf: true}
	if got := adversary(epsilon, bad, []int{1, 1, 1}, either); !(got > 1.1*delta) {
		t.Errorf("either filter at the full delta: the adversary reaches only %.3g", got)
	}
	if got := adversary(epsilon, bad, []int{1, 1, 1}, func(c costs) bool { return d.needs(c, true, 0) <= epsilon }); !(got <= delta) {
		t.Errorf("the doors against what refutes the rule: %.3g", got)
	}
}

// sampledLosses is the law of the loss of one step of a sampled Gaussian, for a unit removed
// or added.
func sampledLosses(rate, sigma float64, added bool) (out []atom) {
	const step = 0.01
	loss := func(x float64) float64 { return sampledLogRatio(rate, (x-0.5)/sigma/sigma) }
	for x := -9 * sigma; x < 9*sigma+1; x += step {
		lo0, hi0 := normalTails(x / sigma)
		lo1, hi1 := normalTails((x + step) / sigma)
		mass := normalBetween(lo0, hi0, lo1, hi1)
		if added {
			out = append(out, atom{-loss(x + step), mass})
			continue
		}
		lo0, hi0 = normalTails((x - 1) / sigma)
		lo1, hi1 = normalTails((x + step - 1) / sigma)
		out = append(out, atom{loss(x), (1-rate)*mass + rate*normalBetween(lo0, hi0, lo1, hi1)})
	}
	// Losses of one cell of the lattice are one.
	cells := map[float64]float64{}
	for _, a := range out {
		cells[math.Floor(a.loss/0.02)*0.02] += a.mass
	}
	out = nil
	for loss, mass := range cells {
		out = append(out, atom{loss, mass})
	}
	return out
}

// An adversary may also choose, by what he has seen, whether the budget is raised; the first
// event passes by its own bound, and the sampled door follows it. Whatever he does is within
// the larger total, in both directions.
func TestDoorsHoldWhereBudgetsAreRaised(t *testing.T) {
	type total struct{ epsilon, delta float64 }
	const raise = 4
	most := []int{3, 9, 2, 2, 1}
	reached := func(first total, raised total, larger float64) (worst float64) {
		// Nine of these fill the gaussian door.
		sigma, err := GaussianNoiseMultiplier(raised.epsilon, raised.delta*larger*gaussianLaw)
		if err != nil {
			t.Fatal(err)
		}
		sigma *= 3 * 1.0001
		events := []dp.Event{dp.PoissonSampled{Rate: 0.2, Event: dp.Gaussian{NoiseMultiplier: 1}}, dp.Gaussian{NoiseMultiplier: sigma},
			dp.Approximate{Epsilon: 1, Delta: 1e-6 / 32}, dp.Pure{Epsilon: 0.9}}
		for _, added := range []bool{false, true} {
			moves := []move{{losses: sampledLosses(0.2, 1, added)}, {losses: gaussianLosses(1 / sigma)},
				{losses: responseLosses(1, 1e-6/32)}, {losses: responseLosses(0.9, 0)}, {losses: []atom{{0, 1}}}}
			for f, e := range events {
				var doors [2]Doors
				var each [2][]costs
				for level, b := range []total{first, raised} {
					d, err := NewDoors(b.epsilon, b.delta*larger, e, addRemove)
					if err != nil {
						t.Fatal(err)
					}
					doors[level] = d
					for _, e := range events {
						each[level] = append(each[level], moveOf(t, d, "", e, nil).costs)
					}
				}
				known := map[string]bool{}
				fits := func(used []int, level int) bool {
					key := fmt.Sprint(level, used[:raise])
					ok, asked := known[key]
					if !asked {
						sums := noCosts()
						for m, c := range each[level] {
							for range used[m] {
								sums = sums.plus(c)
							}
						}
						ok = doors[level].needs(sums, true, doors[level].epsilon) <= doors[level].epsilon
						known[key] = ok
					}
					return ok
				}
				for level, b := range []total{first, raised} {
					if own := mustEpsilon(t, e, addRemove, b.delta*larger, MethodMin).Epsilon; own > b.epsilon {
						continue
					}
					start := make([]int, len(moves))
					start[f], start[raise] = 1, level
					after := play(raised.epsilon, moves, most, start, func(used []int) bool {
						if slices.Equal(used[:raise], start[:raise]) {
							return true // a raise asks for no room
						}
						if fits(used, 0) && !fits(used, 1) {
							t.Errorf("%v fits %v and not %v", used, first, raised)
						}
						return fits(used, used[raise])
					})
					sum := 0.0
					for _, a := range moves[f].losses {
						sum += a.mass * after(a.loss)
					}
					worst = math.Max(worst, sum)
				}
			}
		}
		return worst
	}
	low := total{3.2, 1e-6}
	for _, raised := range []total{{5, 1e-6}, {3.2, 1e-5}, {4, 3e-6}} {
		got := reached(low, raised, 1)
		t.Logf("raised to %v: %.3g", raised, got)
		if !(got <= raised.delta && got > raised.delta/50) {
			t.Errorf("raised from %v to %v, the adversary reaches %.3g", low, raised, got)
		}
	}
	// Doors of four times the delta let him reach more than delta, so he does find his way.
	if got := reached(low, total{5, 1e-6}, 4); !(got > 1e-6) {
		t.Errorf("by doors of 4e-6 the adversary reaches only %.3g", got)
	}
}

// Only so many events are compared with a Gaussian. Which they are follows from what was
// booked, not from what was asked.
func TestDoorsCompareSoMany(t *testing.T) {
	counts := func(i int) dp.Event { return dp.DiscreteGaussian{NoiseMultiplier: 40 + float64(i)/100} }
	s := doorsOf(t, 50, 1e-6)
	for i := range mostComparisons + 5 {
		if _, _, _, err := s.Admits("", counts(i)); err != nil {
			t.Fatal(err)
		}
	}
	shut := func() bool { return s.open() == nil && s.of(true, "").cost[0].sums[costInformation].inf }
	for i := range mostComparisons + 1 {
		if shut() {
			t.Fatalf("shut after %d", i)
		}
		for range 2 {
			if err := s.Add("", counts(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !shut() {
		t.Error("one too many is compared")
	}
}

// A thousand different trainings are admitted, and added up, in the time of one command.
func TestDoorsAreFastOnDifferentEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	s := doorsOf(t, 100, 1e-5)
	start := stattest.CPU()
	for i := range 1000 {
		e := dp.Repeat{Count: 100, Event: dp.PoissonSampled{Rate: 256. / 60000, Event: dp.Gaussian{NoiseMultiplier: 1.1 + float64(i)/1000}}}
		if ok, need, left, err := s.Admits("", e); !ok || err != nil {
			t.Fatalf("event %d: need %v, left %v, %v", i, need, left, err)
		}
		if err := s.Add("", e); err != nil {
			t.Fatal(err)
		}
	}
	admitted := stattest.CPU() - start
	spent := s.Epsilon()
	// The machine that runs the tests is shared.
	if d := stattest.CPU() - start; d > 6*time.Second || spent > 100 {
		t.Errorf("admitted in %v, %.3f in %v", admitted, spent, d)
	} else {
		t.Logf("admitted in %v, %.3f in %v", admitted, spent, d)
	}
}

func TestDoorsAreFastOnLongLedgers(t *testing.T) {
	s := doorsOf(t, 1e6, 1e-5)
	scopes := []dp.Scope{{Lower: 0, Upper: 0.8}, {Lower: 0.8, Upper: 0.9}, {Lower: 0.9, Upper: 1}}
	event := func(i int) dp.Event {
		return dp.Scoped{Scope: scopes[i%3], Event: dp.Gaussian{NoiseMultiplier: 50 + float64(i)/100}}
	}
	for i := range 10000 {
		if err := s.Add("a", event(i)); err != nil {
			t.Fatal(err)
		}
	}
	s.Epsilon() // what waits is priced once
	start := stattest.CPU()
	const asks = 100
	for i := range asks {
		if _, _, _, err := s.Admits("a", event(i)); err != nil {
			t.Fatal(err)
		}
	}
	if d := (stattest.CPU() - start) / asks; d > 10*time.Millisecond {
		t.Errorf("one question took %v", d)
	}
}
