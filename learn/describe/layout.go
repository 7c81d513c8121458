// Package describe is a description of a table that is bought once: counts, histograms, sums,
// the target by level, and rank correlations, with noise. It says what a row adds to cells of
// core/sum, and reads the released cells; it cannot open a row.
package describe

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"pawl/data/schema"
	"pawl/report"
)

const (
	// MostBins and FewestBins bound the number of bins that a layout is asked for. So many whole
	// numbers have a bin each; equal bins of others are at most equalBins.
	MostBins, FewestBins = 200, 8
	equalBins            = 64
	// decades is how far below its upper bound a heavy-tailed column has bins.
	decades = 5
	// MostClasses of a target are broken down.
	MostClasses = 50
)

// column is how a column is counted, by public facts alone.
type column struct {
	name  string
	typ   schema.Type
	index int // of the schema
	// names are categories, empty for a number; edges are of its bins, and whole says that its
	// values are whole numbers, single that each has a bin of its own.
	names         []string
	edges         []float64
	whole, single bool
	log           bool
	zero          bool // the first bin is the lower bound alone
	unknown       bool // the last level is that of cells without information
	lower, upper  float64
}

func (c *column) numeric() bool { return len(c.edges) > 0 }

// known is the number of levels without the unknown one.
func (c *column) known() int {
	if c.numeric() {
		return len(c.edges) - 1
	}
	return len(c.names)
}

func (c *column) levels() int {
	if c.unknown {
		return c.known() + 1
	}
	return c.known()
}

// level is that of a cell, −1 for none.
func (c *column) level(v float64) int {
	switch {
	case v != v && c.unknown:
		return c.known()
	case v != v:
		return -1
	case !c.numeric():
		if l := int(v); l >= 0 && l < c.known() {
			return l
		}
		return -1
	}
	j := sort.Search(len(c.edges), func(j int) bool { return c.edges[j] > v }) - 1
	return min(max(j, 0), c.known()-1)
}

// scaled maps a number to [−1, 1] by its bounds; NaN for an unknown one.
func (c *column) scaled(v float64) float64 {
	return min(max(2*(v-c.lower)/(c.upper-c.lower)-1, -1), 1) // NaN stays NaN
}

func (c *column) unscaled(z float64) float64 { return c.lower + (z+1)/2*(c.upper-c.lower) }

// ends are the least and the largest value of a bin.
func (c *column) ends(l int) (lower, upper float64) {
	lower, upper = c.edges[l], c.edges[l+1]
	switch {
	case c.whole:
		upper--
	case c.zero && l == 0:
		upper = lower
	case c.zero && l == 1:
		lower = c.lower
	}
	return lower, upper
}

func (c *column) levelName(l int) string {
	switch {
	case l == c.known():
		return "missing"
	case !c.numeric():
		return c.names[l]
	}
	return c.rangeName(l, l)
}

// rangeName names the bins from the first to the last.
func (c *column) rangeName(first, last int) string {
	lower, _ := c.ends(first)
	_, upper := c.ends(last)
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	switch {
	case text(lower) == text(upper):
		return text(lower)
	case c.zero && first == 1:
		return "above " + text(lower) + ", to " + text(upper)
	}
	return text(lower) + " to " + text(upper)
}

// ordered says that ranks of the column mean something.
func (c *column) ordered(s *schema.Schema) bool {
	declared := &s.Columns[c.index]
	return c.numeric() || declared.Type == schema.Boolean || declared.Ordered || len(c.names) == 2
}

// Layout is what of a table is counted, by public facts.
type Layout struct {
	columns []column
	target  int   // −1 for none
	scored  []int // columns that have ranks
	// rows is the number of rows where it is public, else 0; perUnit is the largest number of
	// rows of one unit.
	rows    int64
	perUnit int
	left    []report.ColumnLeftOut
}

// NewLayout lays out the named columns of a schema, or with none all that can be described.
// target "" breaks nothing down. replaced says that malformed cells become the default of their
// column, which may be unknown; rows is the number of rows where it is public, else 0; bins is the
// most that a number has. Its errors are for the operator, and show no cell.
func NewLayout(s *schema.Schema, names []string, target string, replaced bool, rows int64, bins int) (*Layout, error) {
	l := &Layout{target: -1, perUnit: s.Unit.MaxRows}
	if s.Unit.Column == "" && s.Rows.Kind != schema.RowsAbout { // else units may lose rows
		l.rows = rows
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Name != target && len(names) > 0 && !slices.Contains(names, c.Name) {
			continue
		}
		why := Unusable(s, i)
		if why == "" {
			if c.Name == target {
				l.target = len(l.columns)
			}
			l.columns = append(l.columns, newColumn(c, i, replaced, bins))
			continue
		}
		if c.Name == target || len(names) > 0 {
			return nil, fmt.Errorf("column %q %s", c.Name, why)
		}
		l.left = append(l.left, report.ColumnLeftOut{Name: c.Name, Why: why})
	}
	if len(l.columns) == 0 {
		return nil, fmt.Errorf("no column of the schema can be described")
	}
	for j := range l.columns {
		if l.columns[j].ordered(s) {
			l.scored = append(l.scored, j)
		}
	}
	if len(l.scored) < 2 {
		l.scored = nil
	}
	return l, nil
}

// Unusable says why a column of a schema cannot be described, "" for one that can.
func Unusable(s *schema.Schema, i int) string {
	c := &s.Columns[i]
	switch {
	case c.Name == s.Unit.Column:
		return "identifies the unit"
	case c.Type == schema.Ignore:
		return "has type ignore"
	case c.Type == schema.Text, c.Type == schema.Vector:
		return fmt.Sprintf("has type %s", c.Type)
	case (c.Type == schema.Numeric || c.Type == schema.Integer) && !(c.Lower < c.Upper):
		return "has one value only"
	}
	return ""
}

func newColumn(c *schema.Column, index int, replaced bool, bins int) column {
	out := column{name: c.Name, typ: c.Type, index: index, lower: c.Lower, upper: c.Upper, log: c.HeavyTailed, whole: c.Type == schema.Integer,
		unknown: c.Missing == schema.MissingUnknown || replaced && math.IsNaN(c.Default())}
	if c.Type != schema.Numeric && c.Type != schema.Integer {
		out.names, out.log = c.Levels(), false
		return out
	}
	out.bins(bins)
	return out
}

// bins chooses public edges by the declared bounds: one bin for each of few whole numbers, 1, 2
// and 5 times the powers of ten for a heavy-tailed amount, and else equal bins of such a width.
func (c *column) bins(most int) {
	top := c.upper
	if c.whole {
		top++ // edges stand below whole numbers
		if n := top - c.lower; n <= float64(most) {
			c.single, c.log = true, false
			for v := c.lower; v <= top; v++ {
				c.edges = append(c.edges, v)
			}
			return
		}
	}
	c.edges = []float64{c.lower}
	add := func(e float64) {
		if e > c.edges[len(c.edges)-1] && e < top {
			c.edges = append(c.edges, e)
		}
	}
	if c.log {
		if !c.whole {
			// Most of such a column is often one number, such as no gain at all.
			c.zero = true
			c.edges = append(c.edges, math.Nextafter(c.lower, math.Inf(1)))
		}
		digits := []string{"1", "2", "5"}
		if most < 3*decades {
			digits = digits[:1]
		}
		for k := math.Floor(math.Log10(top)) - decades; k <= math.Log10(top); k++ {
			for _, digit := range digits {
				// Parsed, so that 0.02 is the number that a person would write.
				if e, err := strconv.ParseFloat(fmt.Sprintf("%se%g", digit, k), 64); err == nil && (!c.whole || e >= 1) {
					add(e)
				}
			}
		}
	} else {
		step := roundStep((top - c.lower) / float64(min(most, equalBins)))
		if c.whole {
			step = max(step, 1)
		}
		first := math.Floor(c.lower/step) + 1
		for k := range equalBins + 1 { // of numbers that are far from 0 some are equal, and add takes one
			add((first + float64(k)) * step)
		}
	}
	c.edges = append(c.edges, top)
}

// roundStep is the least 1, 2 or 5 times a power of ten that is at least x > 0.
func roundStep(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= x*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// classes are the number of levels of a target that is a class, 0 else.
func (l *Layout) classes() int {
	if l.target < 0 || l.columns[l.target].numeric() {
		return 0
	}
	return l.columns[l.target].levels()
}

// Cells is the mean number of marginal cells of a column.
func (l *Layout) Cells() float64 {
	n := 0
	for j := range l.columns {
		n += l.columns[j].levels()
	}
	return float64(n) / float64(len(l.columns))
}

// CountStdDev is the deviation of the noise on a count once the tables have told what they know of
// it, in rows where neighbours differ in at most apart rows.
func (r Release) CountStdDev(apart int) float64 {
	counts, target, _, _ := r.StdDevs(apart)
	if k := r.Layout.classes(); k > 0 && target > 0 {
		return 1 / math.Sqrt(1/(counts*counts)+1/(float64(k)*target*target))
	}
	return counts
}

// Correlated says whether there are two columns or more that have ranks.
func (l *Layout) Correlated() bool { return len(l.scored) > 1 }

// Width is the number of columns that are described.
func (l *Layout) Width() int { return len(l.columns) }

// Names are the columns that are described.
func (l *Layout) Names() []string {
	out := make([]string, len(l.columns))
	for j := range l.columns {
		out[j] = l.columns[j].name
	}
	return out
}
