package encode

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/data/schema"
)

func testSchema() *schema.Schema {
	return &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "age", Type: schema.Integer, Lower: 0, Upper: 120},
		{Name: "gain", Type: schema.Numeric, Lower: 0, Upper: 1e5, HeavyTailed: true},
		{Name: "grade", Type: schema.Integer, Lower: 1, Upper: 3},
		{Name: "band", Type: schema.Categorical, Ordered: true, Categories: []string{"a", "b", "c", "d"}},
		{Name: "colour", Type: schema.Categorical, Categories: []string{"r", "g", "b"}, Other: "else"},
		{Name: "sex", Type: schema.Categorical, Categories: []string{"f", "m"}},
		{Name: "smoker", Type: schema.Boolean},
		{Name: "note", Type: schema.Ignore},
		{Name: "y", Type: schema.Boolean},
	}}
}

func drawRow(t *rapid.T, s *schema.Schema) []float64 {
	row := make([]float64, len(s.Columns))
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case c.Type == schema.Ignore || rapid.IntRange(0, 9).Draw(t, "missing") == 0:
			row[i] = math.NaN()
		case c.Type == schema.Integer:
			row[i] = float64(rapid.IntRange(int(c.Lower), int(c.Upper)).Draw(t, c.Name))
		case c.Type == schema.Numeric:
			row[i] = rapid.Float64Range(c.Lower, c.Upper).Draw(t, c.Name)
		default:
			row[i] = float64(rapid.IntRange(0, len(c.Levels())-1).Draw(t, c.Name))
		}
	}
	return row
}

func variants() []Options {
	return []Options{{}, {Linear: true}, {Bins: 64}, {Bins: 8, Crosses: true}, {InterceptOnly: true}, {Intercept: 3}, {Attributes: []string{"sex", "age"}},
		{Bins: 8, Crosses: true, Attributes: []string{"gain", "sex=m", "colour=else", "band=d", "colour=r", "smoker", "band=a", "grade=2", "age=50", "age=7"}}}
}

// The whole sensitivity argument rests on this bound.
func TestEveryRowLiesInTheUnitBall(t *testing.T) {
	s := testSchema()
	for _, o := range variants() {
		e, err := New(s, "y", o)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			x := make([]float64, e.Dim)
			e.Vector(x, drawRow(t, s))
			sum := 0.0
			for _, v := range x {
				sum += v * v
			}
			if !(sum <= 1+1e-12) {
				t.Fatalf("options %+v: squared norm %v > 1", o, sum)
			}
		})
	}
}

// Forward is a table of inner products with the levels' vectors and Backward its
// transpose; both are checked against Vector.
func TestTablesAgreeWithVectors(t *testing.T) {
	s := testSchema()
	for _, o := range variants() {
		e, err := New(s, "y", o)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			const outputs = 3
			row := drawRow(t, s)
			x := make([]float64, e.Dim)
			e.Vector(x, row)
			w := rapid.SliceOfN(rapid.Float64Range(-2, 2), e.Dim*outputs, e.Dim*outputs).Draw(t, "w")
			r := rapid.SliceOfN(rapid.Float64Range(-1, 1), outputs, outputs).Draw(t, "r")
			g := make([]float64, e.Dim*outputs)
			score := make([]float64, outputs)
			for i := range e.Blocks {
				b := &e.Blocks[i]
				part := w[b.Offset*outputs : (b.Offset+b.Dim)*outputs]
				if b.Kind == Linear {
					for k := range outputs {
						score[k] += e.Scale * b.Value(row) * part[k]
						g[b.Offset*outputs+k] += e.Scale * b.Value(row) * r[k]
					}
					continue
				}
				l := b.Level(row)
				if l == None {
					continue
				}
				table := make([]float64, b.Levels*outputs)
				b.Forward(table, part, outputs)
				hist := make([]float64, b.Levels*outputs)
				for k := range outputs {
					score[k] += e.Scale * table[l*outputs+k]
					hist[l*outputs+k] = e.Scale * r[k]
				}
				b.Backward(g[b.Offset*outputs:(b.Offset+b.Dim)*outputs], hist, outputs)
			}
			for k := range outputs {
				want := 0.0
				for j := range x {
					want += x[j] * w[j*outputs+k]
					if d := g[j*outputs+k] - x[j]*r[k]; math.Abs(d) > 1e-12 {
						t.Fatalf("options %+v: gradient of coordinate %d output %d is off by %g", o, j, k, d)
					}
				}
				if math.Abs(score[k]-want) > 1e-9 {
					t.Fatalf("options %+v: score %g, want %g", o, score[k], want)
				}
			}
		})
	}
}

func TestThresholdsArePublicAndEqualWidth(t *testing.T) {
	e, err := New(testSchema(), "y", Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := e.Names(testSchema())
	for _, want := range []string{"(intercept)", "age>=7.5", "grade>=1.5", "grade>=2.5", "band>=b", "colour=else", "sex"} {
		found := false
		for _, n := range names {
			found = found || n == want
		}
		if !found {
			t.Errorf("coordinate %q is missing from %v", want, names)
		}
	}
	age := &e.Blocks[1]
	for _, c := range []struct {
		age  float64
		want int
	}{{0, 0}, {7.4, 0}, {7.5, 1}, {112.5, 15}, {120, 15}, {math.NaN(), None}} {
		if got := age.bin(c.age); got != c.want {
			t.Errorf("age %v is in bin %d, want %d", c.age, got, c.want)
		}
	}
}

func TestOptionsAreRefusedByName(t *testing.T) {
	for _, o := range []Options{{Attributes: []string{"nope"}}, {Attributes: []string{"y"}}, {Attributes: []string{"note"}}, {Attributes: []string{"sex", "sex"}}, {Bins: 1}} {
		if _, err := New(testSchema(), "y", o); err == nil {
			t.Errorf("options %+v were accepted", o)
		}
	}
}
