package release

import (
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// Counts of one permit have noise of their own, on one scope and on two: the difference
// of two released numbers is not that of the exact ones, which one stream for both would
// give. Null: at scale 100 two draws are equal with a chance of 1/400, so more than 2 of 8
// pairs are with one of 1e-6.
func TestCountsOfOnePermitDoNotShareNoise(t *testing.T) {
	rows := rowsOf(1, make([][2]float64, 50)...) // row i lies at i/256 of the hash line
	all := Count{Scope: dp.WholeScope, NoiseMultiplier: 100}
	tenth := Count{Scope: dp.Scope{Lower: 0, Upper: 0.1}, NoiseMultiplier: 100}
	const ofAll, ofTenth = 50, 26
	var events []dp.Event
	for range 4 {
		events = append(events, all.Event(), all.Event(), dp.Scoped{Scope: tenth.Scope, Event: tenth.Event()})
	}
	for seed := range uint64(5) {
		p := permitWith(t, entropy.Seeded(seed), dp.AddOrRemoveOne, 1, events...)
		noise := func(c Count, exact int64) int64 {
			n, err := c.Release(background, p, rows)
			if err != nil {
				t.Fatal(err)
			}
			return n - exact
		}
		equal := 0
		for range 4 {
			first, second, third := noise(all, ofAll), noise(all, ofAll), noise(tenth, ofTenth)
			if first == second {
				equal++
			}
			if first == third {
				equal++
			}
		}
		if equal > 2 {
			t.Errorf("seed %d: %d of 8 pairs of counts have equal noise", seed, equal)
		}
	}
}
