package gradient

import (
	"context"
	"math"
	"testing"

	"pawl/compute/optim"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/internal/stattest"
)

// wholeSum is a network of 100 weights and a row that adds 3/32 to each, at a clipping
// norm of 1: nothing is clipped, and every sum of one row is exact.
func wholeSum() (net rawNet, with, without *sealed.Rows) {
	net = rawNet{t: 1, m: 10, n: 10}
	row, zero := make([]float32, 20), make([]float32, 20)
	for i := range 10 {
		row[i], row[10+i] = 1, 3./32
	}
	return net, imageRows(1, false, [][]float32{row}, []float64{0}, nil, 20), imageRows(1, false, [][]float32{zero}, []float64{0}, nil, 20)
}

// The known attack on noise in floats. d = 100, σ = 1: from the lowest bits of one step, of a
// data set whose sum is 0, it proves that this was not the sum of the neighbour. Where noise and sum
// have 24 digits it does so in every one of 2,000 steps; where they have 53, nearly so
// (package linear). Of what leaves now it proves nothing.
func TestLowBitsOfAStepTellNothing(t *testing.T) {
	const steps, s = 2000, 3. / 32
	proofs := func(sums [][]float64, s []float64, digits int) (n int) {
		for _, y := range sums {
			for j := range y {
				if stattest.Impossible(y[j], s[j], digits) {
					n++
					break
				}
			}
		}
		return n
	}
	net, with, without := wholeSum()
	same := make([]float64, 100)
	for j := range same {
		same[j] = s
	}
	t.Run("noise of 24 digits", func(t *testing.T) {
		for _, sum := range []float32{0, s} {
			var sums [][]float64
			for i := range steps {
				z := make([]float32, 100)
				normals(z, uint64(1000*sum)+uint64(i), 1)
				for j := range z {
					z[j] += sum
				}
				sums = append(sums, widen(z))
			}
			switch n := proofs(sums, same, 24); {
			case sum == 0 && n < steps-2:
				t.Errorf("the attack proves %d of %d steps", n, steps)
			case sum != 0 && n > 0:
				t.Errorf("the attack is wrong about %d steps", n)
			}
		}
	})
	for name, rows := range map[string]*sealed.Rows{"with": with, "without": without} {
		t.Run("network "+name, func(t *testing.T) {
			var sums [][]float64
			tr := training(net, nil)
			tr.ClippingNorm, tr.NoiseMultiplier, tr.Steps = 1, 1, steps
			tr.Update = func(_ int, _, g []float32) { sums = append(sums, widen(g)) }
			if err := Train(context.Background(), permitWith(t, entropy.Seeded(3), dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, make([]float32, 100)); err != nil {
				t.Fatal(err)
			}
			for _, digits := range []int{24, 53} {
				if n := proofs(sums, same, digits); n > 0 {
					t.Errorf("%d digits: %d of %d steps are told apart with certainty", digits, n, steps)
				}
			}
		})
	}
}

// cellOf is the cell of noise of this deviation, by another way than noise.Grid's.
func cellOf(std float64) float64 { return math.Exp2(math.Floor(math.Log2(std)) - 12) }

// Every number that a step hands on is a whole number of cells over the public divisor,
// whatever is clipped how, whoever is in the lot, and for more weights than a piece of noise
// has. A step without rounding has hardly any such number.
func TestStepsLeaveOnTheGrid(t *testing.T) {
	for _, c := range []struct {
		name     string
		edit     func(*Training)
		relation dp.Relation
		k, apart int
	}{
		{"flat", func(*Training) {}, dp.AddOrRemoveOne, 1, 1},
		{"three rows of a unit", func(*Training) {}, dp.AddOrRemoveOne, 3, 3},
		{"replace one", func(*Training) {}, dp.ReplaceOne, 2, 4},
		{"per layer", func(tr *Training) { tr.Clipping = PerLayer }, dp.AddOrRemoveOne, 1, 1},
		{"automatic", func(tr *Training) { tr.Clipping = Automatic }, dp.AddOrRemoveOne, 1, 1},
		{"quantile", func(tr *Training) { tr.Clipping, tr.UnclippedShare = Quantile, 0.3 }, dp.AddOrRemoveOne, 2, 2},
		{"lots", func(tr *Training) { tr.SamplingRate, tr.ExpectedRows = 0.25, 1024 }, dp.AddOrRemoveOne, 1, 1},
		{"empty lots", func(tr *Training) { tr.SamplingRate, tr.ExpectedRows = 0x1p-40, 0x1p48 }, dp.AddOrRemoveOne, 1, 1},
		{"no targets", func(tr *Training) { tr.Target = noTarget }, dp.AddOrRemoveOne, 1, 1},
		{"alone", func(tr *Training) { tr.Alone = true }, dp.AddOrRemoveOne, 1, 1},
		{"little noise", func(tr *Training) { tr.NoiseMultiplier = 1e-3 }, dp.AddOrRemoveOne, 1, 1},
		{"two gradients for a step", func(tr *Training) {
			adadp, inner := &optim.ADADP{LearningRate: 0.1, Tolerance: 1, Steps: 4}, tr.Update
			tr.Update = func(i int, params, g []float32) { inner(i, params, g); adadp.Step(params, g) }
		}, dp.AddOrRemoveOne, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := rawNet{t: 1, m: 60, n: 40}
			tr := training(net, nil)
			tr.Steps, tr.ExpectedRows, tr.NoiseMultiplier = 4, 256, 1.7
			norm, updates := tr.ClippingNorm, 0
			tr.Follow = func(n, _ float64) { norm = n }
			tr.Update = func(step int, _, g []float32) {
				updates++
				z := tr.NoiseMultiplier
				if tr.Clipping == Quantile {
					z, _ = splitNoise(z, tr.SamplingRate*tr.ExpectedRows)
				}
				cell := cellOf(z * norm * float64(c.apart) * (1 + 1e-5))
				different := map[float32]bool{}
				for j, v := range g {
					different[v] = true
					if math.Mod(float64(v)*256, cell) != 0 {
						t.Fatalf("step %d, weight %d: %g·256 is no multiple of %g", step, j, v, cell)
					}
				}
				if len(different) < 1000 {
					t.Fatalf("step %d has %d different numbers", step, len(different))
				}
			}
			c.edit(&tr)
			permit := permitWith(t, entropy.Seeded(5), c.relation, c.k, tr.Event())
			if err := Train(context.Background(), permit, rawRows(c.k, false, net, 30), tr, make([]float32, net.Parameters())); err != nil || updates != 4 {
				t.Fatal(err, updates)
			}
		})
	}
}

// The sum is rounded with its noise, never before: with the same noise, a sum of less
// than half a cell moves as many numbers by a cell as it has of one. Null: independent chances; |z| <= 4.89 has a false-alarm
// rate of 1e-6. Convicts a sum that is rounded first, which moves nothing, and one
// that is not rounded at all.
func TestSumsAreRoundedAsAWhole(t *testing.T) {
	verdict := func(t *testing.T, with, without, sum []float64, cell float64) stattest.Verdict {
		var moved, want, variance float64
		for j, s := range sum {
			d := (with[j] - without[j]) / cell * math.Copysign(1, s)
			if d != 0 && d != 1 {
				t.Fatalf("number %d moves by %g cells", j, d)
			}
			p := math.Abs(s) / cell
			moved, want, variance = moved+d, want+p, variance+p*(1-p)
		}
		return stattest.Z("moved", moved, want, math.Sqrt(variance))
	}
	t.Run("network", func(t *testing.T) {
		const m = 64
		net := rawNet{t: 1, m: m, n: m}
		cell := cellOf(1.5)
		row, zero := make([]float32, 2*m), make([]float32, 2*m)
		sum := make([]float64, m*m)
		for i := range m {
			row[i], row[m+i] = 1, float32(cell*(float64(i)/m-0.5)*0.9)
		}
		for j := range sum {
			sum[j] = float64(row[m+j%m])
		}
		step := func(row []float32) (g []float64) {
			tr := training(net, &g)
			tr.NoiseMultiplier, tr.ClippingNorm = 1.5, 1
			rows := imageRows(1, false, [][]float32{row}, []float64{0}, nil, 2*m)
			if err := Train(context.Background(), permitWith(t, entropy.Seeded(8), dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, make([]float32, m*m)); err != nil {
				t.Fatal(err)
			}
			return g
		}
		without := step(zero)
		stattest.Accept(t, verdict(t, step(row), without, sum, cell))
		stattest.Convict(t, verdict(t, without, without, sum, cell))
	})
}

// Without rows a step is its noise: that of the pieces with its numbers, one after another, whether it is drawn beside
// the sums or, where parameters are many, after them. No part of it comes back in another step, or in another place of
// one: by chance four numbers on this grid would with 10⁻⁵.
func TestPiecesOfNoiseAreUsedOnce(t *testing.T) {
	for _, net := range []rawNet{{t: 1, m: 60, n: 100}, {t: 1, m: 301, n: 219}} {
		tr := training(net, nil)
		tr.Steps, tr.Target, tr.ExpectedRows = 5, noTarget, 3
		size := net.Parameters()
		src := entropy.Seeded(12)
		normals := noise.NewNormals(streamOf(t, src, tr.Event()).Split("noise"))
		seen := map[[4]float32]bool{}
		tr.Update = func(step int, _, g []float32) {
			var z [noise.Piece]float64
			pieces := (size + noise.Piece - 1) / noise.Piece
			for p := range pieces {
				part := g[p*noise.Piece : min((p+1)*noise.Piece, size)]
				normals.Fill(z[:len(part)], uint64(step*pieces+p))
				std := tr.NoiseMultiplier * tr.ClippingNorm * rounding
				grid := noise.GridOf(std)
				for j, v := range part {
					if want := float32(grid.Round(std*z[j])) / 3; v != want {
						t.Fatalf("%d parameters, step %d, piece %d: value %d is %g, not %g", size, step, p, j, v, want)
					}
				}
			}
			for j := range len(g) - 3 {
				seen[[4]float32(g[j:j+4])] = true
			}
		}
		err := Train(context.Background(), permitWith(t, src, dp.AddOrRemoveOne, 1, tr.Event()), rawRows(1, false, net, 3), tr, make([]float32, size))
		if err != nil || len(seen) != 5*(size-3) {
			t.Errorf("%d parameters: %v; %d parts of the noise come again", size, err, 5*(size-3)-len(seen))
		}
	}
}
