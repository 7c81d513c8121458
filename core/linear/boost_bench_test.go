package linear

import (
	"context"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
)

// 32,000 rows with 14 terms of 257 cells, 30 epochs: the size of a census extract.
func BenchmarkTrainBoost(b *testing.B) {
	const n, terms = 32000, 14
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}}
	boost := boost(Logistic, 1)
	boost.Terms, boost.Epochs = nil, 30
	for t := range terms {
		s.Columns = append(s.Columns, schema.Column{Name: "a", Type: schema.Numeric, Lower: 0, Upper: 255})
		boost.Terms = append(boost.Terms, Term{Levels: 257, Ordered: 256, Level: func(cells []float64) int { return int(cells[t]) }})
	}
	s.Columns = append(s.Columns, schema.Column{Name: "y", Type: schema.Boolean})
	boost.Target = func(cells []float64) float64 { return cells[terms] }
	rng := rand.New(rand.NewPCG(1, 2))
	cells := make([]float64, n*(terms+1))
	for i := range cells {
		cells[i] = float64(rng.IntN(256))
		if i%(terms+1) == terms {
			cells[i] = float64(rng.IntN(2))
		}
	}
	rows := sealed.New("d", s, cells, make([]uint64, n))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := TrainBoost(context.Background(), permitWith(b, entropy.Seeded(1), dp.AddOrRemoveOne, 1, boost.Event()), rows, boost); err != nil {
			b.Fatal(err)
		}
	}
}
