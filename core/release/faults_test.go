package release

import (
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// A fault in the noise (such as a source without a stream) must not hand out what was to be noised: the named results are
// still nil then.
func TestFaultsInTheNoiseReleaseNothing(t *testing.T) {
	rows := rowsOf(1, [2]float64{0, 0.5}, [2]float64{1, 0.25})
	row := func(x, cells []float64) { x[0] = cells[1] }
	tables := someTables(2)
	if got, err := tables.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, tables.Event()), rows); got != nil || err == nil {
		t.Errorf("tables: %v, %v", got, err)
	}
	sums := ClassSums{Scope: dp.WholeScope, NoiseMultiplier: 2, Classes: 2, Features: 1, Norm: 1,
		Row: func(x, cells []float64) int { row(x, cells); return int(cells[0]) }}
	if got, err := sums.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, sums.Event()), rows); got != nil || err == nil {
		t.Errorf("sums by class: %v, %v", got, err)
	}
	mean := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 2, Norm: 1, ExpectedRows: 2, Features: 1, Row: row}
	if got, err := mean.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, mean.Event()), rows); got != nil || err == nil {
		t.Errorf("mean: %v, %v", got, err)
	}
	moments := Covariance{Scope: dp.WholeScope, NoiseMultiplier: 2, Norm: 1, Features: 1, Row: row}
	if got, err := moments.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, moments.Event()), rows); got != nil || err == nil {
		t.Errorf("moments: %v, %v", got, err)
	}
	accuracy := Accuracy{Scope: dp.WholeScope, NoiseMultiplier: 2, Column: 0, Levels: 2, Predict: func([]float64) int { return 0 }}
	if got, err := accuracy.Release(background, permitWith(t, new(entropy.Source), dp.AddOrRemoveOne, 1, accuracy.Event()), rows); err == nil {
		t.Errorf("accuracy: %v, %v", got, err)
	}
}

// What leaves lies on the grid of the noise: a sum that is no multiple of a cell must
// not show its remainder.
func TestCovarianceLeavesOnAGrid(t *testing.T) {
	c := Covariance{Scope: dp.WholeScope, NoiseMultiplier: 3, Norm: 1, Features: 2, Row: func(x, cells []float64) { x[0], x[1] = cells[1], 0.3 }}
	rows := rowsOf(1, [2]float64{0, 1.0 / 3}, [2]float64{1, math.Sqrt2 / 7})
	for run := range 20 {
		got, err := c.Release(background, permitWith(t, source("grid", run), dp.AddOrRemoveOne, 1, c.Event()), rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Matrix {
			// The power of two below the smaller of the two deviations, 3/√2, over 2^12.
			if cell := 0x1p-11; math.Mod(v, cell) != 0 {
				t.Fatalf("entry %d: %g is no multiple of %g", i, v, cell)
			}
		}
	}
}
