package ledger_test

import (
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

func TestMemoryConforms(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Store { return memory.New() })
}

func TestTeamMemoryConforms(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Store {
		m := memory.New()
		m.Team = true
		return m
	})
}
