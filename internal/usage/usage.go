// Package usage holds the error of an operator's mistake: what, where, and how to mend it.
package usage

import (
	"errors"
	"fmt"
	"strings"
)

// Err is what every mistake of an operator's is by errors.Is: nothing was charged for it.
var Err = errors.New("wrong usage or data")

// Status is the exit status of a program that ends with such an error.
const Status = 2

// Error is one mistake. Msg is one clause in lower case, Advice says how to mend it and may
// be empty.
type Error struct{ Msg, Advice string }

// New is the mistake msg with an advice, or with "" for none.
func New(msg, advice string) error { return &Error{msg, advice} }

// Newf is New for a message that is formatted.
func Newf(advice, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), advice}
}

func (e *Error) Error() string { return e.Msg }

// Hint says how to mend it, or "".
func (e *Error) Hint() string { return e.Advice }

// ExitStatus is 2.
func (e *Error) ExitStatus() int { return Status }

// Is says that every Error is Err.
func (e *Error) Is(target error) bool { return target == Err }

// Mistake reports whether err is an operator's: one of this package, or another with its status.
func Mistake(err error) bool {
	var own interface{ ExitStatus() int }
	return errors.Is(err, Err) || errors.As(err, &own) && own.ExitStatus() == Status
}

// Shell quotes a text so that a hint can be pasted.
func Shell(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/+=:@%", r)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
