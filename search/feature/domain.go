package feature

import (
	"fmt"
	"math"
	"strconv"
)

// Level says what a selector chooses among.
type Level string

const (
	AttributeLevel Level = "attribute" // columns of the schema
	ColumnLevel    Level = "column"    // columns of the encoding: one for each level of a one-hot attribute
)

// Attribute is what is public about a feature.
type Attribute struct {
	Name string
	// Levels is the number of categories or bins, an extra one for unknown cells included.
	Levels int
	// OneHot gives every level a column of its own at ColumnLevel.
	OneHot bool
	// Unknown says that the last level is that of cells without information. It counts in
	// tables and has no column of its own, as encodings have none; clear it to give it one.
	Unknown bool
	// LevelNames, where there is one for each level, names those columns.
	LevelNames []string
}

// Domain is what is public about the features and the label.
type Domain struct {
	Attributes []Attribute
	// Classes is the number of levels of the label.
	Classes int
	// Rows is the declared number of rows, exact or nominal; 0 when there is none.
	Rows float64
	// Norm bounds the Euclidean norm of a row's vector of features, for sums by class.
	Norm float64
}

// Column is one thing to choose.
type Column struct {
	Name string
	// Attribute is an index into Domain.Attributes.
	Attribute int
	// Level is the level that the column indicates, or −1 for the whole attribute.
	Level int
}

// Check returns an error for a domain in which nothing can be chosen.
func (d *Domain) Check() error {
	if len(d.Attributes) == 0 {
		return ErrNoFeatures
	}
	if d.Classes < 2 {
		return ErrOneClass
	}
	seen := map[string]bool{}
	for _, a := range d.Attributes {
		if a.Levels < 2 {
			return &FeatureError{Feature: a.Name, Err: ErrOneCategory}
		}
		if a.Levels > maxLevels {
			return &FeatureError{Feature: a.Name, Err: fmt.Errorf("%w: %d levels, at most %d", ErrShape, a.Levels, maxLevels)}
		}
		if seen[a.Name] {
			return &FeatureError{Feature: a.Name, Err: ErrDuplicateName}
		}
		seen[a.Name] = true
	}
	return nil
}

// Columns lists what there is to choose from at a level.
func (d *Domain) Columns(l Level) []Column {
	var out []Column
	for i, a := range d.Attributes {
		if l != ColumnLevel || !a.OneHot {
			out = append(out, Column{a.Name, i, -1})
			continue
		}
		levels := a.Levels
		if a.Unknown {
			levels--
		}
		for v := range levels {
			name := strconv.Itoa(v)
			if len(a.LevelNames) == a.Levels {
				name = a.LevelNames[v]
			}
			out = append(out, Column{a.Name + "=" + name, i, v})
		}
	}
	return out
}

// Need says which statistics a selector works on.
type Need string

const (
	NeedNothing      Need = "nothing"
	NeedLabelTables  Need = "label tables"  // every attribute with the label
	NeedPairTables   Need = "pair tables"   // every pair among the attributes and the label
	NeedClassSums    Need = "class sums"    // rows and sums of features in each class
	NeedClassMoments Need = "class moments" // and sums of their squares
)

// Quote is the public description of a release, from which its price follows.
type Quote struct {
	// Tables is the number of tables and Cells of all their cells.
	Tables, Cells int
	// Sensitivity is the largest Euclidean change of the released vector when one row is
	// added or removed, in rows. Replacing a row changes at most √2 times as much for
	// tables, twice as much for sums. Where a unit has k rows multiply by k.
	Sensitivity float64
}

// Quote returns the price of the statistics in a domain.
//
// A row adds 1 to one cell of each of P tables: sensitivity √P, with P = m label tables
// or m(m+1)/2 tables of all pairs among m attributes and the label. A row x of norm at
// most R adds (1, x) to its class' rows and sums: √(1 + R²); and its squares, whose norm
// is at most R²: √(1 + R² + R⁴).
func (n Need) Quote(d *Domain) (Quote, error) {
	if n == NeedNothing {
		return Quote{}, nil
	}
	if err := d.Check(); err != nil {
		return Quote{}, err
	}
	m := len(d.Attributes)
	levels, squares := 0, 0
	for _, a := range d.Attributes {
		levels += a.Levels
		squares += a.Levels * a.Levels
	}
	switch n {
	case NeedLabelTables:
		return Quote{m, levels * d.Classes, math.Sqrt(float64(m))}, nil
	case NeedPairTables:
		tables := m * (m + 1) / 2
		return Quote{tables, levels*d.Classes + (levels*levels-squares)/2, math.Sqrt(float64(tables))}, nil
	case NeedClassSums, NeedClassMoments:
		if !(d.Norm > 0) || math.IsInf(d.Norm, 0) {
			return Quote{}, fmt.Errorf("%w: sums by class need a public bound > 0 on the norm of a row", ErrMissing)
		}
		r2 := d.Norm * d.Norm
		if n == NeedClassSums {
			return Quote{2, d.Classes * (1 + m), math.Sqrt(1 + r2)}, nil
		}
		return Quote{3, d.Classes * (1 + 2*m), math.Sqrt(1 + r2 + r2*r2)}, nil
	}
	return Quote{}, fmt.Errorf("%w: no statistics called %q", ErrOption, string(n))
}

// CheckSignal refuses a release of tables whose noise would drown them, by public facts
// alone: when the deviation of a cell's noise (rows) exceeds the number of rows in a mean
// cell, Tables·Rows/Cells. The error wraps ErrTooNoisy and holds the figures. Needs
// without tables pass.
func (n Need) CheckSignal(d *Domain, noiseStdDev float64) error {
	if n != NeedLabelTables && n != NeedPairTables {
		return nil
	}
	q, err := n.Quote(d)
	if err != nil {
		return err
	}
	if !(d.Rows > 0) || math.IsInf(d.Rows, 0) {
		return ErrUnknownRows
	}
	mean := float64(q.Tables) * d.Rows / float64(q.Cells)
	if !(noiseStdDev <= mean) { // a NaN is refused too
		return &NoiseError{noiseStdDev, mean, d.Rows, q.Tables, q.Cells}
	}
	return nil
}
