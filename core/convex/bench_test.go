package convex

import (
	"context"
	"fmt"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/linear"
	"pawl/data/encode"
	"pawl/internal/stattest"
)

// censusRows seals a census.
func censusRows(n int) (*sealed.Rows, *encode.Encoding) {
	s, cells := stattest.Census(n)
	enc, err := encode.New(s, "label", encode.Options{Linear: true})
	if err != nil {
		panic(err)
	}
	return sealed.New("census", s, cells, make([]uint64, n)), enc
}

func lastCell(cells []float64) float64 { return cells[len(cells)-1] }

func BenchmarkObjectivePerturbation(b *testing.B) {
	rows, enc := censusRows(22750)
	for _, epsilon := range []float64{0.1, 1, 10} {
		o := Objective{
			Scope: dp.WholeScope, Epsilon: epsilon, Regularization: linear.Regularization(enc.Dim, epsilon),
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
