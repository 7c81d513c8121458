package cli

import (
	"fmt"

	"pawl/store/heads"
	"pawl/workflow"
)

// heldKeys is where the keys of held releases lie: apart from the releases.
func heldKeys() (heads.Keys, error) {
	dir, err := heads.Default()
	if err != nil {
		return heads.Keys{}, fmt.Errorf("no folder for the key of withheld results: %w", err)
	}
	return heads.KeysIn(dir), nil
}

// safeFolder is where what is held back of this ledger has its key.
func safeFolder(a *app) (workflow.Safe, error) {
	keys, err := heldKeys()
	if err != nil {
		return workflow.Safe{}, err
	}
	d, err := a.ledgerAddress()
	safe := workflow.Safe{Keys: keys, Address: d.Absolute()}
	if a.ledger.address != "" {
		safe.Flag = "--ledger " + shell(d.Flag())
	}
	return safe, err
}
