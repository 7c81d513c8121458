package design

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/data/encode"
	"pawl/data/packed"
	"pawl/data/schema"
)

func sparseSchema() *schema.Schema {
	return &schema.Schema{Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "note", Type: schema.Text, Buckets: 7},
		{Name: "whole", Type: schema.Integer, Lower: 0, Upper: 5},
		{Name: "picture", Type: schema.Vector, Dimension: 3, Key: "whole"},
		{Name: "a", Type: schema.Boolean}, {Name: "b", Type: schema.Boolean},
	}}
}

func drawSparse(t *rapid.T, n int) (cells []float64, ends []int) {
	for range n {
		row := []float64{math.NaN(), float64(rapid.IntRange(0, 5).Draw(t, "whole")), math.NaN(),
			float64(rapid.IntRange(0, 1).Draw(t, "a")), float64(rapid.IntRange(0, 1).Draw(t, "b"))}
		if rapid.Bool().Draw(t, "text") {
			row[0] = float64(len(row))
			row = append(row, 0)
			for b := range 7 {
				if v := rapid.IntRange(-1, 2).Draw(t, "sum"); v != 0 {
					row = append(row, float64(b), float64(v))
					row[int(row[0])]++
				}
			}
		}
		if rapid.Bool().Draw(t, "vector") {
			row[2] = float64(len(row))
			for range 3 {
				row = append(row, rapid.Float64Range(-2, 2).Draw(t, "number"))
			}
		}
		cells = append(cells, row...)
		ends = append(ends, len(cells))
	}
	return cells, ends
}

// Scores, sums and norms of sparse rows are those of the dense ones: a norm that is
// too small would clip too little.
func TestSparseSumMatchesDenseRows(t *testing.T) {
	s := sparseSchema()
	rapid.Check(t, func(t *rapid.T) {
		enc, err := encode.New(s, "", encode.Options{Bag: rapid.Bool().Draw(t, "bag"), Linear: rapid.Bool().Draw(t, "linear"), Intercept: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		n, outputs := rapid.IntRange(0, 20).Draw(t, "rows"), rapid.SampledFrom([]int{1, 3}).Draw(t, "outputs")
		cells, ends := drawSparse(t, n)
		wide, from := packed.NewWide(len(s.Columns)), 0
		for _, to := range ends {
			wide.Append(cells[from:to])
			from = to
		}
		view, err := sealed.OpenPublic(sealed.Seal(sealed.NewSimulationKey("d", 1), s, sealed.Table{Cells: wide, Hash: make([]uint64, n)}), dp.WholeScope)
		if err != nil {
			t.Fatal(err)
		}
		m := New(view, enc, func([]float64) float64 { return 0 })
		w := make([]float64, enc.Dim*outputs)
		for j := range w {
			w[j] = rapid.Float64Range(-3, 3).Draw(t, "weight")
		}
		got, want := make([]float64, len(w)), make([]float64, len(w))
		x := make([]float64, enc.Dim)
		for i := range n {
			enc.Vector(x, view.Row(i))
			square := 0.0
			for _, v := range x {
				square += v * v
			}
			if math.Abs(m.Norm[i]-math.Sqrt(square)) > 1e-12 {
				t.Fatalf("row %d: norm %v, want %v", i, m.Norm[i], math.Sqrt(square))
			}
			for k := range outputs {
				score := 0.0
				for j, v := range x {
					score += v * w[j*outputs+k]
				}
				for j, v := range x {
					want[j*outputs+k] += v * (score*score + float64(k+i%2))
				}
			}
		}
		var pass Pass
		for range 2 { // the working memory is reused
			clear(got)
			m.Sum(&pass, got, w, outputs, nil, func(i int, scores []float64) {
				for k, v := range scores {
					scores[k] = v*v + float64(k+i%2)
				}
			})
			for j := range want {
				if !(math.Abs(got[j]-want[j]) <= 1e-11*(1+math.Abs(want[j]))) {
					t.Fatalf("coordinate %d: got %g, want %g", j, got[j], want[j])
				}
			}
		}
		if enc.Dense() {
			t.Fatal("an encoding with a text is not sparse")
		}
	})
}

// Blocks that make a row longer than 1, or no numbers of it, are zeros in it: one number that is none would tell of its row
// through any noise, and clipping goes by norms.
func TestNoRowIsLongerThanOne(t *testing.T) {
	for name, tt := range map[string]struct {
		column schema.Column
		value  float64
		times  float64 // the scale
	}{
		"no number": {schema.Column{Name: "pay", Type: schema.Numeric, HeavyTailed: true, Lower: 1e15 - 1, Upper: 1e15}, 1e15, 1},
		"too long":  {schema.Column{Name: "pay", Type: schema.Numeric, Lower: 0, Upper: 1}, 1, 1.1},
		// More than the mechanisms' margin of 1e-12, which no rounding of so few numbers comes near.
		"hardly too long": {schema.Column{Name: "pay", Type: schema.Numeric, Lower: 0, Upper: 1}, 1, 1 + 1e-11},
	} {
		for _, text := range []bool{false, true} {
			s := &schema.Schema{Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{tt.column, {Name: "a", Type: schema.Boolean}}}
			rows := [][]float64{{tt.value, 1}, {math.NaN(), 1}}
			if text {
				s.Columns = append(s.Columns, schema.Column{Name: "note", Type: schema.Text, Buckets: 7})
				rows = [][]float64{{tt.value, 1, 3, 1, 2, 1}, {math.NaN(), 1, 3, 1, 2, 1}}
			}
			enc, err := encode.New(s, "", encode.Options{Linear: true})
			if err != nil {
				t.Fatal(err)
			}
			enc.Scale *= tt.times
			wide := packed.NewWide(len(s.Columns))
			for _, row := range rows {
				wide.Append(row)
			}
			view, err := sealed.OpenPublic(sealed.Seal(sealed.NewSimulationKey("d", 1), s, sealed.Table{Cells: wide, Hash: make([]uint64, len(rows))}), dp.WholeScope)
			if err != nil {
				t.Fatal(err)
			}
			m, packed := NewPacked(view, enc, func([]float64) float64 { return 1 }, 1)
			if text != (packed == nil) {
				t.Fatalf("%s, text %v: packed %v", name, text, packed != nil)
			}
			norms := m.Norm
			m = New(view, enc, func([]float64) float64 { return 1 })
			got := make([]float64, enc.Dim)
			m.Sum(new(Pass), got, make([]float64, enc.Dim), 1, nil, func(i int, scores []float64) { scores[0] = float64(1 - i) })
			square, plain := 0.0, math.Sqrt(float64(len(enc.Blocks)-1))*enc.Scale
			for _, v := range got {
				square += v * v
			}
			if short := math.Sqrt(square); !(norms[0] <= 1+1e-12) || math.Abs(short-norms[0]) > 1e-9 || math.Abs(norms[1]-plain) > 1e-9 || !slices.Equal(norms, m.Norm) {
				t.Errorf("%s, text %v: norms %v of a row of norm %v and one of %v", name, text, norms, short, plain)
			}
		}
	}
}
