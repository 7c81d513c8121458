package localrows

import (
	"math"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
)

// publicRows seals the rows of rowsOf as a public data set.
func publicRows(cells ...[2]float64) *sealed.Rows {
	s := *rowsOf(1).Schema()
	s.Public = true
	var flat []float64
	for _, c := range cells {
		flat = append(flat, c[0], c[1])
	}
	return sealed.New("d", &s, flat, make([]uint64, len(cells)))
}

// Of a public data set the rows are exact, without noise or permit.
func TestPublicRowsAreExact(t *testing.T) {
	rows := publicRows([2]float64{2, 0.5}, [2]float64{0, -1}, [2]float64{math.NaN(), 1})
	table, err := someRows(1, 9).Public(rows)
	if err != nil || frobenius(table.X, []float64{0.5, 0.5, -1, 0, 0, 0}) > 1e-12 || !slices.Equal(table.Labels, []int{2, 0, -1}) {
		t.Errorf("rows %+v, %v", table, err)
	}
}

// What a public data set is asked for is checked like the rest.
func TestPublicRowsCheckTheirParameters(t *testing.T) {
	rows := publicRows([2]float64{})
	for name, l := range map[string]Table{
		"nothing":  {Scope: dp.WholeScope},
		"no input": {Scope: dp.WholeScope, Rows: 1, Features: 2, Norm: 1},
	} {
		if _, err := l.Public(rows); err == nil {
			t.Errorf("%s without parameters", name)
		}
	}
}

// A fault in the noise (such as a source without a stream) must not hand out what was to be
// noised: the named results are still nil then.
func TestFaultsInTheNoiseReleaseNothing(t *testing.T) {
	rows := rowsOf(1, [2]float64{0, 0.5}, [2]float64{1, 0.25})
	l := Table{Scope: dp.WholeScope, NoiseMultiplier: 2, Rows: 2, Features: 1, Norm: 1, Row: func(x, cells []float64) { x[0] = cells[1] }}
	if got, err := l.Release(background, permitWith(t, new(entropy.Source), dp.ReplaceOne, 1, l.Events()...), rows); got != nil || err == nil {
		t.Errorf("noisy rows: %v, %v", got, err)
	}
}
