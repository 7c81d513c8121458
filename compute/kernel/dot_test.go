package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDotsAreThoseOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 100 {
		x, rows := make([]float32, n), make([]float32, 6*n)
		for i := range rows {
			// Squares of such numbers underflow in float32.
			x[i%max(n, 1)], rows[i] = float32(rng.NormFloat64())*1e-25, float32(rng.NormFloat64())*1e-15
		}
		for count := range 7 {
			y := rows[:count*n]
			dots, squares := make([]float64, count), make([]float64, count)
			portable.products(dots, x, y)
			portable.products(squares, nil, y)
			for i := range count {
				row := y[i*n : (i+1)*n]
				product, size, square := 0.0, 0.0, 0.0
				for j, v := range row {
					p := float64(x[j]) * float64(v)
					product, size, square = product+p, size+math.Abs(p), square+float64(v)*float64(v)
				}
				if !(math.Abs(dots[i]-product) <= float64(n)*0x1p-53*size) || !(math.Abs(squares[i]-square) <= float64(n)*0x1p-53*square) {
					t.Errorf("row %d of %d values: %g and %g, want %g and %g", i, n, dots[i], squares[i], product, square)
				}
			}
			for _, m := range machines() {
				got := make([]float64, count)
				if m.products(got, x, y); !slices.Equal(got, dots) {
					t.Errorf("%d rows of %d values: %s gives %v, portable %v", count, n, m.name, got, dots)
				}
				if m.products(got, nil, y); !slices.Equal(got, squares) {
					t.Errorf("%d rows of %d values: %s gives squares %v, portable %v", count, n, m.name, got, squares)
				}
			}
		}
		var got [2]float64
		for i := range n {
			x[i] = float32(math.NaN())
			Dots(got[:1], x, rows[:n])
			Squares(got[1:], x)
			if got[0] == got[0] || got[1] == got[1] {
				t.Errorf("%d values: NaN at %d is lost", n, i)
			}
			x[i] = 1
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, sum := draw(testKey(1), 0, 4096), make([]float64, 4096)
	for _, n := range []int{10, 64, 300, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Squares(sum[:4096/n], x[:4096/n*n])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(4096/n*n), "ns/value")
		})
	}
}
