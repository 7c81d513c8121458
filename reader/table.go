package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"pawl/schema"
)

// BadRows says what becomes of malformed and undeclared cells.
type BadRows string

const (
	// Refuse ends the reading with the position of the first fault.
	Refuse BadRows = "refuse"
	// Default puts the column's declared default in their place, silently and
	// uncounted, so that one row cannot decide whether a release happens. Ragged
	// records lose what is beyond the header and gain defaults for what is
	// missing; a record without a unit identifier is left out, since its rows
	// could not be counted against anybody's limit.
	//
	// A quoted cell that is never closed, a damaged file and a wrong header are
	// refused even so: after them no record can be told from the next.
	Default BadRows = "default"
)

// Options of Read. The zero value refuses bad rows and needs every column.
type Options struct {
	BadRows BadRows
	// Optional names columns that the file may lack, such as the target and the
	// unit when rows are read for prediction. Their cells are then NaN.
	Optional map[string]bool
	// Watch, if there is one, is called with the names of the file's columns and returns what takes the texts of
	// each record as found, whether or not the schema uses a column: empty for nulls and malformed cells. The
	// slice is used again. Columns of types that cannot be read are empty.
	Watch func(names []string) func(texts []string)
}

func (o Options) strict() (bool, error) {
	switch o.BadRows {
	case Refuse, "":
		return true, nil
	case Default:
		return false, nil
	}
	return false, fmt.Errorf("bad rows: unknown rule %q (refuse or default)", string(o.BadRows))
}

// Row receives one row: a fresh slice that it may keep, with one number per
// column of the schema (NaN for ignored, absent and unknown cells) and behind them
// what texts stand for (schema.Column.Wide), and the identifier of the row's unit.
//
// Under a unit column the identifier is that cell's text, empty if the column is
// optional and absent. Otherwise it is a canonical form of the row's numbers, so
// that what becomes of a row depends on that row alone; equal rows share it, and
// are still one unit each.
type Row func(cells []float64, unitID string) error

// Read reads a table against a schema and calls row for each record. The format,
// CSV, Parquet or Arrow IPC, is told by content, TSV by the ending .tsv and JSON lines by
// .jsonl.
//
// Columns are matched by name, in any order. A declared column that the file
// lacks is an error unless it is ignored or optional; a column that the schema
// does not declare is an error. Faults of the file are *PositionError.
//
// A typed cell means what its text in CSV would mean (7.0 is a whole number, 1 is
// true), and a null is a missing cell. A column of a type that has no such text is
// refused, unless it is ignored.
func Read(path string, s *schema.Schema, o Options, row Row) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return ReadFrom(path, f, s, o, row)
}

// ReadFrom is Read for an open stream; name stands for the file in errors.
func ReadFrom(name string, r io.Reader, s *schema.Schema, o Options, row Row) error {
	strict, err := o.strict()
	if err != nil {
		return err
	}
	in, err := openRecords(name, r)
	if err != nil {
		return err
	}
	defer in.Close()
	t := newTable(s)
	if err := t.match(in, o); err != nil {
		return err
	}
	return t.read(strict, func(cells []float64, id string, _ []cell) error { return row(cells, id) })
}

// read calls row for each record that is not left out.
func (t *table) read(strict bool, row func(values []float64, id string, cells []cell) error) error {
	rows := false
	var space []cell
	for {
		cells, err := t.in.next(space, strict)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		values, id, ok, err := t.parse(cells, strict)
		if err != nil {
			return err
		}
		if t.watch != nil {
			t.watch.see(cells)
		}
		rows, space = true, cells
		if !ok {
			continue
		}
		if err := row(values, id, cells); err != nil {
			return err
		}
	}
	if !rows {
		return t.in.noRows()
	}
	return nil
}

// table maps the columns of a schema to the fields of a file.
type table struct {
	in     records
	schema *schema.Schema
	field  []int // by schema column; -1 when the file lacks it
	unit   int   // field of the unit column, or -1
	key    int   // column whose text is asked for, or -1
	byRow  bool  // each row is a unit
	watch  *watch
}

func newTable(s *schema.Schema) *table {
	return &table{schema: s, field: make([]int, len(s.Columns)), unit: -1, key: -1, byRow: s.Unit.Column == ""}
}

// match finds the columns of the schema in a file.
func (t *table) match(in records, o Options) error {
	s := t.schema
	t.in = in
	at, header := map[string]int{}, in.Header()
	for i, h := range header {
		at[h] = i
	}
	for i := range s.Columns {
		col := &s.Columns[i]
		if col.Type == schema.Vector {
			t.field[i] = -1 // its numbers are not in the table
			continue
		}
		f, ok := at[col.Name]
		isUnit := col.Name == s.Unit.Column
		switch {
		case ok:
			t.field[i] = f
		case o.Optional[col.Name], col.Type == schema.Ignore && !isUnit:
			t.field[i] = -1
		default:
			return in.absent(col.Name, "which the schema declares")
		}
		if isUnit {
			t.unit = t.field[i]
		}
	}
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	for _, h := range header {
		if s.Column(h) < 0 {
			return in.headFault(h, "not declared in the schema",
				nearestHint(h, names, "declare it, with type: ignore if it is not to be used"))
		}
	}
	t.watchRecords(in, o)
	return in.choose(t.used())
}

// used lists the fields that are looked at.
func (t *table) used() (fields []int) {
	for i, f := range t.field {
		c := &t.schema.Columns[i]
		if f >= 0 && (c.Type != schema.Ignore || f == t.unit || i == t.key) {
			fields = append(fields, f)
		}
	}
	return fields
}

// parse turns a record into numbers; ok is false for a record that is left out.
func (t *table) parse(cells []cell, strict bool) (values []float64, id string, ok bool, err error) {
	s := t.schema
	if t.unit >= 0 {
		var known bool
		if id, known = t.identifier(cells); !known {
			if !strict {
				return nil, "", false, nil
			}
			return nil, "", false, t.in.rowFault(cells, 0, s.Unit.Column, "the identifier of the unit is missing", "every row needs one; with --bad-rows default such rows are left out")
		}
	}
	values = make([]float64, len(s.Columns))
	for i := range s.Columns {
		f := t.field[i]
		if f < 0 || s.Columns[i].Type == schema.Ignore {
			values[i] = math.NaN()
			continue
		}
		if f >= len(cells) || cells[f].bad != "" { // strict reading has refused both already
			values[i] = s.Columns[i].Default()
			continue
		}
		v, err := t.parseCell(i, &cells[f], &values)
		if err != nil {
			if strict {
				return nil, "", false, t.in.rowFault(cells, f, s.Columns[i].Name, err.Error(), cellHint(err))
			}
			v = s.Columns[i].Default()
		}
		values[i] = v
	}
	if t.byRow {
		id = canonical(values)
	}
	return values, id, true, nil
}

// parseCell is schema.Parse and knows texts, and nulls, which are missing whatever the
// schema lists as missing texts.
func (t *table) parseCell(i int, c *cell, values *[]float64) (float64, error) {
	s := t.schema
	if s.Columns[i].Type == schema.Text {
		return parseText(&s.Columns[i], c, values)
	}
	if !c.null {
		return s.Parse(i, c.text)
	}
	switch col := &s.Columns[i]; col.Missing {
	case schema.MissingUnknown:
		return math.NaN(), nil
	case schema.MissingValue:
		return col.Default(), nil
	}
	return 0, schema.ErrMissing
}

func (t *table) identifier(cells []cell) (string, bool) {
	if t.unit >= len(cells) || cells[t.unit].bad != "" || cells[t.unit].null {
		return "", false
	}
	id := cells[t.unit].text
	if id == "" {
		return "", false
	}
	for _, na := range t.schema.NA {
		if id == na {
			return "", false
		}
	}
	return id, true
}

// separatorHint explains an absent column; a header of one name that holds
// another separator is the usual reason.
func separatorHint(header []string) string {
	if len(header) == 1 {
		for _, sep := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
			if strings.Contains(header[0], sep.char) {
				if sep.char == "\t" {
					return "the file seems to be separated by tabs: name it .tsv"
				}
				return "the file seems to be separated by " + sep.name + "; commas are needed"
			}
		}
	}
	return "a column that the file need not have is declared type: ignore"
}

func cellHint(err error) string {
	switch {
	case errors.Is(err, schema.ErrMissing):
		return "declare missing: unknown, or a constant, for this column"
	case errors.Is(err, errNoToken):
		return "declare missing: unknown for this column, or give every row a text"
	case errors.Is(err, errLongToken):
		return "declare the column type: ignore if it holds no text"
	case errors.Is(err, schema.ErrUndeclared):
		return "add the category, or other: true, to the schema"
	}
	return `correct the cell, or list its text under na: if it means "missing"`
}

// canonical is the same text for two rows exactly when their numbers are the
// same: every NaN is one NaN and the two zeros are one.
func canonical(values []float64) string {
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			v = math.NaN()
		case v == 0:
			v = 0
		}
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}
