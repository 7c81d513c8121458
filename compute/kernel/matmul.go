package kernel

import "fmt"

// Chain is how many products one chain of sums holds before it is added to C.
// It is the same for every kernel and never depends on the shape, so a result
// does not either; long chains would also round worse (2.9e-8 without blocks
// against 1.4e-8 at the widths of this work).
const Chain = 256

// blockM is how many rows of A, times Chain, stay in the second-level cache
// while the panels of B pass by.
const blockM = 168

// MatMul sets C = A·B, or with accumulate C += A·B, for A m×k and B k×n in any
// strides, use T for a transpose, and C m×n with adjacent columns. C must not overlap
// A or B.
//
// Element (i, j) is the sum over blocks of 256 values of k, in order, of the
// sum of the products in a block, in order: it depends on row i of A and column
// j of B alone, not on m, n or the strides. Relative to Σ|a||b| the error is
// at most (min(k, 256) + k/256 + 2)·2⁻²⁴. With k = 0 the product is zero. NaN
// and Inf spread as in scalar code; zeros in A never hide them.
//
// It panics when shapes do not match or a view leaves its data.
func MatMul(c, a, b Matrix, accumulate bool) { active.matMul(c, a, b, accumulate) }

// MatMulPacked is MatMul with B packed before: the same bits for less work.
func MatMulPacked(c, a Matrix, b *Packed, accumulate bool) {
	active.matMulPacked(c, a, b, c.addend(accumulate))
}

// MatMulBias is MatMulPacked added to a C each of whose rows is bias, which it replaces.
func MatMulBias(c, a Matrix, b *Packed, bias []float32) {
	active.matMulPacked(c, a, b, repeated(bias, c.Cols))
}

// addend is m, or with no nothing.
func (m Matrix) addend(yes bool) Matrix {
	if yes {
		return m
	}
	return Matrix{}
}

// repeated views a row of n values as any number of them.
func repeated(row []float32, n int) Matrix {
	if len(row) != n {
		panic(fmt.Sprintf("kernel: a bias of %d values for %d columns", len(row), n))
	}
	return Matrix{Data: row, ColStride: 1}
}

func checkShapes(c, a Matrix, k, n int) {
	if a.Cols != k || c.Rows != a.Rows || c.Cols != n {
		panic(fmt.Sprintf("kernel: product of %d×%d and %d×%d into %d×%d", a.Rows, a.Cols, k, n, c.Rows, c.Cols))
	}
	a.check("left factor")
	c.checkResult("result")
}

func (x *machine) matMul(c, a, b Matrix, accumulate bool) {
	checkShapes(c, a, b.Rows, b.Cols)
	b.check("right factor")
	if done(c, b.Rows, accumulate) {
		return
	}
	if x.turns(a, b.Cols) {
		x.turned(c, a, b, accumulate)
		return
	}
	t := x.tileFor(b.Cols)
	buffer := x.buffers.borrow(min(b.Rows, Chain) * t.width(b.Cols))
	defer x.buffers.giveBack(buffer)
	from := c.addend(accumulate)
	for k := 0; k < b.Rows; k += Chain {
		kc := min(Chain, b.Rows-k)
		panels, part := buffer, b.block(k, 0, kc, b.Cols)
		if b.ColStride == 1 && b.RowStride == t.cols && b.Cols == t.cols {
			panels = part.Data // a panel as it is
		} else {
			x.pack(panels, part, t)
		}
		x.block(t, c, a.block(0, k, a.Rows, kc), panels, from)
		from = c
	}
}

// matMulPacked sets C to A·B plus from, unless that has no data.
func (x *machine) matMulPacked(c, a Matrix, b *Packed, from Matrix) {
	checkShapes(c, a, b.rows, b.cols)
	if b.from != x {
		panic("kernel: the right factor was never packed")
	}
	if done(c, b.rows, from.Data != nil) {
		return
	}
	for k := 0; k < b.rows; k += Chain {
		kc := min(Chain, b.rows-k)
		x.block(b.tile, c, a.block(0, k, a.Rows, kc), b.data[k*b.tile.width(b.cols):], from)
		from = c
	}
}

// done settles products without a term, and says whether C is finished.
func done(c Matrix, k int, accumulate bool) bool {
	if c.empty() {
		return true
	}
	if k > 0 {
		return false
	}
	if !accumulate {
		for i := range c.Rows {
			clear(c.Data[i*c.RowStride:][:c.Cols])
		}
	}
	return true
}

// A tile computes rows × cols elements of C at a time, in registers.
type tile struct {
	rows, cols int
	// run sets C to the product of m rows of A with one panel of B and from, unless it is nil; tiles of
	// rows are tileStride apart in A, and the first n columns are adjacent in C and from.
	run func(m, k int, a []float32, tileStride, rowStride, colStride int, b, c []float32, ldc, n int, from []float32, ldf int)
}

// width is n rounded up to whole panels.
func (t *tile) width(n int) int { return (n + t.cols - 1) / t.cols * t.cols }

// block multiplies A (m × at most Chain) with packed panels.
func (x *machine) block(t *tile, c, a Matrix, panels []float32, from Matrix) {
	k := a.Cols
	how := x.copyingA(t, a, c.Cols)
	var buffer []float32
	if how != inPlace {
		buffer = x.buffers.borrow((blockM+32)*(k+32) + 64)
		defer x.buffers.giveBack(buffer)
	}
	for i := 0; i < c.Rows; i += blockM {
		m := min(blockM, c.Rows-i)
		part, tileStride := x.copyA(how, t, buffer, a.block(i, 0, m, k))
		for j := 0; j < c.Cols; j += t.cols {
			var add []float32
			if from.Data != nil {
				add = from.Data[i*from.RowStride+j:]
			}
			t.run(m, k, part.Data, tileStride, part.RowStride, part.ColStride, panels[j*k:], c.Data[i*c.RowStride+j:], c.RowStride, min(t.cols, c.Cols-j), add, from.RowStride)
		}
	}
}
