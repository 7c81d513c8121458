package schema

import (
	"errors"
	"fmt"
	"strings"

	"pawl/internal/usage"
)

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
	if place, _ := e.Fault(); place != "" {
		return place + ": " + e.Msg
	}
	return e.Msg
}

// Fault returns the place, as Error begins, and what is wrong there.
func (e *Error) Fault() (place, what string) {
	var at []string
	switch {
	case e.Line > 0:
		at = append(at, fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col))
	case e.File != "":
		at = append(at, e.File)
	}
	if e.Column != "" {
		at = append(at, fmt.Sprintf("column %q", e.Column))
	}
	return strings.Join(at, ": "), e.Msg
}

// Hint says how to mend the fault; empty when the message says it already.
func (e *Error) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *Error) ExitStatus() int { return usage.Status }

// PartlyError is the fault, or the *usage.Faults, of a schema of which some can be read.
type PartlyError struct {
	error
	// Sound has the columns that are declared without fault; the others are ignored. It
	// serves to look for more faults and for nothing else.
	Sound *Schema
	// Faulty are the names of the others.
	Faulty map[string]bool
}

// Err is e, nil for none.
func (e *PartlyError) Err() error {
	if e == nil {
		return nil
	}
	return e
}

// Unwrap returns the faults.
func (e *PartlyError) Unwrap() error { return e.error }

// Hint is that of the first fault.
func (e *PartlyError) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.error, &h) {
		return h.Hint()
	}
	return ""
}

// ExitStatus is that of wrong usage or data.
func (e *PartlyError) ExitStatus() int { return usage.Status }
