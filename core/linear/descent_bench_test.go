package linear

import (
	"context"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/data/encode"
)

// 20,000 rows, 50 steps, by loss.
func BenchmarkDescend(b *testing.B) {
	const n = 20_000
	var cells []float64
	for i := range n {
		cells = append(cells, math.Sin(float64(i)), float64(i%1000), float64(i%2), float64(i%4), float64(i%3), float64(i*i%2))
	}
	rows := rowsOf(1, false, cells, nil)
	for _, kind := range losses {
		b.Run(string(kind.loss), func(b *testing.B) {
			d := descent(mustEncode(b, encode.Options{}), kind.loss, kind.outputs)
			d.Steps, d.NoiseMultiplier = 50, 1
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Descend(context.Background(), permitWith(b, entropy.Seeded(1), dp.AddOrRemoveOne, 1, d.Event()), rows, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
