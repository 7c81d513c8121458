package feature

import (
	"fmt"
	"math"
)

// Cleaning says how a table with negative counts becomes one without.
type Cleaning string

const (
	Project Cleaning = "project" // Table.Projected; the default
	Clamp   Cleaning = "clamp"   // Table.Clamped
)

// Correction says what is taken off the upward bias of a plug-in mutual information.
type Correction string

const (
	// Plain takes nothing off: the plug-in value, as published.
	Plain Correction = "plain"
	// MillerMadowCorrection takes off (K_xy − K_x − K_y + 1)/(2n·ln 2) bits, K the numbers
	// of occupied cells and levels. It accounts for sampling, not for added noise.
	MillerMadowCorrection Correction = "miller-madow"
	// NullCorrection takes off the mean value under independence: tables are simulated
	// from the product of the table's own margins with sampling and added noise, and
	// cleaned like it. It uses what has been released and random numbers, no data.
	NullCorrection Correction = "null"
)

// MatrixOptions say how uncertainties follow from tables. The zero value projects, and
// corrects by NullCorrection where the tables are noisy and not at all where they are
// exact. Mean error of the uncertainty of two attributes of Adult (22,750 rows) at a noise of
// 41 rows a cell (epsilon 1 for all pairs): .013, against .058 uncorrected and .068 clamped
// (TestCorrectionOnAdult).
type MatrixOptions struct {
	Cleaning   Cleaning
	Correction Correction
	// Draws is the number of simulated tables of NullCorrection; 0 means 20.
	Draws int
	Seed  uint64
}

// Matrix holds symmetrical uncertainties: of every column with the label, and of all
// pairs of columns.
type Matrix struct {
	Columns []Column
	// Label[i] is that of column i and the label.
	Label []float64
	// LabelInformation[i] is their mutual information in bits.
	LabelInformation []float64
	// Entropy[i] is the entropy of column i in bits.
	Entropy []float64

	pair []float64 // row-major; nil without pair tables
}

// HasPairs says whether pairs of columns are known.
func (m *Matrix) HasPairs() bool { return m.pair != nil }

// Pair is the symmetrical uncertainty of two columns; 1 for a column and itself.
func (m *Matrix) Pair(i, j int) float64 { return m.pair[i*len(m.Columns)+j] }

// Matrix computes the uncertainties of all columns at a level with the label and with
// each other. The tables of one-hot columns are sums of cells of the attributes' tables.
func (s *Statistics) Matrix(l Level, o MatrixOptions) (*Matrix, error) {
	if err := s.check(NeedPairTables); err != nil {
		return nil, err
	}
	m, err := s.labelMatrix(l, o)
	if err != nil {
		return nil, err
	}
	if o, err = o.filled(s.NoiseStdDev); err != nil {
		return nil, err
	}
	size := len(m.Columns)
	m.pair = make([]float64, size*size)
	set := func(i, j int, suc float64) { m.pair[i*size+j], m.pair[j*size+i] = suc, suc }
	spans := spansOf(m.Columns, len(s.Domain.Attributes))
	e := estimator{options: o, noise: s.NoiseStdDev, stream: pairStream}
	for a := range spans {
		for i := spans[a].from; i < spans[a].to; i++ {
			set(i, i, 1)
		}
		margin, _ := o.clean(s.LabelTables[a]).margins()
		withinAttribute(m.Columns, margin, spans[a], func(i, j int, hx, hy, hxy float64) {
			set(i, j, SymmetricalUncertainty(hx, hy, hxy))
		})
		for b := a + 1; b < len(spans); b++ {
			t := s.PairTables[PairIndex(a, b, len(spans))]
			e.estimate(t, m.Columns[spans[a].from:spans[a].to], m.Columns[spans[b].from:spans[b].to], func(i, j int, p pairing) {
				set(spans[a].from+i, spans[b].from+j, p.suc())
			})
		}
	}
	return m, nil
}

// labelMatrix is the part of Matrix that label tables give.
func (s *Statistics) labelMatrix(l Level, o MatrixOptions) (*Matrix, error) {
	if err := s.check(NeedLabelTables); err != nil {
		return nil, err
	}
	o, err := o.filled(s.NoiseStdDev)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Columns: s.Domain.Columns(l)}
	size := len(m.Columns)
	m.Label, m.LabelInformation, m.Entropy = make([]float64, size), make([]float64, size), make([]float64, size)
	e := estimator{options: o, noise: s.NoiseStdDev, stream: labelStream}
	oneClass := true
	for a, span := range spansOf(m.Columns, len(s.Domain.Attributes)) {
		e.estimate(s.LabelTables[a], m.Columns[span.from:span.to], []Column{{Level: -1}}, func(i, _ int, p pairing) {
			at := span.from + i
			m.Label[at], m.LabelInformation[at], m.Entropy[at] = p.suc(), p.information, p.hx
			oneClass = oneClass && !(p.hy > 0)
		})
	}
	if oneClass {
		return nil, ErrOneClass
	}
	return m, nil
}

func (o MatrixOptions) filled(noise float64) (MatrixOptions, error) {
	if o.Cleaning == "" {
		o.Cleaning = Project
	}
	if o.Correction == "" {
		o.Correction = Plain
		if noise > 0 {
			o.Correction = NullCorrection
		}
	}
	if o.Draws == 0 {
		o.Draws = 20
	}
	switch {
	case o.Cleaning != Project && o.Cleaning != Clamp:
		return o, fmt.Errorf("%w: cleaning %q", ErrOption, string(o.Cleaning))
	case o.Correction != Plain && o.Correction != MillerMadowCorrection && o.Correction != NullCorrection:
		return o, fmt.Errorf("%w: correction %q", ErrOption, string(o.Correction))
	case o.Draws < 0:
		return o, fmt.Errorf("%w: %d draws", ErrOption, o.Draws)
	case !(noise >= 0) || math.IsInf(noise, 0):
		return o, fmt.Errorf("%w: the noise's deviation is %v", ErrOption, noise)
	}
	return o, nil
}

// span is the range of columns of one attribute.
type span struct{ from, to int }

func spansOf(columns []Column, attributes int) []span {
	spans := make([]span, attributes)
	for i, c := range columns {
		if spans[c.Attribute].to == 0 {
			spans[c.Attribute].from = i
		}
		spans[c.Attribute].to = i + 1
	}
	return spans
}

// withinAttribute visits the pairs of columns of one attribute: two indicators of
// different levels never hold together, so their table follows from the margin.
func withinAttribute(columns []Column, margin []float64, s span, visit func(i, j int, hx, hy, hxy float64)) {
	total := 0.0
	for _, c := range margin {
		total += c
	}
	for i := s.from; i < s.to; i++ {
		for j := i + 1; j < s.to; j++ {
			a, b := margin[columns[i].Level], margin[columns[j].Level]
			visit(i, j, Entropy([]float64{a, total - a}), Entropy([]float64{b, total - b}), Entropy([]float64{a, b, max(total-a-b, 0)}))
		}
	}
}

func (o MatrixOptions) clean(t Table) Table {
	if o.Cleaning == Clamp {
		return t.Clamped()
	}
	return t.Projected()
}
