package published

import (
	"fmt"
	"testing"

	"pawl/core/entropy"
	"pawl/search/feature/aware"
)

// Noisy fits of Fig. 3 on 22,750 rows of Adult, the largest number of columns.
func BenchmarkFits(b *testing.B) {
	table, err := OpenAs("adult", "", "one-hot")
	if err != nil {
		b.Fatal(err)
	}
	s, err := table.Split(AdultTrain, AdultTest, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1, 20, 108} {
		for _, epsilon := range []float64{.1, 1, 20} {
			b.Run(fmt.Sprintf("columns=%d/epsilon=%g", size, epsilon), func(b *testing.B) {
				const repeats = 20
				for run := 0; b.Loop(); run++ {
					if _, err := s.Accuracies(b.Context(), aware.Fits{Columns: table.All()[:size], Epsilon: epsilon, Repeats: repeats}, entropy.Seeded(uint64(run))); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*repeats), "ms/fit")
			})
		}
	}
}
