package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync/atomic"

	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/data/table"
	"pawl/internal/usage"
	"pawl/reader"
)

// Table is where rows come from: a file with its schema, or a built-in data set.
type Table struct {
	// Name is that of the data set, under which it is budgeted.
	Name   string
	Schema *schema.Schema
	// Builtin is nil for a file of the operator's.
	Builtin *dataset.Builtin
	// Content is the table as read, for its rows and its keyed digest.
	Content *reader.Content
	// Path stands for the table in messages; it holds no password.
	Path string
	// Target and Licence are the built-in's own.
	Target, Licence string
	// Whole says that each vector of a public extractor belongs to a row.
	Whole bool
	// Rehearsal says that rows are read and not kept: nothing is to be run on them.
	Rehearsal bool
	// Note is told of doubtful identifiers of units; nil for nobody. Far is told on the operator's
	// own terminal, and nowhere else, that the number of rows is far from what is declared.
	Note, Far func(string)
	// Digest makes the ledger's digest of bytes; nil for nobody. Sealing has it made of the bytes that are parsed,
	// where they lie on disk: Digested, else nil.
	Digest   func(io.Reader) ([]byte, error)
	Digested []byte
	// PrintKey is the ledger's, nil where nothing is compared. Prints are of the rows that
	// were read with it, and Tests of files of test rows.
	PrintKey *[32]byte
	Prints   []*identity.Print
	Tests    []Tested

	// AllFaults has every reading look for all faults in place of the first.
	AllFaults bool

	vectors *reader.Embeddings
}

// OpenTable opens a file of rows with its schema, or a built-in table, found in dataDir where
// it is not part of the program. It reads the whole table once, so that the bytes that are
// digested are those that are parsed. data is what table.Read takes. With a
// *schema.PartlyError comes the table under what is sound of its schema, to look for more
// faults.
func OpenTable(data, schemaPath, dataDir string) (*Table, error) {
	if err := table.NotAddress(data); err != nil {
		return nil, err
	}
	info, statErr := os.Stat(data)
	if b, ok := dataset.Lookup(data); ok && (statErr != nil || info.IsDir()) {
		if schemaPath != "" {
			return nil, usage.New(fmt.Sprintf("data set %q is built in and has its own schema", b.Name), "leave out --schema")
		}
		r, err := b.TrainCSV(dataDir)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return &Table{Name: b.Name, Schema: b.Schema(), Builtin: b, Content: reader.NewContent(b.Name, reader.Part{Name: b.Name, Bytes: content}), Path: b.Name, Target: b.Target, Licence: b.Licence}, nil
	}
	if statErr != nil && !table.Foreign(data) {
		if errors.Is(statErr, os.ErrNotExist) {
			if _, ok := dataset.Images(data); ok {
				return nil, NeedsTable(data)
			}
			return nil, usage.New(fmt.Sprintf("%s is neither a file nor a built-in data set", data), NamesAdvice(data, TableNames()))
		}
		return nil, statErr
	}
	shown := table.Shown(data)
	template := fmt.Sprintf("pawl init %s writes a template", usage.Shell(shown))
	if data == table.Stdin {
		template = "pawl init FILE writes a template"
	}
	if schemaPath == "" {
		return nil, usage.New(fmt.Sprintf("%s: missing --schema: bounds and categories are never read from rows", shown),
			template+"; then pass --schema")
	}
	s, err := schema.Load(schemaPath)
	var partly *schema.PartlyError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, usage.New(fmt.Sprintf("%s: no such schema file", schemaPath), template)
	case errors.As(err, &partly):
		s = partly.Sound
	case err != nil:
		return nil, err
	}
	name := s.Dataset
	if name == "" {
		name = table.BaseName(data)
	}
	if name == "" {
		return nil, usage.New(shown+" has no name for its budget", "name the data set in the schema: dataset: NAME")
	}
	content, err := table.Read(data)
	if err != nil {
		return nil, usage.All(partly.Err(), err)
	}
	if s.Patterns() {
		if err := expand(s, content); err != nil {
			var fault *schema.Error
			if errors.As(err, &fault) {
				fault.File = schemaPath
			}
			return nil, err
		}
	}
	if !s.Public {
		if err := OwnName(shown, name, "give the data set another name in the schema: dataset: NAME"); err != nil {
			return nil, usage.All(partly.Err(), err)
		}
	}
	t := &Table{Name: name, Schema: s, Content: content, Path: shown}
	if partly != nil {
		return t, partly
	}
	return t, nil
}

// expand declares the columns that patterns stand for, by the header of the table.
func expand(s *schema.Schema, content *reader.Content) error {
	keys := reader.Keys{PassOver: true, File: s.File}
	for i := range s.Columns {
		if c := &s.Columns[i]; !c.Match {
			keys.Names = append(keys.Names, c.Source())
		}
	}
	in, err := reader.NewRecords(content.Name(), content.Reader(), keys)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.Expand(in.Header())
}

// NeedsTable refuses images where rows of a table are needed.
func NeedsTable(data string) error {
	return usage.Newf(fmt.Sprintf("pawl fit %s --epsilon E, or pawl plan fit to see its cost; pawl train %s --model NAME for one network", data, data),
		"%s is a built-in set of images, and this command needs a table", data)
}

// Clone is a copy whose name, declarations and vectors may be changed.
func (s *Table) Clone() *Table {
	c, declared := *s, *s.Schema
	declared.Columns, declared.Warnings = slices.Clone(declared.Columns), slices.Clone(declared.Warnings)
	c.Schema, c.Prints, c.Tests = &declared, nil, nil
	return &c
}

// Rows returns the number of rows when it is public, declared or nominal, and 0
// when it has to be paid for.
func (s *Table) Rows() (int64, error) {
	switch s.Schema.Rows.Kind {
	case schema.RowsDeclared, schema.RowsAbout:
		return s.Schema.Rows.N, nil
	case schema.RowsPrivate:
		return 0, nil
	}
	var n atomic.Int64
	err := s.beside(reader.Options{BadRows: reader.Default, Note: s.Note}, func() reader.Stretch {
		return reader.Stretch{Row: func([]float64, schema.Record) error { n.Add(1); return nil }}
	})
	return n.Load(), err
}

// Each visits every row in order, parsed by the schema.
func (s *Table) Each(bad reader.BadRows, row func(cells []float64) error) error {
	return s.beside(reader.Options{BadRows: bad, Note: s.Note}, reader.InOrder(row))
}

// beside visits every row, with the record that it comes from, stretch by stretch (reader.ReadBeside).
func (s *Table) beside(o reader.Options, begin func() reader.Stretch) error {
	o.Target, o.Faults = s.Target, s.faults()
	if s.vectors == nil {
		return s.handed(func(r io.Reader) error { return reader.ReadBeside(s.Path, r, s.Schema, o, begin) })
	}
	all := begin()
	err := ReadRows(s.Path, s.Content.Reader(), s.Schema, o, s.vectors, s.Whole, all.Row)
	if err == nil && all.End != nil {
		err = all.End()
	}
	return err
}

// handed reads the table, and has its bytes digested meanwhile where that was asked for.
func (s *Table) handed(read func(io.Reader) error) error {
	digest := s.Digest
	if s.Digest = nil; digest == nil {
		return read(s.Content.Reader())
	}
	var sum []byte
	r, done := s.Content.Handed(func(r io.Reader) (err error) {
		sum, err = digest(r)
		return err
	})
	err := read(r)
	whole, failed := done()
	if err == nil && whole {
		s.Digested, err = sum, failed
	}
	return err
}

// faults collects those of one reading, nil where the first ends it.
func (s *Table) faults() *reader.Faults {
	if !s.AllFaults {
		return nil
	}
	return reader.NewFaults()
}

// farRows reports whether n rows are far from about declared ones: their powers of two are no
// neighbours, so that one is more than twice the other. It knows n by its power of two alone, which
// is all that somebody learns who declares one number after another.
func farRows(n, declared int64) bool {
	between := bits.Len64(uint64(n)) - bits.Len64(uint64(declared))
	return between < -1 || between > 1
}

// Seal parses every row and seals it. Faults are found here, before anything is
// reserved.
func (s *Table) Seal(ctx context.Context, bad reader.BadRows, key *intake.Key) (*intake.Rows, error) {
	b := intake.NewBuilder(key, s.Schema)
	if s.Rehearsal {
		b = intake.NewRehearsal(key, s.Schema)
	}
	err := s.Printed(bad, func() reader.Stretch {
		part, now := b.Part(), 0
		return reader.Stretch{Row: func(cells []float64, found schema.Record) error {
			if now++; now%64 == 1 && ctx.Err() != nil { // all readers share it
				return ctx.Err()
			}
			return part.Add(cells, found)
		}, End: func() error { return b.Join(part) }}
	})
	if err != nil {
		return nil, err
	}
	if d := s.Schema.Rows; s.Far != nil && d.Kind == schema.RowsAbout && farRows(int64(b.Len()), d.N) {
		s.Far(fmt.Sprintf("the file does not have about %d rows: more than twice as many, or fewer than half; correct \"rows\" in the schema from what is public, since noise and rules follow from it (this note depends on the rows: it is only for you)", d.N))
	}
	b.Print(s.Prints...)
	return b.Seal(), nil
}

// ReadTest reads a public test file against the schema; the unit's column may be
// absent. Where it is there, its cell is the running number of the row's unit. The print
// of a file of the operator's is kept, to be compared.
func (src *Table) ReadTest(name string, content io.Reader, bad reader.BadRows, own bool) ([][]float64, error) {
	s := src.Schema
	var rows [][]float64
	o := reader.Options{BadRows: bad, Target: src.Target, Faults: src.faults()}
	if s.Unit.Column != "" {
		o.Optional = map[string]bool{s.Unit.Column: true}
	}
	var w Watcher
	if own && src.PrintKey != nil {
		w = NewWatcher(*src.PrintKey, s, &o)
	}
	column, units := s.Column(s.Unit.Column), map[string]float64{}
	err := ReadRows(name, content, s, o, src.vectors, false, func(cells []float64, found schema.Record) error {
		// An optional unit is not looked at while rows are read.
		if i, ok := slices.BinarySearch(found.Columns, s.File.FoundName(s.Unit.Column)); ok && column >= 0 && found.Cells[i].Text != "" {
			unit := found.Cells[i].Text
			if _, known := units[unit]; !known {
				units[unit] = float64(len(units))
			}
			cells[column] = units[unit]
		}
		rows = append(rows, cells)
		return nil
	})
	if prints := w.End(err); prints != nil {
		src.Tests = append(src.Tests, Tested{name, prints})
	}
	return rows, err
}

// TestRows are the rows of a public test set; Official says that it is the built-in's own.
type TestRows struct {
	Rows     [][]float64
	Official bool
}

// OpenTest reads a public file of test rows, or where path is "" the built-in's own test
// set; nil where there is neither. The score on it is exact and costs nothing, because its
// rows are declared public; those of the table are not.
func (src *Table) OpenTest(ctx context.Context, l *ledger.Ledger, path, dataDir string, bad reader.BadRows) (*TestRows, error) {
	if path == "" {
		if src.Builtin == nil || !src.Builtin.HasTest() {
			return nil, nil
		}
		r, err := src.Builtin.TestCSV(dataDir)
		if err != nil {
			return nil, err
		}
		rows, err := src.ReadTest(src.Name+" (test)", r, bad, false)
		return &TestRows{rows, true}, err
	}
	content, err := table.Read(path)
	if err != nil {
		return nil, err
	}
	path = content.Name()
	if SameTable(content, src.Content) {
		return nil, TestIsData(path)
	}
	if err := NotSensitive(ctx, l, path, content, testIsExact, otherTest); err != nil {
		return nil, err
	}
	rows, err := src.ReadTest(path, content.Reader(), bad, true)
	return &TestRows{Rows: rows}, err
}
