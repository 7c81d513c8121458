package convex

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/data/schema"
)

// censusRows makes rows shaped like a census extract: 8 categorical attributes
// with 102 levels of skewed frequency and 6 numeric ones, with a label that
// depends on both.
func censusRows(n int) (*sealed.Rows, *encode.Encoding) {
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
	enc, err := encode.New(s, "label", encode.Options{Linear: true})
	if err != nil {
		panic(err)
	}
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
	return sealed.New("census", s, cells, make([]uint64, n)), enc
}

func lastCell(cells []float64) float64 { return cells[len(cells)-1] }

func BenchmarkObjectivePerturbation(b *testing.B) {
	rows, enc := censusRows(22750)
	for _, epsilon := range []float64{0.1, 1, 10} {
		o := Objective{
			Scope: dp.WholeScope, Epsilon: epsilon, Regularization: DefaultRegularization(enc.Dim, epsilon),
			ResidualCap: 1, Encoding: enc, Target: lastCell,
		}
		for _, repeats := range []int{1, 20} {
			b.Run(fmt.Sprintf("epsilon=%g/fits=%d", epsilon, repeats), func(b *testing.B) {
				b.ReportAllocs()
				run := 0
				for b.Loop() {
					run++
					all, events := make([]Objective, repeats), make([]dp.Event, repeats)
					for i := range all {
						all[i], events[i] = o, o.Event()
					}
					permit, err := sealed.NewPermit("1", "census", dp.AddOrRemoveOne, 1, dp.Compose{Events: events}, entropy.Seeded(uint64(run)))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := PerturbObjectives(context.Background(), permit, rows, all); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*repeats), "ms/fit")
			})
		}
	}
}

func BenchmarkAdaSSP(b *testing.B) {
	rows, enc := censusRows(22750)
	fit := linear.AdaSSP{Scope: dp.WholeScope, NoiseMultiplier: 1, Encoding: enc, Target: lastCell}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := linear.SolveAdaSSP(context.Background(), permitWith(b, entropy.Seeded(1), "census", fit.Event()), rows, fit); err != nil {
			b.Fatal(err)
		}
	}
}
