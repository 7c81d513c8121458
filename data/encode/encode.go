// Package encode turns a row into a vector by public facts only: bounds, category
// lists and their order come from the schema, never from rows, so encoding costs
// no privacy.
//
// Every attribute becomes a block of Euclidean norm at most 1 and the row is
// divided by the square root of the number of blocks, so ‖x‖₂ <= 1 for every row
// that can exist. That public bound is what clipping and sensitivity rest on.
//
// All blocks but linear, sparse and vector ones take finitely many values (levels). A table block
// is stored as one level per row; scores and gradients go through tables of the
// size of the block, which is what makes a full-batch step cheap. Vector gives
// the same row as a dense vector and is the oracle for the fast path.
package encode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/data/schema"
)

// Kind is the shape of a block.
type Kind string

const (
	Intercept   Kind = "intercept"   // the constant 1
	Thermometer Kind = "thermometer" // ±1/√k per public threshold (+ at or above it); norm 1
	OneHot      Kind = "one_hot"     // one coordinate per category; unknown is all zeros
	Sign        Kind = "sign"        // two levels as −1 and +1; unknown is 0
	Linear      Kind = "linear"      // affine from [lower, upper] to [−1, 1]; unknown is 0
	Cross       Kind = "cross"       // thermometer times sign
	Sparse      Kind = "sparse"      // few coordinates of many: a text, or a bag of columns; norm 1, or 0
	Vector      Kind = "vector"      // numbers of a public extractor; norm 1, or 0
	Mapped      Kind = "mapped"      // a vector for each level, chosen by the caller (OfMaps)
)

// None is the level of a cell that carries no information.
const None = -1

// Options are the data-free choices of an encoding. The zero value encodes every
// attribute with 16 bins.
type Options struct {
	// Bins is the number of equal-width bins of a numeric column (thresholds + 1);
	// 0 means 16. Integer columns with fewer values get one threshold per value.
	Bins int `json:"bins,omitempty"`
	// Linear encodes numeric and ordered columns by one affine coordinate.
	Linear bool `json:"linear,omitempty"`
	// Crosses adds the product of every numeric with every two-level column.
	Crosses bool `json:"crosses,omitempty"`
	// Attributes restricts the columns used, by name; nil means all. A name may stand for
	// one level of a column, "column=level" (Feature): of it the named levels are kept.
	Attributes []string `json:"attributes,omitempty"`
	// Intercept is the weight of the constant against a block of norm 1; 0 means 1.
	Intercept float64 `json:"intercept,omitempty"`
	// Bag joins the columns that Baggable names into one block: which of them are not
	// zero, divided by the root of their number.
	Bag bool `json:"bag,omitempty"`
	// InterceptOnly uses no attribute at all.
	InterceptOnly bool `json:"intercept_only,omitempty"`
}

// Block is one attribute (or a product of two) of an Encoding.
type Block struct {
	Name   string
	Kind   Kind
	Offset int // first coordinate
	Dim    int // number of coordinates
	Levels int // number of levels of a table block; 1 for the intercept, 0 for linear

	column, second int // schema columns; −1 when absent
	lower, upper   float64
	log            bool
	weight         float64 // of the intercept
	kept           []int   // levels that are kept, rising; nil for all
	keptNames      []string
	unknown        int                     // the level of unknown cells where some are kept
	members        []int                   // columns of a bag
	of             *Encoding               // of a map: where its sources are
	level          func(sources []int) int // of a map, with vectors (Levels×Dim) and their squared norms
	vectors, norms []float64
	names          []string
}

// Encoding is the whole data-free map from a row to a vector of Dim coordinates.
type Encoding struct {
	Options Options
	Blocks  []Block
	sources []func(cells []float64) int // of maps
	Dim     int
	// Scale is 1/√(number of attribute blocks + Intercept²): the public divisor that
	// makes ‖x‖₂ <= 1.
	Scale float64
}

// New builds the encoding of every usable column but target and the unit's
// identifier. It returns an error when Options name an unknown column, the target
// or nothing usable.
func New(s *schema.Schema, target string, o Options) (*Encoding, error) {
	if o.Bins == 0 {
		o.Bins = 16
	}
	if o.Bins < 2 {
		return nil, fmt.Errorf("encoding needs at least 2 bins, got %d", o.Bins)
	}
	if o.Intercept == 0 {
		o.Intercept = 1
	}
	if !(o.Intercept > 0) || math.IsInf(o.Intercept, 0) {
		return nil, fmt.Errorf("encoding needs a finite intercept weight > 0")
	}
	chosen, err := attributes(s, target, o)
	if err != nil {
		return nil, err
	}
	e := &Encoding{Options: o}
	e.add(Block{Name: "(intercept)", Kind: Intercept, Dim: 1, Levels: 1, column: -1, second: -1, weight: o.Intercept})
	var numeric, binary []Block
	if o.Bag {
		chosen = e.bag(s, chosen)
	}
	for _, choice := range chosen {
		c := choice.column
		if choice.kept != nil {
			e.add(keptBlock(&s.Columns[c], c, choice.kept))
			continue
		}
		if s.Columns[c].Wide() {
			b, err := wideBlock(&s.Columns[c], c)
			if err != nil {
				return nil, err
			}
			e.add(b)
			continue
		}
		b := columnBlock(&s.Columns[c], c, o)
		e.add(b)
		switch b.Kind {
		case Thermometer:
			numeric = append(numeric, b)
		case Sign:
			binary = append(binary, b)
		}
	}
	if o.Crosses {
		for _, n := range numeric {
			for _, t := range binary {
				c := n
				c.Kind, c.second, c.Levels = Cross, t.column, 2*n.Levels
				c.Name = n.Name + " × " + t.Name
				e.add(c)
			}
		}
	}
	e.Scale = 1 / math.Sqrt(float64(len(e.Blocks)-1)+o.Intercept*o.Intercept)
	return e, nil
}

func attributes(s *schema.Schema, target string, o Options) ([]choice, error) {
	if o.InterceptOnly {
		return nil, nil
	}
	usable := func(i int) bool {
		c := &s.Columns[i]
		return c.Type != schema.Ignore && c.Name != target && c.Name != s.Unit.Column
	}
	if o.Attributes != nil {
		return choices(s, o.Attributes, usable)
	}
	var list []choice
	for i := range s.Columns {
		if usable(i) {
			list = append(list, choice{column: i})
		}
	}
	return list, nil
}

func columnBlock(c *schema.Column, index int, o Options) Block {
	b := Block{Name: c.Name, column: index, second: -1, lower: c.Lower, upper: c.Upper}
	levels := len(c.Levels())
	switch {
	case c.Type == schema.Boolean, c.Type == schema.Categorical && levels == 2:
		b.Kind, b.Dim, b.Levels = Sign, 1, 2
	case c.Type == schema.Categorical && !c.Ordered:
		b.Kind, b.Dim, b.Levels = OneHot, levels, levels
	case c.Type == schema.Categorical:
		b.lower, b.upper = 0, float64(levels-1)
		b.Kind, b.Dim, b.Levels = Thermometer, levels-1, levels
		if o.Linear {
			b.Kind, b.Dim, b.Levels = Linear, 1, 0
		}
	default:
		if c.HeavyTailed {
			b.log = true
			b.lower, b.upper = math.Log1p(c.Lower), math.Log1p(c.Upper)
		}
		bins := o.Bins
		if span := c.Upper - c.Lower; c.Type == schema.Integer && !b.log && span+1 <= float64(bins) {
			bins = int(span) + 1
		}
		b.Kind, b.Dim, b.Levels = Thermometer, bins-1, bins
		if o.Linear {
			b.Kind, b.Dim, b.Levels = Linear, 1, 0
		}
	}
	return b
}

func (e *Encoding) add(b Block) {
	b.Offset = e.Dim
	e.Dim += b.Dim
	e.Blocks = append(e.Blocks, b)
}

// MostLevels is how many levels all blocks of a model have at most: they have numbers of 16 bits.
const MostLevels = math.MaxUint16 - 1

// Fits reports whether the levels of all blocks, and so many more, are at most MostLevels.
func (e *Encoding) Fits(more int) bool {
	levels := more
	for i := range e.Blocks {
		levels += e.Blocks[i].Levels
	}
	return levels <= MostLevels
}

// Dense reports whether no block is sparse, so that all coordinates may be held at once.
func (e *Encoding) Dense() bool {
	return !slices.ContainsFunc(e.Blocks, func(b Block) bool { return b.Kind == Sparse })
}

// ForSolver refuses an encoding with more coordinates than a dense solver can hold, or
// categories than a model: its matrices have Dim×Dim numbers, 128 MiB at 4096.
func (e *Encoding) ForSolver() error {
	const most = 4096
	switch {
	case !e.Fits(0):
		return errors.New("the schema has more categories than one model can hold (65,534)")
	case !e.Dense():
		return errors.New("texts and bags of columns have too many coordinates for a dense solver")
	case e.Dim > most:
		return fmt.Errorf("%d coordinates are too many for a dense solver (limit %d)", e.Dim, most)
	}
	return nil
}

// Names returns one name per coordinate, for weights in reports.
func (e *Encoding) Names(s *schema.Schema) []string {
	names := make([]string, 0, e.Dim)
	for i := range e.Blocks {
		b := &e.Blocks[i]
		if b.members != nil {
			for _, c := range b.members {
				names = append(names, s.Columns[c].Name)
			}
			continue
		}
		for j := range b.Dim {
			names = append(names, b.coordinate(s, j))
		}
	}
	return names
}

func (b *Block) coordinate(s *schema.Schema, j int) string {
	if b.kept != nil {
		return b.Name + "=" + b.keptNames[j]
	}
	switch b.Kind {
	case Sparse, Vector:
		return fmt.Sprintf("%s[%d]", b.Name, j)
	case OneHot:
		return b.Name + "=" + s.Columns[b.column].Levels()[j]
	case Thermometer, Cross:
		c := &s.Columns[b.column]
		if c.Type == schema.Categorical {
			return b.Name + ">=" + c.Levels()[j+1]
		}
		t := b.threshold(j)
		if b.log {
			t = math.Expm1(t)
		}
		return fmt.Sprintf("%s>=%.6g", strings.TrimSpace(b.Name), t)
	}
	return b.Name
}

// Features returns the names of the columns in use, in order and once each.
func (e *Encoding) Features() []string {
	var out []string
	for i := range e.Blocks {
		out = append(out, e.Blocks[i].names...)
		if b := &e.Blocks[i]; b.names == nil && b.Kind != Intercept && b.Kind != Cross {
			out = append(out, b.Name)
		}
	}
	return out
}
