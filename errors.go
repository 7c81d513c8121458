package pawl

import (
	"errors"

	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/workflow"
)

// Sentinels for errors.Is. After ErrUsage nothing was charged; after ErrRefused this call charged
// nothing.
var (
	// ErrUsage is a mistake in a request or a file. The error names it and its place, with a hint
	// how to correct it.
	ErrUsage = usage.Err
	// ErrHopeless is a job that public rules call hopeless: too few units or too
	// little epsilon, too many classes, no column to predict from, steps that cannot train. It
	// is ErrUsage too. [Budget].Anyway runs it all the same.
	ErrHopeless = workflow.ErrHopeless
	// ErrRefused is a budget that does not admit the job, or a file that may hold the rows of
	// another data set of the ledger.
	ErrRefused = ledger.ErrRefused
	// ErrUnavailable is a ledger that does not answer. If the charge may have been recorded,
	// the error says so.
	ErrUnavailable = ledger.ErrUnavailable
	// ErrBroken is a ledger whose log was edited.
	ErrBroken = ledger.ErrBroken
	// ErrSame is returned by [Identity.Ask] for two files with the same units.
	ErrSame = source.ErrSame
)

// Error is what every function of this package returns. Its text is one line, names fields of this
// package, and contains no cell of the data and no password.
type Error struct{ cause error }

func (e *Error) Error() string { return usage.Fields(request.Text(e.cause)) }

// Unwrap returns the cause. Its text names flags of the command line and is not redacted.
func (e *Error) Unwrap() error { return e.cause }

// Faults returns the single mistakes if there are several, of which Error returns the first; else
// nil.
func (e *Error) Faults() (all []*Error) {
	var several *usage.Faults
	if errors.As(e.cause, &several) {
		for _, err := range several.List {
			all = append(all, &Error{err})
		}
	}
	return all
}

// Is reports whether the error is one of the sentinels above or wraps target.
func (e *Error) Is(target error) bool { return target == ErrUsage && e.ExitStatus() == usage.Status }

// Hint returns in one line how to correct the mistake, or "". Commands in it (pawl init …) are for
// a shell.
func (e *Error) Hint() string { return usage.Fields(request.Hint(e.cause)) }

// ExitStatus returns the exit status of the command line for this error: 2 for wrong usage or data,
// 3 for a refusal, 4 for a privacy check that failed, 1 for anything else, 0 for a nil *Error.
func (e *Error) ExitStatus() int {
	if e == nil {
		return 0
	}
	return request.Status(e.cause)
}

// AsError returns err as an error of this package, and a nil *Error for nil (compare err itself with
// nil). Any error of pawl's packages has an exit status and may have a hint.
func AsError(err error) *Error {
	var e *Error
	if err == nil || errors.As(err, &e) && e == err {
		return e
	}
	return &Error{err}
}

// handle is h, or err as one of this package.
func handle[T any](h *T, err error) (*T, error) {
	if err != nil {
		return nil, fail(err)
	}
	return h, nil
}

// fail makes err one of this package, once.
func fail(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{err}
}
