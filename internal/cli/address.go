package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/store/heads"
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

// absolute is String with an absolute path: the name under which the address is
// remembered.
func (d address) absolute() string {
	if d.path != "" {
		if abs, err := filepath.Abs(d.path); err == nil {
			return abs
		}
	}
	return d.String()
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
	return address{}, &usageError{"the ledger address is neither sqlite:PATH nor postgres://USER@HOST:PORT/DATABASE",
		"example: --ledger sqlite:/data/pawl/ledger.db"}
}

// ownLedger is per user and never per working directory, so that a budget cannot
// be reset by changing directory.
func ownLedger() (string, error) {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) { // the specification says to ignore a relative one
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &usageError{"no home directory for the ledger: " + err.Error(), "choose a ledger with --ledger sqlite:PATH"}
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
	return a.openAt(ctx, d, ledger.Missing)
}

// openAt opens the ledger at an address. Where there is none, missing says why none may
// be made; nil makes it.
func (a *app) openAt(ctx context.Context, d address, missing func(ledger.Heads) error) (*ledger.Ledger, io.Closer, error) {
	second := a.secondPlace(d)
	store, err := openStore(ctx, d)
	if errors.Is(err, errNoLedger) {
		if missing != nil {
			if err := missing(second); err != nil {
				return nil, nil, err
			}
		}
		if d.url != "" {
			store, err = postgres.Open(ctx, d.url)
		} else {
			store, err = sqlite.Open(ctx, d.path)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	o := ledger.Options{Total: a.total, Heads: second, Warn: func(text string) { fmt.Fprintf(a.err, "warning: %s\n", text) }}
	return ledger.New(store, pricing.Accountant{}, o), store, nil
}

var errNoLedger = errors.New("there is no ledger yet")

// openStore opens a ledger that is there, or returns errNoLedger.
func openStore(ctx context.Context, d address) (ledger.Store, error) {
	if d.url != "" {
		store, err := postgres.OpenExisting(ctx, d.url)
		if errors.Is(err, postgres.ErrNoLedger) {
			return nil, errNoLedger
		}
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return nil, errNoLedger
	}
	store, err := sqlite.Open(ctx, d.path)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// secondPlace remembers what this machine has seen of the ledger at an address.
func (a *app) secondPlace(d address) ledger.Heads {
	dir, err := heads.Default()
	if err != nil {
		fmt.Fprintf(a.err, "warning: no home directory, so a replaced or rolled-back ledger will not be detected: %v\n", err)
		return nil
	}
	return heads.At(dir, d.absolute())
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
