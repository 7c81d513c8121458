package feature

import (
	"fmt"

	"pawl/data/encode"
	"pawl/data/schema"
)

// DefaultBins is the number of equal public bins of a numeric column.
const DefaultBins = 10

// Layout turns a row of cells into levels by public facts: category lists and bin edges
// come from the schema.
type Layout struct {
	// Domain has the attributes in the order of Codes; Rows is the schema's declared
	// number, or 0.
	Domain Domain
	blocks []encode.Block // attributes, then the label
	// unknown is the level of a cell without information, or Missing.
	unknown []uint16
}

// NewLayout bins every usable column of a schema but the target. Numeric columns get
// equal bins (DefaultBins where bins is 0; integer columns with fewer values one for
// each), categorical columns their declared levels, and those that may be unknown one level
// more. Unordered categories of three or more are one-hot.
func NewLayout(s *schema.Schema, target string, bins int) (*Layout, error) {
	at := s.Column(target)
	if at < 0 || s.Columns[at].Type == schema.Ignore {
		return nil, fmt.Errorf("%w: target %q is not a usable column of the schema", ErrShape, target)
	}
	if bins == 0 {
		bins = DefaultBins
	}
	features, err := encode.New(s, target, encode.Options{Bins: bins})
	if err != nil {
		return nil, err
	}
	label, err := encode.New(s, "", encode.Options{Bins: bins, Attributes: []string{target}})
	if err != nil {
		return nil, err
	}
	l := &Layout{blocks: append(features.Blocks[1:], label.Blocks[1])} // block 0 is the intercept
	if s.Rows.Kind == schema.RowsDeclared || s.Rows.Kind == schema.RowsAbout {
		l.Domain.Rows = float64(s.Rows.N)
	}
	for i, b := range l.blocks {
		c := &s.Columns[s.Column(b.Name)]
		unknown, names := Missing, append([]string(nil), c.Levels()...)
		a := Attribute{Name: b.Name, Levels: b.Levels, OneHot: b.Kind == encode.OneHot}
		if i == len(l.blocks)-1 {
			// A row without a label takes no part: it would teach nothing about the label.
			l.Domain.Classes = b.Levels
		} else {
			if c.Missing == schema.MissingUnknown {
				unknown = uint16(a.Levels)
				a.Levels++
				a.Unknown = true
				names = append(names, encode.UnknownLevel)
			}
			if len(names) == a.Levels {
				a.LevelNames = names
			}
			l.Domain.Attributes = append(l.Domain.Attributes, a)
		}
		l.unknown = append(l.unknown, unknown)
	}
	return l, l.Domain.Check()
}

// Codes fills codes, one for each attribute and the label last, with the levels of a
// row: a level, or Missing for a cell without information where the schema declares no
// such level.
func (l *Layout) Codes(codes []uint16, cells []float64) {
	for i := range l.blocks {
		level := l.blocks[i].Level(cells)
		if level == encode.None {
			codes[i] = l.unknown[i]
		} else {
			codes[i] = uint16(level)
		}
	}
}
