package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDotIsThatOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 100 {
		x, y := make([]float32, n), make([]float32, n)
		want, size := 0.0, 0.0
		for i := range x {
			// Squares of such numbers underflow in float32.
			x[i], y[i] = float32(rng.NormFloat64())*1e-25, float32(rng.NormFloat64())*1e-15
			p := float64(x[i]) * float64(y[i])
			want, size = want+p, size+math.Abs(p)
		}
		first := portable.dot(x, y)
		if !(math.Abs(first-want) <= float64(n)*0x1p-53*size) {
			t.Errorf("%d values: %g, want %g", n, first, want)
		}
		for _, m := range machines() {
			if got := m.dot(x, y); got != first {
				t.Errorf("%d values: %s gives %v, portable %v", n, m.name, got, first)
			}
		}
		rows := append(append(append(append(append(append([]float32(nil), y...), x...), x...), y...), y...), x...)
		for count := range 7 {
			for _, m := range machines() {
				got := make([]float64, count)
				m.dots(got, y, rows[:count*n])
				for i := range got {
					if want := m.dot(y, rows[i*n:(i+1)*n]); got[i] != want {
						t.Errorf("%d values, %s: row %d of %d gives %v, alone %v", n, m.name, i, count, got[i], want)
					}
				}
			}
		}
		for i := range x {
			old := x[i]
			x[i] = float32(math.NaN())
			if got := Dot(x, y); got == got {
				t.Errorf("%d values: NaN at %d is lost", n, i)
			}
			x[i] = old
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x := draw(testKey(1), 0, 4096)
	b.Run("4096", func(b *testing.B) {
		for b.Loop() {
			Dot(x, x)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/value")
	})
	b.Run("four sums", func(b *testing.B) {
		for b.Loop() {
			dotShort(x, x)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/value")
	})
}
