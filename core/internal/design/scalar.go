package design

// block is the number of rows whose scores are handed over at once: small enough
// to stay in the first cache, large enough to make a call cheap.
const block = 512

// SumScalar adds to g (Dim) the sum over rows of r_i·x_i: Sum for one output and
// all rows, at about half the time. residual is given the scores of consecutive
// rows, the first of them row first, and replaces each by r_i; it is called once
// for each row, concurrently for different rows.
func (m *Matrix) SumScalar(p *Pass, g, w []float64, residual func(first int, scores []float64)) {
	nt, nl := len(m.tables), len(m.linear)
	size := m.levels + nl
	if len(p.table) != size {
		p.table = make([]float64, size)
		p.parts = nil
	}
	for t, bi := range m.tables {
		b := &m.enc.Blocks[bi]
		b.Forward(p.table[m.offset[t]:][:b.Levels], w[b.Offset:][:b.Dim], 1)
	}
	for t, bi := range m.linear {
		p.table[m.levels+t] = w[m.enc.Blocks[bi].Offset]
	}
	for i := range p.table {
		p.table[i] *= m.enc.Scale
	}
	chunks := (m.n + chunk - 1) / chunk
	for len(p.parts) < chunks {
		p.parts = append(p.parts, make([]float64, size))
	}
	m.each(func(lo, hi, c int) {
		var buffer [block]float64
		clear(p.parts[c])
		levelSums, valueSums := p.parts[c][:m.levels], p.parts[c][m.levels:]
		levelTable, valueTable := p.table[:m.levels], p.table[m.levels:]
		for first := lo; first < hi; first += block {
			scores := buffer[:min(block, hi-first)]
			for j := range scores {
				i := first + j
				s := 0.0
				for _, l := range m.level[i*nt : (i+1)*nt] {
					if l != none {
						s += levelTable[l]
					}
				}
				for t, x := range m.value[i*nl : (i+1)*nl] {
					s += x * valueTable[t]
				}
				scores[j] = s
			}
			residual(first, scores)
			for j, r := range scores {
				i := first + j
				for _, l := range m.level[i*nt : (i+1)*nt] {
					if l != none {
						levelSums[l] += r
					}
				}
				for t, x := range m.value[i*nl : (i+1)*nl] {
					valueSums[t] += r * x
				}
			}
		}
	})
	total := p.sum(chunks, size)
	for i := range total {
		total[i] *= m.enc.Scale
	}
	for t, bi := range m.tables {
		b := &m.enc.Blocks[bi]
		b.Backward(g[b.Offset:][:b.Dim], total[m.offset[t]:][:b.Levels], 1)
	}
	for t, bi := range m.linear {
		g[m.enc.Blocks[bi].Offset] += total[m.levels+t]
	}
}
