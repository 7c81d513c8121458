package pawl

import (
	"context"
	"io"
	"sync/atomic"

	"pawl/core/ledger"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/store"
	"pawl/store/heads"
	"pawl/workflow"
)

// Ledger records the budgets of data sets and the charges against them. It is safe for concurrent
// use, also by several processes. Close it when done.
type Ledger struct {
	address store.Address
	named   bool // the address was given, so hints repeat it
	ledger  *ledger.Ledger
	store   io.Closer
	options ledgerOptions
	closed  atomic.Bool
}

type ledgerOptions struct {
	grant string
	warn  func(string)
}

// LedgerOption changes how [OpenLedger] opens a ledger.
type LedgerOption func(*ledgerOptions)

// WithGrant sets the epsilon, a decimal above 0 and at most 10, that a data set without a budget is
// granted at its first job, for all jobs together. Without it the grant is the cost of that job.
func WithGrant(epsilon string) LedgerOption { return func(o *ledgerOptions) { o.grant = epsilon } }

// WithWarnings sets the function that receives warnings about the ledger. Without it, and with nil,
// they are dropped.
func WithWarnings(warn func(text string)) LedgerOption {
	return func(o *ledgerOptions) { o.warn = warn }
}

// OpenLedger opens the ledger at an address, and creates one if there is none: sqlite:PATH or
// postgres://USER@HOST:PORT/DATABASE. "" is the address in the environment variable PAWL_LEDGER, and
// without that the user's ledger in the data directory of the operating system.
//
// Beside the ledger, this machine stores the newest entry that it has seen of each ledger, in
// $XDG_STATE_HOME/pawl or ~/.local/state/pawl. So it detects a ledger that was deleted or restored to an
// earlier state. A test that needs a new ledger names a new file in a temporary
// folder, and sets XDG_STATE_HOME to a temporary folder too.
//
// Errors: [ErrUsage] for an address that cannot be read, [ErrUnavailable] for a database that
// does not answer, [ErrRefused] if this machine has seen a ledger at the address that is gone.
func OpenLedger(ctx context.Context, address string, options ...LedgerOption) (*Ledger, error) {
	l := &Ledger{named: address != "", options: ledgerOptions{warn: func(string) {}}}
	if err := given(ctx); err != nil {
		return nil, err
	}
	for _, set := range options {
		if set != nil {
			set(&l.options)
		}
	}
	if l.options.warn == nil {
		l.options.warn = func(string) {}
	}
	if l.options.grant != "" {
		if e, err := ledger.ParseAmount(l.options.grant); err != nil || e.IsZero() {
			return nil, fail(usage.Newf("example: 1.5", "the grant %q is not an epsilon above 0", l.options.grant))
		}
	}
	var err error
	if l.address, err = store.Parse(address); err == nil {
		l.ledger, l.store, err = l.address.Open(ctx, l.options.grant, l.options.warn, ledger.Missing)
	}
	if err != nil {
		return nil, fail(err)
	}
	return l, nil
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
	return &request.Desk{Ledger: l.ledger, Safe: func() (workflow.Safe, error) {
		dir, err := heads.Default()
		if err != nil {
			return workflow.Safe{}, err
		}
		safe := workflow.Safe{Keys: heads.KeysIn(dir), Address: l.address.Absolute()}
		if l.named {
			safe.Flag = "--ledger " + usage.Shell(l.address.Flag())
		}
		return safe, nil
	}}
}
