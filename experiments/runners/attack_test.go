package runners

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/experiments"
	"pawl/experiments/replay"
)

// Disjoint pools share no record; overlapping ones are the same records, each time with
// other members.
func TestDeal(t *testing.T) {
	for _, p := range []pools{disjoint, overlapping} {
		all := (&attacking{Pools: p, Members: 10}).deal(100, 5)
		union := slices.Concat(all...)
		slices.Sort(union)
		if got, want := len(slices.Compact(union)), map[pools]int{disjoint: 100, overlapping: 20}[p]; got != want {
			t.Errorf("%s: %d records in all, want %d", p, got, want)
		}
		if slices.Equal(all[0][:10], all[1][:10]) {
			t.Errorf("%s: two models have the same members", p)
		}
	}
}

// leaking answers as a model that is surer of its members.
func leaking(seed uint64, leak float64) answered {
	const half, classes = 200, 4
	rng := rand.New(rand.NewPCG(seed, 0))
	a := answered{right: [2]float64{.9, .8}}
	a.Classes = classes
	for i := range 2 * half {
		y := rng.IntN(classes)
		sure := .3 + .3*rng.Float64()
		if i < half {
			sure += leak
		}
		for k := range classes {
			if k == y {
				a.P = append(a.P, sure)
			} else {
				a.P = append(a.P, (1-sure)/(classes-1))
			}
		}
		a.Label = append(a.Label, y)
	}
	return a
}

// Null hypothesis: answers do not depend on membership. Success over 5 targets of 400
// records then lies more than 0.1 from 1/2 with probability below 1e-6 (a standard error
// of 0.011, were targets independent). A leak that keeps members and others apart is found.
func TestRotate(t *testing.T) {
	for _, c := range []struct{ leak, least, most float64 }{{0, .4, .6}, {.3, .9, 1}} {
		var models []answered
		for k := range 5 {
			models = append(models, leaking(uint64(k), c.leak))
		}
		flat := flatten(rotate(t.Context(), models, []int{2, 4}, 100), models)
		for k := range 4 { // two numbers of shadow models, by the attack model and by the loss
			var x []float64
			for i := range 5 {
				x = append(x, flat[10*(k/2)+2*i+k%2])
			}
			if m := experiments.Of(x).Mean; m < c.least || m > c.most {
				t.Errorf("leak %g, %d: success %g", c.leak, k, m)
			}
		}
		if rest := flat[20:]; len(rest) != 10 || rest[0] != .9 || rest[1] != .8 {
			t.Errorf("accuracies %v", rest)
		}
	}
}

// figure8 is the figure of activations where the baseline has success 60 to 64 % and bounded ReLU so many points more.
func figure8(t *testing.T, by float64) *experiments.Table {
	return faked(t, "arous-figure-8", map[string]replay.Kind{"attack": kind(func(a *attacking) (v []float64) {
		for range a.Shadows {
			for i := range a.Models {
				s := .6 + .01*float64(i)
				if a.Change == "bounded_relu" {
					s += by * (1 + .01*float64(i)) / 100
				}
				v = append(v, s, .5)
			}
		}
		for range a.Models {
			v = append(v, .3, .2)
		}
		return v
	})}, nil)
}

func TestClaimsOfAttacks(t *testing.T) {
	for _, c := range []struct {
		by              float64
		lower, notLower experiments.Verdict
		row             experiments.Verdict // of −10 points
	}{{-10, r, n, r}, {-4, r, n, s}, {3, n, r, n}} {
		got := figure8(t, c.by)
		if v := verdicts(got.Claims); v[0] != c.lower || v[2] != c.notLower {
			t.Errorf("%g points: %q, want %q and %q", c.by, v, c.lower, c.notLower)
		}
		for _, row := range got.Rows {
			if strings.Contains(row.Name, "against ReLU") && row.Verdict != c.row {
				t.Errorf("%g points against −10: %q, %s", c.by, row.Verdict, row.Why)
			}
		}
	}
}

// A success above what ε allows is told, and a private row says what that is.
func TestUnderDP(t *testing.T) {
	within := func(got *experiments.Table) experiments.Claim { return got.Claims[4] }
	if c := within(figure8(t, 0)); c.Verdict != r {
		t.Errorf("%+v", c)
	}
	got := figure8(t, 35) // 95 % and more, where the claims allow 94 and 90
	if c := within(got); c.Verdict != n || !strings.Contains(c.Evidence, "bounded ReLU on cifar10") {
		t.Errorf("%+v", c)
	}
	if row := got.Rows[len(got.Rows)-1]; !strings.Contains(row.Why, "90.0") {
		t.Errorf("%+v", row)
	}
}

// Every change makes a net that can be built, with the layers that it is about.
func TestChanges(t *testing.T) {
	for change, want := range map[string]int{"relu": 5, "batch_norm": 4, "layer_norm": 4, "instance_norm": 4, "dropout": 2} {
		spec, err := (&attacking{training: training{spec: spec{Net: "arous-cifar-cnn", Bound: 4}}, Change: change}).changed()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spec.Compile(); err != nil {
			t.Errorf("%s: %v", change, err)
		}
		n := 0
		for i, l := range spec.Network.Layers {
			if l.Kind == change {
				n++
				if strings.HasSuffix(change, "norm") && spec.Network.Layers[i-1].Kind != "conv2d" {
					t.Errorf("%s: a layer behind %s", change, spec.Network.Layers[i-1].Kind)
				}
			}
		}
		if n != want {
			t.Errorf("%d layers of %s, want %d", n, change, want)
		}
	}
}
