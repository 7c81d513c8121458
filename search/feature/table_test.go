package feature_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/search/feature"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestUncertainty(t *testing.T) {
	for _, c := range []struct {
		name   string
		table  feature.Table
		suc    float64
		shared float64
	}{
		{"the same", feature.Table{Rows: 2, Cols: 2, Counts: []float64{5, 0, 0, 5}}, 1, 1},
		{"independent", feature.Table{Rows: 2, Cols: 2, Counts: []float64{2, 4, 3, 6}}, 0, 0},
		{"renamed levels", feature.Table{Rows: 3, Cols: 3, Counts: []float64{0, 4, 0, 4, 0, 0, 0, 0, 4}}, 1, math.Log2(3)},
		{"a constant", feature.Table{Rows: 2, Cols: 2, Counts: []float64{3, 4, 0, 0}}, 0, 0},
		{"two constants", feature.Table{Rows: 2, Cols: 2, Counts: []float64{7, 0, 0, 0}}, 0, 0},
		{"no rows", feature.Table{Rows: 2, Cols: 2, Counts: []float64{0, 0, 0, 0}}, 0, 0},
		// H(x) = H(y) = 1, H(x,y) = 1 + h₂(1/4).
		{"three of four agree", feature.Table{Rows: 2, Cols: 2, Counts: []float64{3, 1, 1, 3}}, 1 - feature.BinaryEntropy(.25), 1 - feature.BinaryEntropy(.25)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.table.SUC(); !near(got, c.suc, 1e-12) {
				t.Errorf("uncertainty: got %v, want %v", got, c.suc)
			}
			if got := c.table.MutualInformation(); !near(got, c.shared, 1e-12) {
				t.Errorf("information: got %v, want %v", got, c.shared)
			}
		})
	}
}

func tables(low float64) *rapid.Generator[feature.Table] {
	return rapid.Custom(func(t *rapid.T) feature.Table {
		r, c := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols")
		counts := rapid.SliceOfN(rapid.Float64Range(low, 50), r*c, r*c).Draw(t, "counts")
		return feature.Table{Rows: r, Cols: c, Counts: counts}
	})
}

func TestUncertaintyIsSymmetricAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := tables(0).Draw(t, "table")
		y := feature.Table{Rows: x.Cols, Cols: x.Rows, Counts: make([]float64, len(x.Counts))}
		for u := range x.Rows {
			for v := range x.Cols {
				y.Counts[v*y.Cols+u] = x.Counts[u*x.Cols+v]
			}
		}
		a, b := x.SUC(), y.SUC()
		if !(a >= 0 && a <= 1) || !near(a, b, 1e-9) {
			t.Fatalf("got %v and %v transposed", a, b)
		}
	})
}

func TestCleaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := tables(-40).Draw(t, "table")
		total := max(x.Total(), 0)
		distance := func(y feature.Table) float64 {
			sum := 0.0
			for i := range y.Counts {
				sum += (y.Counts[i] - x.Counts[i]) * (y.Counts[i] - x.Counts[i])
			}
			return sum
		}
		projected, clamped := x.Projected(), x.Clamped()
		for name, y := range map[string]feature.Table{"projected": projected, "clamped": clamped} {
			for _, c := range y.Counts {
				if !(c >= 0) {
					t.Fatalf("%s: negative count %v", name, c)
				}
			}
			if !near(y.Total(), total, 1e-9*(1+total)) {
				t.Fatalf("%s: total %v, want %v", name, y.Total(), total)
			}
		}
		if total > 0 && distance(projected) > distance(clamped)*(1+1e-9)+1e-9 {
			t.Fatalf("the projection lies farther (%v) than the clamped table (%v)", distance(projected), distance(clamped))
		}
	})
	exact := feature.Table{Rows: 1, Cols: 3, Counts: []float64{2, 0, 5}}
	for i, c := range exact.Projected().Counts {
		if c != exact.Counts[i] || exact.Clamped().Counts[i] != c {
			t.Errorf("exact counts must stay as they are, got %v", exact.Projected().Counts)
		}
	}
}

func TestNewTableRefuses(t *testing.T) {
	if _, err := feature.NewTable(2, 2, []float64{1, 2, 3}); !errors.Is(err, feature.ErrShape) {
		t.Errorf("three counts: got %v", err)
	}
	if _, err := feature.NewTable(1, 2, []float64{1, math.NaN()}); !errors.Is(err, feature.ErrNotFinite) {
		t.Errorf("NaN: got %v", err)
	}
}

// The expected plug-in entropy of two equally likely levels from 4 rows, by counting
// all 16 outcomes, is 0.78; Miller–Madow takes most of the bias away.
func TestMillerMadowReducesBias(t *testing.T) {
	plain, corrected := 0.0, 0.0
	for ones, ways := range []float64{1, 4, 6, 4, 1} {
		counts := []float64{float64(ones), float64(4 - ones)}
		k := 2
		if ones == 0 || ones == 4 {
			k = 1
		}
		h := feature.Entropy(counts)
		plain += ways / 16 * h
		corrected += ways / 16 * (h + feature.MillerMadow(k, 4))
	}
	if !(plain < 0.79 && math.Abs(corrected-1) < 0.07) {
		t.Errorf("got %v plain and %v corrected, want nearly 1 after correction", plain, corrected)
	}
	if feature.MillerMadow(0, 4) != 0 || feature.MillerMadow(3, 0) != 0 || feature.MillerMadow(3, -2) != 0 {
		t.Error("without rows there is nothing to correct")
	}
}
