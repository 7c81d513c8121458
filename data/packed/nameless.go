//go:build !windows

package packed

import (
	"errors"
	"os"
)

// nameless opens a file that its user alone can open and that has no name any longer.
func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".pawl-rows-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
