package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
)

// What stands at the path is asked for through the path: the file that is open may be
// gone.
func TestPathStillHoldsTheLedger(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(t *testing.T, path string)
		says string
	}{
		"nothing":                 {func(*testing.T, string) {}, ""},
		"deleted":                 {func(t *testing.T, path string) { move(t, path, filepath.Join(t.TempDir(), "gone")) }, "was deleted"},
		"swapped for another":     {func(t *testing.T, path string) { move(t, spent(t), path) }, "is another file"},
		"its log of writes alone": {func(t *testing.T, path string) { move(t, path+"-wal", filepath.Join(t.TempDir(), "gone")) }, "any"},
	} {
		t.Run(name, func(t *testing.T) {
			path := spent(t)
			s := open(t, path)
			defer s.Close()
			l := ledgertest.New(s)
			p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.125))
			if err == nil {
				err = l.Commit(ctx, p)
			}
			if err == nil {
				err = l.Confirm(ctx, p)
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.act(t, path)
			err = l.Confirm(ctx, p)
			switch {
			case tt.says == "" && err != nil, tt.says != "" && err == nil:
				t.Fatalf("confirm: %v", err)
			case tt.says == "" || tt.says == "any":
				return
			}
			if !errors.Is(err, ledger.ErrContradicted) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("confirm: %v, want %q", err, tt.says)
			}
			if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.0625)); !errors.Is(err, ledger.ErrContradicted) {
				t.Errorf("reserve: %v", err)
			}
			if _, err := figures.Show(ctx, l, "d"); !errors.Is(err, ledger.ErrContradicted) {
				t.Errorf("show: %v", err)
			}
			if _, err := os.Stat(path); tt.says == "was deleted" && err == nil {
				t.Error("the file came back")
			}
		})
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Error(err)
	}
}

// A file of before has no codes: it opens, its next booking makes them, and its version
// stays, so that an earlier program reads it.
func TestLedgerOfBeforeGetsCodes(t *testing.T) {
	path := spent(t)
	edit(t, path, `DROP TABLE ledger_codes`)
	s := open(t, path)
	defer s.Close()
	l := ledgertest.New(s)
	checked, err := figures.Check(ctx, l, "d")
	if err != nil || !strings.HasPrefix(checked.Codes, "none yet") {
		t.Errorf("%+v, %v", checked, err)
	}
	if err := l.Grant(ctx, "d", "2", "", "more"); err != nil {
		t.Fatal(err)
	}
	checked, err = figures.Check(ctx, l, "d")
	if err != nil || !strings.HasPrefix(checked.Codes, "holds") {
		t.Errorf("%+v, %v", checked, err)
	}
	var version int
	if err := s.db.QueryRow(`SELECT version FROM ledger_version`).Scan(&version); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
}
