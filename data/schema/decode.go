package schema

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pawl/internal/usage"
)

// Version is the newest schema version that Decode understands.
const Version = 1

// maxBytes bounds a schema file; a list of categories that is longer is data.
const maxBytes = 16 << 20

var (
	topKeys = []string{"version", "dataset", "reviewed", "unit", "rows_per_unit", "public", "rows", "file", "na", "others", "columns"}
	colKeys = []string{"name", "match", "type", "lower", "upper", "signs", "format", "parts", "origin", "values", "categories", "ordered", "other", "missing", "heavy_tailed", "monotone", "buckets", "tokens", "dimension", "key", "why"}
)

// Load reads a schema file. Faults are *Error with file, line and column.
func Load(path string) (*Schema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return Decode(path, data)
}

// maxDepth is far beyond what a schema needs; the parser's memory grows with the
// square of it.
const maxDepth = 50

// tooDeep finds the first bracket that opens deeper than maxDepth. Brackets in
// quoted text count too: a schema has no use for so many.
func tooDeep(data []byte) (line, col int, found bool) {
	line, depth := 1, 0
	for _, c := range data {
		col++
		switch c {
		case '\n':
			line, col = line+1, 0
		case '[', '{':
			if depth++; depth > maxDepth {
				return line, col, true
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return 0, 0, false
}

// Decode reads a schema from YAML text; name stands for the file in errors.
// Unknown keys, duplicate keys and blanks are refused: a slip in a privacy
// declaration must not pass as a default. A schema without a unit is refused too,
// unless it says public: true; each row is then one unit (Unit.Assumed).
//
// All faults are found in one look. Where columns can be told apart, the error is a
// *PartlyError.
func Decode(name string, data []byte) (*Schema, error) {
	if len(data) > maxBytes {
		return nil, &Error{File: name, Line: 1, Col: 1, Msg: "the schema is larger than 16 MiB"}
	}
	if line, col, ok := tooDeep(data); ok {
		return nil, &Error{File: name, Line: line, Col: col, Msg: fmt.Sprintf("brackets are nested more than %d deep", maxDepth)}
	}
	body, err := parseYAML(name, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: name, places: map[faultKey]place{}, broken: map[int]bool{}, schema: &Schema{
		Unit: Unit{Name: "row", MaxRows: 1},
		Rows: RowCount{Kind: RowsPrivate},
		NA:   append([]string(nil), DefaultNA...),
	}}
	if d.top(body) {
		d.unreadable = d.unreadable || d.schema.File.validate() != nil
		for _, f := range d.schema.faults(d.broken) {
			d.add(d.locate(f))
		}
	}
	switch err := usage.All(d.faults...); {
	case err == nil:
		return d.schema, nil
	case len(d.schema.Columns) == 0 || d.unreadable:
		return nil, err
	default:
		return nil, d.partly(err)
	}
}

// partly is err with what can be read all the same.
func (d *decoder) partly(err error) error {
	p := &PartlyError{err, d.schema, map[string]bool{}}
	for _, f := range d.faults {
		var e *Error
		if errors.As(f, &e) && e.Column != "" {
			p.Faulty[e.Column] = true
		}
	}
	s := d.schema
	var sound []Column
	for i, c := range s.Columns {
		switch {
		case c.Name == "":
			continue
		case d.broken[i] || p.Faulty[c.Name]:
			c, p.Faulty[c.Source()] = Column{Name: c.Source(), Type: Ignore}, true
		}
		sound = append(sound, c)
	}
	if s.Columns = sound; s.Unit.Column != "" && s.Column(s.Unit.Column) < 0 {
		s.Unit = Unit{Name: "row", MaxRows: 1}
	}
	return p
}

type decoder struct {
	file   string
	schema *Schema
	// column is the name of the column being read, for messages.
	column string
	// faults are those found so far, broken the numbers of the columns that have one.
	faults []error
	broken map[int]bool
	// unreadable says that nothing tells how the table is written.
	unreadable bool
	// places remembers where each key stands, so that Validate, which knows no
	// files, can have its errors located.
	places map[faultKey]place
}

// faultKey names a key of the schema: of column number col, or -1 for the top.
type faultKey struct {
	col int
	key string
}

func (d *decoder) fault(at place, column, msg, hint string) error {
	return &Error{File: d.file, Line: at.line, Col: at.col, Column: column, Msg: msg, hint: hint}
}

func (d *decoder) locate(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	section, _, _ := strings.Cut(f.at.key, ".")
	for _, k := range []faultKey{f.at, {f.at.col, section}, {f.at.col, ""}, {-1, "columns"}} {
		if at, ok := d.places[k]; ok {
			return d.fault(at, f.err.Column, f.err.Msg, f.err.hint)
		}
	}
	return d.fault(place{1, 1}, f.err.Column, f.err.Msg, f.err.hint)
}

// add notes a fault, unless err is nil.
func (d *decoder) add(err error) {
	if err != nil {
		d.faults = append(d.faults, err)
	}
}

// get reads one key into v, if it is there.
func get[T any](d *decoder, by map[string]field, key string, v *T, read func(field) (T, error)) {
	f, ok := by[key]
	if !ok {
		return
	}
	got, err := read(f)
	if d.add(err); err == nil {
		*v = got
	}
}

// top reads the schema and reports whether there are columns that can be looked at.
func (d *decoder) top(body ast.Node) (columns bool) {
	fields, err := d.mapping(body, "the schema", topKeys)
	if err != nil {
		d.add(err)
		return false
	}
	by := map[string]field{}
	for _, f := range fields {
		by[f.key] = f
		d.places[faultKey{-1, f.key}] = f.where
	}
	// Version first: a newer file may hold keys that mean something else here.
	if err := d.version(by); err != nil {
		d.add(err)
		return false
	}
	if f, ok := by["reviewed"]; ok {
		yes, err := d.boolean(f)
		if d.add(err); err == nil && !yes {
			d.add(d.fault(f.where, "", "this schema was guessed from rows and is not public until reviewed",
				"replace what came from rows with what is known without them, then set reviewed: true"))
		}
	}
	s := d.schema
	get(d, by, "public", &s.Public, d.boolean)
	unit := d.unitGiven(by)
	d.add(unit)
	if f, ok := by["file"]; ok {
		before := len(d.faults)
		d.add(d.fileSection(f))
		d.unreadable = len(d.faults) > before
	}
	if f, ok := by["others"]; ok {
		rule, err := d.text(f)
		if d.add(err); err == nil && rule != "ignore" && rule != "refuse" {
			d.add(d.fault(position(f.value), "", "others must be ignore or refuse", "refuse, the default: a column of the file that is not declared is a fault"))
		}
		d.schema.IgnoreOthers = rule == "ignore"
	}
	f, ok := by["columns"]
	if !ok {
		d.add(d.fault(place{1, 1}, "", "no columns are declared", "add columns: with a list of {name, type, ...}"))
		return false
	}
	if err := d.columns(f); err != nil {
		d.add(err)
		return false
	}
	get(d, by, "dataset", &s.Dataset, d.text)
	if f, ok := by["dataset"]; ok && s.Dataset == "" && !blank(f.value) {
		d.add(d.fault(f.where, "", "dataset is blank", "leave the key out to use the file's name"))
	}
	get(d, by, "rows", &s.Rows, d.rowCount)
	get(d, by, "na", &s.NA, d.list)
	if unit == nil {
		d.add(d.unit(by))
	}
	return true
}

func (d *decoder) version(by map[string]field) error {
	f, ok := by["version"]
	if !ok {
		return d.fault(place{1, 1}, "", "version is missing", fmt.Sprintf("add the line: version: %d", Version))
	}
	s, err := d.text(f)
	if err != nil {
		return err
	}
	v, err := strconv.Atoi(s)
	switch {
	case err != nil || v < 1:
		return d.fault(position(f.value), "", "version must be a whole number of at least 1", "")
	case v > Version:
		return d.fault(position(f.value), "", fmt.Sprintf("schema version %d is newer than this program understands (%d)", v, Version),
			"use a newer pawl")
	}
	d.schema.Version = v
	return nil
}

func (d *decoder) rowCount(f field) (RowCount, error) {
	s, err := d.text(f)
	if err != nil {
		return RowCount{}, err
	}
	switch RowsKind(s) {
	case RowsPublic, RowsPrivate:
		return RowCount{Kind: RowsKind(s)}, nil
	}
	kind := RowsDeclared
	if rest, ok := strings.CutPrefix(s, "about "); ok {
		kind, s = RowsAbout, strings.TrimSpace(rest)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return RowCount{}, d.fault(position(f.value), "", "rows must be public, private, a whole number, or \"about\" and a number",
			"the number is at least 1 and in digits alone: rows: about 20000; rows: private when it is itself sensitive")
	}
	return RowCount{Kind: kind, N: n}, nil
}

func (d *decoder) columns(f field) error {
	seq, ok := f.value.(*ast.SequenceNode)
	if !ok {
		return d.fault(f.where, "", "columns must be a list of {name, type, ...}", "")
	}
	for i, n := range seq.Values {
		before, at := len(d.faults), len(d.schema.Columns)
		cs, err := d.oneColumn(i, n)
		d.add(err)
		if len(cs) == 0 {
			cs = []Column{{}} // broken, and counted all the same
		}
		for k := range cs {
			d.broken[at+k] = len(d.faults) > before
		}
		d.schema.Columns = append(d.schema.Columns, cs...)
	}
	d.column = ""
	return nil
}

// oneColumn reads entry i, which is one column, or of dates one for each part.
func (d *decoder) oneColumn(i int, n ast.Node) ([]Column, error) {
	d.column = ""
	if blank(n) {
		return nil, d.fault(position(n), "", fmt.Sprintf("entry %d of columns is blank", i+1), "")
	}
	fields, err := d.mapping(n, "a column", colKeys)
	if err != nil {
		return nil, err
	}
	at := len(d.schema.Columns)
	by := map[string]field{}
	for _, f := range fields {
		by[f.key] = f
	}
	located := func(columns int) {
		for k := range columns {
			d.places[faultKey{at + k, ""}] = position(n)
			for _, f := range fields {
				d.places[faultKey{at + k, f.key}] = f.where
			}
		}
	}
	located(1)
	var c Column
	f, ok := by["name"]
	if pattern, given := by["match"]; given {
		if ok {
			return nil, d.fault(pattern.where, "", "a column has a name or a pattern to match, not both", "")
		}
		f, ok, c.Match = pattern, true, true
	}
	if !ok {
		return nil, d.fault(position(n), "", fmt.Sprintf("entry %d of columns has no name", i+1), "")
	}
	if c.Name, err = d.text(f); err != nil {
		return nil, err
	}
	d.column = c.Name
	if f, ok = by["type"]; !ok {
		return []Column{c}, d.fault(position(n), c.Name, "type is missing", typeHint)
	}
	if blank(f.value) {
		return []Column{c}, d.fault(f.where, c.Name, "type is blank", typeHint)
	}
	t, err := d.text(f)
	if err != nil {
		return []Column{c}, err
	}
	c.Type = Type(t)
	if f, ok = by["why"]; ok && !blank(f.value) {
		get(d, by, "why", &c.Why, d.text)
	}
	switch c.Type {
	case Ignore:
		return []Column{c}, nil // its other keys mean nothing, whatever they say
	case DateType:
		cs, err := d.date(c.Name, c.Why, by)
		for k := range cs {
			cs[k].Match = c.Match
		}
		located(len(cs))
		if len(cs) == 0 {
			cs = []Column{c}
		}
		return cs, err
	}
	d.details(&c, by)
	return []Column{c}, nil
}

const typeHint = "write one of numeric, integer, boolean, categorical, date, text, ignore"

// details reads the keys whose use depends on the type.
func (d *decoder) details(c *Column, by map[string]field) {
	uses := map[string][]Type{
		"lower": {Numeric, Integer}, "upper": {Numeric, Integer}, "heavy_tailed": {Numeric, Integer},
		"monotone": {Numeric, Integer, Categorical},
		"signs":    {Numeric, Integer}, "values": {Boolean}, "format": {DateType}, "parts": {DateType}, "origin": {DateType},
		"categories": {Categorical}, "ordered": {Categorical}, "other": {Categorical},
		"buckets": {Text}, "tokens": {Text}, "dimension": {Vector}, "key": {Vector},
	}
	known := c.Type == Numeric || c.Type == Integer || c.Type == Boolean || c.Type == Categorical || c.Wide()
	for _, key := range colKeys {
		f, ok := by[key]
		allowed, limited := uses[key]
		if !ok || !limited || !known {
			continue
		}
		if !hasType(allowed, c.Type) {
			d.add(d.fault(f.where, c.Name, fmt.Sprintf("%s cannot be used with type %s", key, c.Type), "remove the key or change the type"))
			delete(by, key)
		}
	}
	for _, b := range []struct {
		key string
		to  *float64
	}{{"lower", &c.Lower}, {"upper", &c.Upper}} {
		if _, ok := by[b.key]; ok {
			get(d, by, b.key, b.to, d.number)
		} else if numeric(c.Type) {
			d.add(d.fault(d.places[faultKey{len(d.schema.Columns), ""}], c.Name, b.key+" bound is missing", boundHint))
		}
	}
	get(d, by, "heavy_tailed", &c.HeavyTailed, d.boolean)
	get(d, by, "monotone", &c.Monotone, d.direction)
	get(d, by, "signs", &c.Signs, d.list)
	get(d, by, "values", &c.Values, d.list)
	get(d, by, "categories", &c.Categories, d.list)
	get(d, by, "ordered", &c.Ordered, d.boolean)
	get(d, by, "other", &c.Other, d.other)
	d.wide(c, by)
	c.Missing = MissingRefuse
	if f, ok := by["missing"]; ok {
		d.add(d.missing(c, f))
	}
}

const boundHint = "state a round number from the meaning of the quantity, never the smallest or largest value of the rows"

func numeric(t Type) bool { return t == Numeric || t == Integer }

func hasType(among []Type, t Type) bool {
	for _, a := range among {
		if a == t {
			return true
		}
	}
	return false
}

// other reads `other: true | false | name`.
func (d *decoder) other(f field) (string, error) {
	s, err := d.text(f)
	if err != nil {
		return "", err
	}
	if _, isBool := f.value.(*ast.BoolNode); isBool {
		if s == "true" {
			return "other", nil
		}
		return "", nil
	}
	if s == "" {
		return "", d.fault(position(f.value), d.column, "other must name a level", "other: true names it \"other\"")
	}
	return s, nil
}

// direction reads `monotone: increasing | decreasing`.
func (d *decoder) direction(f field) (int, error) {
	s, err := d.text(f)
	way := map[string]int{"increasing": 1, "decreasing": -1}[s]
	if err == nil && way == 0 {
		err = d.fault(position(f.value), d.column, "monotone must be increasing or decreasing", "leave the key out if predictions may rise and fall")
	}
	return way, err
}

// missing reads `missing: refuse | unknown | constant`.
func (d *decoder) missing(c *Column, f field) error {
	s, err := d.text(f)
	if err != nil {
		return err
	}
	// A declared level wins over a rule of the same name: whoever lists the
	// level "unknown" and writes missing: unknown names that level.
	if c.Type == Categorical && !math.IsNaN(c.level(s)) {
		c.Missing, c.MissingCategory = MissingValue, s
		return nil
	}
	switch MissingRule(s) {
	case MissingRefuse, MissingUnknown:
		c.Missing = MissingRule(s)
		return nil
	}
	c.Missing = MissingValue
	if !numeric(c.Type) {
		c.MissingCategory = s
		return nil
	}
	if c.MissingNumber, err = number(s); err != nil {
		return d.fault(position(f.value), c.Name, fmt.Sprintf("missing: fill value is %v", err),
			"write refuse, unknown, or a number within the bounds")
	}
	return nil
}
