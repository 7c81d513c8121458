package noise

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"pawl/core/entropy"
	"pawl/internal/stattest"
)

func pieceOf(seed, piece uint64, n int) []float64 {
	z := make([]float64, n)
	NewNormals(entropy.Seeded(seed)).Fill(z, piece)
	return z
}

// Null: independent draws of N(0, 1), within a piece and across pieces. n = 10⁶. Convicts a
// deviation 1 % off, and pieces that share values.
func TestNormals(t *testing.T) {
	const pieces = 1000
	normals, z := NewNormals(entropy.Seeded(81)), make([]float64, pieces*Piece)
	for p := range pieces {
		normals.Fill(z[p*Piece:(p+1)*Piece], uint64(p))
	}
	want := stattest.Moments{Variance: 1, Kurtosis: 3}
	stattest.Accept(t, stattest.Mean("mean", z, want))
	stattest.Accept(t, stattest.Variance("variance", z, want))
	stattest.Accept(t, stattest.Correlation("neighbours", z[1:], z[:len(z)-1]))
	stattest.Accept(t, stattest.Correlation("pieces", z[Piece:], z[:len(z)-Piece]))
	stattest.Accept(t, stattest.KS("law", sorted(slices.Clone(z)), distuv.UnitNormal.CDF))
	beyond := 0
	seen := map[float64]bool{}
	for _, v := range z {
		if math.Abs(v) > tailStart {
			beyond++
		}
		seen[v] = true
	}
	stattest.Accept(t, stattest.Proportion("tail", beyond, len(z), math.Erfc(tailStart/math.Sqrt2)))
	// Two of 10⁶ draws of 53 bits meet with a chance of 10⁻⁴.
	if len(seen) < len(z)-2 {
		t.Errorf("%d values of %d come again", len(z)-len(seen), len(z))
	}
	for i := range z {
		z[i] *= 1.01
	}
	stattest.Convict(t, stattest.Variance("1 % more", z, want))
}

// A value depends on its piece and its place there, not on what was asked for before or
// with it.
func TestPiecesAreAtHand(t *testing.T) {
	normals, z := NewNormals(entropy.Seeded(82)), make([]float64, Piece)
	for _, piece := range []uint64{7, 0, pieces - 1, 7, 1 << 40, 3} {
		for _, n := range []int{Piece, 0, 1, 127, 128, 129, 700} {
			normals.Fill(z[:n], piece)
			if !slices.Equal(z[:n], pieceOf(82, piece, Piece)[:n]) {
				t.Fatalf("the first %d of piece %d differ", n, piece)
			}
		}
	}
	for a := range uint64(6) {
		for b := range a {
			if slices.Contains(pieceOf(82, a, 50), pieceOf(82, b, 50)[a]) {
				t.Errorf("pieces %d and %d share a value", a, b)
			}
		}
	}
	if slices.Equal(pieceOf(82, 0, 5), pieceOf(83, 0, 5)) {
		t.Error("two sources give one stream")
	}
	for name, f := range map[string]func(){
		"too long": func() { normals.Fill(make([]float64, Piece+1), 0) },
		"no piece": func() { normals.Fill(z, pieces) },
	} {
		mustPanic(t, name, f)
	}
	// Spare words end where the next piece begins.
	normals.spare.begin(pieceBlocks-64, pieceBlocks)
	for range 128 {
		normals.spare.Uint64()
	}
	mustPanic(t, "the words of another piece", func() { normals.spare.Uint64() })
}

// A piece and its release, many values at a time, are those of the plain loop: each value drawn from its word, added in
// float64 and rounded as a whole, also where a sum is not finite or too far out for the quick rounding.
func TestPiecesAreThePlainLoop(t *testing.T) {
	normals := NewNormals(entropy.Seeded(86))
	plain := NewNormals(entropy.Seeded(86))
	edges := 0
	for piece := range uint64(40) {
		n := Piece - int(piece)
		words := make([]byte, 8*Piece)
		plain.spare.keys.Read(words, piece*pieceBlocks)
		plain.spare.begin(piece*pieceBlocks+spareFrom, (piece+1)*pieceBlocks)
		z, want := make([]float64, n), make([]float64, n)
		for i := range want {
			u := binary.LittleEndian.Uint64(words[8*i:])
			want[i] = draw(u, &plain.spare)
			if u>>11 >= normal.strips[u&(layers-1)].Inside {
				edges++
			}
		}
		if normals.Fill(z, piece); !slices.Equal(z, want) {
			t.Fatalf("piece %d is not what its words give", piece)
		}
		a, b := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = float32(i%7)*1e-3, -float32(i%5)*1e3
		}
		inf := float32(math.Inf(1))
		a[3], a[4], a[500], b[4], b[700], b[n-1] = inf, inf, 1e30, -inf, -1e-30, -1e20
		const std = 0.37
		dst, grid := make([]float32, n), GridOf(std)
		Release(dst, a, b, z, std, 3)
		for i, v := range dst {
			if w := float32(grid.Round(float64(a[i]+b[i])+float64(std*want[i]))) / 3; math.Float32bits(v) != math.Float32bits(w) {
				t.Fatalf("piece %d, value %d: %g, not %g", piece, i, v, w)
			}
		}
	}
	if edges < 200 {
		t.Errorf("%d values at the edge of a layer: too few to tell", edges)
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	normals, z, piece := NewNormals(entropy.Seeded(84)), make([]float64, Piece), uint64(0)
	if n := testing.AllocsPerRun(100, func() { normals.Fill(z, piece); piece++ }); n != 0 {
		t.Skipf("%g allocations a piece: no key stream of its own on this processor", n)
	}
}

// Rounding adds γ²/12 to the variance, and nothing to the mean. Null: the rounding error is
// uniform on a cell; n = 10⁵.
func TestGridAddsATwelfth(t *testing.T) {
	for _, std := range []float64{1, 0.75, 1.99, 3e-7} {
		for _, sum := range []float64{0, 0.3, -1e3} {
			t.Run(fmt.Sprint(std, sum), func(t *testing.T) {
				z := make([]float64, 100_000)
				for i := range z {
					z[i] = sum * std
				}
				AddGaussian(entropy.Seeded(85), z, std)
				rounded := slices.Clone(z)
				OnGrid(rounded, std)
				cell := math.Exp2(math.Floor(math.Log2(std)) - 12)
				for i := range z {
					z[i] = (rounded[i] - z[i]) / cell
				}
				uniform := stattest.Moments{Variance: 1. / 12, Kurtosis: 1.8}
				stattest.Accept(t, stattest.Mean("error", z, uniform))
				stattest.Accept(t, stattest.Variance("error", z, uniform))
			})
		}
	}
}

// Scales at the ends of the range: numbers round to the nearest cell, or stay where the grid is too
// fine for a float64, and none becomes NaN.
func TestGridAtTheEnds(t *testing.T) {
	for _, scale := range []float64{0x1p1022, 0x1p1000, 0x1p-1000, math.SmallestNonzeroFloat64} {
		g := GridOf(scale)
		for _, v := range []float64{0, scale, -scale / 3, 1, 0x1p1023, -math.SmallestNonzeroFloat64} {
			if got := g.Round(v); !(math.Abs(got-v) <= g.cell/2) {
				t.Errorf("scale %g: %g became %g", scale, v, got)
			}
		}
		for _, v := range []float64{math.Inf(1), math.NaN()} {
			if got := g.Round(v); got == got && got != v {
				t.Errorf("%g became %g", v, got)
			}
		}
	}
}

// The chance of a cell of the grid, from the ziggurat's tables: the words that lead to it are
// counted, and of those at the edge of a layer the share that is kept. It is that of a normal within
// 2^-34, which is what the bound of Grid stands on, for cells as small as they get, up to
// where the tail begins. Convicts uniforms of 40 bits, and a layer that is wider by 10⁻⁷.
func TestCellsHaveTheirChance(t *testing.T) {
	const cell = 0x1p-13
	density := func(x float64) float64 { return math.Exp(-x * x / 2) }
	// area is ∫ f by Gauss and Legendre at three points, of a smooth f on a cell.
	area := func(a, b float64, f func(float64) float64) float64 {
		m, h := (a+b)/2, (b-a)/2
		return h / 9 * (5*f(m-h*math.Sqrt(0.6)) + 8*f(m) + 5*f(m+h*math.Sqrt(0.6)))
	}
	// chance is that of a draw to end in [a, b) at once, bits of them in a uniform.
	chance := func(z *ziggurat, a, b float64, bits int) float64 {
		words := 0.0
		unit := math.Ldexp(1, 53-bits)
		for i := range layers {
			steps := func(x float64) float64 { return math.Ceil(x/z.strips[i].Unit/unit) * unit }
			sure, end := float64(z.strips[i].Inside), 0x1p53
			if i == 0 {
				end = sure // beyond is the tail
			}
			words += max(0, min(steps(b), sure)-min(steps(a), sure))
			low, high := z.height[i], z.height[i+1]
			from, to := max(steps(a), sure)*z.strips[i].Unit, min(steps(b), end)*z.strips[i].Unit
			if to > from {
				words += area(from, to, func(x float64) float64 { return max(0, density(x)-low) / (high - low) }) / z.strips[i].Unit
			}
		}
		return words / (layers * 0x1p53)
	}
	common := normal.edge[0] * normal.height[1] // area of a layer
	worst := func(z *ziggurat, bits int) (r float64) {
		for k := 0.5; k*cell < tailStart-cell; k += 97 {
			a, b := k*cell, (k+1)*cell
			want := area(a, b, density) / (layers * common)
			r = max(r, math.Abs(chance(z, a, b, bits)/want-1))
		}
		return r
	}
	if r := worst(normal, 53); r > 0x1p-34 {
		t.Errorf("relative error %g = 2^%.1f", r, math.Log2(r))
	} else {
		t.Logf("relative error %g = 2^%.1f", r, math.Log2(r))
	}
	if r := worst(normal, 40); r < 0x1p-34 {
		t.Errorf("uniforms of 40 bits pass: %g", r)
	}
	other := *normal
	other.strips[1].Unit *= 1 + 1e-7
	if r := worst(&other, 53); r < 0x1p-34 {
		t.Errorf("a layer that is wider passes: %g", r)
	}
}
