package gradient

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// A run that goes on after any step has the lots, masks, variants and noise of one that
// was not interrupted: the later parameters have the same bits.
func TestTrainingGoesOn(t *testing.T) {
	const steps = 5
	net := &tinyNet{t: 2, m: 3, n: 4, dropout: true}
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{0.3, 1}).Draw(t, "rate")
		units := rapid.IntRange(1, 2).Draw(t, "rows of a unit")
		stop := rapid.IntRange(0, steps).Draw(t, "stop")
		seed := rapid.Uint64().Draw(t, "seed")
		clipping := rapid.SampledFrom([]Clipping{Flat, PerLayer, Quantile}).Draw(t, "clipping")
		rows := rawRows(units, false, net, 30)
		norms := make([]float64, steps+1)
		run := func(first int, params []float32) (after [][]float32) {
			tr := training(net, nil)
			tr.SamplingRate, tr.Steps, tr.First, tr.NoiseMultiplier, tr.ExpectedRows = rate, steps, first, 0.7, 30
			if tr.Clipping = clipping; clipping == Quantile {
				tr.UnclippedShare = 0.4
				tr.Follow = func(norm, share float64) { norms[first+len(after)+1] = tr.NextNorm(norm, share) }
				if first > 0 {
					tr.FirstNorm = norms[first]
				}
			}
			tr.Update = func(i int, w, g []float32) {
				if i != first+len(after) {
					t.Fatalf("step %d after %d of a run from %d", i, len(after), first)
				}
				for j, v := range g {
					w[j] -= 0.3 * v
				}
				after = append(after, slices.Clone(w))
			}
			permit := permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, units, tr.Event())
			if err := Train(context.Background(), permit, rows, tr, params); err != nil {
				t.Fatal(err)
			}
			if err := Train(context.Background(), permit, rows, tr, params); err == nil {
				t.Fatal("a run that goes on did not take its event")
			}
			return after
		}
		start := make([]float32, net.Parameters())
		for j := range start {
			start[j] = float32(j%7)/7 - 0.4
		}
		whole := run(0, slices.Clone(start))
		from := start
		if stop > 0 {
			from = whole[stop-1]
		}
		rest := run(stop, slices.Clone(from))
		if len(rest) != steps-stop {
			t.Fatalf("%d steps after %d of %d", len(rest), stop, steps)
		}
		for i, w := range rest {
			if !slices.Equal(w, whole[stop+i]) {
				t.Fatalf("step %d differs from the whole run's", stop+i)
			}
		}
	})
}

// A number of steps that the run does not have, or a norm that it cannot, is refused before anything is opened.
func TestTrainingGoesOnWithin(t *testing.T) {
	net := rawNet{t: 1, m: 4, n: 3}
	for _, c := range []struct {
		clipping Clipping
		first    int
		norm     float64
	}{{Flat, -1, 0}, {Flat, 4, 0}, {Flat, 1, 1}, {Quantile, 1, 0}, {Quantile, 1, math.NaN()}, {Quantile, 0, 1}} {
		tr := training(net, nil)
		tr.Steps, tr.First, tr.FirstNorm, tr.Clipping = 3, c.first, c.norm, c.clipping
		if c.clipping == Quantile {
			tr.UnclippedShare = 0.5
		}
		permit := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
		err := Train(context.Background(), permit, rawRows(1, false, net, 5), tr, make([]float32, net.Parameters()))
		if err == nil || permit.Opened() {
			t.Errorf("%+v: %v, opened %v", c, err, permit.Opened())
		}
	}
}
