// What only tests use: the published noise on entropies, and remarks on columns.
package feature

import (
	"errors"
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

// NewMatrix returns the matrix of given uncertainties: label[i], and pair[i·m+j]
// symmetric, or nil.
func NewMatrix(columns []Column, label, pair []float64) (*Matrix, error) {
	m := len(columns)
	if m == 0 {
		return nil, ErrNoFeatures
	}
	if len(label) != m || pair != nil && len(pair) != m*m {
		return nil, fmt.Errorf("%w: %d and %d uncertainties of %d columns", ErrShape, len(label), len(pair), m)
	}
	for i := range m {
		if !unit(label[i]) {
			return nil, fmt.Errorf("%w: uncertainties lie within [0, 1]", ErrShape)
		}
		for j := range m {
			if pair != nil && (!unit(pair[i*m+j]) || pair[i*m+j] != pair[j*m+i]) {
				return nil, fmt.Errorf("%w: uncertainties of pairs are symmetric and lie within [0, 1]", ErrShape)
			}
		}
	}
	return &Matrix{Columns: columns, Label: label, pair: pair}, nil
}

func unit(x float64) bool { return x >= 0 && x <= 1 }

// Diagnose lists what is odd about columns: constant ones (ErrConstant) and pairs of
// which either says what the other says (ErrDuplicate), as *FeatureError. Selection
// copes with both, a constant column has uncertainty 0 and a copy adds no merit, so
// these are remarks. On exact tables of private data they would be private facts.
func (m *Matrix) Diagnose() []error {
	var out []error
	for i, c := range m.Columns {
		if i < len(m.Entropy) && m.Entropy[i] == 0 {
			out = append(out, &FeatureError{Feature: c.Name, Err: ErrConstant})
			continue
		}
		for j := i + 1; j < len(m.Columns) && m.HasPairs(); j++ {
			if m.Pair(i, j) > 1-1e-9 {
				out = append(out, &FeatureError{Feature: c.Name, Other: m.Columns[j].Name, Err: ErrDuplicate})
			}
		}
	}
	return out
}

// SUC is the symmetrical uncertainty of the table's own margins; counts must not be
// negative (see Clamped and Projected).
func (t Table) SUC() float64 {
	rows, cols := t.margins()
	return SymmetricalUncertainty(Entropy(rows), Entropy(cols), Entropy(t.Counts))
}

// MutualInformation is H(x) + H(y) − H(x,y) in bits, at least 0.
func (t Table) MutualInformation() float64 {
	rows, cols := t.margins()
	return max(Entropy(rows)+Entropy(cols)-Entropy(t.Counts), 0)
}

// BinaryEntropy is h₂(p) = −p·log₂ p − (1−p)·log₂(1−p) in bits; 0 at p = 0 and 1, NaN
// outside.
func BinaryEntropy(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	return max(-xlog2(p)-xlog2(1-p), 0)
}

// EntropySensitivityReplace is the largest change in bits of a plug-in entropy of n rows
// when one is replaced: h₂(1/n) <= (log₂ n + 1/ln 2)/n, reached where one row of n equal
// ones becomes different. n has to be public. +Inf for n < 1.
func EntropySensitivityReplace(n int) float64 {
	if n < 1 {
		return math.Inf(1)
	}
	return BinaryEntropy(1 / float64(n))
}

// EntropySensitivityAddRemove is the same when one row joins n rows, n the smaller
// number: h₂(1/(n+1)), reached where a new value joins n equal ones. A row more of a value
// among K equally frequent ones changes less, log₂(K)/(n+1) at most with K <= n, since
// h₂(1/m) >= log₂(m)/m. It falls with n from n = 1 on, so a public lower bound of a private n
// will do. 0 for n = 0; +Inf for n < 0.
func EntropySensitivityAddRemove(n int) float64 {
	if n < 0 {
		return math.Inf(1)
	}
	return BinaryEntropy(1 / float64(n+1))
}

// EntropySensitivityPublished is the bound used as published by Bindschaedler, Shokri
// and Gunter, (2 + 1/ln 2 + 2·log₂ n)/n bits: valid, and about twice the largest change.
// +Inf for n < 1.
func EntropySensitivityPublished(n float64) float64 {
	if !(n >= 1) {
		return math.Inf(1)
	}
	return (2 + 1/math.Ln2 + 2*math.Log2(n)) / n
}

var (
	ErrConstant  = errors.New("the feature is the same in all rows")
	ErrDuplicate = errors.New("the feature carries the same information as another")
)
