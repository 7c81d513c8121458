package pawl

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/search/space"
	"pawl/search/space/net"
	"pawl/search/space/table"
	"pawl/workflow"
)

// Sentinels for errors.Is. Nothing is charged with ErrUsage; with ErrRefused nothing is
// charged by this call.
var (
	// ErrUsage is a mistake in what was asked or in a file: which, where, and a hint how to
	// mend it.
	ErrUsage = usage.Err
	// ErrHopeless is a job that is not worth its price by public rules: too few units or too
	// little epsilon, too many classes, nothing to predict from, steps that cannot train. It
	// is ErrUsage too. [Budget].Anyway runs it all the same.
	ErrHopeless = workflow.ErrHopeless
	// ErrRefused is a budget that does not allow the job, or a file that may hold what is
	// budgeted under another name.
	ErrRefused = ledger.ErrRefused
	// ErrUnavailable is a ledger that does not answer. Where the charge may have been booked,
	// the error says so.
	ErrUnavailable = ledger.ErrUnavailable
	// ErrBroken is a ledger whose log was edited.
	ErrBroken = ledger.ErrBroken
	// ErrSame is what [Identity.Ask] returns for two files with the same units.
	ErrSame = source.ErrSame
)

// Error is what every function of this package returns. Its text is one line and holds no cell
// of the data and no password of an address. Unwrap leads to the cause.
type Error struct{ cause error }

func (e *Error) Error() string {
	text := e.cause.Error()
	if errors.Is(e.cause, context.Canceled) {
		text = strings.Replace(text, context.Canceled.Error(), "interrupted", 1)
	}
	if errors.Is(e.cause, ledger.ErrInvalid) {
		text = strings.Replace(text, ledger.ErrInvalid.Error()+": ", "", 1) // what follows says more
	}
	if named := (*fs.PathError)(nil); errors.As(e.cause, &named) && errors.Is(named, fs.ErrNotExist) {
		text = strings.Replace(text, named.Error(), named.Path+": no such file", 1)
	}
	return usage.Redact(strings.Join(strings.Fields(text), " "))
}

// Unwrap returns the cause, whose text is not redacted.
func (e *Error) Unwrap() error { return e.cause }

// Faults are the single mistakes where one look found several, of which Error says the first;
// else it is empty.
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

// Hint says in one line how to mend it, or is "". Text and hint name options of the command line
// (--epsilon), which have the names of the fields of this package (Epsilon), except --k (Count
// of a Select), --out (its Table; otherwise the folder of [Into]), --force (replace) and --ledger
// (the address).
func (e *Error) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.cause, &h) {
		return usage.Redact(strings.Join(strings.Fields(h.Hint()), " "))
	}
	return ""
}

// ExitStatus is the exit status of the command line for this error: 2 for wrong usage or data,
// 3 for a refusal, 4 for a privacy check that failed, 1 for anything else, 0 for a nil *Error.
func (e *Error) ExitStatus() int {
	if e == nil {
		return 0
	}
	var own interface{ ExitStatus() int }
	var path interface{ Timeout() bool } // *fs.PathError and its kin
	err := e.cause
	switch {
	case errors.As(err, new(*usage.Faults)): // nothing was charged, and there is something to mend
		return usage.Status
	case errors.As(err, new(*workflow.UnconfirmedError)), errors.As(err, new(*workflow.HeldError)): // whatever the ledger's own fault is
		return 3
	case errors.Is(err, ledger.ErrBroken), errors.Is(err, ledger.ErrNewer), errors.Is(err, ledger.ErrUnaccountable):
		return 4
	case errors.Is(err, ledger.ErrRefused):
		return 3
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ledger.ErrUnavailable):
		return 1
	case errors.As(err, &own):
		return own.ExitStatus()
	case errors.Is(err, usage.Err), errors.Is(err, ledger.ErrInvalid), errors.Is(err, ledger.ErrStore), errors.Is(err, ledger.ErrUnknownDataset), errors.Is(err, dp.ErrInvalidEvent),
		errors.As(err, &path), errors.Is(err, net.ErrPoint), errors.Is(err, table.ErrPoint), errors.Is(err, space.ErrTries):
		return usage.Status
	}
	return 1
}

// AsError is err as an error of this package, a nil *Error for nil (compare err itself with nil): any error of pawl's packages has an
// exit status and maybe a hint.
func AsError(err error) *Error {
	var e *Error
	if err == nil || errors.As(err, &e) && e == err {
		return e
	}
	return &Error{err}
}

// fail makes err one of this package, once.
func fail(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{err}
}
