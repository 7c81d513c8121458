package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/internal/usage"
)

// A ledger that is made when it is first needed behaves as one that was there.
func TestUnborn(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests of package sqlite hold the same promises")
	}
	ledgertest.Run(t, func(t *testing.T) ledger.Store {
		d := Address{path: filepath.Join(t.TempDir(), "new", "ledger.db")}
		s := &unborn{create: d.create, perUser: true}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// Opening leaves no file behind; the first use does.
func TestOpeningMakesNoLedger(t *testing.T) {
	ctx := context.Background()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "ledger.db")
	d, err := Parse("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	l, c, err := d.Open(ctx, "", func(string) {}, ledger.Missing)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("opening left a file: %v", err)
	}
	if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	if public, err := l.Public(ctx, "d"); err != nil || public {
		t.Errorf("what was written is not there: %v", err)
	}
	// This machine has seen it now: where it is gone, no new one takes its place.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Open(ctx, "", func(string) {}, ledger.Missing); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("a ledger that is gone is replaced: %v", err)
	}
	// Nor does the open one answer without its file.
	if _, err := l.Public(ctx, "d"); err == nil {
		t.Error("a ledger without its file answers")
	}
}

// Addresses in words, and no password in what is shown.
func TestParse(t *testing.T) {
	t.Setenv("PAWL_LEDGER", "")
	t.Setenv("XDG_DATA_HOME", "/data")
	for _, c := range []struct{ text, shown string }{
		{"", "/data/pawl/ledger.db"}, {"sqlite:/x/l.db", "/x/l.db"}, {"postgres://me:secret@db:5432/pawl", "postgres://me@db:5432/pawl"},
	} {
		d, err := Parse(c.text)
		if err != nil || d.String() != c.shown {
			t.Errorf("%q is %q (%v), want %q", c.text, d, err, c.shown)
		}
	}
	for _, bad := range []string{"ledger.db", "sqlite:", "mysql://secret@db"} {
		if _, err := Parse(bad); !errors.Is(err, usage.Err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	t.Setenv("PAWL_LEDGER", "sqlite:/y/l.db")
	if d, err := Parse(""); err != nil || d.String() != "/y/l.db" {
		t.Errorf("PAWL_LEDGER: %q, %v", d, err)
	}
}

// The user's own ledger is the same in every working directory: another one would have another budget.
func TestOwnIsAbsolute(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	want := filepath.Join(home, ".local", "share", "pawl", "ledger.db")
	for _, variable := range []string{"", "relative"} {
		t.Setenv("XDG_DATA_HOME", variable)
		if got, err := Own(); err != nil || got != want {
			t.Errorf("XDG_DATA_HOME %q: %q, %v, want %q", variable, got, err, want)
		}
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, "relative")
	}
	if got, err := Own(); !errors.Is(err, usage.Err) {
		t.Errorf("a relative home directory: %q, %v", got, err)
	}
}
