package linear

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/core/noise"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

// The known attack on noise in floats. From the lowest bits of one step, of a
// data set whose sum is 0, it proves that this was not the sum of the neighbour: off the grid,
// where noise and sum have 53 digits, in nearly every step. Of what leaves now it proves nothing.
func TestLowBitsOfAStepTellNothing(t *testing.T) {
	const steps = 2000
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
	enc, schema := wideEncoding(t)
	d := descent(enc, Residual, 1)
	d.Target = func([]float64) float64 { return 1 }
	row := make([]float64, len(schema.Columns))
	sum := descentSum(t, d, schema, row)
	for _, off := range []bool{true, false} {
		t.Run(fmt.Sprint("descent, off the grid ", off), func(t *testing.T) {
			for _, there := range []bool{false, true} {
				var sums [][]float64
				for i := range uint64(steps) / 5 {
					src, d := entropy.Seeded(4).Split("run", i), d
					if !there {
						d.Target = noTarget
					}
					w := make([]float64, enc.Dim)
					if off {
						if there {
							copy(w, sum)
						}
						noise.AddGaussian(src, w, d.NoiseMultiplier*d.ClippingNorm)
					} else {
						w = noisySum(t, src, d, schema, row)
					}
					sums = append(sums, w)
				}
				switch n := proofs(sums, sum, 53); {
				case off && !there && n < len(sums)*95/100:
					t.Errorf("the attack proves %d of %d steps", n, len(sums))
				case (!off || there) && n > 0:
					t.Errorf("row there %v: %d of %d steps are told apart with certainty", there, n, len(sums))
				}
			}
		})
	}
}

// noisySum is the sum of the only step of d, with its noise.
func noisySum(t *testing.T, src *entropy.Source, d Descent, s *schema.Schema, row []float64) []float64 {
	t.Helper()
	w, err := Descend(context.Background(), permitWith(t, src, dp.AddOrRemoveOne, 1, d.Event()), sealed.New("d", s, row, []uint64{1}), d)
	if err != nil {
		t.Fatal(err)
	}
	for j := range w {
		w[j] = -w[j] // learning rate and divisor are 1
	}
	return w
}

// descentSum is noisySum without noise.
func descentSum(t *testing.T, d Descent, s *schema.Schema, row []float64) []float64 {
	t.Helper()
	public := *s
	public.Public = true
	w, err := DescendPublic(context.Background(), sealed.New("d", &public, row, []uint64{1}), d)
	if err != nil {
		t.Fatal(err)
	}
	for j := range w {
		w[j] = -w[j]
	}
	return w
}

// cellOf is the cell of noise of this deviation, by another way than noise.Grid's.
func cellOf(std float64) float64 { return math.Exp2(math.Floor(math.Log2(std)) - 12) }

// Every number that a step hands on is a whole number of cells, whoever is in the lot.
func TestStepsLeaveOnTheGrid(t *testing.T) {
	enc, s := wideEncoding(t)
	for _, rate := range []float64{1, 0x1p-40} {
		d := descent(enc, Logistic, 1)
		d.SamplingRate, d.ExpectedRows = rate, 1/rate
		for j, v := range noisySum(t, entropy.Seeded(6), d, s, make([]float64, len(s.Columns))) {
			if math.Mod(v, cellOf(1)) != 0 {
				t.Fatalf("descent, rate %g, weight %d: %g", rate, j, v)
			}
		}
	}
}

// The sum is rounded with its noise, never before: with the same noise, a sum of less
// than half a cell moves as many numbers by a cell as it has of one. Null: independent chances; |z| <= 4.89 has a
// false-alarm rate of 1e-6. Convicts a sum that is rounded first, which moves nothing, and one
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
	t.Run("descent", func(t *testing.T) {
		enc, s := wideEncoding(t)
		row := make([]float64, len(s.Columns))
		d := descent(enc, Residual, 1)
		d.Target = func([]float64) float64 { return 1e-6 }
		largest := 0.0
		for _, v := range descentSum(t, d, s, row) {
			largest = max(largest, math.Abs(v))
		}
		y := 1e-6 * 0.45 * cellOf(1) / largest
		var with, without, sums []float64
		for run := range uint64(20) {
			src := entropy.Seeded(9).Split("run", run)
			d.Target = func([]float64) float64 { return y }
			with, sums = append(with, noisySum(t, src, d, s, row)...), append(sums, descentSum(t, d, s, row)...)
			d.Target = noTarget
			without = append(without, noisySum(t, src, d, s, row)...)
		}
		stattest.Accept(t, verdict(t, with, without, sums, cellOf(1)))
		stattest.Convict(t, verdict(t, without, without, sums, cellOf(1)))
	})
}
