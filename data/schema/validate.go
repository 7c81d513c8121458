package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/internal/usage"
)

// largestBound keeps every bound, and the width between two of them, exact
// enough for whole numbers to stay whole in a float64.
const largestBound = 1e15

// fault is an *Error together with the key it is about, so that Decode can say
// where in the file that key stands.
type fault struct {
	at  faultKey
	err *Error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Hint says how to mend the fault.
func (f *fault) Hint() string { return f.err.hint }

func newFault(col int, key, column, msg, hint string) error {
	return &fault{faultKey{col, key}, &Error{Column: column, Msg: msg, hint: hint}}
}

// Validate checks a schema that was built by a program by the same rules as one
// that was read from a file. Errors unwrap to *Error.
func (s *Schema) Validate() error { return usage.All(s.faults(nil)...) }

// faults are those of the declaration, but for those of broken columns, by number.
func (s *Schema) faults(broken map[int]bool) (all []error) {
	add := func(err error) {
		if err != nil {
			all = append(all, err)
		}
	}
	if s.Version < 1 || s.Version > Version {
		add(newFault(-1, "version", "", fmt.Sprintf("version %d is not understood (1 to %d)", s.Version, Version), ""))
	}
	if len(s.Dataset) > 200 || strings.ContainsFunc(s.Dataset, func(r rune) bool { return !unicode.IsPrint(r) }) { // as the ledger has it
		add(newFault(-1, "dataset", "", "dataset must be printable text of at most 200 bytes", ""))
	}
	add(s.validateRows())
	add(s.File.validate())
	seen, sources := map[string]bool{}, map[string]bool{}
	used := 0
	for i := range s.Columns {
		c := &s.Columns[i]
		source := c.Source()
		another := i == 0 || c.Date == nil || s.Columns[i-1].Source() != source // not a further part of a date
		switch {
		case broken[i]:
		case c.Name == "" || !printable(c.Name):
			add(newFault(i, "name", "", fmt.Sprintf("the name of column %d must be printable text of 1 to 200 letters", i+1), ""))
		case c.Match && (!strings.ContainsAny(source, "*?") || source == s.Unit.Column):
			add(newFault(i, "match", c.Name, "a pattern contains * (any letters) or ? (one letter), and cannot name the unit", "a single column has a name:"))
		case seen[c.Name] || another && sources[source]:
			add(newFault(i, "name", c.Name, "declared twice", ""))
		default:
			add(c.validate(i))
		}
		seen[c.Name], sources[source] = true, true
		if c.Type != Ignore || broken[i] {
			used++
		}
	}
	if used == 0 {
		add(newFault(-1, "columns", "", "every column is ignored; at least one must be used", ""))
	}
	add(s.validateUnit())
	return all
}

func (s *Schema) validateRows() error {
	switch s.Rows.Kind {
	case RowsPublic, RowsPrivate:
		if s.Rows.N == 0 {
			return nil
		}
	case RowsDeclared, RowsAbout:
		if s.Rows.N >= 1 {
			return nil
		}
	}
	return newFault(-1, "rows", "", "rows must be public, private, N or about N with N of at least 1", "")
}

// maxRowsPerUnit keeps the noise, which grows with it, well inside of what the samplers can draw (2^55).
const maxRowsPerUnit = 1_000_000

func (s *Schema) validateUnit() error {
	u := s.Unit
	switch {
	case u.Name == "" || !printable(u.Name):
		return newFault(-1, "unit", "", "unit needs a printable name", "")
	case u.MaxRows < 1 || u.MaxRows > maxRowsPerUnit:
		return newFault(-1, "unit", "", fmt.Sprintf("rows per unit must be from 1 to %d", maxRowsPerUnit), "")
	case u.Column == "" && u.MaxRows != 1:
		return newFault(-1, "unit", "", "more than one row per unit needs a unit column", "")
	case u.Column != "" && s.Column(u.Column) < 0:
		return newFault(-1, "unit", "", fmt.Sprintf("unit column %q is not declared", u.Column), "")
	}
	return nil
}

func (c *Column) validate(i int) error {
	switch c.Type {
	case Ignore:
		return nil
	case Numeric, Integer:
		return c.validateNumber(i)
	case Boolean:
		if c.Missing == MissingValue && math.IsNaN(c.level(c.MissingCategory)) {
			return newFault(i, "missing", c.Name, "missing must be refuse, unknown, "+strings.Join(c.Levels(), " or "), "")
		}
		return c.validateValues(i)
	case Categorical:
		return c.validateCategories(i)
	case Text:
		return c.validateText(i)
	case Vector:
		return c.validateVector(i)
	}
	hint := typeHint
	if near := Nearest(string(c.Type), []string{"numeric", "integer", "boolean", "categorical", "date", "text", "ignore"}); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return newFault(i, "type", c.Name, fmt.Sprintf("unknown type %q", string(c.Type)), hint)
}

func (c *Column) validateNumber(i int) error {
	for _, s := range c.Signs {
		if s == "" || !printable(s) || strings.ContainsAny(s, "0123456789.,+-") {
			return newFault(i, "signs", c.Name, "a sign must be a text without digits, decimal marks and signs of a number", `such as signs: ["$"] or ["%"]`)
		}
	}
	if d := c.Date; d != nil && (d.layouts == nil || !slices.Contains(Parts, d.Part) || d.Column == "") {
		if err := d.compile(); err != nil || !slices.Contains(Parts, d.Part) || d.Column == "" {
			return newFault(i, "format", c.Name, "a date needs a column, a part and a format", "")
		}
	}
	for _, b := range []struct {
		key string
		v   float64
	}{{"lower", c.Lower}, {"upper", c.Upper}} {
		switch {
		case math.IsNaN(b.v):
			return newFault(i, b.key, c.Name, b.key+" bound is NaN", boundHint)
		case math.Abs(b.v) > largestBound:
			return newFault(i, b.key, c.Name, fmt.Sprintf("%s bound is beyond ±%g", b.key, largestBound), boundHint)
		case c.Type == Integer && b.v != math.Trunc(b.v):
			return newFault(i, b.key, c.Name, b.key+" bound of an integer column must be a whole number", "")
		}
	}
	switch {
	case c.Lower > c.Upper:
		return newFault(i, "lower", c.Name, "lower bound is above the upper bound", "exchange them")
	case c.Lower == c.Upper:
		return newFault(i, "lower", c.Name, "lower and upper bound are equal", "state the range that the quantity can take, or ignore the column")
	case c.HeavyTailed && c.Lower < 0:
		return newFault(i, "heavy_tailed", c.Name, "heavy_tailed needs a lower bound of at least 0", "")
	case c.HeavyTailed && math.Log1p(c.Lower) == math.Log1p(c.Upper):
		return newFault(i, "heavy_tailed", c.Name, "the bounds are too close for heavy_tailed: their logarithms are equal", "leave heavy_tailed out")
	}
	if c.Missing == MissingValue {
		v := c.MissingNumber
		switch {
		case math.IsNaN(v):
			return newFault(i, "missing", c.Name, "fill value is NaN", "write refuse, unknown, or a number within the bounds")
		case v < c.Lower || v > c.Upper:
			return newFault(i, "missing", c.Name, "fill value lies outside the bounds", "")
		case c.Type == Integer && v != math.Trunc(v):
			return newFault(i, "missing", c.Name, "fill value of an integer column must be a whole number", "")
		}
	}
	return c.validateMissing(i)
}

func (c *Column) validateValues(i int) error {
	switch v := c.Values; {
	case v == nil:
	case len(v) != 2 || v[0] == v[1]:
		return newFault(i, "values", c.Name, "values must be two different texts: that of false, then that of true", `such as values: ["No", "Yes"]`)
	case v[0] == "" || v[1] == "" || !printable(v[0]) || !printable(v[1]):
		return newFault(i, "values", c.Name, "a value is not printable text", `empty cells are declared with the key "missing"`)
	}
	return c.validateMissing(i)
}

func (c *Column) validateCategories(i int) error {
	if c.Monotone != 0 && !c.Ordered {
		return newFault(i, "monotone", c.Name, "monotone needs a number or ordered categories, and these categories have no order", "declare ordered: true if the list is in order, or leave the key out")
	}
	if len(c.Categories) < 2 {
		return newFault(i, "categories", c.Name, "categories must list at least two values",
			"list every value that can occur, from documentation and not from the rows")
	}
	seen := map[string]bool{}
	for _, k := range c.Categories {
		switch {
		case k == "":
			return newFault(i, "categories", c.Name, "a category is empty", `empty cells are declared with the key "missing"`)
		case !utf8.ValidString(k) || strings.ContainsRune(k, 0):
			return newFault(i, "categories", c.Name, "a category is not text", "")
		case seen[k]:
			return newFault(i, "categories", c.Name, fmt.Sprintf("category %q is listed twice", k), "")
		}
		seen[k] = true
	}
	if !utf8.ValidString(c.Other) || strings.ContainsRune(c.Other, 0) {
		return newFault(i, "other", c.Name, "other is not text", "")
	}
	if c.Missing == MissingValue && math.IsNaN(c.level(c.MissingCategory)) {
		hint := ""
		if near := Nearest(c.MissingCategory, append(c.Levels(), "refuse", "unknown")); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return newFault(i, "missing", c.Name, "missing must be refuse, unknown, or a declared category", hint)
	}
	if c.Missing == MissingUnknown && !math.IsNaN(c.level(string(MissingUnknown))) {
		return newFault(i, "missing", c.Name, `the rule "unknown" and a level named "unknown" cannot be distinguished`, "rename the level")
	}
	return c.validateMissing(i)
}

func (c *Column) validateMissing(i int) error {
	switch c.Missing {
	case "", MissingRefuse, MissingUnknown, MissingValue:
		return nil
	}
	return newFault(i, "missing", c.Name, "missing must be refuse, unknown, or a constant", "")
}

// printable says whether s is valid text without control characters that fits a
// message and a ledger entry.
func printable(s string) bool {
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > 200 {
		return false
	}
	return !strings.ContainsFunc(s, unicode.IsControl)
}
