package ledger

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Errors of a request.
var (
	// ErrExhausted: the budget does not cover the request.
	ErrExhausted = errors.New("privacy budget exhausted")
	// ErrRefused is wrapped by every refusal by policy, ErrExhausted included.
	ErrRefused = errors.New("refused by the ledger")
	// ErrInvalid: the request is invalid in itself (a malformed amount, no event).
	ErrInvalid = errors.New("invalid ledger request")
	// ErrUnknownDataset: no record of that name.
	ErrUnknownDataset = errors.New("data set is not in the ledger")
	// ErrUnaccountable: the accountant cannot price the event.
	ErrUnaccountable = errors.New("event cannot be accounted for")
	// ErrOpened: rows may have been read, so the reservation stays charged.
	ErrOpened = errors.New("rows were opened: the reservation stays charged")
)

// Errors of a log or of its store. Nothing can be decided on such a log.
var (
	// ErrBroken: the chain was cut, edited or reordered.
	ErrBroken = errors.New("ledger chain is broken")
	// ErrNewer: the log contains something unknown, written by a newer version of pawl.
	ErrNewer = errors.New("ledger was written by a newer version of pawl")
	// ErrStore: the store is locked, read-only, corrupt or missing.
	ErrStore = errors.New("ledger store")
	// ErrUnavailable: the store may answer later: it is locked, full or unreachable. It comes with
	// ErrStore.
	ErrUnavailable = errors.New("ledger store is not available now")
)

// RefusedError is a refusal by policy.
type RefusedError struct {
	Dataset string
	Reason  string
	Advice  string // what to type, or what to ask the steward for
	// NoBudget reports that only a grant is missing.
	NoBudget bool
}

func (e *RefusedError) Error() string { return fmt.Sprintf("data set %q: %s", e.Dataset, e.Reason) }

// Hint returns how to continue.
func (e *RefusedError) Hint() string { return e.Advice }

// Unwrap makes errors.Is(err, ErrRefused) true.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// NoBudget reports whether err refuses a request only because there is no budget.
func NoBudget(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.NoBudget
}

// ExhaustedError reports how much was requested and how much is left, at the budget's
// delta. Need is rounded up and Left down.
type ExhaustedError struct {
	Dataset    string
	Analyst    string // whose share it is; "" for the budget of all
	Need, Left Number
	Epsilon    Amount // the limit
	Delta      Amount
	// Suffices is a total epsilon with which the request would have been admitted, +Inf if no total
	// would suffice and 0 if none is known.
	Suffices Number
	// OfAll is, if a share refused the request, the total that the budget of all needs beside a share
	// of Suffices; 0 if it is large enough.
	OfAll Number
	// alone: on its own the request has a cost at this delta.
	alone bool
	// Renews is the day on which the budget renews, if the request would be admitted then.
	Renews string
}

func (e *ExhaustedError) Error() string {
	whose := ""
	if e.Analyst != "" {
		whose = fmt.Sprintf(", share of %s", e.Analyst)
	}
	return fmt.Sprintf("data set %q%s: %v: needs epsilon %v, left %v of %v (delta %v)",
		e.Dataset, whose, ErrExhausted, e.Need, e.Left, e.Epsilon, e.Delta)
}

// Hint returns how to continue.
func (e *ExhaustedError) Hint() string {
	if math.IsInf(float64(e.Need), 1) && e.Delta.Float64() == 0 {
		return "a budget of delta 0 admits pure epsilon only: ask with --delta 0"
	}
	less := "ask for less, or "
	if e.Renews != "" {
		less = fmt.Sprintf("ask for less, wait until %s, when the budget renews, or ", e.Renews)
	}
	raise := fmt.Sprintf("pawl ledger grant %s --epsilon %v --reason WHY", quote(e.Dataset), max(e.OfAll, e.Suffices))
	none := math.IsInf(float64(max(e.OfAll, e.Suffices)), 1)
	switch {
	case none && e.alone && e.Analyst == "":
		return less + "ask the data steward to raise epsilon and delta: a higher epsilon alone cannot admit this job, since a charge known only as (epsilon, delta) uses up delta"
	case none && e.Analyst == "":
		return less + "choose another kind of job: no budget at this delta admits this one"
	case e.Analyst != "" && (none || e.Suffices == 0):
		return less + fmt.Sprintf("ask the data steward to raise the share: pawl ledger grant %s --analyst %s --epsilon E --reason WHY", quote(e.Dataset), quote(e.Analyst))
	case e.Analyst != "":
		share := fmt.Sprintf("pawl ledger grant %s --analyst %s --epsilon %v --reason WHY (this total suffices)", quote(e.Dataset), quote(e.Analyst), e.Suffices)
		if e.OfAll > 0 {
			return less + "ask the data steward to raise the budget and then the share: " + raise + ", and " + share
		}
		return less + "ask the data steward to raise the share: " + share
	case e.Suffices > 0:
		return less + "ask the data steward to raise the budget: " + raise + " (this total suffices)"
	}
	return less + fmt.Sprintf("ask the data steward to raise the budget: pawl ledger grant %s --epsilon E --reason WHY (E is the new total)", quote(e.Dataset))
}

// Unwrap makes both errors.Is(err, ErrExhausted) and ErrRefused true.
func (e *ExhaustedError) Unwrap() []error { return []error{ErrExhausted, ErrRefused} }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

func broken(dataset string, seq int64, format string, args ...any) error {
	return fmt.Errorf("%w: data set %q, record %d: %s", ErrBroken, dataset, seq, fmt.Sprintf(format, args...))
}

func newer(dataset string, seq int64, format string, args ...any) error {
	return fmt.Errorf("%w: data set %q, record %d: %s", ErrNewer, dataset, seq, fmt.Sprintf(format, args...))
}

// quote makes a name safe to paste into a shell.
func quote(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r)
	}
	if name != "" && name[0] != '-' && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
