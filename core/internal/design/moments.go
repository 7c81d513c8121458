package design

import "pawl/data/encode"

// Stripes of rows are summed apart and added in order, so a result does not
// depend on the number of workers. Their number is a function of the encoding
// alone, because every stripe owns a square table.
func (m *Matrix) stripes() int {
	if m.levels+len(m.linear) <= 512 {
		return 8
	}
	return 2
}

// Moments is the working memory of Weighted, kept between calls.
type Moments struct {
	parts       [][]float64
	half, whole []float64
}

// Weighted sets h (Dim×Dim, row-major, symmetric) to every·Σ_i weight[i]·x_i x_iᵀ
// over rows 0, every, 2·every and so on; every = 1 is the exact sum, more is an
// estimate of it. A weight of zero takes the row out.
//
// A pair of table blocks costs one addition a row, into the count of its pair of
// levels; coordinates appear only after the sum, when both sides of the table of
// counts are mapped by the blocks. The cost is rows·blocks²/2 + Dim·levels².
func (m *Matrix) Weighted(buf *Moments, h, weight []float64, every int) {
	size := m.levels + len(m.linear)
	stripes := m.stripes()
	if len(buf.parts) != stripes || len(buf.parts[0]) != size*size {
		buf.parts = make([][]float64, stripes)
		for i := range buf.parts {
			buf.parts[i] = make([]float64, size*size)
		}
		buf.half = make([]float64, m.enc.Dim*size)
		buf.whole = make([]float64, size*m.enc.Dim)
	}
	taken := (m.n + every - 1) / every
	m.eachStripe(stripes, func(s int) {
		clear(buf.parts[s])
		m.count(buf.parts[s], weight, s*taken/stripes*every, min((s+1)*taken/stripes*every, m.n), every)
	})
	table := buf.parts[0]
	for _, part := range buf.parts[1:] {
		for i, v := range part {
			table[i] += v
		}
	}
	for i := range size {
		for j := range i {
			// The two halves hold different pairs: table blocks are in ascending
			// order of levels and linear blocks come last, so one of them is zero.
			v := table[i*size+j] + table[j*size+i]
			table[i*size+j], table[j*size+i] = v, v
		}
	}
	m.coordinates(buf.half, table, size)
	transpose(buf.whole, buf.half, m.enc.Dim, size)
	clear(h)
	m.coordinates(h, buf.whole, m.enc.Dim)
	square := m.enc.Scale * m.enc.Scale * float64(every)
	for i := range h {
		h[i] *= square
	}
}

func (m *Matrix) eachStripe(stripes int, f func(s int)) {
	if m.workers == 1 || m.n < chunk {
		for s := range stripes {
			f(s)
		}
		return
	}
	m.share(stripes, f)
}

// count adds the weighted pairs of levels of rows lo, lo+every, … below hi to the
// upper half of table.
func (m *Matrix) count(table, weight []float64, lo, hi, every int) {
	ns, nl := len(m.slots), len(m.linear)
	size := m.levels + nl
	known := make([]int, 0, ns)
	for i := lo; i < hi; i += every {
		w := weight[i]
		if w == 0 {
			continue
		}
		known = known[:0]
		for _, l := range m.level[i*ns : (i+1)*ns] {
			if l != none {
				known = append(known, int(l))
			}
		}
		values := m.value[i*nl : (i+1)*nl]
		for s, l := range known {
			line := table[l*size : (l+1)*size]
			for _, o := range known[s:] {
				line[o] += w
			}
			line = line[m.levels:]
			for t, x := range values {
				line[t] += w * x
			}
		}
		for s, x := range values {
			line := table[(m.levels+s)*size+m.levels:][:nl]
			for t := s; t < nl; t++ {
				line[t] += w * x * values[t]
			}
		}
	}
}

// coordinates sets dst (Dim×outputs) to the levels×outputs table src with its
// rows mapped from levels to coordinates, without Scale.
func (m *Matrix) coordinates(dst, src []float64, outputs int) {
	clear(dst)
	for t, bi := range m.tables {
		b := &m.enc.Blocks[bi]
		from := src[m.offset[t]*outputs:][:b.Levels*outputs]
		to := dst[b.Offset*outputs:][:b.Dim*outputs]
		if b.Kind == encode.OneHot {
			copy(to, from)
			continue
		}
		b.Backward(to, from, outputs)
	}
	for t, at := range m.linear {
		copy(dst[at*outputs:][:outputs], src[(m.levels+t)*outputs:][:outputs])
	}
}

func transpose(dst, src []float64, rows, columns int) {
	for i := range rows {
		for j, v := range src[i*columns : (i+1)*columns] {
			dst[j*rows+i] = v
		}
	}
}
