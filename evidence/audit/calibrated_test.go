package audit

import (
	"errors"
	"math"
	"testing"

	"pawl/core/accountant/calibrate"
	"pawl/core/dp"
	"pawl/core/entropy"
)

// Every mechanism claims the ε that it was calibrated to, and runs at it.
func TestCalibrated(t *testing.T) {
	all, err := Mechanisms()
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range all {
		if _, sampled := of.Event.(dp.PoissonSampled); sampled && testing.Short() {
			continue
		}
		t.Run(of.Name, func(t *testing.T) {
			m, err := Calibrated(of.Slug(), 1)
			if err != nil {
				t.Fatal(err)
			}
			claim, err := m.Claim()
			if err != nil {
				t.Fatal(err)
			}
			if claim.Epsilon > 1 || claim.Epsilon < 0.99 {
				t.Errorf("claims ε = %g", claim.Epsilon)
			}
			if m.Name != of.Name || m.Relation != of.Relation || m.Neighbours != of.Neighbours {
				t.Errorf("is another mechanism: %+v", m)
			}
			for _, w := range []World{Out, In} {
				if _, err := m.Score(t.Context(), w, entropy.Seeded(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Null hypothesis: the calibrated mechanism is as private as it claims; false alarm 1e-6.
// Power: half of the noise that the claim needs is convicted.
func TestCalibratedAudit(t *testing.T) {
	honest, err := Calibrated("descent", 2)
	if err != nil {
		t.Fatal(err)
	}
	honest.Name = "descent at epsilon 2" // trials are kept by name
	acquitted(t, honest)
	half, err := Calibrated("descent", 4)
	if err != nil {
		t.Fatal(err)
	}
	half.Name, half.Event = "descent, half the noise", honest.Event
	scores, err := Scores(t.Context(), half, Options{Runs: 20_000, Source: entropy.Seeded(3)})
	if err != nil {
		t.Fatal(err)
	}
	if v := judge(t, half, scores); !v.Convicted {
		t.Errorf("half the noise goes free: %v", v)
	}
}

func TestCalibratedRefuses(t *testing.T) {
	for name, epsilon := range map[string]float64{"zero": 0, "NaN": math.NaN(), "infinite": math.Inf(1), "negative": -1} {
		if _, err := Calibrated("count", epsilon); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Calibrated("no-such", 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := Calibrated("count", 1e-9); !errors.Is(err, calibrate.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}
