package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/data/encode"
	"pawl/data/schema"
)

// Terms are the public tables of an additive model: one for every attribute block of
// an encoding, then one for every interaction. They follow from the schema.
type Terms struct {
	Encoding *encode.Encoding
	// Interactions are pairs of columns; each gets a table on InteractionBins coarse
	// bins of its numeric columns.
	Interactions    [][2]string
	InteractionBins int
	// Groups of a column that interactions name join levels of its block in Encoding, in
	// place of coarse bins: the group of each level.
	Groups map[string][]int

	list   []Term
	coarse *encode.Encoding
}

// Term is one table: a map from a row to one of Levels cells, of which the first
// Ordered lie in order. The last cell of an attribute, and of either side of an
// interaction, is that of unknown values.
type Term struct {
	Name            string
	Levels, Ordered int
	Level           func(cells []float64) int
}

// NewTerms makes the terms of s. enc must come from table blocks only: not Linear,
// without Crosses. interactionBins 0 means 8.
func NewTerms(s *schema.Schema, target string, enc *encode.Encoding, interactions [][2]string, interactionBins int) (*Terms, error) {
	if interactionBins == 0 {
		interactionBins = 8
	}
	return newTerms(s, target, enc, &Terms{Encoding: enc, Interactions: interactions, InteractionBins: interactionBins})
}

// NewGrouped makes terms whose interactions are tables on groups of the levels of enc.
func NewGrouped(s *schema.Schema, target string, enc *encode.Encoding, interactions [][2]string, groups map[string][]int) (*Terms, error) {
	return newTerms(s, target, enc, &Terms{Encoding: enc, Interactions: interactions, Groups: groups})
}

func newTerms(s *schema.Schema, target string, enc *encode.Encoding, t *Terms) (*Terms, error) {
	interactions := t.Interactions
	if enc.Options.Linear || enc.Options.Crosses || enc.Options.InterceptOnly {
		return nil, errors.New("model: an additive model wants bins of all attributes, and interactions by name")
	}
	for i := range enc.Blocks {
		if b := &enc.Blocks[i]; b.Kind != encode.Intercept {
			t.list = append(t.list, blockTerm(b))
		}
	}
	if t.Groups != nil || len(interactions) == 0 {
		for _, pair := range interactions {
			a, err := t.grouped(pair[0])
			if err != nil {
				return nil, err
			}
			b, err := t.grouped(pair[1])
			if err != nil {
				return nil, err
			}
			t.list = append(t.list, paired(pair, a, b))
		}
		return t, nil
	}
	o := enc.Options
	o.Bins, o.Attributes = t.InteractionBins, nil
	for _, pair := range interactions {
		if pair[0] == pair[1] {
			return nil, fmt.Errorf("model: interaction of %q with itself", pair[0])
		}
		for _, name := range pair {
			if !slices.Contains(o.Attributes, name) {
				o.Attributes = append(o.Attributes, name)
			}
		}
	}
	var err error
	if t.coarse, err = encode.New(s, target, o); err != nil {
		return nil, err
	}
	for _, pair := range interactions {
		t.list = append(t.list, paired(pair, blockTerm(t.coarseBlock(pair[0])), blockTerm(t.coarseBlock(pair[1]))))
	}
	return t, nil
}

func paired(names [2]string, a, b Term) Term {
	return Term{
		Name: names[0] + " × " + names[1], Levels: a.Levels * b.Levels,
		Level: func(cells []float64) int { return a.Level(cells)*b.Levels + b.Level(cells) },
	}
}

// grouped is one side of an interaction of groups, the unknown one last.
func (t *Terms) grouped(name string) (Term, error) {
	of, b := t.Groups[name], t.fineBlock(name)
	if b == nil || len(of) == 0 || len(of) != b.Levels || slices.Min(of) < 0 || slices.Max(of) >= len(of) {
		return Term{}, fmt.Errorf("model: the groups of %q are not those of its levels", name)
	}
	fine, last := blockTerm(b), slices.Max(of)+1
	return Term{Name: name, Levels: last + 1, Level: func(cells []float64) int {
		if l := fine.Level(cells); l < len(of) {
			return of[l]
		}
		return last
	}}, nil
}

// fineBlock is the block of a column in Encoding, nil for none.
func (t *Terms) fineBlock(name string) *encode.Block {
	i := slices.IndexFunc(t.Encoding.Blocks, func(b encode.Block) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Encoding.Blocks[i]
}

func (t *Terms) coarseBlock(name string) *encode.Block {
	i := slices.IndexFunc(t.coarse.Blocks, func(b encode.Block) bool { return b.Name == name })
	return &t.coarse.Blocks[i]
}

func blockTerm(b *encode.Block) Term {
	t := Term{Name: b.Name, Levels: b.Levels + 1}
	if b.Kind == encode.Thermometer {
		t.Ordered = b.Levels
	}
	t.Level = func(cells []float64) int {
		if l := b.Level(cells); l >= 0 && l < b.Levels {
			return l
		}
		return b.Levels
	}
	return t
}

// List returns the terms in order.
func (t *Terms) List() []Term { return t.list }

// cells is the number of cells of all terms.
func (t *Terms) cells() int {
	n := 0
	for _, term := range t.list {
		n += term.Levels
	}
	return n
}

// SetTables fills an additive model from tables by term (Levels×outputs) and counts
// by cell, both released. Every table is moved by its mean over the counts, so that
// shapes show differences and Intercept holds the level.
func (m *Model) SetTables(terms *Terms, outputs int, tables, counts [][]float64) {
	m.Terms, m.Encoding, m.Outputs = terms, terms.Encoding, outputs
	m.Weights, m.Counts, m.Intercept = nil, nil, make([]float64, outputs)
	for t, table := range tables {
		mean, total := make([]float64, outputs), 0.0
		for l, c := range counts[t] {
			c = max(c, 0)
			total += c
			for k := range mean {
				mean[k] += c * table[l*outputs+k]
			}
		}
		for k := range mean {
			if total > 0 {
				mean[k] /= total
			}
			m.Intercept[k] += mean[k]
		}
		for j, v := range table {
			m.Weights = append(m.Weights, v-mean[j%outputs])
		}
		m.Counts = append(m.Counts, counts[t]...)
	}
}

func (m *Model) additiveScores(scores, cells []float64) {
	copy(scores, m.Intercept)
	at := 0
	for i := range m.Terms.list {
		t := &m.Terms.list[i]
		l := t.Level(cells)
		for k := range scores {
			scores[k] += m.Weights[(at+l)*m.Outputs+k]
		}
		at += t.Levels
	}
}

// Shape is what an additive model adds to the score for one attribute, or for a pair
// of them. Whatever it holds was released or is public.
type Shape struct {
	Attribute string
	// With is the second attribute of an interaction, else empty.
	With string
	// Edges bound the bins of a number: bin j covers [Edges[j], Edges[j+1]). The
	// first and the last bin also hold all values beyond. Nil for categories.
	Edges []float64
	// Labels names the bins, "unknown" last. Those of an interaction are
	// "first, second".
	Labels []string
	// Values are the contributions, one row per label and one column per output.
	Values [][]float64
	// Counts are noisy numbers of training rows; they may be negative.
	Counts []float64
	// Importance is the mean of |contribution| over the counts, largest over outputs.
	Importance float64
}

// Shapes returns the shape of every term of an additive model.
func (m *Model) Shapes() []Shape {
	if m.Kind != Additive {
		return nil
	}
	var out []Shape
	at, blocks := 0, len(m.Terms.Encoding.Blocks)-1
	for i, t := range m.Terms.list {
		s := Shape{Attribute: t.Name, Counts: m.Counts[at : at+t.Levels]}
		if i < blocks {
			s.Edges, s.Labels = m.bins(&m.Terms.Encoding.Blocks[i+1])
		} else {
			pair := m.Terms.Interactions[i-blocks]
			s.Attribute, s.With = pair[0], pair[1]
			second := m.sideLabels(pair[1])
			for _, a := range m.sideLabels(pair[0]) {
				for _, b := range second {
					s.Labels = append(s.Labels, a+", "+b)
				}
			}
		}
		sums, total := make([]float64, m.Outputs), 0.0
		for l := range t.Levels {
			v := m.Weights[(at+l)*m.Outputs : (at+l+1)*m.Outputs]
			s.Values = append(s.Values, v)
			c := max(s.Counts[l], 0)
			total += c
			for k := range sums {
				sums[k] += c * math.Abs(v[k])
			}
		}
		if total > 0 {
			s.Importance = slices.Max(sums) / total
		}
		out = append(out, s)
		at += t.Levels
	}
	return out
}

// sideLabels name the levels of one side of an interaction, the unknown one last.
func (m *Model) sideLabels(name string) []string {
	of, grouped := m.Terms.Groups[name]
	if !grouped {
		_, labels := m.bins(m.Terms.coarseBlock(name))
		return labels
	}
	edges, labels := m.bins(m.Terms.fineBlock(name))
	unknown := labels[len(of)]
	var all []string
	for g := range slices.Max(of) + 1 {
		var levels []string
		first, last := len(of), 0
		for l, h := range of {
			if h == g {
				levels, first, last = append(levels, labels[l]), min(first, l), l
			}
		}
		switch {
		case len(levels) == 1:
			all = append(all, levels[0])
		case edges != nil:
			all = append(all, fmt.Sprintf("%.6g to %.6g", edges[first], edges[last+1]))
		default:
			all = append(all, strings.Join(levels, " or "))
		}
	}
	return append(all, unknown)
}

// bins describes the levels of a block, the unknown one last.
func (m *Model) bins(b *encode.Block) (edges []float64, labels []string) {
	if kept := b.LevelNames(); kept != nil {
		return nil, append(slices.Clone(kept), "unknown or other")
	}
	c := &m.Schema.Columns[m.Schema.Column(b.Name)]
	if levels := c.Levels(); len(levels) > 0 {
		return nil, append(slices.Clone(levels), "unknown")
	}
	n := float64(b.Levels)
	at := func(j int) float64 { return c.Lower + (c.Upper-c.Lower)*float64(j)/n }
	switch {
	case c.HeavyTailed:
		lower, upper := math.Log1p(c.Lower), math.Log1p(c.Upper)
		at = func(j int) float64 { return math.Expm1(lower + (upper-lower)*float64(j)/n) }
	case c.Upper-c.Lower+1 == n: // one bin for each whole number
		at = func(j int) float64 { return c.Lower + float64(j) - 0.5 }
	}
	for j := range b.Levels + 1 {
		edges = append(edges, at(j))
	}
	for j := range b.Levels {
		if c.Type == schema.Integer && !c.HeavyTailed && edges[j+1]-edges[j] == 1 {
			labels = append(labels, fmt.Sprintf("%.6g", edges[j]+0.5))
			continue
		}
		labels = append(labels, fmt.Sprintf("%.6g to %.6g", edges[j], edges[j+1]))
	}
	return edges, append(labels, "unknown")
}

// names labels the rows of the table of weights.
func (m *Model) cellNames() []string {
	var names []string
	for _, s := range m.Shapes() {
		for _, l := range s.Labels {
			name := s.Attribute + "=" + l
			if s.With != "" {
				name = s.Attribute + " × " + s.With + "=" + l
			}
			names = append(names, name)
		}
	}
	return names
}

func (m *Model) validateAdditive() error {
	if m.Terms == nil || m.Outputs < 1 || len(m.Intercept) != m.Outputs ||
		len(m.Weights) != m.Terms.cells()*m.Outputs || len(m.Counts) != m.Terms.cells() {
		return errors.New("model: number of cells does not match the terms")
	}
	for _, list := range [][]float64{m.Weights, m.Intercept, m.Counts} {
		for _, w := range list {
			if w-w != 0 {
				return errors.New("model: a weight is not a finite number")
			}
		}
	}
	return nil
}
