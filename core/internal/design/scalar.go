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
	key    []uint32 // rows × joints: cells of table
	cells  int      // of all joint tables

	level, table, total []float64
	parts               [][]float64
}

// joint is a group of table blocks, the first of stride 1.
type joint struct {
	base, size int
	tables     []int // positions in Matrix.tables
}

// Pack arranges m. It costs about as much as one Sum and holds m.
func (m *Matrix) Pack() *Packed {
	p := &Packed{m: m}
	order := make([]int, len(m.tables))
	for t := range order {
		order[t] = t
	}
	sort.SliceStable(order, func(a, b int) bool { return p.levels(order[a]) < p.levels(order[b]) })
	for _, t := range order {
		radix := p.levels(t) + 1
		if last := len(p.joints) - 1; last >= 0 && p.joints[last].size*radix <= jointCells {
			p.joints[last].size *= radix
			p.joints[last].tables = append(p.joints[last].tables, t)
			continue
		}
		p.joints = append(p.joints, joint{size: radix, tables: []int{t}})
	}
	for j := range p.joints {
		p.joints[j].base = p.cells
		p.cells += p.joints[j].size
	}
	p.key = make([]uint32, m.n*len(p.joints))
	m.each(func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			levels := m.level[i*len(m.tables):]
			for j, g := range p.joints {
				cell, stride := g.base, 1
				for _, t := range g.tables {
					digit := p.levels(t)
					if l := levels[t]; l != none {
						digit = int(l) - m.offset[t]
					}
					cell += digit * stride
					stride *= p.levels(t) + 1
				}
				p.key[i*len(p.joints)+j] = uint32(cell)
			}
		}
	})
	size := p.cells + len(m.linear)
	p.level, p.table, p.total = make([]float64, m.levels), make([]float64, size), make([]float64, size)
	for range (m.n + chunk - 1) / chunk {
		p.parts = append(p.parts, make([]float64, size))
	}
	return p
}

func (p *Packed) levels(t int) int { return p.m.enc.Blocks[p.m.tables[t]].Levels }

// Sum adds to g (Dim) the sum over rows of r_i·x_i. residual is given the scores
// wᵀx_i of consecutive rows, the first of them row first, and replaces each by r_i;
// it is called once for each row, concurrently for different rows.
func (p *Packed) Sum(g, w []float64, residual func(first int, scores []float64)) {
	p.fill(w)
	nj, nl := len(p.joints), len(p.m.linear)
	cellTable, valueTable := p.table[:p.cells], p.table[p.cells:]
	p.m.each(func(lo, hi, c int) {
		var buffer [block]float64
		clear(p.parts[c])
		cellSums, valueSums := p.parts[c][:p.cells], p.parts[c][p.cells:]
		for first := lo; first < hi; first += block {
			scores := buffer[:min(block, hi-first)]
			for j := range scores {
				i := first + j
				s := 0.0
				for _, k := range p.key[i*nj : (i+1)*nj] {
					s += cellTable[k]
				}
				for t, x := range p.m.value[i*nl : (i+1)*nl] {
					s += x * valueTable[t]
				}
				scores[j] = s
			}
			residual(first, scores)
			for j, r := range scores {
				i := first + j
				for _, k := range p.key[i*nj : (i+1)*nj] {
					cellSums[k] += r
				}
				for t, x := range p.m.value[i*nl : (i+1)*nl] {
					valueSums[t] += r * x
				}
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
		for _, t := range g.tables {
			values := p.level[p.m.offset[t]:][:p.levels(t)]
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
	for t, bi := range p.m.linear {
		p.table[p.cells+t] = scale * w[p.m.enc.Blocks[bi].Offset]
	}
}

// collect maps the sums by cell to sums by level and adds them to g: the transpose
// of fill.
func (p *Packed) collect(g []float64) {
	scale := p.m.enc.Scale
	for _, j := range p.joints {
		cells := p.total[j.base:][:j.size]
		for k := len(j.tables) - 1; k >= 0; k-- {
			t := j.tables[k]
			n := p.levels(t)
			stride := len(cells) / (n + 1)
			for digit := range n {
				sum := 0.0
				for _, v := range cells[digit*stride:][:stride] {
					sum += v
				}
				p.level[p.m.offset[t]+digit] = scale * sum
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
	for t, bi := range p.m.linear {
		g[p.m.enc.Blocks[bi].Offset] += scale * p.total[p.cells+t]
	}
}
