package kernel

import (
	"fmt"
	"testing"
)

func BenchmarkNormal(b *testing.B) {
	for _, n := range []int{650, 19850, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, dst := NewNormal(testKey(1)), make([]float32, n)
			b.ReportAllocs()
			for b.Loop() {
				s.Add(dst, 0, 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
		})
	}
	b.Run("stream only", func(b *testing.B) {
		s, dst := NewNormal(testKey(1)), make([]byte, chunkBlocks*normalBytes)
		for b.Loop() {
			s.keyStream(active, dst, 0)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunkBlocks/normalBlock, "ns/value")
	})
	b.Run("transform only", func(b *testing.B) {
		words, dst := make([]byte, chunkBlocks*normalBytes), make([]float32, chunkBlocks*normalBlock)
		for b.Loop() {
			active.normals(dst, words, 1)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunkBlocks/normalBlock, "ns/value")
	})
}

func BenchmarkElementwise(b *testing.B) {
	const n = 16384
	src, dst := draw(testKey(1), 0, n), make([]float32, n)
	for name, f := range map[string]func(dst, src []float32){
		"exp": Exp, "sigmoid": Sigmoid, "tanh": Tanh,
		"softmax of 10": func(dst, src []float32) { Softmax(dst[:n/10*10], 10) },
		"add scaled":    func(dst, src []float32) { AddScaled(dst, src, 0.5) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(dst, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}
