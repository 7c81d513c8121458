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

func mixedSchema() *schema.Schema {
	return &schema.Schema{
		Public: true,
		Unit:   schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{
			{Name: "number", Type: schema.Numeric, Lower: -1, Upper: 1},
			{Name: "whole", Type: schema.Integer, Lower: 0, Upper: 5},
			{Name: "flag", Type: schema.Boolean},
			{Name: "class", Type: schema.Categorical, Categories: []string{"a", "b", "c", "d"}},
			{Name: "grade", Type: schema.Categorical, Categories: []string{"i", "ii", "iii"}, Ordered: true},
		},
	}
}

// drawCells draws rows of mixedSchema, with unknown cells.
func drawCells(t *rapid.T, n int) []float64 {
	var cells []float64
	for range n {
		row := []float64{
			rapid.Float64Range(-1, 1).Draw(t, "number"),
			float64(rapid.IntRange(0, 5).Draw(t, "whole")),
			float64(rapid.IntRange(0, 1).Draw(t, "flag")),
			float64(rapid.IntRange(0, 3).Draw(t, "class")),
			float64(rapid.IntRange(0, 2).Draw(t, "grade")),
		}
		if c := rapid.IntRange(0, 9).Draw(t, "unknown"); c < len(row) {
			row[c] = math.NaN()
		}
		cells = append(cells, row...)
	}
	return cells
}

func TestWeightedMatchesDenseRows(t *testing.T) {
	s := mixedSchema()
	rapid.Check(t, func(t *rapid.T) {
		enc, err := encode.New(s, "", encode.Options{
			Bins:    rapid.IntRange(2, 6).Draw(t, "bins"),
			Linear:  rapid.Bool().Draw(t, "linear"),
			Crosses: rapid.Bool().Draw(t, "crosses"),
		})
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 30).Draw(t, "rows")
		cells := drawCells(t, n)
		weight := make([]float64, n)
		for i := range weight {
			weight[i] = rapid.SampledFrom([]float64{0, 0.25, 1, 3}).Draw(t, "weight")
		}
		view, err := sealed.OpenPublic(sealed.New("d", s, cells, make([]uint64, n)), dp.WholeScope)
		if err != nil {
			t.Fatal(err)
		}
		m := New(view, enc, func([]float64) float64 { return 0 })
		d := enc.Dim
		want := make([]float64, d*d)
		x := make([]float64, d)
		every := rapid.IntRange(1, 4).Draw(t, "every")
		for i := 0; i < n; i += every {
			enc.Vector(x, view.Row(i))
			for j := range d {
				for k := range d {
					want[j*d+k] += float64(every) * weight[i] * x[j] * x[k]
				}
			}
		}
		got := make([]float64, d*d)
		for i := range got {
			got[i] = math.NaN() // whatever was there is overwritten
		}
		var buf Moments
		for range 2 { // the working memory is reused
			m.Weighted(&buf, got, weight, every)
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
					t.Fatalf("entry (%d, %d): got %g, want %g", i/d, i%d, got[i], want[i])
				}
			}
		}
	})
}

// The same bits must come out whatever the number of workers, because a replayed
// trial has to give the same output.
func TestWeightedDoesNotDependOnWorkers(t *testing.T) {
	s := mixedSchema()
	const n = 3*chunk + 17
	cells := make([]float64, 0, n*5)
	weight := make([]float64, n)
	for i := range n {
		cells = append(cells, math.Sin(float64(i)), float64(i%6), float64(i%2), float64(i*i%4), float64(i%3))
		weight[i] = math.Abs(math.Cos(float64(i)))
	}
	enc, err := encode.New(s, "", encode.Options{Bins: 5, Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sealed.OpenPublic(sealed.New("d", s, cells, make([]uint64, n)), dp.WholeScope)
	if err != nil {
		t.Fatal(err)
	}
	m := New(view, enc, func([]float64) float64 { return 0 })
	var first []float64
	for workers := 1; workers <= 5; workers++ {
		m.workers = workers
		h := make([]float64, enc.Dim*enc.Dim)
		m.Weighted(new(Moments), h, weight, 1)
		if first == nil {
			first = h
			continue
		}
		for i := range h {
			if h[i] != first[i] {
				t.Fatalf("%d workers change entry %d: %v and %v", workers, i, h[i], first[i])
			}
		}
	}
}
