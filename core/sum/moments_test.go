package sum

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pawl/core/dp"
)

// Whatever is asked for together, rows of a unit that come, or take the place of another's, move all of it by at most
// the noise over the multiplier, each part in its unit. Products by themselves have less noise under replace-one
// than products beside anything else.
func TestMomentsMoveByTheirBound(t *testing.T) {
	entry := rapid.OneOf(rapid.SampledFrom([]float64{0, 9, -9}), rapid.Float64Range(-3, 3))
	rapid.Check(t, func(t *rapid.T) {
		m := Moments{Scope: dp.WholeScope, Event: dp.Gaussian{NoiseMultiplier: 1}, Features: 2, Norm: rapid.SampledFrom([]float64{0.5, 2}).Draw(t, "norm")}
		part := rapid.Bool()
		m.Counts, m.Sums, m.Squares, m.Products = part.Draw(t, "counts"), part.Draw(t, "sums"), part.Draw(t, "squares"), part.Draw(t, "products")
		if m.Groups = 2; m.Products {
			m.Groups = 1
		}
		relation, k := rapid.SampledFrom([]dp.Relation{dp.AddOrRemoveOne, dp.ReplaceOne}).Draw(t, "relation"), rapid.IntRange(1, 3).Draw(t, "rows per unit")
		row := rapid.Custom(func(t *rapid.T) [3]float64 {
			return [3]float64{float64(rapid.IntRange(0, m.Groups-1).Draw(t, "group")), entry.Draw(t, "x"), entry.Draw(t, "y")}
		})
		unit := rapid.SliceOfN(row, 0, k)
		parts := func(rows [][3]float64) (all []float64) {
			m.Row = func(x, cells []float64) int {
				r := rows[int(cells[0])]
				x[0], x[1] = r[1], r[2]
				return int(r[0])
			}
			s, err := m.Public(context.Background(), rowsOf(true, len(rows)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s.Counts...)
			for _, x := range s.Sums {
				all = append(all, x[0]/m.Norm, x[1]/m.Norm)
			}
			for _, x := range append(s.Squares, s.Products) {
				for _, v := range x {
					all = append(all, v/m.Norm/m.Norm)
				}
			}
			return all
		}
		if m.parts() == 0 {
			t.Skip() // the drawn query asks for nothing, so it has no sensitivity: draw another
		}
		before := [][3]float64{}
		if relation == dp.ReplaceOne {
			before = unit.Draw(t, "before")
		}
		one, two, square := parts(before), parts(unit.Draw(t, "after")), 0.0
		for i := range one {
			square += (one[i] - two[i]) * (one[i] - two[i])
		}
		if bound, err := m.StdDev(relation, k); err != nil || !(math.Sqrt(square) <= bound*(1+1e-9)) {
			t.Fatalf("%+v: moved by %g, more than %g, %v", m, math.Sqrt(square), bound, err)
		}
	})
	// Beside sums, which opposite vectors move by 2k, products have no more than the common bound.
	m := Moments{Event: dp.Gaussian{NoiseMultiplier: 1}, Sums: true, Products: true}
	if got, err := m.StdDev(dp.ReplaceOne, 3); err != nil || math.Abs(got-6*math.Sqrt2) > 1e-9 {
		t.Errorf("sums beside products, 3 rows a unit: %v, %v", got, err)
	}
}
