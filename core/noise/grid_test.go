package noise

import (
	"math"
	"testing"
)

func TestOnGrid(t *testing.T) {
	for _, std := range []float64{1e-200, 1e-3, 0.7, 1, 10.95, 1e9} {
		low, high := std/0x1p13, std/0x1p12
		for _, v := range []float64{0, math.Pi * std, -std / 3, 1e7 * std, 1e9 * std, 1e20 * std, std * 0x1p-60} {
			got := []float64{v}
			OnGrid(got, std)
			cell := math.Exp2(math.Floor(math.Log2(std)) - 12)
			if cell < low || cell > high || math.Abs(got[0]-v) > cell/2 || math.Mod(got[0], cell) != 0 {
				t.Errorf("deviation %g: %g became %g, cell %g", std, v, got[0], cell)
			}
		}
	}
	x := []float64{math.Pi}
	if OnGrid(x, 0); x[0] != math.Pi {
		t.Errorf("without noise: %g", x[0])
	}
}
