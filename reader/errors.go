// Package reader reads tables strictly, CSV, TSV, JSON lines, Parquet and Arrow: a file that does not say one thing only
// is refused with its line and column, and no message ever repeats a cell.
package reader

import "fmt"

// PositionError is a fault of a data file. It goes to the operator alone: where
// a fault stands is itself a fact about the rows.
type PositionError struct {
	File string
	Line int // counted from 1; 0 when the fault is the file's as a whole
	// Row and Group stand for Line in a file that is stored by columns: the number of
	// the row in the file and of its row group, counted from 1.
	Row   int64
	Group int
	// Column is the name of the column, empty when no single one is at fault.
	Column string
	Msg    string

	hint string
	// record says that it is a fault of one record, after which the next can be read.
	record bool
	// listed and about stand for Msg and Column in a list of faults by kind.
	listed, about string
}

// Error is one line: file:line: column "name": what was expected. In a file stored
// by columns: file: row 7 (row group 1): column "name": what was expected.
func (e *PositionError) Error() string {
	return e.place(e.Column) + ": " + e.Msg
}

// Fault returns the place and what was expected there, for a list of faults by kind.
func (e *PositionError) Fault() (place, what string) {
	if e.listed != "" {
		return e.place(e.about), e.listed
	}
	return e.place(e.Column), e.Msg
}

func (e *PositionError) place(column string) string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	switch {
	case e.Row > 0 && e.Group > 0:
		s += fmt.Sprintf(": row %d (row group %d)", e.Row, e.Group)
	case e.Row > 0:
		s += fmt.Sprintf(": row %d", e.Row)
	case e.Group > 0:
		s += fmt.Sprintf(": row group %d", e.Group)
	}
	if column != "" {
		s += fmt.Sprintf(": column %q", column)
	}
	return s
}

// Hint says how to mend the fault; empty when the message says it already.
func (e *PositionError) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *PositionError) ExitStatus() int { return 2 }
