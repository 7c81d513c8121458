package kernel

import (
	"fmt"
	"math/bits"
)

// Matrix is a strided view: element (i, j) is Data[i·RowStride + j·ColStride].
// Rows or Cols may be 0. Strides are at least 0; a stride of 0 repeats a row
// or a column and is refused for results.
type Matrix struct {
	Data                 []float32
	Rows, Cols           int
	RowStride, ColStride int
}

// Dense views data as rows × cols in row-major order. It panics when data is
// shorter than rows·cols.
func Dense(data []float32, rows, cols int) Matrix {
	m := Matrix{Data: data, Rows: rows, Cols: cols, RowStride: cols, ColStride: 1}
	m.check("matrix")
	return m
}

// T returns the transpose, a view of the same data.
func (m Matrix) T() Matrix {
	m.Rows, m.Cols = m.Cols, m.Rows
	m.RowStride, m.ColStride = m.ColStride, m.RowStride
	return m
}

// RowRange returns rows lo to hi−1, a view of the same data.
func (m Matrix) RowRange(lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Rows {
		panic(fmt.Sprintf("kernel: rows %d to %d of %d", lo, hi, m.Rows))
	}
	return m.block(lo, 0, hi-lo, m.Cols)
}

// At returns element (i, j).
func (m Matrix) At(i, j int) float32 { return m.Data[i*m.RowStride+j*m.ColStride] }

func (m Matrix) empty() bool { return m.Rows == 0 || m.Cols == 0 }

// block is the view of rows × cols elements from (i, j); an empty one has no
// data, since its origin may lie beyond the end.
func (m Matrix) block(i, j, rows, cols int) Matrix {
	b := Matrix{Rows: rows, Cols: cols, RowStride: m.RowStride, ColStride: m.ColStride}
	if !b.empty() {
		b.Data = m.Data[i*m.RowStride+j*m.ColStride:]
	}
	return b
}

// check panics unless every element of the view lies within Data: the assembly
// has no bounds checks of its own.
func (m Matrix) check(name string) {
	if m.Rows < 0 || m.Cols < 0 || m.RowStride < 0 || m.ColStride < 0 {
		panic(fmt.Sprintf("kernel: %s is %d×%d with strides %d, %d", name, m.Rows, m.Cols, m.RowStride, m.ColStride))
	}
	if m.empty() {
		return
	}
	// The place of the last element, in 128 bits, so that a huge stride cannot wrap around.
	high, down := bits.Mul64(uint64(m.Rows-1), uint64(m.RowStride))
	more, across := bits.Mul64(uint64(m.Cols-1), uint64(m.ColStride))
	last, carry := bits.Add64(down, across, 0)
	if high|more|carry != 0 || last >= uint64(len(m.Data)) {
		panic(fmt.Sprintf("kernel: %s is %d×%d with strides %d, %d but has %d values", name, m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data)))
	}
}

// checkResult is check, and refuses a view whose columns are not adjacent, or in which
// rows share a place because their stride is zero.
func (m Matrix) checkResult(name string) {
	m.check(name)
	if !m.empty() && (m.Rows > 1 && m.RowStride == 0 || m.Cols > 1 && m.ColStride != 1) {
		panic(fmt.Sprintf("kernel: %s is %d×%d with strides %d, %d: its columns are not adjacent, or rows share places", name, m.Rows, m.Cols, m.RowStride, m.ColStride))
	}
}
