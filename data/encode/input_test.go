package encode

import (
	"math"
	"testing"

	"pawl/data/schema"
)

// Numbers on a linear encoding lie in [−1, 1] as they are, and no row of any encoding is
// longer than the root of its inputs.
func TestInput(t *testing.T) {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{
		{Name: "a", Type: schema.Numeric, Lower: 0, Upper: 10},
		{Name: "b", Type: schema.Boolean},
		{Name: "c", Type: schema.Categorical, Categories: []string{"x", "y", "z"}},
		{Name: "y", Type: schema.Numeric, Lower: 0, Upper: 1},
	}}
	for _, c := range []struct {
		name    string
		options Options
		inputs  int
	}{
		{"linear", Options{Linear: true, Attributes: []string{"a", "b"}}, 2},
		{"one-hot too", Options{Linear: true}, 5},
		{"thermometer", Options{Bins: 5}, 8},
		{"a heavy intercept", Options{Bins: 5, Intercept: 7}, 8},
		{"nothing", Options{InterceptOnly: true}, 0},
	} {
		e, err := New(s, "y", c.options)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if e.Inputs() != c.inputs {
			t.Errorf("%s: %d inputs, want %d", c.name, e.Inputs(), c.inputs)
		}
		x := make([]float32, e.Inputs())
		for _, cells := range [][]float64{{10, 1, 2, 0}, {0, 0, 0, 1}, {math.NaN(), math.NaN(), math.NaN(), 0}} {
			e.Input(x, cells, nil)
			norm := 0.0
			for _, v := range x {
				norm += float64(v) * float64(v)
			}
			if norm > float64(c.inputs)*(1+1e-6) {
				t.Errorf("%s: norm² %g of %d inputs", c.name, norm, c.inputs)
			}
		}
		if c.name == "linear" {
			if e.Input(x, []float64{2.5, 1, 0, 0}, nil); math.Abs(float64(x[0])+0.5) > 1e-6 || x[1] != 1 {
				t.Errorf("%s: %v", c.name, x)
			}
		}
	}
}
