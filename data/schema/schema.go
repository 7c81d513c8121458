// Package schema holds what a steward declares about a data set before anybody
// looks at its rows: columns, types, bounds, category lists, the unit of privacy
// and whether the number of rows is public. Nothing here is ever read from rows.
package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Type is the declared type of a column.
type Type string

const (
	Numeric     Type = "numeric"     // a finite decimal number within [Lower, Upper]
	Integer     Type = "integer"     // a whole number within [Lower, Upper]
	Boolean     Type = "boolean"     // true/false, yes/no, 1/0
	Categorical Type = "categorical" // one of a declared list
	Text        Type = "text"        // free text, hashed by a fixed public rule
	Vector      Type = "vector"      // numbers of a public extractor, joined by a key
	Ignore      Type = "ignore"      // never parsed, never used
)

// RowsKind says what is public about the number of rows.
type RowsKind string

const (
	RowsPublic   RowsKind = "public"   // the file's own row count is public
	RowsDeclared RowsKind = "declared" // the number N is declared
	RowsAbout    RowsKind = "about"    // about N, a nominal number
	RowsPrivate  RowsKind = "private"  // the number is paid for
)

// RowCount is the declaration `rows: public | N | about N | private`.
type RowCount struct {
	Kind RowsKind
	N    int64 // for declared and about
}

// Unit is what one neighbouring change adds or removes.
type Unit struct {
	// Name in words: "row", "person", "patient".
	Name string
	// Column holds the unit's identifier; empty when every row is a unit.
	Column string
	// MaxRows is the largest number of rows one unit contributes (>= 1). Rows
	// beyond it are dropped by a rule that looks at that unit only.
	MaxRows int
	// Assumed says that the file declares no unit, which a public one need not: each
	// row was taken as one. Whoever treats the data as sensitive all the same must
	// refuse it (NoUnit).
	Assumed bool `json:"-"`
}

// MissingRule says what an empty or NA cell becomes.
type MissingRule string

const (
	MissingRefuse  MissingRule = "refuse"  // the file is refused
	MissingUnknown MissingRule = "unknown" // the cell carries no information (encodes as zeros)
	MissingValue   MissingRule = "value"   // a declared constant
)

// Column is one declared column.
type Column struct {
	Name string
	Type Type
	// Match says that Name is a pattern of * and ? that stands for many columns (Expand).
	Match bool
	// Date says of which date the column is a number; nil for other columns.
	Date *Date
	// Lower and Upper bound numeric and integer columns; values outside are
	// clipped to them, silently, since how many were clipped is a private fact.
	Lower, Upper float64
	// Signs are texts such as $ and % that are taken off the beginning or the end of a number,
	// each once, with the blanks beside it. 12% is 12.
	Signs []string
	// Values are the two texts of a boolean column, the one for false first; nil for
	// true/false, yes/no, t/f, y/n and 1/0 in any case.
	Values []string
	// Categories is the declared list, in order.
	Categories []string
	// Ordered says that the order of Categories is meaningful (age bands, grades).
	Ordered bool
	// Other is the level that undeclared categories map to: "" when they are
	// refused, else a declared category or one more level of that name.
	Other string
	// Missing is the rule for empty and NA cells; MissingNumber or
	// MissingCategory hold the constant of MissingValue.
	Missing         MissingRule
	MissingNumber   float64
	MissingCategory string
	// HeavyTailed declares a non-negative amount of wide range: it is encoded on
	// a log(1+x) scale.
	HeavyTailed bool
	// Monotone says that predictions may only rise (1) or fall (−1) with the column, 0 that they may
	// do either. It has no meaning where the column is the target.
	Monotone int `json:",omitempty"`
	// Buckets is the number of places that the tokens of a text are hashed to; 0
	// leaves it to a rule on public facts. Tokens names the rule that cuts the text;
	// empty is Words.
	Buckets int
	Tokens  string
	// Dimension is the length of a vector and Key the column by which it is joined.
	Dimension int
	Key       string
	// Joined is a keyed digest of the file of vectors that a plan was made for, so that
	// plans on other vectors are other plans. It is never written.
	Joined []byte
	// Why is the stated reason for bounds or categories; printed in reports.
	Why string
}

// Schema is the whole declaration.
type Schema struct {
	Version int
	Dataset string
	Unit    Unit
	Public  bool
	Rows    RowCount
	// File says how a table of text is written.
	File File
	// IgnoreOthers passes over columns of the file that are not declared, where they would
	// be refused.
	IgnoreOthers bool
	// NA lists the cells that mean "missing", compared exactly.
	NA      []string
	Columns []Column
	// Warnings are remarks on the declaration that an operator should read, such
	// as "each row is taken as one person". They are public like the schema.
	Warnings []string
	// Told, where it is set, is told of every cell that is not taken as it stands, and its column: for
	// rows that a trained model predicts. Of rows that are trained on it would be a private fact.
	Told func(column string, why Odd) `json:"-" yaml:"-"`
	// Lenient makes a category that is not declared unknown, where it would be refused.
	Lenient bool `json:"-" yaml:"-"`
	// GrantedDelta is the delta of the data set's budget in the ledger, "" where there is
	// none. It is no part of a schema's file.
	GrantedDelta string `json:"-" yaml:"-"`
	// GrantedEpsilon is the epsilon of that budget, or the one that a first use would be granted
	// apart from its own cost; "" where there is none.
	GrantedEpsilon string `json:"-" yaml:"-"`
}

// Odd says in what way a cell is not taken as it stands.
type Odd string

// The ways. Unseen is a category that is not declared, and Unknown a missing cell: either of
// which may be unknown by rule, or have a default.
const (
	Clipped   Odd = "clipped"
	Defaulted Odd = "default"
	Unknown   Odd = "unknown"
	Unseen    Odd = "unseen"
)

// tell says that a cell of a column is odd.
func (s *Schema) tell(c *Column, why Odd) {
	if s.Told != nil {
		s.Told(c.Source(), why)
	}
}

// Replaced is the default of a column in place of a missing or malformed cell.
func (s *Schema) Replaced(col int) float64 {
	c := &s.Columns[col]
	v := c.Default()
	if v == v {
		s.tell(c, Defaulted)
	} else if c.Type != Ignore {
		s.tell(c, Unknown)
	}
	return v
}

// Absent is what a missing cell of a column stands for: NaN for unknown, or the declared
// constant; ErrMissing where the schema declares neither.
func (s *Schema) Absent(col int) (float64, error) {
	c := &s.Columns[col]
	switch c.Missing {
	case MissingUnknown:
		s.tell(c, Unknown)
		return math.NaN(), nil
	case MissingValue:
		s.tell(c, Defaulted)
		return c.missingValue(), nil
	}
	return 0, ErrMissing
}

// clipped holds a number to the bounds of its column.
func (s *Schema) clipped(c *Column, v float64) float64 {
	if v < c.Lower || v > c.Upper {
		s.tell(c, Clipped)
	}
	return math.Min(math.Max(v, c.Lower), c.Upper)
}

// DefaultNA is the list used when a schema declares none.
var DefaultNA = []string{"", "NA", "N/A", "?"}

// Column returns the index of the named column, or -1.
func (s *Schema) Column(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Levels returns the categories of a categorical or boolean column, with the
// extra level of Other when it is not itself declared.
func (c *Column) Levels() []string {
	switch c.Type {
	case Boolean:
		if c.Values != nil {
			return c.Values
		}
		return []string{"false", "true"}
	case Categorical:
		if c.Other == "" || c.category(c.Other) >= 0 {
			return c.Categories
		}
		return append(append([]string(nil), c.Categories...), c.Other)
	}
	return nil
}

func (c *Column) category(cell string) int {
	for i, k := range c.Categories {
		if k == cell {
			return i
		}
	}
	return -1
}

// Default returns the value that stands for a missing, malformed or undeclared
// cell when the operator asked for defaults instead of refusal: the declared
// constant, else the other level, else NaN (no information).
func (c *Column) Default() float64 {
	if c.Missing == MissingValue {
		return c.missingValue()
	}
	if c.Type == Categorical && c.Other != "" {
		return c.level(c.Other)
	}
	return math.NaN()
}

func (c *Column) level(name string) float64 {
	for i, l := range c.Levels() {
		if l == name {
			return float64(i)
		}
	}
	return math.NaN()
}

func (c *Column) missingValue() float64 {
	switch c.Type {
	case Numeric, Integer:
		return c.MissingNumber
	default:
		return c.level(c.MissingCategory)
	}
}

// Errors of Parse that have a remedy in the schema; test with errors.Is.
var (
	ErrMissing    = errors.New("missing value, but the schema declares no missing rule for this column")
	ErrUndeclared = errors.New("undeclared category")
)

// Parse turns one cell into a number: the value clipped to the bounds, the index
// of the level, 0 or 1 for booleans, NaN for a cell that the missing rule makes
// unknown. Errors say what was expected and never repeat the cell.
func (s *Schema) Parse(col int, cell string) (float64, error) {
	return s.parse(col, cell, &s.File, false)
}

// ParseTyped is Parse for a cell that was no text in a file of text: the marks of such files do
// not concern it.
func (s *Schema) ParseTyped(col int, cell string) (float64, error) {
	return s.parse(col, cell, &File{Trim: s.File.Trim}, true)
}

func (s *Schema) parse(col int, cell string, f *File, typed bool) (float64, error) {
	c := &s.Columns[col]
	if c.Type == Ignore || c.Wide() {
		return math.NaN(), nil
	}
	cell = f.trimmed(cell)
	// A declared text may look like a missing cell, and then is none.
	if i := c.category(cell); i >= 0 {
		return float64(i), nil
	}
	if i := slices.Index(c.Values, cell); i >= 0 {
		return float64(i), nil
	}
	for _, na := range s.NA {
		if cell != na {
			continue
		}
		return s.Absent(col)
	}
	switch {
	case c.Date != nil, numeric(c.Type):
		v, err := 0.0, error(nil)
		if c.Date != nil {
			v, err = c.parseDate(cell, typed)
		} else {
			v, err = c.parseNumber(c.unsigned(cell), f)
		}
		if err != nil {
			return 0, err
		}
		return s.clipped(c, v), nil
	case c.Type == Boolean:
		return c.parseBoolean(cell)
	default:
		if c.Other != "" {
			return c.level(c.Other), nil
		}
		if s.Lenient {
			s.tell(c, Unseen)
			return math.NaN(), nil
		}
		return 0, fmt.Errorf("%w: the schema lists %d categories and no \"other\"", ErrUndeclared, len(c.Categories))
	}
}

// parseNumber does not clip.
func (c *Column) parseNumber(cell string, f *File) (float64, error) {
	want := "a number"
	if c.Type == Integer {
		want = "a whole number"
	}
	cell = f.plain(cell)
	v, err := shortNumber(cell), error(nil)
	if v != v {
		if !plainNumber(cell) {
			return 0, fmt.Errorf("not %s (%s)", want, f.numbers())
		}
		v, err = strconv.ParseFloat(cell, 64)
	}
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("not %s: out of the range of a 64-bit float", want)
	}
	if c.Type == Integer && v != math.Trunc(v) {
		return 0, fmt.Errorf("not a whole number")
	}
	return v, nil
}

// plainNumber excludes what strconv would accept beyond decimal notation: hex
// floats, underscores, "inf" and "nan".
func plainNumber(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return true
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortNumber is strconv.ParseFloat for the numbers that fill most tables, in a third of
// the time: up to 15 digits with a sign and a point. Both parts of the quotient are then
// exact, so it is the nearest float as well. NaN for any other text.
func shortNumber(s string) float64 {
	digits, negative := s, false
	if s != "" && s[0] == '-' {
		digits, negative = s[1:], true
	}
	if len(digits) == 0 || len(digits) > 16 {
		return math.NaN()
	}
	whole, behind, point := uint64(0), 0, false
	for i := range len(digits) {
		switch c := digits[i]; {
		case '0' <= c && c <= '9':
			whole = 10*whole + uint64(c-'0')
			if point {
				behind++
			}
		case c == '.' && !point:
			point = true
		default:
			return math.NaN()
		}
	}
	if n := len(digits); n > 15 && !point || n == 1 && point {
		return math.NaN()
	}
	v := float64(whole) / powersOfTen[behind]
	if negative {
		v = -v
	}
	return v
}

// Number is the number that a cell is, and whether it is one: finite, as the file writes numbers.
func (s *Schema) Number(cell string) (v float64, ok bool) {
	wide := Column{Type: Numeric, Lower: math.Inf(-1), Upper: math.Inf(1)}
	v, err := wide.parseNumber(s.File.trimmed(cell), &s.File)
	return v, err == nil
}

// Cell is a cell as it is read: without the blanks around it where the file says so.
func (s *Schema) Cell(found string) string { return s.File.trimmed(found) }

// Truth is the answer that a cell of a boolean column is, and whether it is one.
func Truth(cell string) (v, ok bool) {
	b, err := parseBoolean(cell)
	return b == 1, err == nil
}

// unsigned takes the signs off a number.
func (c *Column) unsigned(cell string) string {
	for _, sign := range c.Signs {
		if rest, ok := strings.CutSuffix(cell, sign); ok {
			cell = strings.TrimRightFunc(rest, unicode.IsSpace)
			continue
		}
		rest, negative := strings.CutPrefix(cell, "-")
		if rest, ok := strings.CutPrefix(rest, sign); ok {
			if cell = strings.TrimLeftFunc(rest, unicode.IsSpace); negative {
				cell = "-" + cell
			}
		}
	}
	return cell
}

func (c *Column) parseBoolean(cell string) (float64, error) {
	if c.Values == nil {
		return parseBoolean(cell)
	}
	return 0, fmt.Errorf("not one of the two declared values")
}

func parseBoolean(cell string) (float64, error) {
	switch strings.ToLower(cell) {
	case "true", "yes", "1", "t", "y":
		return 1, nil
	case "false", "no", "0", "f", "n":
		return 0, nil
	}
	return 0, fmt.Errorf("not a boolean (true/false, yes/no, 1/0)")
}
