package ledger_test

import (
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
)

func TestMemoryConforms(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Store { return ledger.NewMemory() })
}

func TestTeamMemoryConforms(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Store {
		m := ledger.NewMemory()
		m.Team = true
		return m
	})
}
