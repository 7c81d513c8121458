package images

import "fmt"

// FormatError is a fault of a file with images. It goes to the operator alone:
// where a fault stands is itself a fact about the records.
type FormatError struct {
	File   string
	Record int // counted from 1; 0 when the fault is the file's as a whole
	Msg    string

	hint string
}

// Error is one line: file: record N: what was expected.
func (e *FormatError) Error() string {
	if e.Record > 0 {
		return fmt.Sprintf("%s: record %d: %s", e.File, e.Record, e.Msg)
	}
	return e.File + ": " + e.Msg
}

// Hint says how to mend the fault; empty when the message says it already.
func (e *FormatError) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *FormatError) ExitStatus() int { return 2 }
