package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/postgres"
	"pawl/store/sqlite"
)

// address says where a ledger is: in a file or in a database.
type address struct {
	path string // of an SQLite file, or ""
	url  string // of a PostgreSQL database, with its password
}

// String may be shown.
func (d address) String() string {
	if d.url != "" {
		return postgres.Redacted(d.url)
	}
	return d.path
}

// ledgerAddress is what --ledger, PAWL_LEDGER or, failing both, the user's own says.
func (a *app) ledgerAddress() (address, error) {
	text := a.ledgerURL
	if text == "" {
		text = os.Getenv("PAWL_LEDGER")
	}
	if text == "" {
		path, err := ownLedger()
		return address{path: path}, err
	}
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return address{url: text}, nil
	}
	if path, ok := strings.CutPrefix(text, "sqlite:"); ok && path != "" {
		return address{path: path}, nil
	}
	// Not quoted: what was meant as an address may hold a password.
	return address{}, &usageError{"the ledger's address is neither sqlite:PATH nor postgres://USER@HOST:PORT/DATABASE",
		"example: --ledger sqlite:/data/pawl/ledger.db"}
}

// ownLedger is per user and never per working directory, so that a budget cannot
// be reset by changing directory.
func ownLedger() (string, error) {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) { // the specification says to ignore a relative one
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &usageError{"no home directory for the ledger: " + err.Error(), "name a ledger with --ledger sqlite:PATH"}
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "pawl", "ledger.db"), nil
}

// openLedger opens the ledger and makes it if need be. The caller closes it.
func (a *app) openLedger(ctx context.Context) (*ledger.Ledger, io.Closer, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, nil, err
	}
	var store ledger.Store
	if d.url != "" {
		store, err = postgres.Open(ctx, d.url)
	} else {
		store, err = sqlite.Open(ctx, d.path)
	}
	return opened(store, err)
}

// openExisting opens a ledger and makes none: a mistyped address is an error and not
// a new ledger.
func (a *app) openExisting(ctx context.Context) (*ledger.Ledger, io.Closer, error) {
	d, err := a.ledgerAddress()
	if err != nil {
		return nil, nil, err
	}
	missing := &usageError{fmt.Sprintf("%s: there is no ledger yet", d),
		"pawl ledger create or the first pawl fit makes one; --ledger sqlite:PATH names another"}
	if d.url != "" {
		store, err := postgres.OpenExisting(ctx, d.url)
		if errors.Is(err, postgres.ErrNoLedger) {
			err = missing
		}
		return opened(store, err)
	}
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return nil, nil, missing
	}
	store, err := sqlite.Open(ctx, d.path)
	return opened(store, err)
}

func opened(store ledger.Store, err error) (*ledger.Ledger, io.Closer, error) {
	if err != nil {
		return nil, nil, err
	}
	return ledger.New(store, pricing.Accountant{}, ledger.Options{}), store, nil
}
