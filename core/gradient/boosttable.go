package gradient

import (
	"math"
	"runtime"

	"pawl/core/internal/sealed"
)

// noCell marks a row that is in no cell of a term.
const noCell = math.MaxUint16

// boostChunk is the number of rows that are summed in one go. Chunks are added in
// order, so results do not depend on the number of workers.
const boostChunk = 4096

// boostTable holds an opened scope as one small integer per row and term, with the
// scores of all rows so far.
type boostTable struct {
	n, outputs int
	level      [][]uint16 // by term
	target     []float64
	scores     []float64 // n×outputs
	residual   func(scores []float64, target float64)

	// The last step, which the next pass adds to the scores: cells of term moved.
	move  []float64
	moved int

	term  int         // of the pass under way
	parts [][]float64 // by chunk
	crew  *crew
}

func newBoostTable(view *sealed.View, b *Boost) *boostTable {
	n, widest := view.Len(), 0
	for _, t := range b.Terms {
		widest = max(widest, t.Levels*b.Outputs)
	}
	m := &boostTable{
		n: n, outputs: b.Outputs, target: make([]float64, n), scores: make([]float64, n*b.Outputs),
		residual: b.residual(), move: make([]float64, widest), moved: -1,
	}
	for t := range b.Terms {
		term := &b.Terms[t]
		level := make([]uint16, n)
		for i := range level {
			level[i] = noCell
			if l := term.Level(view.Row(i)); l >= 0 && l < term.Levels {
				level[i] = uint16(l)
			}
		}
		m.level = append(m.level, level)
	}
	for i := range m.target {
		m.target[i] = b.Target(view.Row(i))
	}
	chunks := (n + boostChunk - 1) / boostChunk
	for range chunks {
		m.parts = append(m.parts, make([]float64, widest))
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	jobs := make([]func(), workers)
	for w := range jobs {
		buffer := make([]float64, m.outputs)
		jobs[w] = func() {
			for c := w; c < chunks; c += workers {
				m.chunk(c, buffer)
			}
		}
	}
	m.crew = newCrew(jobs...)
	return m
}

// counts returns the number of rows with a target in each cell of a term.
func (m *boostTable) counts(term, levels int) []float64 {
	count := make([]float64, levels)
	for i, l := range m.level[term] {
		if l != noCell && m.target[i] == m.target[i] {
			count[l]++
		}
	}
	return count
}

// residuals sets sum to the sums of clipped residuals in the cells of a term, at
// scores that hold all steps.
func (m *boostTable) residuals(sum []float64, term int) {
	m.term = term
	m.crew.run()
	clear(sum)
	for _, part := range m.parts {
		for j := range sum {
			sum[j] += part[j]
		}
	}
}

func (m *boostTable) chunk(c int, r []float64) {
	part, k := m.parts[c], m.outputs
	clear(part)
	level := m.level[m.term]
	for i := c * boostChunk; i < min((c+1)*boostChunk, m.n); i++ {
		scores := m.scores[i*k : (i+1)*k]
		if m.moved >= 0 {
			if l := int(m.level[m.moved][i]); l != noCell {
				for j := range scores {
					scores[j] += m.move[l*k+j]
				}
			}
		}
		l := int(level[i])
		if l == noCell {
			continue
		}
		copy(r, scores)
		m.residual(r, m.target[i])
		for j, v := range r {
			part[l*k+j] += v
		}
	}
}

// residual turns scores into the derivative of the loss by them, clipped to norm
// ClippingNorm. A row without a target, and a residual that is not a number, give
// nothing: a step must not depend on one row.
func (b *Boost) residual() func(scores []float64, target float64) {
	c := b.ClippingNorm
	switch b.Loss {
	case Logistic:
		return func(s []float64, target float64) { s[0] = clip(1/(1+math.Exp(-s[0]))-target, c, 1) }
	case Residual:
		return func(s []float64, target float64) { s[0] = clip(s[0]-target, c, 1) }
	default:
		return func(s []float64, target float64) { softmaxResidual(s, target, c, 1) }
	}
}
