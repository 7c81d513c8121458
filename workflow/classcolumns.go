package workflow

import (
	"math"
	"strings"

	"pawl/core/dp"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/feature"
)

// classColumns are the numbers of a row whose sums by class rank features: a numeric
// column as one number in [0, 1] by its public bounds, an unordered category as one
// column of 0 and 1 for each level. Each attribute adds 1 at most to the squared norm
// of a row.
type classColumns struct {
	domain  feature.Domain
	columns []feature.Column // of the layout, one for each number
	layout  *feature.Layout
	fill    []func(x, cells []float64, codes []uint16)
	label   int // column of the schema
	classes int
	names   []string
}

func newClassColumns(s *schema.Schema, target string, l *feature.Layout) *classColumns {
	c := &classColumns{layout: l, label: s.Column(target), classes: l.Domain.Classes}
	c.columns = l.Domain.Columns(feature.ColumnLevel)
	c.domain = feature.Domain{Classes: c.classes, Rows: l.Domain.Rows, Norm: math.Sqrt(float64(len(l.Domain.Attributes)))}
	for j, col := range c.columns {
		a := l.Domain.Attributes[col.Attribute]
		at := s.Column(a.Name)
		// Levels only name what is ranked here; the sums hold the numbers.
		c.domain.Attributes = append(c.domain.Attributes, feature.Attribute{Name: col.Name, Levels: 2})
		c.names = append(c.names, a.Name)
		if col.Level >= 0 {
			// The layout's codes know what a cell does not: an unknown one, a grade's place.
			attribute, level := col.Attribute, uint16(col.Level)
			c.fill = append(c.fill, func(x, _ []float64, codes []uint16) {
				if codes[attribute] == level {
					x[j] = 1
				}
			})
			continue
		}
		lower, width := 0.0, float64(max(len(s.Columns[at].Levels()), 2)-1)
		if t := s.Columns[at].Type; t == schema.Numeric || t == schema.Integer {
			lower, width = s.Columns[at].Lower, s.Columns[at].Upper-s.Columns[at].Lower
		}
		c.fill = append(c.fill, func(x, cells []float64, _ []uint16) {
			if v := (cells[at] - lower) / width; v == v {
				x[j] = min(max(v, 0), 1)
			}
		})
	}
	return c
}

func (c *classColumns) release(plan *Plan, need feature.Need) release.ClassSums {
	codes := make([]uint16, len(c.layout.Domain.Attributes)+1)
	return release.ClassSums{
		Scope: plan.trainScope, NoiseMultiplier: plan.noise, Classes: c.classes, Features: len(c.columns), Norm: c.domain.Norm,
		Squares: need == feature.NeedClassMoments,
		Row: func(x, cells []float64) int {
			y := cells[c.label]
			if y != y {
				return -1
			}
			c.layout.Codes(codes, cells)
			for _, fill := range c.fill {
				fill(x, cells, codes)
			}
			return int(y)
		},
	}
}

// noise is the deviation of the noise on a count. A sum has Norm times that, a sum of
// squares Norm² times.
func (c *classColumns) noise(plan *Plan, need feature.Need) float64 {
	parts := 2.0
	if need == feature.NeedClassMoments {
		parts = 3
	}
	apart := plan.problem.Schema.Unit.MaxRows
	if plan.problem.relation == dp.ReplaceOne {
		apart *= 2 // one row leaves and another comes
	}
	return plan.noise * math.Sqrt(parts) * float64(apart)
}

// statistics reads what was released with noise of that deviation on a count. Counts
// and variances below what the noise hides are lifted to it: a mean over nothing, or a
// t-statistic of noise over nothing, would top every ranking.
func (c *classColumns) statistics(s *release.Sums, noise float64) *feature.Statistics {
	hidden := noise * c.domain.Norm * c.domain.Norm
	for a, n := range s.Counts {
		if noise > 0 {
			// At least 1: a class that noise emptied must not fail what was paid for.
			s.Counts[a] = max(n, noise, 1)
		}
	}
	for a := range s.Squares {
		n := max(s.Counts[a], 1)
		for j, v := range s.Squares[a] {
			s.Squares[a][j] = max(v, s.Sums[a][j]*s.Sums[a][j]/n+hidden)
		}
	}
	return &feature.Statistics{Domain: c.domain, Classes: &feature.ClassSums{Counts: s.Counts, Sums: s.Sums, Squares: s.Squares}}
}

// named turns a ranking of numbers into one of columns or, up to count, of the
// attributes that hold them.
func (c *classColumns) named(sel *feature.Selection, level feature.Level, count int) *feature.Selection {
	out := *sel
	out.Level, out.Chosen = level, nil
	seen := map[int]bool{}
	for _, choice := range sel.Chosen {
		col := c.columns[choice.Index]
		choice.Column = col
		if level == feature.AttributeLevel {
			if seen[col.Attribute] {
				continue
			}
			seen[col.Attribute] = true
			// The name of a one-hot column is attribute=level.
			choice.Index, choice.Column = col.Attribute, feature.Column{Name: c.names[choice.Index], Attribute: col.Attribute, Level: -1}
			if name, _, ok := strings.Cut(col.Name, "="); ok && name == choice.Column.Name {
				choice.Reason += " (by " + col.Name + ")"
			}
		}
		if out.Chosen = append(out.Chosen, choice); count != feature.Auto && len(out.Chosen) == count {
			break
		}
	}
	return &out
}
