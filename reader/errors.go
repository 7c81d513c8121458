// Package reader reads tables strictly: a file that does not say one thing only
// is refused with its line and column, and no message ever repeats a cell.
package reader

import "fmt"

// PositionError is a fault of a data file. It goes to the operator alone: where
// a fault stands is itself a fact about the rows.
type PositionError struct {
	File string
	Line int // counted from 1; 0 when the fault is the file's as a whole
	// Column is the name of the column, empty when no single one is at fault.
	Column string
	Msg    string

	hint string
}

// Error is one line: file:line: column "name": what was expected.
func (e *PositionError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	s += ": "
	if e.Column != "" {
		s += fmt.Sprintf("column %q: ", e.Column)
	}
	return s + e.Msg
}

// Hint says how to mend the fault; empty when the message says it already.
func (e *PositionError) Hint() string { return e.hint }
