package workflow

import (
	"fmt"
	"strconv"

	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/feature"
	"pawl/feature/aware"
)

// everyLevelAColumn is the published encoding: each level of each category, ordered,
// two-level and unknown ones included.
func (c *choosing) everyLevelAColumn(s *schema.Schema) {
	for i := range c.layout.Domain.Attributes {
		a := &c.layout.Domain.Attributes[i]
		// A grade of few values is a category there.
		col := &s.Columns[s.Column(a.Name)]
		if col.Type != schema.Numeric && (col.Type != schema.Integer || col.Upper-col.Lower < 5) {
			nameGrades(a, col)
			a.OneHot, a.Unknown = true, false
		}
	}
}

// nameGrades names the levels of an integer by its values rather than by their places.
func nameGrades(a *feature.Attribute, col *schema.Column) {
	if col.Type != schema.Integer {
		return
	}
	var names []string
	for v := col.Lower; v <= col.Upper; v++ {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	if a.Unknown {
		names = append(names, encode.UnknownLevel)
	}
	if len(names) != a.Levels { // fewer bins than values: no level is a value
		names = names[:0]
		for b := range a.Levels {
			names = append(names, fmt.Sprintf("bin %d of %d", b+1, a.Levels))
		}
	}
	a.LevelNames = names
}

// occurring counts the columns that are not the same in all rows: the published
// encoding has only these.
func (c *choosing) occurring(s *feature.Statistics) int {
	n := 0
	for _, col := range s.Domain.Columns(c.Level) {
		if col.Level < 0 || len(s.LabelTables) == 0 {
			n++
			continue
		}
		t := s.LabelTables[col.Attribute]
		rows := 0.0
		for y := range t.Cols {
			rows += t.Counts[col.Level*t.Cols+y]
		}
		if rows > 0 && rows < t.Total() {
			n++
		}
	}
	return n
}

// PublishedEpsilon is what the paper states for the whole procedure where it states
// something, 0 else. It is no guarantee: the figure is for noisy entropies, and what is
// replayed reads exact ones.
func (out *Selected) PublishedEpsilon() float64 {
	c := out.Plan.choosing
	if c.AsPublished && c.Mode == Local {
		epsilon, _ := out.Plan.problem.epsilon.Float64()
		return epsilon
	}
	if out.Search != nil {
		return aware.StatedEpsilon(out.Search.Subsets, out.Search.Epsilon)
	}
	if !c.AsPublished || c.Method == "pafs" || c.selector.Need() != feature.NeedPairTables {
		return 0
	}
	return feature.PublishedCompositionEpsilon(out.occurring, 0.01, 1e-5)
}
