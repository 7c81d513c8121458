package encode

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/data/schema"
)

func wideTestSchema() *schema.Schema {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "note", Type: schema.Text, Buckets: 6},
		{Name: "age", Type: schema.Integer, Lower: 0, Upper: 120},
		{Name: "id", Type: schema.Ignore},
		{Name: "picture", Type: schema.Vector, Dimension: 3, Key: "id"},
	}}
	for i := range 4 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprintf("count%d", i), Type: schema.Integer, Lower: 0, Upper: 9, HeavyTailed: true})
	}
	return s
}

// drawWide draws a row that CheckWide passes.
func drawWide(t *rapid.T, s *schema.Schema) []float64 {
	row := []float64{math.NaN(), float64(rapid.IntRange(0, 120).Draw(t, "age")), math.NaN(), math.NaN(), 0, 0, 0, 0}
	for i := range 4 {
		row[4+i] = float64(rapid.IntRange(0, 2).Draw(t, "count"))
	}
	if rapid.Bool().Draw(t, "text") {
		row[0] = float64(len(row))
		var pairs []float64
		for b := range 6 {
			if v := rapid.IntRange(-3, 3).Draw(t, "sum"); v != 0 {
				pairs = append(pairs, float64(b), float64(v))
			}
		}
		row = append(append(row, float64(len(pairs)/2)), pairs...)
	}
	if rapid.Bool().Draw(t, "vector") {
		row[3] = float64(len(row))
		for range 3 {
			row = append(row, rapid.SampledFrom([]float64{0, 1, -2, 1e-300, 1e300, math.MaxFloat64, -5e-324, 0.3}).Draw(t, "number"))
		}
	}
	if err := s.CheckWide(row); err != nil {
		t.Fatal(err)
	}
	return row
}

// Texts, vectors and bags have norm 1 or 0, whatever stands in them: the sensitivity
// argument rests on it.
func TestWideRowsLieInTheUnitBall(t *testing.T) {
	s := wideTestSchema()
	for _, o := range []Options{{}, {Bag: true}, {Bag: true, Intercept: 0.5}, {Attributes: []string{"note"}}, {Attributes: []string{"picture", "count1"}, Bag: true}} {
		e, err := New(s, "", o)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			x, row := make([]float64, e.Dim), drawWide(t, s)
			e.Vector(x, row)
			sum := 0.0
			for _, v := range x {
				sum += v * v
			}
			if !(sum <= 1+1e-12) {
				t.Fatalf("options %+v: squared norm %v > 1", o, sum)
			}
			for i := range e.Blocks {
				b := &e.Blocks[i]
				if b.Kind != Sparse && b.Kind != Vector {
					continue
				}
				square := 0.0
				for _, v := range x[b.Offset:][:b.Dim] {
					square += v * v / (e.Scale * e.Scale)
				}
				if !(square == 0 || math.Abs(square-1) < 1e-12) {
					t.Fatalf("block %s: squared norm %v", b.Name, square)
				}
			}
		})
	}
}

func TestBagHoldsWhatIsThere(t *testing.T) {
	s := wideTestSchema()
	e, err := New(s, "", Options{Bag: true, Attributes: []string{"count0", "count1", "count2", "count3", "age"}})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	x := make([]float64, e.Dim)
	e.Vector(x, []float64{nan, 30, nan, nan, 0, 7, 1, nan})
	names := e.Names(s)
	for j, n := range names {
		want := 0.0
		if n == "count1" || n == "count2" {
			want = e.Scale / math.Sqrt2
		}
		if n[0] == 'c' && math.Abs(x[j]-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", n, x[j], want)
		}
	}
	if got := len(e.Features()); got != 5 {
		t.Errorf("%d features, want 5", got)
	}
	for j := range names {
		if b := e.BlockOf(j); j < b.Offset || j >= b.Offset+b.Dim {
			t.Errorf("coordinate %d is not in block %s", j, b.Name)
		}
	}
}

func TestTextNeedsBuckets(t *testing.T) {
	s := wideTestSchema()
	s.Columns[0].Buckets = 0
	if _, err := New(s, "", Options{}); err == nil {
		t.Error("a text without buckets was encoded")
	}
}
