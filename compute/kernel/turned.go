package kernel

// Products Aᵀ·B with few columns, which weight gradients of last layers are: a tile of 16 columns would
// compute much for nothing, while the columns of A fill vectors. So Cᵀ = Bᵀ·A is computed, with the same chains of
// sums, in tiles whose vectors are read from A where it lies.

// direct computes tiles of n rows, n up to rows, times cols columns of a right factor that is not packed.
type direct struct {
	rows, cols int
	// most is how many columns a product has at most that is turned. Measured at 32 to 1,024 rows and 250 and 1,000
	// steps of k: two columns take 0.2 to 0.4 of the time, ten 0.25 to 0.85, fourteen with AVX-512 0.2 to 0.95; with AVX2,
	// where 14 columns are three tiles, 1.0 to 1.2.
	most int
	// run sets C to the product of n rows of A with whole vectors of k rows of B, ldb apart, and from, unless it is nil.
	run func(n, k int, a []float32, rowStride, colStride int, b []float32, ldb int, c []float32, ldc, cols int, from []float32)
}

// turns says that the transpose of a product with n columns is faster.
func (x *machine) turns(a Matrix, n int) bool {
	return n <= x.direct.most && a.RowStride == 1 && a.ColStride > 1 && a.Rows >= x.direct.cols
}

// turned is matMul for what turns.
func (x *machine) turned(c, a, b Matrix, accumulate bool) {
	d := &x.direct
	buffer := x.buffers.borrow((d.most + Chain) * d.cols)
	defer x.buffers.giveBack(buffer)
	part, panel := buffer[:d.most*d.cols], buffer[d.most*d.cols:]
	for i := 0; i < a.Rows; i += d.cols {
		w := min(d.cols, a.Rows-i)
		to := c.block(i, 0, w, c.Cols)
		if accumulate {
			for j := range to.Cols {
				for r := range w {
					part[j*d.cols+r] = to.Data[r*to.RowStride+j*to.ColStride]
				}
			}
		}
		for k := 0; k < b.Rows; k += Chain {
			kc := min(Chain, b.Rows-k)
			right, ldb := a.Data[k*a.ColStride+i:], a.ColStride
			if (kc-1)*ldb+d.cols > len(right) {
				// The last vectors would be read past the end of A.
				for s := range kc {
					copy(panel[s*d.cols:s*d.cols+w], right[s*ldb:])
				}
				right, ldb = panel, d.cols
			}
			for j := 0; j < b.Cols; j += d.rows {
				left, sums, from := b.Data[k*b.RowStride+j*b.ColStride:], part[j*d.cols:], []float32(nil)
				if accumulate || k > 0 {
					from = sums
				}
				d.run(min(d.rows, b.Cols-j), kc, left, b.ColStride, b.RowStride, right, ldb, sums, d.cols, d.cols, from)
			}
		}
		x.store(to, part, d.cols)
	}
}

// store sets c to the transpose of rows of values that lie ld apart, with room behind them for eight.
func (x *machine) store(c Matrix, rows []float32, ld int) {
	j, w, from := 0, c.Rows&^7, 0
	if whole := c.Cols &^ 7; x.transpose8 != nil && c.ColStride == 1 && c.RowStride == c.Cols && 0 < whole && whole < c.Cols && w > 8 {
		// The last columns as eight: what runs over into the next row's first eight is replaced below. The last rows
		// have none behind them.
		from = w - 8
		x.transpose8(&c.Data[whole], c.RowStride*4, &rows[whole*ld], ld*4, from/8)
	}
	if x.transpose8 != nil && c.ColStride == 1 && w > 0 {
		for ; j+8 <= c.Cols; j += 8 {
			x.transpose8(&c.Data[j], c.RowStride*4, &rows[j*ld], ld*4, w/8)
			for r := w; r < c.Rows; r++ {
				for s := range 8 {
					c.Data[r*c.RowStride+j+s] = rows[(j+s)*ld+r]
				}
			}
		}
	}
	for r := from; r < c.Rows; r++ {
		for s := j; s < c.Cols; s++ {
			c.Data[r*c.RowStride+s*c.ColStride] = rows[s*ld+r]
		}
	}
}
