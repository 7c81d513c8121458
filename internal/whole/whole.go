// Package whole writes files whole or not at all.
package whole

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Unfinished begins the name of a file while it is written.
const Unfinished = ".pawl-"

// Write gives path the content and the mode, whatever the umask. Whoever reads path, whenever the process or the
// machine stops, finds all of the content or what was there before. The folder of path must exist; a file of another name may be
// left in it, which begins with Unfinished, only where the process was killed.
func Write(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
