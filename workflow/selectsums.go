package workflow

import (
	"context"
	"fmt"
	"math"
	"strings"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/search/feature"
)

// classColumns are the numbers of a row whose sums by class rank features: a numeric
// column as one number in [0, 1] by its public bounds, an unordered category as one
// column of 0 and 1 for each level. Each attribute adds 1 at most to the squared norm
// of a row.
type classColumns struct {
	problem *problem
	need    feature.Need // class sums, or squares too
	domain  feature.Domain
	columns []feature.Column // of the layout, one for each number
	layout  *feature.Layout
	fill    []func(x, cells []float64, codes []uint16)
	label   int // column of the schema
	classes int
	names   []string
}

func newClassColumns(p *problem, s *schema.Schema, l *feature.Layout, need feature.Need) *classColumns {
	c := &classColumns{problem: p, need: need, layout: l, label: s.Column(p.Target), classes: l.Domain.Classes}
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

func (c *classColumns) release(noise float64) release.ClassSums {
	codes := make([]uint16, len(c.layout.Domain.Attributes)+1)
	return release.ClassSums{
		Scope: dp.WholeScope, NoiseMultiplier: noise, Classes: c.classes, Features: len(c.columns), Norm: c.domain.Norm,
		Squares: c.need == feature.NeedClassMoments,
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

// stdDev is the deviation of the noise on a count, at a multiplier. A sum has Norm times
// that, a sum of squares Norm² times.
func (c *classColumns) stdDev(noise float64) float64 {
	std, _ := c.release(noise).StdDev(c.problem.relation, c.problem.Schema.Unit.MaxRows) // +Inf with an error
	return std
}

// distanceNoise is the deviation of the noise on a distance between the means of two
// classes of mean size, in units of the distance. It is a public figure.
func (c *classColumns) distanceNoise(noise float64) float64 {
	return math.Sqrt2 * c.stdDev(noise) * c.domain.Norm / c.meanClass()
}

// meanClass is the nominal number of rows in a mean class.
func (c *classColumns) meanClass() float64 { return float64(c.problem.Rows) / float64(c.classes) }

func (c *classColumns) event(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }

func (c *classColumns) checkSignal(noise float64) error {
	// Numbers lie in [0, 1], so no distance of means exceeds 1. About √(2 ln 2m)
	// deviations is the largest of m distances that are noise alone.
	each := c.distanceNoise(noise)
	if m := float64(len(c.columns)); !(each*math.Sqrt(2*math.Log(2*m)) <= 1) {
		return usage(insteadOfNoise, "the noise exceeds the sums: do not select privately: noise of standard deviation %.3g on each of %d distances that are at most 1 (%.6g rows in a mean class)",
			each, len(c.columns), c.meanClass())
	}
	return nil
}

func (c *classColumns) noisy(ctx context.Context, permit *ledger.Permit, rows *intake.Rows, noise float64) (*feature.Statistics, error) {
	sums, err := c.release(noise).Release(ctx, permit, rows)
	if err != nil {
		return nil, err
	}
	return c.statistics(sums, c.stdDev(noise)), nil
}

func (c *classColumns) exact(rows *intake.Rows) (*feature.Statistics, error) {
	sums, err := c.release(0).Public(rows)
	if err != nil {
		return nil, err
	}
	return c.statistics(sums, 0), nil
}

func (c *classColumns) note(noise float64) string {
	if c.need != feature.NeedClassSums {
		return ""
	}
	return fmt.Sprintf("each distance has noise of standard deviation %.3g, more for small classes: differences below two standard deviations mean little", c.distanceNoise(noise))
}

// ranked asks for a whole ranking where attributes are counted, which have several numbers.
func (c *classColumns) ranked(level feature.Level, count int) int {
	if level == feature.AttributeLevel && count != feature.Auto {
		return len(c.domain.Attributes)
	}
	return count
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
