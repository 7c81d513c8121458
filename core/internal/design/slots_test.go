package design

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/schema"
)

// Indicators of which rows have one at most are looked up together, others apart, and
// sums and second moments are those of the dense rows either way.
func TestIndicatorsAreJoined(t *testing.T) {
	const indicators = 6
	s := &schema.Schema{Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}}
	for i := range indicators {
		s.Columns = append(s.Columns, schema.Column{Name: string(rune('a' + i)), Type: schema.Categorical, Categories: []string{"1"}})
	}
	s.Columns = append(s.Columns, schema.Column{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1})
	enc, err := encode.New(s, "", encode.Options{Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	width := len(s.Columns)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "rows")
		cells := make([]float64, n*width)
		overlap := rapid.Bool().Draw(t, "overlap")
		for i := range n {
			row := cells[i*width:][:width]
			for j := range indicators {
				row[j] = math.NaN()
			}
			// The first three exclude each other, the last three too.
			for _, first := range []int{0, 3} {
				if k := rapid.IntRange(0, 3).Draw(t, "level"); k < 3 && i > 0 {
					row[first+k] = 0
				}
			}
			if i == 0 {
				row[0], row[3] = 0, 0 // so that the two runs are never one
			}
			if overlap && i == 0 {
				row[1] = 0
			}
			row[indicators] = rapid.Float64Range(-1, 1).Draw(t, "number")
		}
		view, err := sealed.OpenPublic(sealed.New("d", s, cells, make([]uint64, n)), dp.WholeScope)
		if err != nil {
			t.Fatal(err)
		}
		m := New(view, enc, func([]float64) float64 { return 0 })
		if !overlap && len(m.slots) > 3 { // the constant and two runs
			t.Fatalf("%d slots for a constant and two runs of indicators", len(m.slots))
		}
		w, weight := make([]float64, enc.Dim), make([]float64, n)
		for j := range w {
			w[j] = rapid.Float64Range(-2, 2).Draw(t, "weight")
		}
		sum, wantSum := make([]float64, enc.Dim), make([]float64, enc.Dim)
		h, wantH := make([]float64, enc.Dim*enc.Dim), make([]float64, enc.Dim*enc.Dim)
		x := make([]float64, enc.Dim)
		for i := range n {
			weight[i] = float64(i%4) - 1
			enc.Vector(x, view.Row(i))
			score := 0.0
			for j, v := range x {
				score += v * w[j]
			}
			for j, v := range x {
				wantSum[j] += v * score
				for k, u := range x {
					wantH[j*enc.Dim+k] += weight[i] * v * u
				}
			}
		}
		m.Pack().Sum(sum, w, func(int, []float64) {})
		var moments Moments
		m.Weighted(&moments, h, weight, 1)
		for j := range sum {
			if math.Abs(sum[j]-wantSum[j]) > 1e-12*(1+math.Abs(wantSum[j])) {
				t.Fatalf("sum %d: got %g, want %g", j, sum[j], wantSum[j])
			}
		}
		for j := range h {
			if math.Abs(h[j]-wantH[j]) > 1e-12*(1+math.Abs(wantH[j])) {
				t.Fatalf("moment %d: got %g, want %g", j, h[j], wantH[j])
			}
		}
	})
}
