package search

import (
	"math"
	"testing"
)

// A value that no lattice makes finite is asked for once on each, down to the finest that can be evaluated.
func TestRefineEndsWhereEveryValueIsInfinite(t *testing.T) {
	tried := map[float64]int{}
	Refine(8, 0, func(step float64) (float64, bool) {
		tried[step]++
		return math.Inf(1), step > 1e-3
	}, func(float64) float64 { return 1e-3 })
	for step, times := range tried {
		if times > 1 {
			t.Errorf("step %g: tried %d times, want once", step, times)
		}
	}
	if len(tried) < 6 {
		t.Errorf("%d lattices tried: a first lattice that is too coarse must be refined", len(tried))
	}
}

// A first lattice that is too fine is made coarser until it can be evaluated.
func TestRefineBeginsCoarserWhereTheFirstIsTooFine(t *testing.T) {
	found := 0
	Refine(1e-6, 0, func(step float64) (float64, bool) {
		if step < 1e-3 {
			return 0, false
		}
		found++
		return 1, true
	}, func(float64) float64 { return 1e-3 })
	if found == 0 {
		t.Error("no lattice was evaluated")
	}
}
