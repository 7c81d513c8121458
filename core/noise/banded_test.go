package noise

import (
	"math"
	"slices"
	"testing"

	"pawl/core/entropy"
	"pawl/internal/stattest"
)

// bandedRun has the noise of every step of size coordinates.
func bandedRun(seed uint64, coefficients []float64, size, steps int) [][]float64 {
	b, n := NewBanded(coefficients, size), NewNormals(entropy.Seeded(seed))
	out := make([][]float64, steps)
	pieces := (size + Piece - 1) / Piece
	for t := range out {
		out[t] = make([]float64, size)
		for p := pieces - 1; p >= 0; p-- { // the order within a step does not matter
			lo, hi := p*Piece, min((p+1)*Piece, size)
			b.Step(out[t][lo:hi], n, uint64(t), uint64(t*pieces+p), lo)
		}
	}
	return out
}

// What the coefficients make of the noise again are the draws of the stream, times the norm: the
// definition, read backwards.
func TestBandedIsSolved(t *testing.T) {
	const size, steps = 1500, 40
	for _, c := range [][]float64{{1}, {2}, {1, 0.5, 0.375}, {0.7, 0.7, 0.7, 0.7}, {3, 0, 2}} {
		y, norm := bandedRun(11, c, size, steps), Norm(c)
		for step := range steps {
			want := append(pieceOf(11, uint64(2*step), Piece), pieceOf(11, uint64(2*step+1), size-Piece)...)
			for i := range size {
				got := 0.0
				for j, v := range c {
					if step-j >= 0 {
						got += v * y[step-j][i]
					}
				}
				if math.Abs(got/norm-want[i]) > 1e-12 {
					t.Fatalf("%v, step %d, coordinate %d: %g, want %g", c, step, i, got/norm, want[i])
				}
			}
		}
	}
}

// One band of any size is noise of its own in every step, bit for bit.
func TestOneBandIsIndependent(t *testing.T) {
	for _, c := range []float64{1, 4} {
		y := bandedRun(12, []float64{c}, Piece, 3)
		for step := range y {
			if !slices.Equal(y[step], pieceOf(12, uint64(step), Piece)) {
				t.Errorf("coefficient %g, step %d differs from independent noise", c, step)
			}
		}
	}
}

// Null: with c = (1, 1) two steps add up to √2·z_1, so half of their noise cancels. n = 10⁵. Convicts
// independent steps, whose sum has twice that variance.
func TestBandedNoiseCancels(t *testing.T) {
	y := bandedRun(13, []float64{1, 1}, 100_000, 2)
	sum := make([]float64, len(y[0]))
	for i := range sum {
		sum[i] = (y[0][i] + y[1][i]) / math.Sqrt2
	}
	normal := stattest.Moments{Variance: 1, Kurtosis: 3}
	stattest.Accept(t, stattest.Variance("sum of two steps", sum, normal))
	stattest.Accept(t, stattest.Variance("first step", stattest.Scaled(y[0], 1/math.Sqrt2), normal))
	stattest.Convict(t, stattest.Variance("independent steps", stattest.Scaled(sum, math.Sqrt(2)), normal))
}

func TestBandedRefuses(t *testing.T) {
	for name, c := range map[string][]float64{"none": nil, "zero first": {0, 1}, "negative first": {-1}, "NaN": {math.NaN()}, "infinite": {1, math.Inf(1)}} {
		mustPanic(t, name, func() { NewBanded(c, 1) })
	}
	b, n := NewBanded([]float64{1}, 10), NewNormals(entropy.Seeded(1))
	mustPanic(t, "beyond the last coordinate", func() { b.Step(make([]float64, 5), n, 0, 0, 6) })
}

func TestBandedStepAllocatesNothing(t *testing.T) {
	b, n, y, step := NewBanded([]float64{1, 0.5, 0.3}, Piece), NewNormals(entropy.Seeded(84)), make([]float64, Piece), uint64(0)
	filled := testing.AllocsPerRun(100, func() { n.Fill(y, step); step++ })
	step = 0
	if got := testing.AllocsPerRun(100, func() { b.Step(y, n, step, step, 0); step++ }); got > filled {
		t.Errorf("%g allocations a step, %g without bands", got, filled)
	}
}
