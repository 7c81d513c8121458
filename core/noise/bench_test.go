package noise

import (
	"fmt"
	"testing"

	"pawl/core/entropy"
)

func BenchmarkAddGaussian(b *testing.B) {
	for _, n := range []int{16, 4096, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src, dst := entropy.Seeded(1), make([]float64, n)
			b.SetBytes(int64(8 * n))
			b.ReportAllocs()
			for b.Loop() {
				AddGaussian(src, dst, 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
		})
	}
}

func BenchmarkScalar(b *testing.B) {
	src := entropy.Seeded(1)
	for _, c := range []struct {
		name string
		draw func()
	}{
		{"Gamma", func() { Gamma(src, 20) }},
		{"DiscreteLaplace/3.7", func() { _, _ = discreteLaplace(src, 3.7) }},
		{"DiscreteGaussian/3.7", func() { _, _ = discreteGaussian(src, 3.7) }},
		{"DiscreteGaussian/2^55", func() { _, _ = discreteGaussian(src, 0x1p55) }},
		{"AddDiscreteGaussian/3.7", func() { _ = AddDiscreteGaussian(src, make([]int64, 1), 3.7) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.draw()
			}
		})
	}
}

func BenchmarkAddDiscreteGaussian(b *testing.B) {
	src, dst := entropy.Seeded(1), make([]int64, 1024)
	b.ReportAllocs()
	for b.Loop() {
		_ = AddDiscreteGaussian(src, dst, 3.7)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/value")
}

func BenchmarkNormals(b *testing.B) {
	n, dst := NewNormals(entropy.Seeded(1)), make([]float64, Piece)
	b.ReportAllocs()
	piece := uint64(0)
	for b.Loop() {
		n.Fill(dst, piece)
		piece++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Piece, "ns/value")
}
