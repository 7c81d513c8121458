package kernel

import (
	"math"
	"testing"
)

// A product that is turned has the bits of the same one that is not, whatever the shape, the strides of its
// factors and what C held; a value behind A, or in a column that is not used, never counts.
func TestTurnedProductsHaveTheSameBits(t *testing.T) {
	for _, x := range machines() {
		if x.direct.run == nil {
			continue
		}
		other := *x
		other.direct.most = 0
		turned := 0
		for _, m := range []int{x.direct.cols, x.direct.cols + 1, 3*x.direct.cols - 9} {
			for _, n := range []int{1, 2, 6, 7, 10, x.direct.most} {
				for _, k := range []int{1, 3, Chain, Chain + 5} {
					for _, apart := range []int{0, 3} {
						a := filled(k, m+apart).block(0, 0, k, m)
						b := filled(k, n+apart).block(0, 0, k, n)
						for i := range k {
							for j := m; j < m+apart && i*a.RowStride+j < len(a.Data); j++ {
								a.Data[i*a.RowStride+j] = float32(math.NaN())
							}
						}
						if !x.turns(a.T(), n) {
							t.Fatalf("%s: %d×%d×%d is not turned", x.name, m, n, k)
						}
						turned++
						for _, add := range []bool{false, true} {
							got, want := filled(m, n+apart).block(0, 0, m, n), filled(m, n+apart).block(0, 0, m, n)
							x.matMul(got, a.T(), b, add)
							other.matMul(want, a.T(), b, add)
							for i := range want.Data {
								if math.Float32bits(got.Data[i]) != math.Float32bits(want.Data[i]) {
									t.Fatalf("%s: %d×%d×%d, add %v: value %d is %v, want %v", x.name, m, n, k, add, i, got.Data[i], want.Data[i])
								}
							}
						}
					}
				}
			}
		}
		if turned == 0 {
			t.Errorf("%s: nothing was turned", x.name)
		}
	}
}

// filled is a matrix of numbers that differ.
func filled(rows, cols int) Matrix {
	data, s := make([]float32, rows*cols), uint32(rows*31+cols)
	for i := range data {
		s = s*1664525 + 1013904223
		data[i] = float32(s)/(1<<32) - 0.5
	}
	return Dense(data, rows, cols)
}
