package cost

import (
	"math"
	"strings"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
)

// back reads an event of dp_accounting as its documentation defines it.
func (e *dpEvent) back(t *testing.T, rel dp.Relation) dp.Event {
	t.Helper()
	arg := func(name string) any {
		for _, a := range e.args {
			if a.name == name {
				return a.value
			}
		}
		t.Fatalf("%s has no %s", e.class, name)
		return nil
	}
	number := func(name string) float64 { return arg(name).(float64) }
	inner := func() dp.Event { return arg("event").(*dpEvent).back(t, rel) }
	switch e.class {
	case "NoOpDpEvent":
		return dp.NoOp{}
	case "NonPrivateDpEvent":
		return dp.NonPrivate{}
	case "GaussianDpEvent":
		return dp.Gaussian{NoiseMultiplier: number("noise_multiplier")}
	case "LaplaceDpEvent":
		return dp.Laplace{NoiseMultiplier: number("noise_multiplier")}
	case "ZCDpEvent":
		return dp.ZCDP{Rho: number("rho")}
	case "EpsilonDeltaDpEvent":
		return dp.Approximate{Epsilon: number("epsilon"), Delta: number("delta")}
	case "ExponentialMechanismDpEvent":
		return dp.ExponentialMechanism{Epsilon: number("epsilon")}
	case "RandomizedResponseDpEvent":
		return dp.RandomizedResponse{NoiseProbability: number("noise_parameter"), Categories: int(arg("num_buckets").(int64))}
	case "PoissonSampledDpEvent":
		if g, ok := inner().(dp.Gaussian); ok && rel == dp.ReplaceOne {
			// The noise is relative to the norm of one record; replacing it moves the sum by two.
			return dp.PoissonSampled{Rate: number("sampling_probability"), Event: dp.Gaussian{NoiseMultiplier: g.NoiseMultiplier / 2}, OneSided: g}
		}
		return dp.PoissonSampled{Rate: number("sampling_probability"), Event: inner()}
	case "SampledWithoutReplacementDpEvent":
		return dp.FixedSizeSampled{SourceSize: int(arg("source_dataset_size").(int64)), SampleSize: int(arg("sample_size").(int64)), Event: inner()}
	case "SelfComposedDpEvent":
		// Both accountants of the library pass the count down, where these events ignore it.
		if e.once {
			t.Errorf("%s is repeated by a count", e.class)
		}
		return dp.Repeat{Count: arg("count").(int64), Event: inner()}
	case "RepeatAndSelectDpEvent":
		if math.IsInf(number("shape"), 1) {
			return dp.Select{Runs: dp.PoissonRuns{Mean: number("mean")}, Event: inner()}
		}
		return dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: number("shape"), Mean: number("mean")}, Event: inner()}
	case "ComposedDpEvent":
		var c dp.Compose
		for _, p := range arg("events").([]*dpEvent) {
			c.Events = append(c.Events, p.back(t, rel))
		}
		return c
	}
	t.Fatalf("class %q", e.class)
	return nil
}

// What is exported costs what it cost, and never less: by its meaning in the library, priced by our
// accountant. tight says that nothing is given away.
func TestDPAccountingCosts(t *testing.T) {
	g := dp.Gaussian{NoiseMultiplier: 2}
	half := func(e dp.Event) dp.Event { return dp.Scoped{Scope: dp.Scope{Lower: 0.5, Upper: 1}, Event: e} }
	for _, c := range []struct {
		name  string
		event dp.Event
		rel   dp.Relation
		tight bool
		kinds int
	}{
		{"nothing", dp.NoOp{}, dp.AddOrRemoveOne, true, 1},
		{"no noise", dp.Repeat{Count: 2, Event: dp.DiscreteGaussian{}}, dp.AddOrRemoveOne, true, 1},
		{"descent", dp.Repeat{Count: 50, Event: dp.PoissonSampled{Rate: 0.1, Event: g}}, dp.AddOrRemoveOne, true, 1},
		{"replaced row", dp.Repeat{Count: 50, Event: dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 1}, OneSided: g}}, dp.ReplaceOne, true, 1},
		{"replaced row, less than two norms", dp.Repeat{Count: 50, Event: dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 1.5}, OneSided: g}}, dp.ReplaceOne, false, 1},
		{"replaced row, of which nothing is known", dp.PoissonSampled{Rate: 0.1, Event: dp.Pure{Epsilon: 1}}, dp.ReplaceOne, true, 1},
		{"sampled Laplace", dp.PoissonSampled{Rate: 0.1, Event: dp.Laplace{NoiseMultiplier: 2}}, dp.ZeroOut, true, 1},
		{"several on one sample", dp.PoissonSampled{Rate: 0.1, Event: dp.Compose{Events: []dp.Event{g, dp.Repeat{Count: 3, Event: g}}}}, dp.AddOrRemoveOne, true, 1},
		{"everybody sampled, and nobody", dp.Compose{Events: []dp.Event{dp.PoissonSampled{Rate: 1, Event: dp.DiscreteGaussian{NoiseMultiplier: 2}}, dp.PoissonSampled{Rate: 0, Event: g}}}, dp.AddOrRemoveOne, true, 1},
		{"fixed size", dp.FixedSizeSampled{SampleSize: 10, SourceSize: 100, Event: g}, dp.ReplaceOne, true, 1},
		{"passes", dp.Shuffled{Epochs: 3, Event: g}, dp.ZeroOut, true, 1},
		{"banded", dp.Banded{Steps: 8, Groups: 4, Rate: 0.5, NoiseMultiplier: 2, Coefficients: []float64{1, 0.5}}, dp.AddOrRemoveOne, true, 1},
		{"discrete", dp.Compose{Events: []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: 3}, dp.DiscreteGaussian{NoiseMultiplier: 3}}}, dp.AddOrRemoveOne, true, 1},
		{"other bounds", dp.Compose{Events: []dp.Event{dp.Pure{Epsilon: 0.1}, dp.Approximate{Epsilon: 0.1, Delta: 1e-7}, dp.ZCDP{Rho: 0.01}, dp.ExponentialMechanism{Epsilon: 0.2}}}, dp.AddOrRemoveOne, true, 1},
		{"answers", dp.Repeat{Count: 3, Event: dp.Compose{Events: []dp.Event{dp.RandomizedResponse{NoiseProbability: 0.5, Categories: 4}, g}}}, dp.ReplaceOne, true, 1},
		{"best of many", dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 5}, Event: g}, dp.AddOrRemoveOne, true, 1},
		{"best of a Poisson number", dp.Select{Runs: dp.PoissonRuns{Mean: 5}, Event: g}, dp.AddOrRemoveOne, true, 1},
		{"two kinds of units", dp.Compose{Events: []dp.Event{dp.Repeat{Count: 7, Event: g}, half(dp.Laplace{NoiseMultiplier: 3})}}, dp.AddOrRemoveOne, true, 2},
		{"scopes of a replaced row", dp.Compose{Events: []dp.Event{half(g), dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.5}, Event: dp.Laplace{NoiseMultiplier: 3}}}}, dp.ReplaceOne, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ToDPAccounting("event", dp.Stated{Event: c.event}, c.rel, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Events) != c.kinds {
				t.Errorf("%d events, want %d", len(d.Events), c.kinds)
			}
			dearest := 0.0
			for _, e := range d.Events {
				r, err := accountant.Epsilon(e.back(t, c.rel), c.rel, 1e-5, accountant.MethodMin)
				if err != nil {
					t.Fatal(err)
				}
				dearest = math.Max(dearest, r.Epsilon)
			}
			want, err := accountant.Epsilon(c.event, c.rel, 1e-5, accountant.MethodMin)
			if err != nil || float64(d.Epsilon) != want.Epsilon {
				t.Fatalf("epsilon %v, want %v (%v)", float64(d.Epsilon), want.Epsilon, err)
			}
			if dearest < want.Epsilon*(1-1e-9) || c.tight && dearest > want.Epsilon*(1+1e-6) {
				t.Errorf("exported events cost %v, ours %v", dearest, want.Epsilon)
			}
		})
	}
}

func TestDPAccountingRefuses(t *testing.T) {
	for _, c := range []struct {
		event dp.Event
		rel   dp.Relation
		group int64
		want  string
	}{
		{dp.PoissonSampled{Rate: 0.1, Event: dp.DiscreteGaussian{NoiseMultiplier: 1}}, dp.AddOrRemoveOne, 0, "no equivalent of a Poisson sample of discrete_gaussian"},
		{dp.PoissonSampled{Rate: 0.1, Event: dp.Pure{Epsilon: 1}}, dp.ZeroOut, 0, "a Poisson sample of pure"},
		{dp.PoissonSampled{Rate: 0.1, Event: dp.Gaussian{NoiseMultiplier: 0.9}, OneSided: dp.Gaussian{NoiseMultiplier: 2}}, dp.ReplaceOne, 0, "a Poisson sample of gaussian under replace_one"},
		{dp.PoissonSampled{Rate: 0.1, Event: dp.Pure{Epsilon: 1}, OneSided: dp.Pure{Epsilon: 1}}, dp.ReplaceOne, 0, "a Poisson sample of pure under replace_one"},
		{dp.FixedSizeSampled{SampleSize: 1, SourceSize: 10, Event: dp.ZCDP{Rho: 1}}, dp.ReplaceOne, 0, "a sample of fixed size of zcdp"},
		{dp.FixedSizeSampled{SampleSize: 1, SourceSize: 10, Event: dp.Gaussian{NoiseMultiplier: 1}}, dp.AddOrRemoveOne, 0, "fixed-size sampling needs replace_one"},
		{dp.Shuffled{Epochs: 1, Event: dp.Gaussian{NoiseMultiplier: 1}}, dp.AddOrRemoveOne, 0, "shuffled batches need"},
		{dp.Select{Runs: dp.RandomStopping{Gamma: 0.1, Delta2: 1e-6}, Event: dp.Pure{Epsilon: 1}}, dp.AddOrRemoveOne, 0, "a selection with random_stopping"},
		{dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: -0.5, Mean: 3}, Event: dp.Pure{Epsilon: 1}}, dp.AddOrRemoveOne, 0, "a selection with eta -0.5"},
		{dp.Select{Runs: dp.PoissonRuns{Mean: 0.5}, Event: dp.Pure{Epsilon: 1}}, dp.AddOrRemoveOne, 0, "a selection from 0.5 runs"},
		{dp.Repeat{Count: 20000, Event: dp.ExponentialMechanism{Epsilon: 1}}, dp.AddOrRemoveOne, 0, "20000 uses of ExponentialMechanismDpEvent"},
		{dp.RandomizedResponse{NoiseProbability: 0.5, Categories: 2}, dp.AddOrRemoveOne, 0, "randomized response needs replace_one"},
		{dp.Gaussian{NoiseMultiplier: 1}, dp.AddOrRemoveOne, 3, "a guarantee for groups"},
	} {
		_, err := ToDPAccounting("event", dp.Stated{Event: c.event, Group: c.group}, c.rel, 1e-5)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#v: %v, want %q", c.event, err, c.want)
		}
	}
}

// The account of a data set is one plan, without what was cancelled.
func TestDecodeAccountOfADataSet(t *testing.T) {
	entry := func(id, more, event string) string {
		return `{"id":"` + id + `","state":"committed",` + more + `"event":{"version":1,` + event + `}}`
	}
	scoped := func(lower, upper string) string {
		return `"kind":"scoped","scope":{"lower":` + lower + `,"upper":` + upper + `},"event":{"kind":"pure","epsilon":1}`
	}
	for _, c := range []struct{ name, entries, want, fails string }{
		{"one part of the units each", entry("a", `"assignment":"x",`, scoped("0", "0.5")) + "," + entry("b", `"assignment":"x",`, scoped("0.5", "1")) + `,{"id":"c","state":"cancelled","event":{"version":1,"kind":"non_private"}}`, "1", ""},
		{"nothing yet", "", "0", ""},
		{"other parts", entry("a", `"assignment":"x",`, scoped("0", "0.5")) + "," + entry("b", `"assignment":"y",`, scoped("0.5", "1")), "", "entries a and b divide the units differently"},
		{"parts that nobody named", entry("a", "", scoped("0", "0.5")) + "," + entry("b", "", scoped("0.5", "1")), "", "entries a and b divide"},
		{"seeded", entry("a", `"not_private":true,`, `"kind":"pure","epsilon":1`), "", "the noise of entry a was seeded"},
		{"unknown", entry("a", "", `"kind":"wish"`), "", "unknown kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"name":"clinic","unit":"person","relation":"zero_out","total":{"epsilon":"inf","delta":1e-6},"entries":[` + c.entries + `]}`
			s, delta, err := Decode("file", []byte(text))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || s.Unit != "person" || s.Relation != dp.ZeroOut || delta != "1e-6" {
				t.Fatalf("%+v at %q (%v)", s, delta, err)
			}
			if r, err := accountant.Epsilon(s.Event, s.Relation, 0, accountant.MethodMin); err != nil || Full(r.Epsilon) != c.want {
				t.Errorf("epsilon %v (%v), want %s", r.Epsilon, err, c.want)
			}
		})
	}
}
