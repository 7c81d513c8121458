// Package design holds an opened scope in the form that full-batch training
// wants: one small integer per row and table block, one number per row and
// linear block. Scores and gradients of all rows then cost a table look-up per
// block, whatever the number of coordinates behind it.
//
// It is internal to core because it is sensitive data in the clear.
package design

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"pawl/data/encode"
)

// chunk is the number of rows that are summed in one go, or of more than mostChunks·chunk rows a multiple of
// it, so that partial sums take little room beside rows. They are added in the order of the chunks, so results do
// not depend on the number of workers.
const chunk, mostChunks = 4096, 1024

// none marks an unknown level; the slot it points to is always zero.
const none = math.MaxUint16

// Matrix is n encoded rows with their targets.
type Matrix struct {
	enc    *encode.Encoding
	n      int
	chunk  int      // rows of a partial sum
	tables []int    // block indices of table blocks
	linear []int    // coordinates of linear and vector blocks
	slots  []slot   // of table blocks
	level  []uint16 // n × len(slots)
	value  []float64
	sparse sparse
	// Norm is ‖x_i‖₂ <= 1 and Target the value that Targets gave, NaN when the
	// row has none; both are nil where a Packed for lots has them.
	Norm, Target []float64
	offset       []int // of each table block in a concatenated level table
	levels       int   // length of that table, in levels
	workers      int
}

// Rows are opened rows: a mechanism hands over its sealed.View. Whoever has nothing but Rows cannot open any.
type Rows interface {
	Len() int
	// Rows returns a function that shows row i until its next call; each goroutine needs its own.
	Rows() func(i int) (cells []float64)
}

// New encodes the rows of v; target maps a row's cells to its training target.
func New(v Rows, enc *encode.Encoding, target func(cells []float64) float64) *Matrix {
	m := begin(v, enc)
	m.Norm, m.Target = make([]float64, m.n), make([]float64, m.n)
	m.level = make([]uint16, m.n*len(m.tables))
	m.value = make([]float64, m.n*len(m.linear))
	m.fill(v, target, func(i int, norm, target float64, levels []uint16, values []float64) {
		m.Norm[i], m.Target[i] = norm, target
		copy(m.level[i*len(levels):], levels)
		copy(m.value[i*len(values):], values)
	})
	m.readSparse(v)
	m.merge()
	return m
}

// NewPacked is New and Pack in one go, for rows that are summed with one output alone: it does not hold what only
// others need. Of an encoding whose blocks Pack could not join before all rows are known, or not at all, it makes a
// Matrix, and no Packed.
//
// rate is the share of the rows that a sum is over. Below 1 there is SumOf alone, no Norm and no Target.
func NewPacked(v Rows, enc *encode.Encoding, target func(cells []float64) float64, rate float64) (*Matrix, *Packed) {
	m := begin(v, enc)
	lots := rate < 1
	if lots {
		m.chunk *= int(min(1/rate, 1<<30)) // as many rows of a lot as there would be of all
	}
	for t, bi := range m.tables {
		if b := &enc.Blocks[bi]; b.Kind == encode.OneHot && b.Levels == 1 {
			m = New(v, enc, target)
			return m, m.pack(lots)
		}
		m.slots = append(m.slots, slot{m.offset[t], enc.Blocks[bi].Levels})
	}
	if len(m.sparse.blocks) > 0 {
		return New(v, enc, target), nil
	}
	p := m.joined(lots)
	if !lots {
		m.Norm, m.Target = make([]float64, m.n), make([]float64, m.n)
	}
	m.fill(v, target, p.take)
	return m, p
}

// begin lays out the blocks of an encoding.
func begin(v Rows, enc *encode.Encoding) *Matrix {
	m := &Matrix{enc: enc, n: v.Len(), workers: runtime.GOMAXPROCS(0)}
	m.chunk = chunk * max(1, (m.n+chunk*mostChunks-1)/(chunk*mostChunks))
	for i := range enc.Blocks {
		switch b := &enc.Blocks[i]; b.Kind {
		case encode.Linear, encode.Vector:
			for j := range b.Dim {
				m.linear = append(m.linear, b.Offset+j)
			}
			continue
		case encode.Sparse:
			m.sparse.blocks = append(m.sparse.blocks, i)
			m.sparse.dim += b.Dim
			continue
		}
		m.tables = append(m.tables, i)
		m.offset = append(m.offset, m.levels)
		m.levels += enc.Blocks[i].Levels
	}
	return m
}

// fill encodes the rows and hands them on.
func (m *Matrix) fill(v Rows, target func(cells []float64) float64, take func(i int, norm, target float64, levels []uint16, values []float64)) {
	m.each(func(lo, hi, _ int) {
		row, levels, values := v.Rows(), make([]uint16, len(m.tables)), make([]float64, len(m.linear))
		var sources []int
		for i := lo; i < hi; i++ {
			cells := row(i)
			sources = m.enc.Sources(sources[:0], cells)
			take(i, m.encode(cells, sources, levels, values), target(cells), levels, values)
		}
	})
}

// encode returns the norm of a row, without that of its sparse blocks, which readSparse adds.
func (m *Matrix) encode(cells []float64, sources []int, levels []uint16, values []float64) float64 {
	norm2 := 0.0
	for t, bi := range m.tables {
		l := m.enc.Blocks[bi].LevelOf(cells, sources)
		// A level that the block does not have would land in another block's table and
		// could make a row longer than its norm says.
		if l < 0 || l >= m.enc.Blocks[bi].Levels {
			levels[t] = none
			continue
		}
		levels[t] = uint16(m.offset[t] + l)
		norm2 += m.enc.Blocks[bi].Norm2(l)
	}
	for t := 0; t < len(values); {
		b := m.enc.BlockOf(m.linear[t])
		if b.Kind == encode.Vector {
			b.Numbers(values[t:t+b.Dim], cells)
		} else {
			values[t] = b.Value(cells)
		}
		t += b.Dim
	}
	for _, x := range values {
		norm2 += x * x
	}
	if norm := math.Sqrt(norm2) * m.enc.Scale; norm <= longest {
		return norm
	}
	for t := range levels {
		levels[t] = none
	}
	clear(values)
	return 0
}

// longest is 1 and what the rounding of a norm adds, half of the 1e-12 by which mechanisms that count on rows of norm 1
// enlarge their sensitivities. Blocks that make a row longer, or no numbers of it, are zeros in it: clipping goes by
// norms, and one NaN would be the sum whatever the noise.
const longest = 1 + 5e-13

// Len is the number of rows: a private fact.
func (m *Matrix) Len() int { return m.n }

// Dim is the number of coordinates of a row.
func (m *Matrix) Dim() int { return m.enc.Dim }

func (m *Matrix) chunks() int { return (m.n + m.chunk - 1) / m.chunk }

func (m *Matrix) each(f func(lo, hi, chunk int)) {
	m.share(m.chunks(), func(c int) { f(c*m.chunk, min((c+1)*m.chunk, m.n), c) })
}

// share calls f for 0 to n−1, side by side.
func (m *Matrix) share(n int, f func(i int)) {
	var wg sync.WaitGroup
	var fault fault
	var next atomic.Int64
	for range min(m.workers, n) {
		wg.Go(func() {
			defer fault.hold()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
	fault.raise()
}

// fault carries the fact of a panic, and not its values, from workers to the
// goroutine that waits for them: that of the mechanism, which contains it.
type fault struct{ seen atomic.Bool }

func (f *fault) hold() {
	if recover() != nil {
		f.seen.Store(true)
	}
}

func (f *fault) raise() {
	if f.seen.Load() {
		panic("design: a worker failed")
	}
}

// Pass is the working memory of Sum, kept between steps.
type Pass struct {
	table []float64 // levels × outputs
	parts [][]float64
	lin   []float64
}

// Sum adds to g (Dim×outputs, row-major) the sum over rows of x_i r_iᵀ, where
// contribution turns a row's scores wᵀx_i into the residual r_i in place.
// include, when not nil, says which rows take part.
//
// contribution(i, scores) is called once for each row, concurrently for different
// rows; it is responsible for clipping ‖r_i‖·‖x_i‖.
func (m *Matrix) Sum(p *Pass, g, w []float64, outputs int, include []bool, contribution func(i int, scores []float64)) {
	ns, nl := len(m.slots), len(m.linear)
	first := m.levels + nl // of the sparse coordinates
	size := (first + m.sparse.dim) * outputs
	if len(p.table) != size {
		p.table = make([]float64, size)
		p.parts = nil
	}
	for t, bi := range m.tables {
		b := &m.enc.Blocks[bi]
		b.Forward(p.table[m.offset[t]*outputs:][:b.Levels*outputs], w[b.Offset*outputs:][:b.Dim*outputs], outputs)
	}
	for t, at := range m.linear {
		copy(p.table[(m.levels+t)*outputs:][:outputs], w[at*outputs:])
	}
	m.sparse.each(m.enc, func(from, to, n int) {
		copy(p.table[(first+from)*outputs:][:n*outputs], w[to*outputs:])
	})
	for i := range p.table {
		p.table[i] *= m.enc.Scale
	}
	chunks := m.chunks()
	for len(p.parts) < chunks {
		p.parts = append(p.parts, make([]float64, size))
	}
	m.each(func(lo, hi, c int) {
		h := p.parts[c]
		clear(h)
		scores := make([]float64, outputs)
		for i := lo; i < hi; i++ {
			if include != nil && !include[i] {
				continue
			}
			levels := m.level[i*ns : (i+1)*ns]
			values := m.value[i*nl : (i+1)*nl]
			m.row(p.table, h, scores, levels, values, outputs, i, contribution)
		}
	})
	total := p.sum(chunks, size)
	for i := range total {
		total[i] *= m.enc.Scale
	}
	for t, bi := range m.tables {
		b := &m.enc.Blocks[bi]
		b.Backward(g[b.Offset*outputs:][:b.Dim*outputs], total[m.offset[t]*outputs:][:b.Levels*outputs], outputs)
	}
	for t, at := range m.linear {
		for k := range outputs {
			g[at*outputs+k] += total[(m.levels+t)*outputs+k]
		}
	}
	m.sparse.each(m.enc, func(from, to, n int) {
		for k, v := range total[(first+from)*outputs:][:n*outputs] {
			g[to*outputs+k] += v
		}
	})
}

func (m *Matrix) row(table, h, scores []float64, levels []uint16, values []float64, outputs, i int, contribution func(int, []float64)) {
	clear(scores)
	for _, l := range levels {
		if l == none {
			continue
		}
		for k, t := range table[int(l)*outputs:][:outputs] {
			scores[k] += t
		}
	}
	for t, x := range values {
		for k, v := range table[(m.levels+t)*outputs:][:outputs] {
			scores[k] += x * v
		}
	}
	first := m.levels + len(values)
	at, few := m.sparse.row(i)
	for e, j := range at {
		for k, v := range table[(first+int(j))*outputs:][:outputs] {
			scores[k] += few[e] * v
		}
	}
	contribution(i, scores)
	for _, l := range levels {
		if l == none {
			continue
		}
		dst := h[int(l)*outputs:][:outputs]
		for k, r := range scores {
			dst[k] += r
		}
	}
	for t, x := range values {
		dst := h[(m.levels+t)*outputs:][:outputs]
		for k, r := range scores {
			dst[k] += r * x
		}
	}
	for e, j := range at {
		dst := h[(first+int(j))*outputs:][:outputs]
		for k, r := range scores {
			dst[k] += r * few[e]
		}
	}
}

func (p *Pass) sum(chunks, size int) []float64 {
	if len(p.lin) != size {
		p.lin = make([]float64, size)
	}
	clear(p.lin)
	for _, part := range p.parts[:chunks] {
		for i, v := range part {
			p.lin[i] += v
		}
	}
	return p.lin
}
