package space

import (
	"errors"
	"fmt"
)

// ErrUnbound is wrapped where a constraint speaks of a quantity of the net, such as
// its parameters, before Space.Bind has said how it is computed.
var ErrUnbound = errors.New("a constraint needs the network's size")

// ErrTries is wrapped where no point satisfied the constraints in DrawTries draws.
var ErrTries = errors.New("no draw satisfied the constraints")

// Error is a fault in a search space.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	hint      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Hint says how to mend it.
func (e *Error) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *Error) ExitStatus() int { return 2 }

// fault is an Error before its place is known: path names the part of the
// definition, as keys joined by dots, with list positions as numbers.
type fault struct{ path, msg, hint string }

func faultf(path, hint, format string, args ...any) *fault {
	return &fault{path, fmt.Sprintf(format, args...), hint}
}
