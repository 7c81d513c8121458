package stattest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/data/schema"
)

// Census makes rows shaped like a census extract: 8 categorical attributes
// with 102 levels of skewed frequency and 6 numeric ones, with a label that
// depends on both. The same n gives the same rows.
func Census(n int) (*schema.Schema, []float64) {
	s := &schema.Schema{Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}}
	levels := []int{9, 16, 7, 15, 6, 5, 3, 41}
	for i, k := range levels {
		c := schema.Column{Name: fmt.Sprintf("category%d", i), Type: schema.Categorical}
		for j := range k {
			c.Categories = append(c.Categories, fmt.Sprint(j))
		}
		s.Columns = append(s.Columns, c)
	}
	for i := range 6 {
		s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprintf("number%d", i), Type: schema.Numeric, Lower: -1, Upper: 1})
	}
	s.Columns = append(s.Columns, schema.Column{Name: "label", Type: schema.Boolean})
	random := rand.New(rand.NewPCG(1, 2))
	cells := make([]float64, 0, n*len(s.Columns))
	for range n {
		score := -1.2
		for i, k := range levels {
			l := int(float64(k) * math.Pow(random.Float64(), 3))
			score += math.Sin(float64(7*i + 3*l))
			cells = append(cells, float64(l))
		}
		for i := range 6 {
			x := 2*random.Float64() - 1
			score += 0.5 * float64(i) * x
			cells = append(cells, x)
		}
		label := 0.0
		if random.Float64() < 1/(1+math.Exp(-score)) {
			label = 1
		}
		cells = append(cells, label)
	}
	return s, cells
}
