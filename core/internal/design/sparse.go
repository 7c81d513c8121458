package design

import (
	"math"

	"pawl/data/encode"
)

// sparse holds the coordinates of sparse blocks that are not 0, row after row.
type sparse struct {
	blocks []int // block indices
	dim    int   // coordinates of all blocks together
	start  []int // of each row, and the end of the last; nil without sparse blocks
	at     []uint32
	value  []float64
}

// row returns the coordinates of a row among those of all sparse blocks.
func (s *sparse) row(i int) (at []uint32, value []float64) {
	if s.start == nil {
		return nil, nil
	}
	return s.at[s.start[i]:s.start[i+1]], s.value[s.start[i]:s.start[i+1]]
}

// each calls f for every block: n coordinates that begin at from among the sparse ones
// and at to among all.
func (s *sparse) each(enc *encode.Encoding, f func(from, to, n int)) {
	from := 0
	for _, bi := range s.blocks {
		b := &enc.Blocks[bi]
		f(from, b.Offset, b.Dim)
		from += b.Dim
	}
}

// readSparse fills the sparse rows and adds what they contribute to the norms.
func (m *Matrix) readSparse(v Rows) {
	s := &m.sparse
	if len(s.blocks) == 0 {
		return
	}
	s.start = append(s.start, 0)
	row := v.Rows()
	for i := range m.n {
		cells := row(i)
		first, square := 0, 0.0
		for _, bi := range s.blocks {
			b := &m.enc.Blocks[bi]
			b.Entries(cells, func(j int, x float64) {
				s.at, s.value = append(s.at, uint32(first+j)), append(s.value, x)
				square += x * x
			})
			first += b.Dim
		}
		norm := math.Sqrt(m.Norm[i]*m.Norm[i] + square*m.enc.Scale*m.enc.Scale)
		if !(norm <= longest) {
			norm, s.at, s.value = m.Norm[i], s.at[:s.start[i]], s.value[:s.start[i]]
		}
		s.start, m.Norm[i] = append(s.start, len(s.at)), norm
	}
}
