package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

func opener(ctx context.Context, path string) (ledger.Store, error) { return Open(ctx, path) }

func TestMain(m *testing.M) { ledgertest.Main(m, opener) }

// Many processes: none is lost, none is locked out, and exactly the budget is spent.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	create(t, path)
	ledgertest.Sized(path).Run(t, opener)
}

// The same with SIGKILL at random points: what was acknowledged stays charged,
// also what was reserved and never committed, and the chain holds.
func TestKilledProcesses(t *testing.T) {
	for seed := range uint64(2) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		create(t, path)
		p := ledgertest.Sized(path)
		p.Kill, p.Seed = true, seed
		p.Run(t, opener)
	}
}

// Processes that meet at a file that is not there yet agree on one ledger.
func TestRacingCreators(t *testing.T) {
	for range 2 {
		p := ledgertest.Sized(filepath.Join(t.TempDir(), "new", "ledger.db"))
		p.Run(t, opener)
	}
}

func create(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	defer s.Close()
	ledgertest.CreateBudget(t, s)
}
