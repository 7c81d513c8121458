package release

import (
	"math"
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
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

// Of a public data set every release gives the exact value, without noise or permit.
func TestPublicReleasesAreExact(t *testing.T) {
	rows := publicRows([2]float64{2, 0.5}, [2]float64{0, -1}, [2]float64{math.NaN(), 1})

	tables, err := someTables(1).Public(rows)
	if err != nil || !slices.Equal(tables[0], []int64{1, 0, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("tables %v, %v", tables, err)
	}
	sums, err := someSums(1).Public(rows)
	if f := 2 / math.Sqrt(5.25); err != nil || !slices.Equal(sums.Counts, []float64{1, 1}) || math.Abs(sums.Sums[1][0]-2*f) > 1e-12 {
		t.Errorf("sums by class %+v, %v", sums, err)
	}
	m := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1, Norm: 3, ExpectedRows: 2, Features: 2, Row: func(x, cells []float64) { copy(x, cells) }}
	mean, err := m.Public(rows)
	if err != nil || !slices.Equal(mean, []float64{1, -0.25}) {
		t.Errorf("mean %v, %v", mean, err)
	}
	c := someMoments(1)
	c.Norm = 9
	moments, err := c.Public(background, rows)
	if want := []float64{4, 1, 2, 1, 1.25, -0.5, 2, -0.5, 2}; err != nil || frobenius(moments.Matrix, want) > 1e-12 || moments.StdDev != 0 {
		t.Errorf("moments %+v, %v, want %v", moments, err, want)
	}
}

// What a public data set is asked for is checked like the rest.
func TestPublicReleasesCheckTheirParameters(t *testing.T) {
	rows := publicRows([2]float64{})
	for name, call := range map[string]func() error{
		"tables":     func() error { _, err := Tables{Scope: dp.WholeScope}.Public(rows); return err },
		"class sums": func() error { _, err := ClassSums{Scope: dp.WholeScope}.Public(rows); return err },
		"mean":       func() error { _, err := InputMean{Scope: dp.WholeScope}.Public(rows); return err },
		"moments":    func() error { _, err := Covariance{Scope: dp.WholeScope}.Public(background, rows); return err },
		"inputs": func() error {
			_, err := Covariance{Scope: dp.WholeScope, Features: 2, Norm: 1}.Public(background, rows)
			return err
		},
	} {
		if err := call(); err == nil {
			t.Errorf("%s without parameters", name)
		}
	}
}

// The dense inputs of a public data set, beside cells.
func TestPublicInputMean(t *testing.T) {
	s := &schema.Schema{Version: 1, Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{{Name: "flag", Type: schema.Boolean}}}
	rows := sealed.NewWithInputs("d", s, []float64{0, 1}, make([]uint64, 2), sealed.Inputs{Dim: 2, Floats: []float32{3, 4, 0.5, 0}})
	mean, err := InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1, Norm: 1, ExpectedRows: 2}.Public(rows)
	if err != nil || frobenius(mean, []float64{0.55, 0.4}) > 1e-12 {
		t.Errorf("mean %v, %v", mean, err)
	}
}
