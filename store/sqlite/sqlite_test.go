package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConforms(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Store {
		return open(t, filepath.Join(t.TempDir(), "ledger.db"))
	})
}
