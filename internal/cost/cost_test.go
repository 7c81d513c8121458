package cost_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger/figures"
	"pawl/internal/cost"
	"pawl/internal/usage"
)

func how(t *testing.T) cost.How {
	t.Helper()
	h, err := cost.ParseHow("", "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What is calibrated meets its target, and a little more of it, two parts in a thousand, does not.
func TestCalibrationMeetsItsTarget(t *testing.T) {
	target := figures.Spend{Epsilon: 1, Delta: 1e-5}
	for _, c := range []struct {
		missing string
		facts   cost.Facts
		worse   func(*cost.Training, float64)
	}{
		{"noise-multiplier", cost.Facts{SamplingRate: 0.01, Steps: 1000}, func(t *cost.Training, x float64) { t.NoiseMultiplier = x * (1 - 2e-3) }},
		{"steps", cost.Facts{SamplingRate: 0.01, NoiseMultiplier: 2}, func(t *cost.Training, x float64) { t.Steps = int64(x*(1+2e-3)) + 1 }},
		{"sampling-rate", cost.Facts{Steps: 1000, NoiseMultiplier: 2}, func(t *cost.Training, x float64) { t.SamplingRate = x * (1 + 2e-3) }},
	} {
		training, missing, err := c.facts.Training(false)
		if err != nil || len(missing) != 1 || missing[0] != c.missing {
			t.Fatalf("%s: missing %v, %v", c.missing, missing, err)
		}
		ans, err := cost.CalibrateTraining(training, missing, target, how(t))
		if err != nil {
			t.Fatal(c.missing, err)
		}
		if e := float64(ans.Privacy.Epsilon); e > 1 || e < 0.99 {
			t.Errorf("%s %v costs %v, want at most 1 and about that", c.missing, *ans.Value, e)
		}
		over := *ans.Training
		c.worse(&over, float64(*ans.Value))
		dear, err := cost.AtDelta(cost.OfTraining(over, dp.AddOrRemoveOne, accountant.MethodMin), 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		if e := float64(dear.Privacy.Epsilon); e <= 1 {
			t.Errorf("%s just beyond %v costs %v: the target was not used up", c.missing, *ans.Value, e)
		}
	}
}

// One Gaussian release against its closed form (Balle and Wang, arXiv:1805.06530, Theorem 8), and
// one Laplace release, whose epsilon is the inverse of its scale.
func TestReleases(t *testing.T) {
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	ans, err := cost.CalibrateRelease("gaussian", 1, 3, figures.Spend{Epsilon: 1, Delta: 1e-5}, how(t))
	if err != nil {
		t.Fatal(err)
	}
	sigma := float64(*ans.Value)
	delta := func(s float64) float64 { return phi(1/(2*s)-s) - math.E*phi(-1/(2*s)-s) }
	if delta(sigma) > 1e-5 || delta(sigma*(1-1e-4)) <= 1e-5 {
		t.Errorf("multiplier %v has delta %v at epsilon 1, want the least with 1e-5", sigma, delta(sigma))
	}
	if d := float64(*ans.NoiseStdDev); math.Abs(d/(3*sigma)-1) > 1e-4 {
		t.Errorf("standard deviation %v for sensitivity 3 and multiplier %v", d, sigma)
	}
	if ans, err = cost.CalibrateRelease("laplace", 4, 0, figures.Spend{Epsilon: 2}, how(t)); err != nil || float64(*ans.Value) != 2 {
		t.Errorf("four Laplace releases of epsilon 2 have multiplier %v (%v), want 2", ans.Value, err)
	}
}

func TestRefusals(t *testing.T) {
	for want, f := range map[string]func() error{
		"--sampling-rate and --batch exclude": func() error { _, _, err := cost.Facts{SamplingRate: 0.1, Batch: 2}.Training(false); return err },
		"--batch 9 is larger":                 func() error { _, _, err := cost.Facts{Batch: 9, Rows: 8}.Training(false); return err },
		"--epochs needs a sampling rate":      func() error { _, _, err := cost.Facts{Epochs: 2}.Training(false); return err },
		"--rows: -1 is negative":              func() error { _, _, err := cost.Facts{Rows: -1}.Training(false); return err },
		"not a finite number":                 func() error { _, err := cost.ParseReal("epsilon", "0x1"); return err },
		"out of range":                        func() error { _, err := cost.ParseReal("epsilon", "1e999"); return err },
		"not a whole number":                  func() error { _, err := cost.ParseWhole("runs", "1.5"); return err },
		"not between 0 and 1":                 func() error { _, err := cost.ParseDelta("1", true); return err },
		"greater than 0":                      func() error { _, err := cost.ParseDelta("0", false); return err },
		"missing --delta":                     func() error { _, err := cost.ParseTarget("1", "", false); return err },
		`unknown noise "cauchy"`: func() error {
			_, err := cost.CalibrateRelease("cauchy", 1, 0, figures.Spend{Epsilon: 1}, how(t))
			return err
		},
		"add_or_remove_one and zero_out only": func() error {
			_, err := cost.CalibrateTraining(cost.Training{}, []string{"steps"}, figures.Spend{Epsilon: 1}, cost.How{Relation: dp.ReplaceOne})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, usage.Err) {
			t.Errorf("%v, want a mistake with %q", err, want)
		}
	}
}
