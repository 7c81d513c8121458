package feature

import (
	"fmt"
	"math"
)

// Entropies are the plug-in entropies of columns and the label in bits, from exact
// tables: the input of the published way to make selection private.
type Entropies struct {
	Columns []Column
	Single  []float64 // of column i
	Label   float64
	Joint   []float64 // of column i and the label
	Pair    []float64 // row-major, of columns i and j; the diagonal is not used
}

// Entropies computes them at a level. The statistics have to be exact.
func (s *Statistics) Entropies(l Level) (*Entropies, error) {
	if err := s.check(NeedPairTables); err != nil {
		return nil, err
	}
	if s.NoiseStdDev != 0 {
		return nil, fmt.Errorf("%w: entropies as published come from exact tables", ErrOption)
	}
	m := &Entropies{Columns: s.Domain.Columns(l)}
	size := len(m.Columns)
	m.Single, m.Joint, m.Pair = make([]float64, size), make([]float64, size), make([]float64, size*size)
	spans := spansOf(m.Columns, len(s.Domain.Attributes))
	e := estimator{options: MatrixOptions{Cleaning: Project, Correction: Plain}}
	for a, span := range spans {
		e.estimate(s.LabelTables[a], m.Columns[span.from:span.to], []Column{{Level: -1}}, func(i, _ int, p pairing) {
			at := span.from + i
			m.Single[at], m.Joint[at], m.Label = p.hx, p.hx+p.hy-p.information, p.hy
		})
		margin, _ := s.LabelTables[a].margins()
		withinAttribute(m.Columns, margin, span, func(i, j int, hx, hy, hxy float64) {
			m.Pair[i*size+j], m.Pair[j*size+i] = hxy, hxy
		})
		for b := a + 1; b < len(spans); b++ {
			t := s.PairTables[PairIndex(a, b, len(spans))]
			e.estimate(t, m.Columns[span.from:span.to], m.Columns[spans[b].from:spans[b].to], func(i, j int, p pairing) {
				x, y := span.from+i, spans[b].from+j
				m.Pair[x*size+y] = p.hx + p.hy - p.information
				m.Pair[y*size+x] = m.Pair[x*size+y]
			})
		}
	}
	return m, nil
}

// Noised returns a copy with noise added to every entropy, each once. noise draws from
// the law that the caller accounts for; as published it is Laplace with scale
// EntropySensitivityPublished(n)/ε_H, which at n = 191 and ε_H = 0.01 is 9.7 bits against
// entropies of at most a few: the choice is then close to random. NoiseScale gives it.
func (e *Entropies) Noised(noise func() float64) *Entropies {
	out := &Entropies{Columns: e.Columns, Label: e.Label + noise()}
	size := len(e.Columns)
	out.Pair = make([]float64, size*size)
	for i := range size {
		out.Single = append(out.Single, e.Single[i]+noise())
		out.Joint = append(out.Joint, e.Joint[i]+noise())
		for j := range i {
			x := e.Pair[i*size+j] + noise()
			out.Pair[i*size+j], out.Pair[j*size+i] = x, x
		}
	}
	return out
}

// PublishedNoiseScale is the Laplace scale in bits for n rows and ε_H for each entropy.
// +Inf for arguments out of range.
func PublishedNoiseScale(n, entropyEpsilon float64) float64 {
	if !(entropyEpsilon > 0) {
		return math.Inf(1)
	}
	return EntropySensitivityPublished(n) / entropyEpsilon
}

// Matrix returns the uncertainties that follow, clamped to [0, 1]; a sum of entropies
// that is not positive gives 0.
func (e *Entropies) Matrix() *Matrix {
	size := len(e.Columns)
	m := &Matrix{Columns: e.Columns, Entropy: e.Single, pair: make([]float64, size*size)}
	for i := range size {
		m.Label = append(m.Label, SymmetricalUncertainty(e.Single[i], e.Label, e.Joint[i]))
		m.LabelInformation = append(m.LabelInformation, max(e.Single[i]+e.Label-e.Joint[i], 0))
		m.pair[i*size+i] = 1
		for j := range i {
			suc := SymmetricalUncertainty(e.Single[i], e.Single[j], e.Pair[i*size+j])
			m.pair[i*size+j], m.pair[j*size+i] = suc, suc
		}
	}
	return m
}
