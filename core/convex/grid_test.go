package convex

import (
	"context"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/data/encode"
)

// cells says that every number is a multiple of the power of two below scale, over 2^12.
func cells(t *testing.T, name string, x []float64, scale float64) {
	t.Helper()
	cell := math.Exp2(math.Floor(math.Log2(scale)) - 12)
	for j, v := range x {
		if math.Mod(v, cell) != 0 {
			t.Fatalf("%s: number %d, %g, is no multiple of %g", name, j, v, cell)
		}
	}
}

// Weights with finishing noise leave on the grid of its scale, of rows and of none.
func TestWeightsLeaveOnTheGrid(t *testing.T) {
	s := testSchema(1)
	enc := mustEncoding(t, s, encode.Options{Linear: true})
	for _, table := range [][]float64{nil, {0.5, 1, 2, 1, -0.5, 0, 1, 0, 0.1, 1, 0, 1}} {
		_, m := mustOpen(t, s, table, enc)
		for seed := range uint64(5) {
			ctx, src := context.Background(), entropy.Seeded(73).Split("run", seed)

			o, err := Objective{Epsilon: 1, Regularization: 2, ResidualCap: 1}.calibrate(dp.AddOrRemoveOne, 1)
			if err != nil {
				t.Fatal(err)
			}
			w, err := o.fit(ctx, fitterOf(m), nil, 1, streamsOf(src))
			if err != nil {
				t.Fatal(err)
			}
			cells(t, "objective perturbation", w, o.finishing*certificate)

			amp := AMP{Epsilon: 1, Delta: 1e-5, ExpectedRows: 5e4, Share: 0.9}
			a, err := amp.calibrate(mustPermit(t, "d", amp.Event()))
			if err != nil {
				t.Fatal(err)
			}
			if w, err = a.fit(ctx, fitterOf(m), streamsOf(src)); err != nil {
				t.Fatal(err)
			}
			cells(t, "minima perturbation", w, a.finishing*a.gamma)

			out := Output{Scope: dp.WholeScope, NoiseMultiplier: 2, Regularization: 4, ResidualCap: 0.5, Encoding: enc, Target: lastCell}
			for _, apart := range []int{1, 3} {
				if w, err = out.fit(ctx, fitterOf(m), apart, src); err != nil {
					t.Fatal(err)
				}
				cells(t, "output perturbation", w, 2*out.sensitivity(apart, certificate))
			}
		}
	}
}
