package convex

import (
	"context"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/sum"
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

// Noisy moments lie on the grid before anything is made of them, also where there are no rows, and
// noise is added before they are rounded: entries of less than half a cell move as many of
// them as they have of a cell, where a sum rounded first would move none. Null: independent chances; |z| <= 4.89
// has a false-alarm rate of 1e-6.
func TestMomentsLeaveOnTheGrid(t *testing.T) {
	const d = 40
	for name, perturb := range map[string]func(gram, cross []float64, seed uint64) float64{
		"adassp": func(gram, cross []float64, seed uint64) float64 {
			e, err := sum.RegressionNoise{Least: 5, Gram: 5, Cross: 5}.Perturb(&sum.Equations{Least: 1. / 3, Gram: gram, Cross: cross}, entropy.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			return e.Least
		},
	} {
		t.Run(name, func(t *testing.T) {
			moments := func(share float64, seed uint64) (gram, cross []float64) {
				gram, cross = make([]float64, d*d), make([]float64, d)
				for j := range gram {
					gram[j] = share * 0x1p-11 // 5/√2 lies between 2 and 4
				}
				for j := range cross {
					cross[j] = share * 0x1p-10
				}
				least := perturb(gram, cross, seed)
				cells(t, "matrix", gram, 5/math.Sqrt2)
				cells(t, "vector", cross, 5)
				cells(t, "eigenvalue", []float64{least}, 5)
				return gram, cross
			}
			const share, runs = 0.4, 10
			matrix, vector := 0.0, 0.0
			for seed := range uint64(runs) {
				gram, cross := moments(0, seed)
				gram2, cross2 := moments(share, seed)
				for j := range d {
					for l := range j + 1 {
						matrix += (gram2[j*d+l] - gram[j*d+l]) * 0x1p11
					}
					vector += (cross2[j] - cross[j]) * 0x1p10
				}
			}
			for _, c := range []struct {
				name     string
				moved, n float64
			}{{"matrix", matrix, runs * d * (d + 1) / 2}, {"vector", vector, runs * d}} {
				if z := (c.moved - c.n*share) / math.Sqrt(c.n*share*(1-share)); !(math.Abs(z) <= 4.8916) {
					t.Errorf("%s: %g of %g move, z %.1f", c.name, c.moved, c.n, z)
				}
			}
		})
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
			w, err := o.fit(ctx, newSolver(m), nil, 1, streamsOf(src))
			if err != nil {
				t.Fatal(err)
			}
			cells(t, "objective perturbation", w, o.finishing*certificate)

			amp := AMP{Epsilon: 1, Delta: 1e-5, ExpectedRows: 5e4, Share: 0.9}
			a, err := amp.calibrate(mustPermit(t, "d", amp.Event()))
			if err != nil {
				t.Fatal(err)
			}
			if w, err = a.fit(ctx, newSolver(m), streamsOf(src)); err != nil {
				t.Fatal(err)
			}
			cells(t, "minima perturbation", w, a.finishing*a.gamma)

			out := Output{Scope: dp.WholeScope, NoiseMultiplier: 2, Regularization: 4, ResidualCap: 0.5, Encoding: enc, Target: lastCell}
			for _, apart := range []int{1, 3} {
				if w, err = out.fit(ctx, newSolver(m), apart, src); err != nil {
					t.Fatal(err)
				}
				cells(t, "output perturbation", w, 2*out.sensitivity(apart, certificate))
			}
		}
	}
}
