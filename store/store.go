// Package store opens a ledger by its address, wherever it is kept: in a file of SQLite or in
// a PostgreSQL database.
package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/internal/usage"
	"pawl/store/heads"
	"pawl/store/postgres"
	"pawl/store/sqlite"
)

// Address says where a ledger is.
type Address struct {
	path string // of an SQLite file, or ""
	url  string // of a PostgreSQL database, with its password
}

// Parse reads sqlite:PATH or postgres://USER@HOST:PORT/DATABASE. "" stands for what
// PAWL_LEDGER says, and without it for the user's own.
func Parse(text string) (Address, error) {
	if text == "" {
		text = os.Getenv("PAWL_LEDGER")
	}
	if text == "" {
		path, err := Own()
		if err != nil {
			return Address{}, usage.New(err.Error(), "choose a ledger with --ledger sqlite:PATH, or set HOME to an absolute path")
		}
		return Address{path: path}, nil
	}
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme = strings.ToLower(scheme); {
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		return Address{url: scheme + ":" + rest}, nil
	case scheme == "sqlite" && rest != "":
		if _, err := os.Stat(rest); err == nil || !usage.Address(rest) {
			return Address{path: rest}, nil
		}
	}
	// Not quoted: what was meant as an address may hold a password.
	return Address{}, usage.New("the ledger address is neither sqlite:PATH nor postgres://USER@HOST:PORT/DATABASE",
		"example: --ledger sqlite:/data/pawl/ledger.db")
}

// Own is the file of the user's own ledger. It is per user and never per working directory,
// so that a budget cannot be reset by changing directory.
func Own() (string, error) {
	base, err := usage.OwnDir("XDG_DATA_HOME", ".local", "share")
	return filepath.Join(base, "pawl", "ledger.db"), err
}

// String may be shown: it holds no password.
func (d Address) String() string {
	if d.url != "" {
		return postgres.Redacted(d.url)
	}
	return d.path
}

// Flag is the address as --ledger takes it, without password and parameters.
func (d Address) Flag() string {
	if d.url != "" {
		return d.String()
	}
	return "sqlite:" + d.path
}

// Absolute is String with an absolute path: the name under which the address is remembered.
func (d Address) Absolute() string {
	if d.path != "" {
		if abs, err := filepath.Abs(d.path); err == nil {
			return abs
		}
	}
	return d.String()
}

// errMissing says that there is no ledger yet.
var errMissing = errors.New("there is no ledger yet")

// Open opens the ledger at an address. Where there is none, missing says why none may be
// made; otherwise it is made at its first use. total is the epsilon that a data set without a budget is granted at its
// first use, "" for what that job asks. warn is told what is wrong and stops nothing. The
// caller closes the store.
func (d Address) Open(ctx context.Context, total string, warn func(string), missing func(ledger.Heads) error) (*ledger.Ledger, io.Closer, error) {
	second := d.secondPlace(warn)
	s, err := d.existing(ctx)
	if errors.Is(err, errMissing) {
		if missing != nil {
			if err := missing(second); err != nil {
				return nil, nil, err
			}
		}
		s, err = &unborn{create: d.create, perUser: d.url == ""}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return ledger.New(s, pricing.Accountant{}, ledger.Options{Total: total, Heads: second, Warn: warn}), s, nil
}

// create makes a store where there is none.
func (d Address) create(ctx context.Context) (ledger.Store, error) {
	if d.url != "" {
		return postgres.Open(ctx, d.url)
	}
	return sqlite.Open(ctx, d.path)
}

// existing opens a store that is there, or returns errMissing.
func (d Address) existing(ctx context.Context) (ledger.Store, error) {
	if d.url != "" {
		s, err := postgres.OpenExisting(ctx, d.url)
		if errors.Is(err, postgres.ErrNoLedger) {
			return nil, errMissing
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		return nil, errMissing
	}
	s, err := sqlite.Open(ctx, d.path)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// secondPlace remembers what this machine has seen of the ledger at an address.
func (d Address) secondPlace(warn func(string)) ledger.Heads {
	dir, err := heads.Default()
	if err != nil {
		warn(err.Error() + ", so a replaced or rolled-back ledger will not be detected")
		return nil
	}
	return heads.At(dir, d.Absolute())
}
