package pawl

import (
	"context"
	"io"
	"sync/atomic"

	"pawl/core/ledger"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/store"
	"pawl/workflow"
)

// Ledger records the budgets of data sets and the charges against them. It is safe for concurrent
// use, also by several processes. Close it when done.
type Ledger struct {
	address store.Address
	named   bool // the address was given, so hints repeat it
	ledger  *ledger.Ledger
	store   io.Closer
	grant   string
	warn    func(string)
	closed  atomic.Bool
}

// LedgerOption changes how [OpenLedger] opens a ledger.
type LedgerOption func(*Ledger)

// WithGrant sets the epsilon, a decimal above 0 and at most 10, that a data set without a budget is
// granted at its first job, for all jobs together. Without it the grant is the cost of that job.
func WithGrant(epsilon string) LedgerOption { return func(l *Ledger) { l.grant = epsilon } }

// WithWarnings sets the function that receives warnings about the ledger. Without it, and with nil,
// they are dropped.
func WithWarnings(warn func(text string)) LedgerOption { return func(l *Ledger) { l.warn = warn } }

// OpenLedger opens the ledger at an address, and creates one if there is none: sqlite:PATH or
// postgres://USER@HOST:PORT/DATABASE. "" is the address in the environment variable PAWL_LEDGER, and
// without that the user's ledger in the data directory of the operating system.
//
// Outside the ledger, in $XDG_STATE_HOME/pawl or ~/.local/state/pawl, this machine stores the newest
// entry that it has seen of each ledger. This detects a ledger that was deleted or restored to an
// earlier state. A test that needs a new ledger names a new file in a temporary folder, and sets
// XDG_STATE_HOME to a temporary folder too.
//
// Errors: [ErrUsage] for a malformed address, [ErrUnavailable] for a database that does not answer,
// [ErrRefused] if this machine has seen a ledger at the address that is gone.
func OpenLedger(ctx context.Context, address string, options ...LedgerOption) (*Ledger, error) {
	l := &Ledger{named: address != ""}
	if err := given(ctx); err != nil {
		return nil, err
	}
	for _, set := range options {
		if set != nil {
			set(l)
		}
	}
	if l.warn == nil {
		l.warn = func(string) {}
	}
	if l.grant != "" {
		if e, err := ledger.ParseAmount(l.grant); err != nil || e.IsZero() {
			return nil, fail(usage.Newf("example: 1.5", "the grant %q is not an epsilon above 0", l.grant))
		}
	}
	var err error
	if l.address, err = store.Parse(address); err == nil {
		l.ledger, l.store, err = l.address.Open(ctx, l.grant, l.warn, ledger.Missing)
	}
	return handle(l, err)
}

// Close closes the ledger. Its plans cannot be run afterwards. A second Close does nothing.
func (l *Ledger) Close() error {
	if l == nil || l.store == nil || l.closed.Swap(true) {
		return nil
	}
	return fail(l.store.Close())
}

// usable reports a ledger that was never opened or is closed, and a missing context.
func (l *Ledger) usable(ctx context.Context) error {
	switch {
	case l == nil || l.ledger == nil:
		return fail(usage.New("the ledger was never opened", "open it with OpenLedger"))
	case l.closed.Load():
		return fail(usage.Newf("close a ledger after the last run of its plans", "the ledger %s is closed", l))
	}
	return given(ctx)
}

// given reports a missing context: under it a database would panic with its locks held.
func given(ctx context.Context) error {
	if ctx == nil {
		return fail(usage.New("the context is nil", "pass context.Background()"))
	}
	return nil
}

// String returns the address without its password.
func (l *Ledger) String() string { return l.address.String() }

// desk is where requests on this ledger are handled.
func (l *Ledger) desk() *request.Desk {
	return &request.Desk{Ledger: l.ledger, Safe: func() (workflow.Safe, error) { return request.SafeAt(l.address, l.named) }}
}
