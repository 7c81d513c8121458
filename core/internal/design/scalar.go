package design

import "sort"

const (
	// block is the number of rows whose scores are handed over at once: small
	// enough to stay in the first cache, large enough to make a call cheap.
	block = 512
	// jointCells bounds a joint table: a few of them fit the first cache.
	jointCells = 1024
)

// Packed is a Matrix arranged for many sums with one output. Small table blocks are
// joined: one look-up in the table of their sums replaces one in each. An unknown
// level has a cell of its own in every joint table, so the loop has no branch.
type Packed struct {
	m      *Matrix
	joints []joint
	key    []uint16    // rows × joints: cells of the joint's table
	cells  int         // of all joint tables
	value  [][]float64 // of linear blocks, one column each

	level, table, total []float64
	parts               [][]float64
	scores              [][block]float64 // by chunk
}

// joint is a group of slots, the first of stride 1.
type joint struct {
	base, size int
	slots      []int
}

// Pack arranges m. It costs about as much as one Sum and holds m.
func (m *Matrix) Pack() *Packed {
	p := m.joined()
	m.each(func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			p.take(i, m.level[i*len(m.slots):][:len(m.slots)], m.value[i*len(m.linear):][:len(m.linear)])
		}
	})
	return p
}

// take arranges row i, which has these levels, one for each slot, and these values.
func (p *Packed) take(i int, levels []uint16, values []float64) {
	for j, g := range p.joints {
		cell, stride := 0, 1
		for _, t := range g.slots {
			s := &p.m.slots[t]
			digit := s.levels
			if l := levels[t]; l != none {
				digit = int(l) - s.first
			}
			cell += digit * stride
			stride *= s.levels + 1
		}
		p.key[i*len(p.joints)+j] = uint16(cell) // a slot has fewer levels than none
	}
	for t, x := range values {
		p.value[t][i] = x
	}
}

// joined chooses which slots are joined.
func (m *Matrix) joined() *Packed {
	p := &Packed{m: m}
	order := make([]int, len(m.slots))
	for t := range order {
		order[t] = t
	}
	sort.SliceStable(order, func(a, b int) bool { return m.slots[order[a]].levels < m.slots[order[b]].levels })
	for _, t := range order {
		radix := m.slots[t].levels + 1
		if last := len(p.joints) - 1; last >= 0 && p.joints[last].size*radix <= jointCells {
			p.joints[last].size *= radix
			p.joints[last].slots = append(p.joints[last].slots, t)
			continue
		}
		p.joints = append(p.joints, joint{size: radix, slots: []int{t}})
	}
	for j := range p.joints {
		p.joints[j].base = p.cells
		p.cells += p.joints[j].size
	}
	p.key = make([]uint16, m.n*len(p.joints))
	for range m.linear {
		p.value = append(p.value, make([]float64, m.n))
	}
	size := p.cells + len(m.linear)
	p.level, p.table, p.total = make([]float64, m.levels), make([]float64, size), make([]float64, size)
	for range m.chunks() {
		p.parts = append(p.parts, make([]float64, size))
	}
	p.scores = make([][block]float64, m.chunks())
	return p
}

// Sum adds to g (Dim) the sum over rows of r_i·x_i. residual is given the scores
// wᵀx_i of consecutive rows, the first of them row first, and replaces each by r_i;
// it is called once for each row, concurrently for different rows.
func (p *Packed) Sum(g, w []float64, residual func(first int, scores []float64)) {
	p.fill(w)
	nj := len(p.joints)
	base := make([]int, nj)
	for j := range base {
		base[j] = p.joints[j].base
	}
	cellTable, valueTable := p.table[:p.cells], p.table[p.cells:]
	p.m.each(func(lo, hi, c int) {
		buffer := p.scores[c][:]
		clear(p.parts[c])
		cellSums, valueSums := p.parts[c][:p.cells], p.parts[c][p.cells:]
		for first := lo; first < hi; first += block {
			scores := buffer[:min(block, hi-first)]
			for j := range scores {
				i := first + j
				s := 0.0
				for t, k := range p.key[i*nj : (i+1)*nj] {
					s += cellTable[base[t]+int(k)]
				}
				scores[j] = s
			}
			for t, column := range p.value {
				column, w := column[first:][:len(scores)], valueTable[t]
				for j, x := range column {
					scores[j] += x * w
				}
			}
			residual(first, scores)
			for j, r := range scores {
				i := first + j
				for t, k := range p.key[i*nj : (i+1)*nj] {
					cellSums[base[t]+int(k)] += r
				}
			}
			for t, column := range p.value {
				valueSums[t] += inner(column[first:], scores)
			}
		}
	})
	clear(p.total)
	for _, part := range p.parts {
		for i, v := range part {
			p.total[i] += v
		}
	}
	p.collect(g)
}

// inner is the inner product of b with the beginning of a: four sums at a time do not
// wait for each other.
func inner(a, b []float64) float64 {
	a = a[:len(b)]
	var s0, s1, s2, s3 float64
	for len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range b {
		s0 += a[i] * v
	}
	return s0 + s1 + (s2 + s3)
}

// fill computes the table of every joint from the weights.
func (p *Packed) fill(w []float64) {
	for t, bi := range p.m.tables {
		b := &p.m.enc.Blocks[bi]
		b.Forward(p.level[p.m.offset[t]:][:b.Levels], w[b.Offset:][:b.Dim], 1)
	}
	scale := p.m.enc.Scale
	for _, g := range p.joints {
		cells := p.table[g.base:][:g.size]
		cells[0] = 0
		stride := 1
		for _, t := range g.slots {
			values := p.level[p.m.slots[t].first:][:p.m.slots[t].levels]
			copy(cells[len(values)*stride:][:stride], cells) // unknown adds nothing
			for digit := len(values) - 1; digit >= 0; digit-- {
				// Level 0 comes last, because its cells are the sums so far.
				for i, sum := range cells[:stride] {
					cells[digit*stride+i] = sum + scale*values[digit]
				}
			}
			stride *= len(values) + 1
		}
	}
	for t, at := range p.m.linear {
		p.table[p.cells+t] = scale * w[at]
	}
}

// collect maps the sums by cell to sums by level and adds them to g: the transpose
// of fill.
func (p *Packed) collect(g []float64) {
	scale := p.m.enc.Scale
	for _, j := range p.joints {
		cells := p.total[j.base:][:j.size]
		for k := len(j.slots) - 1; k >= 0; k-- {
			t := j.slots[k]
			n := p.m.slots[t].levels
			stride := len(cells) / (n + 1)
			for digit := range n {
				sum := 0.0
				for _, v := range cells[digit*stride:][:stride] {
					sum += v
				}
				p.level[p.m.slots[t].first+digit] = scale * sum
			}
			for digit := 1; digit <= n; digit++ {
				for i, v := range cells[digit*stride:][:stride] {
					cells[i] += v
				}
			}
			cells = cells[:stride]
		}
	}
	for t, bi := range p.m.tables {
		b := &p.m.enc.Blocks[bi]
		b.Backward(g[b.Offset:][:b.Dim], p.level[p.m.offset[t]:][:b.Levels], 1)
	}
	for t, at := range p.m.linear {
		g[at] += scale * p.total[p.cells+t]
	}
}
