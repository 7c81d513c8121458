package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// onEach runs a test on every kernel that this processor has.
func onEach(t *testing.T, test func(t *testing.T, x *machine)) {
	for _, x := range machines() {
		t.Run(x.name, func(t *testing.T) { test(t, x) })
	}
}

// naive is the oracle: c (+)= a·b in float64, and Σ|a||b| for the error bound.
func naive(c, a, b Matrix, accumulate bool) (sums, sizes []float64) {
	sums, sizes = make([]float64, c.Rows*c.Cols), make([]float64, c.Rows*c.Cols)
	for i := range c.Rows {
		for j := range c.Cols {
			var sum, size float64
			if accumulate {
				sum = float64(c.At(i, j))
				size = math.Abs(sum)
			}
			for k := range a.Cols {
				p := float64(a.At(i, k)) * float64(b.At(k, j))
				sum += p
				size += math.Abs(p)
			}
			sums[i*c.Cols+j], sizes[i*c.Cols+j] = sum, size
		}
	}
	return sums, sizes
}

// layout describes a view whose neighbours in memory must not be touched.
type layout struct {
	rowGap, colGap, before int
	transposed             bool
}

const untouched = float32(-12345)

func (l layout) matrix(rows, cols int, value func() float32) Matrix {
	r, c := rows, cols
	if l.transposed {
		r, c = c, r
	}
	colStride := 1 + l.colGap
	m := Matrix{Rows: r, Cols: c, RowStride: c*colStride + l.rowGap, ColStride: colStride}
	m.Data = make([]float32, l.before+r*m.RowStride+1)
	for i := range m.Data {
		m.Data[i] = untouched
	}
	m.Data = m.Data[l.before:]
	for i := range r {
		for j := range c {
			m.Data[i*m.RowStride+j*m.ColStride] = value()
		}
	}
	if l.transposed {
		m = m.T()
	}
	return m
}

func drawLayout(t *rapid.T, name string) layout {
	return layout{
		rowGap:     rapid.IntRange(0, 3).Draw(t, name+" row gap"),
		colGap:     rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, name+" column gap"),
		before:     rapid.IntRange(0, 7).Draw(t, name+" offset"),
		transposed: rapid.Bool().Draw(t, name+" transposed"),
	}
}

// Small integers make every order of sums exact, so any wrong index, mask or
// block shows as a difference, and any write outside of C too.
func TestMatMulIsExactOnIntegersForAllShapesAndStrides(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		rapid.Check(t, func(t *rapid.T) {
			size := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 50), rapid.IntRange(60, 70))
			m, n := size.Draw(t, "m"), size.Draw(t, "n")
			k := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(250, 264), rapid.IntRange(510, 520)).Draw(t, "k")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			value := func() float32 { return float32(rng.IntN(15) - 7) }
			a := drawLayout(t, "a").matrix(m, k, value)
			b := drawLayout(t, "b").matrix(k, n, value)
			result := drawLayout(t, "c")
			if n > 1 { // columns are adjacent
				result.colGap, result.transposed = 0, false
			}
			c := result.matrix(m, n, value)
			accumulate, packed := rapid.Bool().Draw(t, "accumulate"), rapid.Bool().Draw(t, "packed")
			checkExact(t, x, c, a, b, accumulate, packed)
		})
	})
}

// A bias gives the bits of a C whose rows were set to it before.
func TestMatMulBias(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 2}, {13, 9, 33}, {14, 300, 32}, {29, 31, 10}, {30, 257, 47}, {169, 20, 64}, {170, 12, 16}, {400, 8, 81}} {
			m, k, n := s[0], s[1], s[2]
			a, b, bias := Dense(draw(testKey(1), 0, m*k), m, k), Dense(draw(testKey(2), 0, k*n), k, n), draw(testKey(3), 0, n)
			p := new(Packed)
			x.packInto(p, b)
			want, got := Dense(make([]float32, m*n), m, n), Dense(draw(testKey(4), 0, m*n), m, n)
			for i := range m {
				copy(want.Data[i*n:], bias)
			}
			x.matMulPacked(want, a, p, want)
			x.matMulPacked(got, a, p, repeated(bias, n))
			if !slices.Equal(got.Data, want.Data) {
				t.Errorf("%s: %d×%d×%d with a bias differs from a product added to it", x.name, m, k, n)
			}
		}
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkExact(t failer, x *machine, c, a, b Matrix, accumulate, packed bool) {
	t.Helper()
	want := append([]float32(nil), c.Data...)
	sums, _ := naive(c, a, b, accumulate)
	for i := range c.Rows {
		for j := range c.Cols {
			want[i*c.RowStride+j*c.ColStride] = float32(sums[i*c.Cols+j])
		}
	}
	if packed {
		p, parts := new(Packed), 1+a.Rows%3
		x.shape(p, b.Rows, b.Cols)
		for part := range parts {
			p.SetPart(b, part, parts)
		}
		x.matMulPacked(c, a, p, c.addend(accumulate))
	} else {
		x.matMul(c, a, b, accumulate)
	}
	for i := range want {
		if c.Data[i] != want[i] {
			t.Fatalf("%s %d×%d×%d strides a %d,%d b %d,%d c %d,%d accumulate %v packed %v: place %d is %v, want %v", x.name,
				c.Rows, a.Cols, c.Cols, a.RowStride, a.ColStride, b.RowStride, b.ColStride, c.RowStride, c.ColStride, accumulate, packed, i, c.Data[i], want[i])
		}
	}
}

// Every height of a tile, every width of a mask and the shapes that take the
// copied A.
func TestMatMulIsExactAtTheEdgesOfEachTile(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		rng := rand.New(rand.NewPCG(3, 4))
		value := func() float32 { return float32(rng.IntN(15) - 7) }
		for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 1024, 1037} {
			for m := range 30 {
				for _, k := range []int{1, 3, 4, 7} {
					if k%2 == 1 && m%5 != 0 || n > 1000 && m%7 > 1 {
						continue
					}
					for _, transposed := range []bool{false, true} {
						l := layout{transposed: transposed}
						checkExact(t, x, layout{}.matrix(m, n, value), l.matrix(m, k, value), l.matrix(k, n, value), m%2 == 0, m%3 == 0)
					}
				}
			}
		}
		for _, shape := range [][3]int{{200, 512, 120}, {512, 200, 140}, {150, 257, 300}, {512, 100, 33}, {512, 100, 70}} {
			m, k, n := shape[0], shape[1], shape[2]
			for _, l := range []layout{{}, {transposed: true}} {
				checkExact(t, x, layout{}.matrix(m, n, value), l.matrix(m, k, value), layout{}.matrix(k, n, value), false, false)
			}
		}
	})
}

func TestMatMulErrorIsWithinTheStatedBound(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		rng := rand.New(rand.NewPCG(5, 6))
		value := func() float32 { return float32(rng.NormFloat64()) }
		for _, shape := range [][3]int{{1, 1, 1}, {13, 300, 64}, {50, 1000, 17}, {5, 4000, 5}} {
			m, k, n := shape[0], shape[1], shape[2]
			a, b, c := layout{}.matrix(m, k, value), layout{transposed: true}.matrix(k, n, value), layout{}.matrix(m, n, value)
			sums, sizes := naive(c, a, b, true)
			x.matMul(c, a, b, true)
			bound := (math.Min(float64(k), Chain) + float64(k)/Chain + 2) * 0x1p-24
			for i := range m {
				for j := range n {
					at := i*n + j
					if e := math.Abs(float64(c.At(i, j)) - sums[at]); e > bound*sizes[at] {
						t.Fatalf("%v: error %g above %g", shape, e, bound*sizes[at])
					}
				}
			}
		}
	})
}

// A row's bits depend on that row and B alone: not on how the batch was cut, on
// strides, or on B having been packed.
func TestMatMulBitsDoNotDependOnTheSplit(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		rng := rand.New(rand.NewPCG(7, 8))
		value := func() float32 { return float32(rng.NormFloat64()) }
		for _, shape := range [][3]int{{125, 300, 64}, {250, 784, 70}, {61, 513, 10}} {
			m, k, n := shape[0], shape[1], shape[2]
			a, b := layout{}.matrix(m, k, value), layout{}.matrix(k, n, value)
			whole := layout{}.matrix(m, n, value)
			x.matMul(whole, a, b, false)
			cut := layout{rowGap: 3}.matrix(m, n, value)
			p := new(Packed)
			x.packInto(p, b)
			for lo := 0; lo < m; {
				hi := min(m, lo+1+rng.IntN(40))
				x.matMulPacked(cut.RowRange(lo, hi), a.RowRange(lo, hi), p, Matrix{})
				lo = hi
			}
			column := layout{colGap: 1}.matrix(m, 1, value)
			x.matMul(column, a, b.block(0, n/2, k, 1), false)
			for i := range m {
				for j := range n {
					if cut.At(i, j) != whole.At(i, j) {
						t.Fatalf("%v: (%d, %d) is %v in parts, %v at once", shape, i, j, cut.At(i, j), whole.At(i, j))
					}
				}
				if column.At(i, 0) != whole.At(i, n/2) {
					t.Fatalf("%v: row %d is %v alone, %v at once", shape, i, column.At(i, 0), whole.At(i, n/2))
				}
			}
		}
	})
}

// Both assemblies fuse and keep one chain for each element, so they agree too.
func TestAssembliesAgreeBitForBit(t *testing.T) {
	all := machines()
	if len(all) < 3 {
		t.Skip("needs AVX-512")
	}
	rng := rand.New(rand.NewPCG(9, 10))
	value := func() float32 { return float32(rng.NormFloat64()) }
	a, b := layout{}.matrix(77, 600, value), layout{}.matrix(600, 90, value)
	var got [2]Matrix
	for i := range got {
		got[i] = layout{}.matrix(77, 90, value)
		all[i].matMul(got[i], a, b, false)
	}
	for i := range got[0].Data {
		if got[0].Data[i] != got[1].Data[i] {
			t.Fatalf("place %d: %v and %v", i, got[0].Data[i], got[1].Data[i])
		}
	}
}

func TestMatMulSpreadsNaNAndInf(t *testing.T) {
	onEach(t, func(t *testing.T, x *machine) {
		inf := float32(math.Inf(1))
		nan := float32(math.NaN())
		for _, c := range []struct {
			name    string
			a, b    []float32
			isInf   bool
			wantNaN bool
		}{
			{"NaN times zero", []float32{0, 1}, []float32{nan, 2}, false, true},
			{"zero times Inf", []float32{0, 1}, []float32{inf, 2}, false, true},
			{"Inf", []float32{1, 1}, []float32{inf, 2}, true, false},
			{"Inf − Inf", []float32{1, -1}, []float32{inf, inf}, false, true},
		} {
			out := []float32{7}
			x.matMul(Dense(out, 1, 1), Dense(c.a, 1, 2), Dense(c.b, 2, 1), false)
			got := float64(out[0])
			if math.IsNaN(got) != c.wantNaN || math.IsInf(got, 1) != c.isInf {
				t.Errorf("%s: got %v", c.name, got)
			}
		}
	})
}

func TestMisfitsPanic(t *testing.T) {
	d := func(rows, cols int) Matrix { return Dense(make([]float32, rows*cols), rows, cols) }
	short := Matrix{Data: make([]float32, 5), Rows: 2, Cols: 3, RowStride: 3, ColStride: 1}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"inner", func() { MatMul(d(2, 2), d(2, 3), d(4, 2), false) }},
		{"bias", func() { MatMulBias(d(2, 2), d(2, 3), Pack(d(3, 2)), make([]float32, 3)) }},
		{"rows", func() { MatMul(d(3, 2), d(2, 3), d(3, 2), false) }},
		{"columns", func() { MatMul(d(2, 3), d(2, 3), d(3, 2), false) }},
		{"short left", func() { MatMul(d(2, 2), short, d(3, 2), false) }},
		{"short right", func() { MatMul(d(2, 3), d(2, 2), short, false) }},
		{"short result", func() { MatMul(short, d(2, 2), d(2, 3), false) }},
		{"packed", func() { MatMulPacked(d(2, 2), d(2, 3), Pack(d(4, 2)), false) }},
		{"never packed", func() { MatMulPacked(d(2, 2), d(2, 3), new(Packed), false) }},
		{"weights never packed", func() {
			c, err := NewConv(ConvShape{Height: 1, Width: 1, Channels: 1, KernelHeight: 1, KernelWidth: 1, Filters: 1, Stride: 1, Groups: 1})
			if err != nil {
				t.Fatal(err)
			}
			c.Forward(make([]float32, 1), make([]float32, 1), 1, new(ConvWeights), nil)
		}},
		{"columns apart", func() { MatMul(layout{colGap: 1}.matrix(2, 2, func() float32 { return 1 }), d(2, 2), d(2, 2), false) }},
		{"transposed result", func() { MatMul(d(2, 2).T(), d(2, 2), d(2, 2), false) }},
		{"shared places", func() {
			MatMul(Matrix{Data: make([]float32, 4), Rows: 2, Cols: 2, ColStride: 1}, d(2, 2), d(2, 2), false)
		}},
		{"negative stride", func() {
			MatMul(d(2, 2), Matrix{Data: make([]float32, 4), Rows: 2, Cols: 2, RowStride: -2, ColStride: 1}, d(2, 2), false)
		}},
		{"wrapping stride", func() {
			MatMul(d(3, 2), Matrix{Data: make([]float32, 9), Rows: 3, Cols: 2, RowStride: math.MaxInt/2 + 1, ColStride: 1}, d(2, 2), false)
		}},
		{"dense", func() { Dense(make([]float32, 5), 2, 3) }},
		{"row range", func() { d(2, 2).RowRange(1, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.do()
		})
	}
}

func TestForcedKernel(t *testing.T) {
	all := machines()
	for _, x := range all {
		if got := choose(x.name, all); got != x {
			t.Errorf("forced %s, got %s", x.name, got.name)
		}
	}
	if got := choose("", all); got != all[0] {
		t.Errorf("unforced: got %s, want the best, %s", got.name, all[0].name)
	}
	defer func() {
		want := fmt.Sprintf("kernel: PAWL_KERNEL=%q: this processor runs", "sse9")
		if got := fmt.Sprint(recover()); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("unknown kernel: panic %q, want %q…", got, want)
		}
	}()
	choose("sse9", all)
}
