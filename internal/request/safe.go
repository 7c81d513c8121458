package request

import (
	"fmt"

	"pawl/internal/usage"
	"pawl/store"
	"pawl/store/heads"
	"pawl/workflow"
)

// SafeAt is where what is held back of the ledger at an address has its key: apart from the
// releases. named has hints repeat the address.
func SafeAt(a store.Address, named bool) (workflow.Safe, error) {
	dir, err := heads.Default()
	if err != nil {
		return workflow.Safe{}, fmt.Errorf("no folder for the key of withheld results: %w", err)
	}
	safe := workflow.Safe{Keys: heads.KeysIn(dir), Address: a.Absolute()}
	if named {
		safe.Flag = "--ledger " + usage.Shell(a.Flag())
	}
	return safe, nil
}
