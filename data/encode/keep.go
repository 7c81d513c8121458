package encode

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pawl/data/schema"
)

// UnknownLevel names, as a level of a column whose cells may be unknown, those cells.
const UnknownLevel = "(unknown)"

// Whole is the level of Feature for a column with all that it holds.
const Whole = -1

// Feature returns what a name in Options.Attributes stands for: a column of the schema,
// or, as "column=level", one level of it: a category, false or true, a whole number
// within the bounds of an integer column, or UnknownLevel. A name that is both is the
// column. Errors name what there is.
func Feature(s *schema.Schema, name string) (column, level int, err error) {
	if i := s.Column(name); i >= 0 {
		return i, Whole, nil
	}
	of := -1
	for at := range len(name) {
		if name[at] != '=' {
			continue
		}
		i := s.Column(name[:at])
		if i < 0 {
			continue
		}
		if l := levelNamed(&s.Columns[i], name[at+1:]); l >= 0 {
			return i, l, nil
		}
		of = i
	}
	if of >= 0 {
		return 0, 0, fmt.Errorf("feature %q: column %q has no such level; %s", name, s.Columns[of].Name, levelsInWords(&s.Columns[of]))
	}
	return 0, 0, fmt.Errorf("feature %q is not a column of the schema", name)
}

// levelNamed returns the position of a level, that of unknown cells after all others,
// or −1.
func levelNamed(c *schema.Column, name string) int {
	levels := c.Levels()
	if i := slices.Index(levels, name); i >= 0 {
		return i
	}
	n := len(levels)
	if c.Type == schema.Integer {
		n = int(c.Upper-c.Lower) + 1
		if v, err := strconv.ParseInt(name, 10, 64); err == nil && float64(v) >= c.Lower && float64(v) <= c.Upper {
			return int(float64(v) - c.Lower)
		}
	}
	if n > 0 && name == UnknownLevel && c.Missing == schema.MissingUnknown {
		return n
	}
	return -1
}

func levelsInWords(c *schema.Column) string {
	switch levels := c.Levels(); {
	case len(levels) > 0:
		return "its levels are " + strings.Join(levels, ", ")
	case c.Type == schema.Integer:
		return fmt.Sprintf("its levels are the whole numbers from %.0f to %.0f", c.Lower, c.Upper)
	}
	return "it is a number, not a list of levels"
}

// choice is a column to use; kept holds the levels to keep, rising, nil for all.
type choice struct {
	column int
	kept   []int
}

// choices are the columns that names stand for, in order of their first mention.
func choices(s *schema.Schema, names []string, usable func(int) bool) ([]choice, error) {
	var list []choice
	for _, name := range names {
		column, level, err := Feature(s, name)
		if err != nil {
			return nil, err
		}
		if !usable(column) {
			return nil, fmt.Errorf("column %q cannot be a feature: it is the target, the unit or ignored", s.Columns[column].Name)
		}
		at := slices.IndexFunc(list, func(c choice) bool { return c.column == column })
		if at < 0 {
			c := choice{column: column}
			if level != Whole {
				c.kept = []int{level}
			}
			list = append(list, c)
			continue
		}
		if level == Whole || list[at].kept == nil || slices.Contains(list[at].kept, level) {
			return nil, fmt.Errorf("feature %q is listed twice", name)
		}
		list[at].kept = append(list[at].kept, level)
		slices.Sort(list[at].kept)
	}
	return list, nil
}

// keptBlock is the block of the kept levels of a column. One level by itself is a sign:
// −1 stands for every other. Of several, one coordinate each, the others are zeros, as
// unknown cells are in both.
func keptBlock(c *schema.Column, index int, kept []int) Block {
	b := Block{Name: c.Name, column: index, second: -1, kept: kept, Kind: OneHot, Dim: len(kept), Levels: len(kept)}
	levels := c.Levels()
	b.unknown = len(levels)
	if c.Type == schema.Integer {
		b.lower, b.unknown = c.Lower, int(c.Upper-c.Lower)+1
	}
	for _, l := range kept {
		name := UnknownLevel
		switch {
		case l < len(levels):
			name = levels[l]
		case l < b.unknown:
			name = strconv.FormatFloat(c.Lower+float64(l), 'f', -1, 64)
		}
		b.keptNames = append(b.keptNames, name)
	}
	if len(kept) == 1 {
		b.Kind, b.Levels = Sign, 2
	}
	return b
}

// keptLevel is Level of a block of kept levels.
func (b *Block) keptLevel(cells []float64) int {
	level := b.unknown
	if v := cells[b.column]; v == v {
		level = int(math.Round(v - b.lower))
	}
	at, ok := slices.BinarySearch(b.kept, level)
	switch {
	case b.Kind != Sign && ok:
		return at
	case b.Kind == Sign && ok:
		return 1
	case b.Kind == Sign && level != b.unknown:
		return 0
	}
	return None
}

// LevelNames names the levels of a block that keeps some of its column's only, nil for
// every other block.
func (b *Block) LevelNames() []string {
	if b.kept != nil && b.Kind == Sign {
		return []string{"other than " + b.keptNames[0], b.keptNames[0]}
	}
	return b.keptNames
}

// Kept lists, as "column=level", the columns that stand for single levels.
func (e *Encoding) Kept() []string {
	var out []string
	for i := range e.Blocks {
		for _, name := range e.Blocks[i].keptNames {
			out = append(out, e.Blocks[i].Name+"="+name)
		}
	}
	return out
}
