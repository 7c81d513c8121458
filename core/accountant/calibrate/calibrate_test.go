package calibrate

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/internal/stattest"
)

func TestCalibrate(t *testing.T) {
	noise := func(q float64, steps int64) Search {
		return Search{Event: func(x float64) dp.Event { return dpsgd(q, x, steps) }, Decreasing: true}
	}
	selected := Search{Decreasing: true, Event: func(x float64) dp.Event {
		return dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 30}, Event: dpsgd(1.0/600, x, 300000)}
	}}
	for _, c := range []struct {
		name   string
		target Target
		rel    dp.Relation
		method accountant.Method
		search Search
		lo, hi float64 // where x must lie
	}{
		{"A05", Target{8, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.02, 1500), 0.7944, 0.8294},
		{"A05, smallest bound", Target{8, 1e-5}, dp.AddOrRemoveOne, accountant.MethodMin, noise(0.02, 1500), 0.7940, 0.7950},
		{"A07, smallest bound", Target{10, 1e-5}, dp.AddOrRemoveOne, accountant.MethodPLD, noise(0.064, 160), 0.7575, 0.7585},
		{"A10, smallest bound", Target{1000, 1e-5}, dp.AddOrRemoveOne, accountant.MethodMin, noise(0.01, 1000), 0.01, 0.2},
		{"A07", Target{10, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.064, 160), 0.7579, 0.8017},
		{"A07, epsilon 100", Target{100, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.064, 160), 0.1, 0.5},
		{"A07, epsilon 0.05", Target{0.05, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.064, 160), 10, 200},
		{"epsilon 1000", Target{1000, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.01, 1000), 0.01, 0.2},
		{"epsilon 0.001", Target{0.001, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, noise(0.01, 1000), 100, 10000},
		{"one Gaussian", Target{1, 1e-5}, dp.AddOrRemoveOne, accountant.MethodMin, Search{Decreasing: true,
			Event: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }}, 3.7306, 3.7330},
		{"pure at delta 0", Target{1, 0}, dp.AddOrRemoveOne, accountant.MethodMin, Search{Decreasing: true,
			Event: func(x float64) dp.Event { return dp.Repeat{Count: 8, Event: dp.Laplace{NoiseMultiplier: x}} }}, 8, 8.01},
		{"pure epsilon", Target{2, 1e-6}, dp.AddOrRemoveOne, accountant.MethodMin, Search{
			Event: func(x float64) dp.Event { return dp.Repeat{Count: 60, Event: dp.Pure{Epsilon: x}} }}, 2.0 / 60, 1},
		{"rate", Target{2, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, Search{Upper: 1,
			Event: func(x float64) dp.Event { return dpsgd(x, 1, 1000) }}, 0.001, 0.02},
		{"selection", Target{2.09, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, selected, 3.4, 3.6},
	} {
		start := stattest.CPU()
		x, r, err := To(c.target, c.rel, c.method, c.search)
		elapsed := stattest.CPU() - start
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		again := mustEpsilon(t, c.search.Event(x), c.rel, c.target.Delta, c.method).Epsilon
		if again != r.Epsilon || again > c.target.Epsilon || again < 0.995*c.target.Epsilon || x < c.lo || x > c.hi {
			t.Errorf("%s: x %v in [%v, %v]? re-accounts to %v, said %v, target %v", c.name, x, c.lo, c.hi, again, r.Epsilon, c.target.Epsilon)
		}
		if elapsed > 5*time.Second {
			t.Errorf("%s took %v", c.name, elapsed)
		}
	}
}

func TestCalibrateSteps(t *testing.T) {
	s := Search{Integer: true, Event: func(x float64) dp.Event { return dpsgd(0.01, 1, int64(x)) }}
	x, r, err := To(Target{2, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, s)
	if err != nil || x != math.Floor(x) || r.Epsilon > 2 {
		t.Fatalf("%v, %+v, %v", x, r, err)
	}
	if more := mustEpsilon(t, s.Event(x*1.01+1), dp.AddOrRemoveOne, 1e-5, accountant.MethodRDP).Epsilon; more <= 2 {
		t.Errorf("%v steps cost %v, so %v was not the most", x*1.01+1, more, x)
	}
	// All of a range that fits: its costly end.
	s.Upper = 10
	if x, _, err := To(Target{2, 1e-5}, dp.AddOrRemoveOne, accountant.MethodRDP, s); err != nil || x != 10 {
		t.Errorf("got %v, %v; want 10", x, err)
	}
}

func TestCalibrateExplains(t *testing.T) {
	gauss := Search{Decreasing: true, Event: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }}
	if _, _, err := To(Target{1, 0}, dp.AddOrRemoveOne, accountant.MethodMin, gauss); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a Gaussian at delta 0: %v", err)
	}
	narrow := gauss
	narrow.Upper = 2
	if _, _, err := To(Target{1, 1e-5}, dp.AddOrRemoveOne, accountant.MethodMin, narrow); !errors.Is(err, ErrUnreachable) {
		t.Errorf("range too narrow: %v", err)
	}
	for _, bad := range []Target{{0, 1e-5}, {-1, 1e-5}, {math.NaN(), 1e-5}, {math.Inf(1), 1e-5}, {1, -1}, {1, 1}, {1, math.NaN()}} {
		if _, _, err := To(bad, dp.AddOrRemoveOne, accountant.MethodMin, gauss); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestCalibrationGolden(t *testing.T) {
	raw, err := os.ReadFile("../testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Calibration []struct {
			Q, Delta, Epsilon float64
			Steps             int64
			SigmaRDP          float64 `json:"sigma_rdp"`
			SigmaPLD          float64 `json:"sigma_pld"`
		} `json:"calibration"`
	}
	if err := json.Unmarshal(raw, &reference); err != nil || len(reference.Calibration) == 0 {
		t.Fatal(err)
	}
	for _, c := range reference.Calibration {
		x, r, err := To(Target{c.Epsilon, c.Delta}, dp.AddOrRemoveOne, accountant.MethodRDP, Search{
			Event:      func(x float64) dp.Event { return dpsgd(c.Q, x, c.Steps) },
			Decreasing: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if x > c.SigmaRDP*1.001 || x < c.SigmaPLD || r.Epsilon > c.Epsilon || r.Epsilon < 0.9995*c.Epsilon {
			t.Errorf("q=%g T=%d epsilon=%g: sigma %v (rdp %v, pld %v), re-accounts to %v", c.Q, c.Steps, c.Epsilon, x, c.SigmaRDP, c.SigmaPLD, r.Epsilon)
		}
	}
}

func dpsgd(q, sigma float64, steps int64) dp.Event {
	return dp.Repeat{Count: steps, Event: dp.PoissonSampled{Rate: q, Event: dp.Gaussian{NoiseMultiplier: sigma}}}
}

func mustEpsilon(t testing.TB, e dp.Event, rel dp.Relation, delta float64, m accountant.Method) accountant.Result {
	t.Helper()
	r, err := accountant.Epsilon(e, rel, delta, m)
	if err != nil {
		t.Fatalf("%#v: %v", e, err)
	}
	return r
}
