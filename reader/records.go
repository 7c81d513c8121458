package reader

import (
	"bufio"
	"bytes"
	"io"

	"pawl/data/columnar"
	"pawl/data/schema"
)

// records is an open table of any format.
type records interface {
	Header() []string
	Close() error

	// readable reports whether the cells of a field have texts at all.
	readable(field int) bool
	// choose names the fields that are used, once, before next. What is in others is
	// read where it can be, and no fault.
	choose(fields []int) error
	// next returns the next record, in the space of cells; see CSV.next.
	next(space []cell, strict bool) ([]cell, error)

	headFault(column, msg, hint string) error
	// rowFault is a fault of a cell of the record that next returned last.
	rowFault(cells []cell, field int, column, msg, hint string) error
	// absent is the fault of a column that the file does not have.
	// absent is the fault of a column that is not there, why it is needed, and the hint where
	// nothing better is known.
	absent(column, why, otherwise string) error
	noRows() error
}

// floating is what records of a typed file are too.
type floating interface {
	// floats says that a field holds floating-point numbers, and whether of single precision.
	floats(field int) (single, ok bool)
}

// Records is an open table whose format was told: Parquet and Arrow IPC by its content,
// TSV and JSON lines by its name, else CSV.
type Records struct {
	in     records
	chosen bool
	space  []cell
}

// Keys are the columns of JSON lines, which have no header: what rows call their values
// is part of the rows. Other formats name their columns themselves.
type Keys struct {
	Names []string
	// PassOver passes over other names, where they would be refused.
	PassOver bool
	// File says how a file of text is written.
	File schema.File
}

// keysOf are the names that a schema declares.
func keysOf(s *schema.Schema, o Options) Keys {
	return Keys{Names: s.Sources(), PassOver: o.PassOver || s.IgnoreOthers, File: s.File}
}

// NewRecords reads from r, which may be a Content's Reader; name stands for any other in errors.
// A format that is stored by columns is read in place if r can seek, and else kept in memory whole.
func NewRecords(name string, r io.Reader, keys Keys) (*Records, error) {
	in, err := openRecords(name, r, keys)
	if err != nil {
		return nil, err
	}
	return &Records{in: in}, nil
}

// Header returns the names of the columns.
func (r *Records) Header() []string { return r.in.Header() }

// Absent is the fault of a column that the file does not have and a model of schema s needs.
func (r *Records) Absent(s *schema.Schema, column string) error {
	return absent(r.in, s, column, "which the model needs", "the file needs each column that the model uses, under the name that it was trained with", func() bool { return mayShow(r.in, s) })
}

// Next returns the texts of the next record, one per column and fresh; a null gives
// the empty text, as does a column of a type that cannot be read. At the end the
// error is io.EOF; other errors are *PositionError or failures of the file system.
func (r *Records) Next() ([]string, error) {
	if !r.chosen {
		var all []int
		for i := range r.in.Header() {
			if r.in.readable(i) {
				all = append(all, i)
			}
		}
		if err := r.in.choose(all); err != nil {
			return nil, err
		}
		r.chosen = true
	}
	cells, err := r.in.next(r.space, true)
	if err != nil {
		return nil, err
	}
	r.space = cells
	row := make([]string, len(cells))
	for i := range cells {
		row[i] = cells[i].text
	}
	return row, nil
}

// Close releases what reading holds.
func (r *Records) Close() error { return r.in.Close() }

// openRecords tells the format by its first bytes.
func openRecords(name string, r io.Reader, keys Keys) (records, error) {
	if c, ok := r.(*contentReader); ok {
		return c.of.records(keys)
	}
	if src, ok := r.(columnar.Source); ok {
		var start [columnar.MagicLen]byte
		// A pipe has the methods and does not seek: it is read like any stream.
		if n, err := src.ReadAt(start[:], 0); err == nil || err == io.EOF {
			if columnar.Is(start[:n]) {
				return openColumns(name, src)
			}
			return openText(name, r, keys)
		}
	}
	in := bufio.NewReader(r)
	if start, _ := in.Peek(columnar.MagicLen); columnar.Is(start) {
		content, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		return openColumns(name, bytes.NewReader(content))
	}
	return openText(name, in, keys)
}

// openText tells the formats of text by the name.
func openText(name string, r io.Reader, keys Keys) (records, error) {
	if JSONNamed(name) {
		return openJSONLines(name, r, keys)
	}
	return New(name, r, keys.File)
}
