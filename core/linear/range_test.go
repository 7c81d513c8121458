package linear

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
)

// A clipping norm so small that its noise becomes 0 is refused before rows are read:
// clipped sums would leave as they are, at the price of noise.
func TestNoiseThatVanishesIsRefused(t *testing.T) {
	rows := rowsOf(1, false, make([]float64, columns), nil)
	permit := func(e dp.Event) *sealed.Permit {
		p, err := sealed.NewPermit("id", rows.Dataset(), dp.AddOrRemoveOne, 1, e, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	b := boost(Logistic, 1)
	b.NoiseMultiplier, b.ClippingNorm, b.Epochs = 0.05, 5e-324, 1
	p := permit(b.Event())
	if out, err := TrainBoost(context.Background(), p, rows, b); out != nil || err == nil || p.Opened() {
		t.Errorf("boosting: %v, %v, opened %v", out, err, p.Opened())
	}
	d := Descent{
		Privacy: Privacy{Scope: dp.WholeScope, ClippingNorm: 5e-324, NoiseMultiplier: 0.4, Steps: 1, SamplingRate: 1},
		Loss:    Logistic, Encoding: mustEncode(t, encode.Options{}), Outputs: 1, Target: target, ExpectedRows: 1, LearningRate: 1,
	}
	p = permit(d.Event())
	if w, err := Descend(context.Background(), p, rows, d); w != nil || err == nil || p.Opened() {
		t.Errorf("descent: %v, %v, opened %v", w, err, p.Opened())
	}
}

// Counts leave on the grid of their noise: the low bits of a float64 sum would tell an
// empty cell from one with a row.
func TestBoostCountsLeaveOnAGrid(t *testing.T) {
	b := boost(Logistic, 1)
	b.Epochs = 1
	cell := math.Exp2(math.Floor(math.Log2(b.terms().Noise(1).Counts)) - 12)
	for seed := range uint64(50) {
		out, err := TrainBoost(context.Background(), permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, b.Event()), rowsOf(1, false, make([]float64, columns), nil), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, counts := range out.Counts {
			for _, c := range counts {
				if math.Mod(c, cell) != 0 {
					t.Fatalf("count %g is no multiple of %g", c, cell)
				}
			}
		}
	}
}

// Where noise is due and its source is missing, nothing leaves: neither sums nor counts.
func TestSumsWithoutASourceStayClosed(t *testing.T) {
	rows := rowsOf(1, true, make([]float64, columns), nil)
	d := descent(mustEncode(t, encode.Options{}), Logistic, 1)
	size := d.Encoding.Dim
	got := make([]float64, size)
	if err := d.linear().On(mustOpen(t, rows), 1, nil).Next(got, make([]float64, size)); !errors.Is(err, sealed.ErrFault) || slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
		t.Errorf("descent: %v, %v", got, err)
	}
	b := boost(Logistic, 1)
	run := b.terms().On(mustOpen(t, rows), b.terms().Noise(1), nil)
	defer run.Close()
	if counts, err := run.Count(); counts != nil || !errors.Is(err, sealed.ErrFault) {
		t.Errorf("counts: %v, %v", counts, err)
	}
	got = make([]float64, b.Terms[0].Levels)
	if err := run.Next(got, 0); !errors.Is(err, sealed.ErrFault) || slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
		t.Errorf("boosting: %v, %v", got, err)
	}
}
