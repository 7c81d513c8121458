package design

import (
	"math"
	"slices"
	"sort"
)

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
	key    []uint16 // rows × stride: cells of the joints' tables, and of a Packed for lots what mark wrote
	stride int
	lots   bool
	cells  int         // of all joint tables
	value  [][]float64 // of linear blocks, one column each

	base                []int // where the tables of the joints begin
	level, table, total []float64
	parts               [][]float64 // by chunk
	batches             []batch     // by chunk
}

// joint is a group of slots, the first of stride 1.
type joint struct {
	base, size int
	slots      []int
}

// batch is a block of rows under way: where their records begin, and a column of each linear block. For lots these
// are copies, with what is marked beside them.
type batch struct {
	key                  []uint16
	value                [][]float64
	scores, target, norm [block]float64
}

// marks is the room that a row's target and norm take beside its keys, in uint16s.
const marks = 4

// Pack arranges m. It costs about as much as one Sum and holds m.
func (m *Matrix) Pack() *Packed { return m.pack(false) }

func (m *Matrix) pack(lots bool) *Packed {
	p := m.joined(lots)
	m.each(func(lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			p.take(i, m.Norm[i], m.Target[i], m.level[i*len(m.slots):][:len(m.slots)], m.value[i*len(m.linear):][:len(m.linear)])
		}
	})
	return p
}

// take arranges row i, which has these levels, one for each slot, and these values.
func (p *Packed) take(i int, norm, target float64, levels []uint16, values []float64) {
	if p.lots {
		mark(p.key[(i+1)*p.stride-marks:], norm, target)
	} else {
		p.m.Norm[i], p.m.Target[i] = norm, target
	}
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
		p.key[i*p.stride+j] = uint16(cell) // a slot has fewer levels than none
	}
	for t, x := range values {
		p.value[t][i] = x
	}
}

// mark writes a row's norm and target in half their room. The norm is rounded up: what a row adds is then held to less
// than its norm allows, and never to more.
func mark(to []uint16, norm, target float64) {
	n := float32(norm)
	if float64(n) < norm {
		n = math.Nextafter32(n, math.MaxFloat32)
	}
	for k, v := range [2]uint32{math.Float32bits(n), math.Float32bits(float32(target))} {
		to[2*k], to[2*k+1] = uint16(v), uint16(v>>16)
	}
}

// marked reads what mark wrote.
func marked(from []uint16) (norm, target float64) {
	from = from[:marks]
	return float64(math.Float32frombits(uint32(from[0]) | uint32(from[1])<<16)), float64(math.Float32frombits(uint32(from[2]) | uint32(from[3])<<16))
}

// joined chooses which slots are joined.
func (m *Matrix) joined(lots bool) *Packed {
	p := &Packed{m: m, lots: lots}
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
		p.base = append(p.base, p.cells)
		p.cells += p.joints[j].size
	}
	if p.stride = len(p.joints); lots {
		p.stride += marks
	}
	p.key = make([]uint16, m.n*p.stride)
	for range m.linear {
		p.value = append(p.value, make([]float64, m.n))
	}
	size := p.cells + len(m.linear)
	p.level, p.table, p.total = make([]float64, m.levels), make([]float64, size), make([]float64, size)
	p.batches = make([]batch, m.chunks())
	for c := range p.batches {
		p.parts = append(p.parts, make([]float64, size))
		b := &p.batches[c]
		b.value = make([][]float64, len(m.linear))
		if lots {
			b.key = make([]uint16, block*p.stride)
			for t := range b.value {
				b.value[t] = make([]float64, block)
			}
		}
	}
	return p
}

// Sum adds to g (Dim) the sum over rows of r_i·x_i. residual is given the scores
// wᵀx_i of consecutive rows, the first of them row first, and replaces each by r_i;
// it is called once for each row, concurrently for different rows.
func (p *Packed) Sum(g, w []float64, residual func(first int, scores []float64)) {
	p.fill(w)
	p.m.each(func(lo, hi, c int) {
		clear(p.parts[c])
		b := &p.batches[c]
		for first := lo; first < hi; first += block {
			b.key = p.key[first*p.stride:]
			for t, column := range p.value {
				b.value[t] = column[first:]
			}
			p.add(b, p.parts[c], min(block, hi-first), func(scores []float64) { residual(first, scores) })
		}
	})
	p.collect(g)
}

// SumOf is Sum over some of the rows, in rising order: residual is given the targets, norms and scores of some of them,
// and no other row is touched.
func (p *Packed) SumOf(g, w []float64, rows []int32, residual func(targets, norms, scores []float64)) {
	p.fill(w)
	p.m.each(func(lo, hi, c int) {
		clear(p.parts[c])
		from, _ := slices.BinarySearch(rows, int32(lo))
		to, _ := slices.BinarySearch(rows, int32(hi))
		b := &p.batches[c]
		for of := range slices.Chunk(rows[from:to], block) {
			// Rows of a lot lie far apart: copying them first waits for many of them at a time.
			for j, i := range of {
				copy(b.key[j*p.stride:][:p.stride], p.key[int(i)*p.stride:])
			}
			for j := range of {
				b.norm[j], b.target[j] = marked(b.key[(j+1)*p.stride-marks:])
			}
			for t, column := range p.value {
				for j, i := range of {
					b.value[t][j] = column[i]
				}
			}
			p.add(b, p.parts[c], len(of), func(scores []float64) { residual(b.target[:len(of)], b.norm[:len(of)], scores) })
		}
	})
	p.collect(g)
}

// add adds to part, by cell, the residuals of a batch of n rows.
func (p *Packed) add(b *batch, part []float64, n int, residual func(scores []float64)) {
	base, nj, stride, key, scores := p.base, len(p.joints), p.stride, b.key, b.scores[:n]
	table, sums := p.table[:p.cells], part[:p.cells]
	for j := range scores {
		s := 0.0
		for t, k := range key[j*stride:][:nj] {
			s += table[base[t]+int(k)]
		}
		scores[j] = s
	}
	for t, column := range b.value {
		w := p.table[p.cells+t]
		for j, x := range column[:n] {
			scores[j] += x * w
		}
	}
	residual(scores)
	for j, r := range scores {
		for t, k := range key[j*stride:][:nj] {
			sums[base[t]+int(k)] += r
		}
	}
	for t, column := range b.value {
		part[p.cells+t] += inner(column, scores)
	}
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

// collect adds up the sums of the chunks by cell, maps them to sums by level and adds these to g: the
// transpose of fill.
func (p *Packed) collect(g []float64) {
	clear(p.total)
	for _, part := range p.parts {
		for i, v := range part {
			p.total[i] += v
		}
	}
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
