package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"pawl/core/ledger"
	"pawl/store"
)

// ledgerAddress is what --ledger, PAWL_LEDGER or, failing both, the user's own says.
func (a *app) ledgerAddress() (store.Address, error) { return store.Parse(a.ledger.address) }

// openLedger opens the ledger and makes it if need be. The caller closes it.
func (a *app) openLedger(ctx context.Context) (*ledger.Ledger, io.Closer, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, nil, err
	}
	return a.openAt(ctx, d, ledger.Missing)
}

// openAt opens the ledger at an address. Where there is none, missing says why none may
// be made; nil makes it.
func (a *app) openAt(ctx context.Context, d store.Address, missing func(ledger.Heads) error) (*ledger.Ledger, io.Closer, error) {
	return d.Open(ctx, a.ledger.total, func(text string) { fmt.Fprintf(a.err, "warning: %s\n", text) }, missing)
}

// openExisting opens a ledger and makes none: a mistyped address is an error and not
// a new ledger.
func (a *app) openExisting(ctx context.Context) (*ledger.Ledger, io.Closer, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, nil, err
	}
	return a.openAt(ctx, d, func(second ledger.Heads) error {
		return cmp.Or(ledger.Missing(second), error(&usageError{fmt.Sprintf("%s: there is no ledger yet", d),
			"pawl ledger create or the first pawl fit creates one; --ledger sqlite:PATH chooses another"}))
	})
}
