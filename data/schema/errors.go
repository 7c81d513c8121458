package schema

import "fmt"

// Error is one fault of a schema file. A schema is public, so its text may
// repeat what the schema says, but never a cell of the data.
type Error struct {
	File string
	// Line and Col count from 1; 0 when the schema did not come from a file.
	Line, Col int
	// Column is the name of the faulty column, empty for the schema as a whole.
	Column string
	Msg    string

	hint string
}

// Error is one line: file:line:column: column "name": what is wrong.
func (e *Error) Error() string {
	s := ""
	if e.File != "" {
		s = e.File + ":"
	}
	if e.Line > 0 {
		s += fmt.Sprintf("%d:%d:", e.Line, e.Col)
	}
	if s != "" {
		s += " "
	}
	if e.Column != "" {
		s += fmt.Sprintf("column %q: ", e.Column)
	}
	return s + e.Msg
}

// Hint says how to mend the fault; empty when the message says it already.
func (e *Error) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *Error) ExitStatus() int { return 2 }
