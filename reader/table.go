package reader

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"pawl/data/memo"
	"pawl/data/schema"
	"pawl/internal/usage"
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
	// refused even so: after them no record can be told from the next. So are unit
	// identifiers that lack digits (1.23457E+18): after them no person can.
	Default BadRows = "default"
)

// Options of Read. The zero value refuses bad rows and needs every column.
type Options struct {
	BadRows BadRows
	// Optional names columns that the file may lack, such as the target and the
	// unit when rows are read for prediction. Their cells are then NaN, and an optional
	// unit is not looked at.
	Optional map[string]bool
	// Note, if there is one, is told of identifiers of units that read well and may be
	// wrong, by place and never by text: a number that is written in two ways, and long
	// numbers that a spreadsheet has rounded. What it is told is for the operator alone.
	Note func(string)
	// PassOver passes over names of JSON lines that the schema does not declare, where
	// they would be refused. A column that is used then has to occur in some row.
	PassOver bool
	// Watch, if there is one, is called with the names of the file's columns and returns what takes the texts of
	// each record as found, whether or not the schema uses a column: empty for nulls and malformed cells. The
	// slice is used again. Columns of types that cannot be read are empty.
	Watch func(names []string) func(texts []string)
	// Faults, if there is one, takes the faults of records in place of the first ending
	// the reading, and columns that the schema or the file lacks. A faulty record is then
	// not handed on.
	Faults *Faults
	// Target names the column that is to be predicted, "" for none: its labels have no
	// level for others.
	Target string
	// Trained says that the schema is a model's: hints do not propose to change it.
	Trained bool
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
// what texts stand for (schema.Column.Wide), and the record as it stands in the file,
// of which only Unit may be kept: under a unit column the text of that cell, empty if
// the column is optional and absent.
//
// The record has every column of the file that can be read, used or not, so that it does
// not change with the schema.
type Row func(cells []float64, found schema.Record) error

// ReadFrom reads a table against a schema and calls row for each record; name stands for the file in errors. The format,
// CSV, Parquet or Arrow IPC, is told by content, TSV by the ending .tsv and JSON lines by
// .jsonl.
//
// Columns are matched by name, in any order. A declared column that the file
// lacks is an error unless it is ignored or optional; a column that the schema
// does not declare is an error. JSON lines have the names of the schema: a row that lacks
// one has a null, and one that has another is an error that names its line and not the
// name, which is part of a row. Faults of the file are *PositionError.
//
// A typed cell means what its text in CSV would mean (7.0 is a whole number, 1 is
// true), and a null is a missing cell. A column of a type that has no such text is
// refused, unless it is ignored.
func ReadFrom(name string, r io.Reader, s *schema.Schema, o Options, row Row) error {
	t, in, strict, err := openTable(name, r, s, o, "", nil)
	if err != nil {
		return err
	}
	defer in.Close()
	t.watch = t.watchRecords(in, o)
	return t.read(strict, func(cells []float64, found *schema.Record, _ []cell) error { return row(cells, *found) })
}

// openTable opens a stream and matches its header with the schema. Its texts of column key are wanted too,
// where undeclared, the error for a schema that does not have it, is not nil. The caller closes in.
func openTable(name string, r io.Reader, s *schema.Schema, o Options, key string, undeclared error) (t *table, in records, strict bool, err error) {
	if strict, err = o.strict(); err != nil {
		return nil, nil, false, err
	}
	if in, err = openRecords(name, r, keysOf(s, o)); err != nil {
		return nil, nil, false, err
	}
	t = newTable(s)
	if undeclared != nil {
		if t.key = s.Column(key); t.key < 0 {
			err = undeclared
		}
	}
	if err == nil {
		err = t.match(in, o)
	}
	if err != nil {
		in.Close()
		return nil, nil, false, err
	}
	return t, in, strict, nil
}

// read calls row for each record that is not left out. What t.faults took is part of its error.
func (t *table) read(strict bool, row func(values []float64, found *schema.Record, cells []cell) error) error {
	rows, kept, err := t.rows(strict, row)
	if err == nil {
		err = t.ended(rows, kept)
	}
	return t.whole(err)
}

// whole joins the error of a reading with what t.faults took.
func (t *table) whole(err error) error {
	if t.faults.any() {
		return usage.All(append(slices.Clone(t.faults.list), err)...)
	}
	return err
}

// rows calls row for each record that is not left out; rows says that there were records, and kept
// that some were not left out.
func (t *table) rows(strict bool, row func(values []float64, found *schema.Record, cells []cell) error) (rows, kept bool, err error) {
	var space []cell
	for {
		cells, err := t.in.next(space, strict)
		if err == io.EOF {
			return rows, kept, nil
		}
		if err != nil {
			if err = t.faults.take(err); err != nil {
				return rows, kept, err
			}
			rows = true
			continue
		}
		values, id, ok, err := t.parse(cells, strict)
		if err != nil {
			return rows, kept, err
		}
		if t.watch != nil {
			t.watch.see(cells)
		}
		rows, space = true, cells
		if !ok {
			continue
		}
		kept = true
		if err := row(values, t.record(cells, id), cells); err != nil {
			return rows, kept, err
		}
	}
}

// ended looks at a table that was read to its end.
func (t *table) ended(rows, kept bool) error {
	switch {
	case !rows:
		return t.in.noRows()
	case !kept && !t.faults.any():
		return t.in.headFault(t.schema.Unit.Column, "no row has an identifier of its unit: there is nothing to read", "name the column that holds it with unit: in the schema, or correct the file")
	}
	t.ids.end()
	return nil
}

// table maps the columns of a schema to the fields of a file.
type table struct {
	in     records
	schema *schema.Schema
	field  []int // by schema column; -1 when the file lacks it
	unit   int   // field of the unit column, or -1
	key    int   // column whose text is asked for, or -1
	// found is the record as it stands in the file: the fields in the order of their
	// names.
	fields []int
	found  schema.Record
	marked marked
	ids    identifiers
	watch  *watch
	faults *Faults
	target string
	// trained is that of Options.
	trained bool
	// reuse is where the numbers of a row go; nil for a fresh place for each.
	reuse []float64
	known numbers
}

// numbers are those of texts that a goroutine has parsed, by column: of untyped cells, and of typed ones.
type numbers [2][]memo.Table[float64]

func newNumbers(s *schema.Schema) (n numbers) {
	for typed := range n {
		n[typed] = memo.Columns[float64](len(s.Columns))
	}
	return n
}

func newTable(s *schema.Schema) *table {
	return &table{schema: s, field: make([]int, len(s.Columns)), unit: -1, key: -1, known: newNumbers(s)}
}

// recorded settles which fields the record has: all that can be read.
func (t *table) recorded(header []string, readable func(field int) bool) {
	for f := range header {
		if readable(f) {
			t.fields = append(t.fields, f)
		}
	}
	slices.SortFunc(t.fields, func(a, b int) int { return strings.Compare(header[a], header[b]) })
	for _, f := range t.fields {
		t.found.Columns = append(t.found.Columns, header[f])
	}
	t.found.Cells = make([]schema.Found, len(t.fields))
}

// badCell stands for a malformed cell in a record. What is read in its place does not
// depend on its text, and no other cell holds a NUL: a malformed cell and a good one of
// the same text are told apart.
const badCell = "\x00"

// record is what was found. A record that ends early has nulls, or malformed cells where nulls
// may be read otherwise.
func (t *table) record(cells []cell, id string) *schema.Record {
	for i, f := range t.fields {
		if f < len(cells) && cells[f].bad == "" && !cells[f].typed { // as are all of most tables
			t.found.Cells[i] = schema.Found{Text: cells[f].text, Null: cells[f].null}
			continue
		}
		t.found.Cells[i] = t.cell(cells, f)
	}
	t.found.Unit = id
	return &t.found
}

func (t *table) cell(cells []cell, f int) schema.Found {
	switch {
	case f >= len(cells) && !t.marked.parts:
		return schema.Found{Null: true}
	case f >= len(cells) || cells[f].bad != "":
		return schema.Found{Text: badCell}
	case cells[f].typed && t.marked.apart(f, cells[f].text):
		return schema.Found{Text: badCell + cells[f].text}
	}
	return schema.Found{Text: cells[f].text, Null: cells[f].null}
}

// marked tells cells of one column apart that have one text and mean two things: 1.500 is a number of
// JSON lines, and a text there, or a cell of another part, that is read with marks (schema.File) or
// as a date. Equal records have to be equal rows; elsewhere all cells of a column are read alike.
type marked struct {
	parts   bool
	schema  *schema.Schema
	columns map[int][]int // of the schema, by fields whose texts may mean two things
}

func (t *table) mayMeanTwoThings() (m marked) {
	_, m.parts = t.in.(*manyParts)
	if _, lines := t.in.(*jsonLines); !lines && !m.parts {
		return m
	}
	quiet := *t.schema
	quiet.Told = nil
	m.schema, m.columns = &quiet, map[int][]int{}
	for i, f := range t.field {
		if f >= 0 && (quiet.Columns[i].Date != nil || quiet.File.Decimal != "" || quiet.File.Thousands != "") {
			m.columns[f] = append(m.columns[f], i)
		}
	}
	return m
}

// apart says that a text means one thing and a number, truth value or time of the same digits another.
func (m *marked) apart(field int, text string) bool {
	for _, i := range m.columns[field] {
		v, err := m.schema.Parse(i, text)
		w, typedErr := m.schema.ParseTyped(i, text)
		if (err == nil) != (typedErr == nil) || err == nil && math.Float64bits(v) != math.Float64bits(w) {
			return true
		}
	}
	return false
}

// match finds the columns of the schema in a file.
func (t *table) match(in records, o Options) error {
	s := t.schema
	var faults []error
	t.in, t.ids.note, t.faults, t.target, t.trained = in, o.Note, o.Faults, o.Target, o.Trained
	at, header := map[string]int{}, in.Header()
	// A fault that is one of many has no hint: finding the nearest name looks at all of them.
	const hinted = 100
	show := sync.OnceValue(func() bool { return mayShow(in, s) })
	near := func() bool { return len(faults) < hinted && show() }
	for i, h := range header {
		at[h] = i
	}
	for i := range s.Columns {
		col := &s.Columns[i]
		if col.Type == schema.Vector {
			t.field[i] = -1 // its numbers are not in the table
			continue
		}
		f, ok := at[col.Source()]
		isUnit := col.Name == s.Unit.Column
		switch {
		case ok:
			t.field[i] = f
		case o.Optional[col.Name] || o.Optional[col.Source()], col.Type == schema.Ignore && !isUnit:
			t.field[i] = -1
		default:
			t.field[i] = -1
			faults = append(faults, absent(in, s, col.Source(), "which the schema declares", mayIgnore, near))
		}
		if isUnit && !o.Optional[col.Name] {
			t.unit = t.field[i]
		}
	}
	declared := s.Declared()
	for i, h := range header {
		if !s.IgnoreOthers && declared[h] == 0 {
			faults = append(faults, undeclaredColumn(in, s, header, i, show(), near()))
			if !show() {
				break // the others are nameless too
			}
		}
	}
	for _, err := range faults {
		if o.Faults == nil {
			return usage.All(faults...)
		}
		o.Faults.add(err)
	}
	t.recorded(foundNames(in), in.readable)
	t.marked = t.mayMeanTwoThings()
	err := in.choose(t.used())
	if err != nil && o.Faults != nil {
		o.Faults.add(err)
		err = o.Faults.Err()
	}
	return err
}

// foundNames are the names of the columns as the file has them: where it has no header,
// what the schema calls them is no part of a record.
func foundNames(in records) []string {
	names := in.Header()
	if c := textOf(in); c != nil {
		for i, name := range names {
			names[i] = c.how.FoundName(name)
		}
	}
	return names
}

// textOf is the file of text whose first line names the columns, nil where there is none.
func textOf(in records) *CSV {
	switch in := in.(type) {
	case *CSV:
		return in
	case *manyParts:
		return textOf(in.in)
	}
	return nil
}

// mayShow says that the names of a file are names. A file of text without a header, read as
// one that has, gives the cells of a row in their place: they are taken for names where the
// schema declares at least half of them, in whatever letters and with blanks around them or not, and are not
// shown elsewhere.
func mayShow(in records, s *schema.Schema) bool {
	c := textOf(in)
	if c == nil || c.how.NoHeader {
		return true
	}
	known, declared := 0, map[string]bool{}
	for name := range s.Declared() {
		declared[loosely(name)] = true
	}
	for _, h := range c.header {
		if declared[loosely(h)] {
			known++
		}
	}
	return 2*known >= len(c.header)
}

// loosely is a name without regard to case and to blanks around it.
func loosely(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// mayIgnore is the hint for a column that the schema declares and the file lacks.
const mayIgnore = "a column that the file need not have is declared type: ignore"

// absent is the fault of a column that the file lacks, with the nearest of its names if those may be shown.
func absent(in records, s *schema.Schema, column, why, otherwise string, near func() bool) error {
	err := in.absent(column, why, otherwise)
	var p *PositionError
	if errors.As(err, &p) {
		p.listed, p.about = "the file has no such column, "+why, column
		if near() {
			p.hint = nearestHint(column, in.Header(), s.Sources(), p.hint)
		}
	}
	return err
}

// undeclaredColumn is the fault of a field that the schema does not declare.
func undeclaredColumn(in records, s *schema.Schema, header []string, field int, show, near bool) error {
	if !show {
		return in.headFault("", fmt.Sprintf("name %d of the header is not declared in the schema", field+1),
			"it is not shown, since it may be a cell: if the file has no header line, declare file: {header: false} in the schema")
	}
	hint := "declare it, with type: ignore if it is not to be used, or ignore all such columns with others: ignore"
	if near {
		hint = nearestHint(header[field], s.Sources(), header, hint)
	}
	return in.headFault(header[field], "not declared in the schema", hint)
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
	ok = true
	if t.unit >= 0 {
		var known bool
		if id, known, err = t.identifier(cells, strict); err == nil && !known {
			if ok = false; strict {
				err = t.in.rowFault(cells, 0, s.Unit.Column, "the identifier of the unit is missing", "every row needs one; with --bad-rows default such rows are left out")
			}
		}
		if err != nil {
			if ok, err = false, t.faults.take(ofRecord(err)); err != nil {
				return nil, "", false, err
			}
		}
		if !ok && t.faults == nil {
			return nil, "", false, nil
		}
	}
	if values = t.reuse; values == nil {
		values = make([]float64, len(s.Columns))
	}
	for i := range s.Columns {
		f := t.field[i]
		if f < 0 || s.Columns[i].Type == schema.Ignore {
			values[i] = math.NaN()
			continue
		}
		if f >= len(cells) || cells[f].bad != "" { // strict reading has refused both already
			values[i] = s.Replaced(i)
			continue
		}
		v, err := t.parseCell(i, &cells[f], &values)
		if err != nil {
			if strict {
				fault := t.in.rowFault(cells, f, s.Columns[i].Source(), err.Error(), t.cellHint(err, i))
				if err := t.faults.take(ofRecord(fault)); err != nil {
					return nil, "", false, err
				}
				ok = false
			}
			v = s.Replaced(i)
		}
		values[i] = v
	}
	return values, id, ok, nil
}

// parseCell is schema.Parse and knows texts, and nulls, which are missing whatever the
// schema lists as missing texts.
func (t *table) parseCell(i int, c *cell, values *[]float64) (float64, error) {
	s := t.schema
	switch {
	case s.Columns[i].Type == schema.Text:
		return parseText(&s.Columns[i], c, values)
	case c.null:
		return s.Absent(i)
	}
	parse, known := s.Parse, &t.known[0][i]
	if c.typed {
		parse, known = s.ParseTyped, &t.known[1][i]
	}
	key, short := memo.Of(c.text)
	if short = short && s.Told == nil; short { // who is told hears of every cell
		if v := known.Get(key); v != nil {
			return *v, nil
		}
	}
	v, err := parse(i, c.text)
	if short && err == nil {
		known.Put(key, v)
	}
	return v, err
}

// separatorHint explains an absent column; a header of one name that holds
// another delimiter is the usual reason.
func separatorHint(header []string, separator byte, otherwise string) string {
	if len(header) == 1 {
		for _, other := range []byte{',', ';', '\t', '|'} {
			if other != separator && strings.IndexByte(header[0], other) >= 0 {
				declare := string(other)
				if other == '\t' {
					declare = "tab"
				}
				return fmt.Sprintf("the file seems to be separated by %ss: declare file: {delimiter: %q} in the schema", delimiterName(other), declare)
			}
		}
	}
	return otherwise
}

// cellHint says how to mend a cell of column i.
func (t *table) cellHint(err error, i int) string {
	c := &t.schema.Columns[i]
	switch {
	case t.trained:
		return "correct the cell, or let --bad-rows default replace it by the default of its column"
	case c.Name == t.target && c.Levels() != nil && !errors.Is(err, schema.ErrMissing):
		return "labels are compared letter by letter, so a dot or a space at the end makes a different label: correct it, or list it under categories if it is a class"
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
