// Package whole writes files whole or not at all.
package whole

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Unfinished begins the name of a file while it is written.
const Unfinished = ".pawl-"

// Write gives path the content and the mode, whatever the umask. Whoever reads path, whenever the process or the
// machine stops, finds all of the content or what was there before. The folder of path must exist; a file of another name may be
// left in it, which begins with Unfinished, only where the process was killed. Errors name path.
func Write(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*") // mode 0600
	if err != nil {
		return named(path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	// The first error explains those after it.
	if err := cmp.Or(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return named(path, err)
	}
	return named(path, os.Rename(f.Name(), path))
}

// named puts path in the place of a name that only Write knows.
func named(path string, err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		err = file.Err
	case errors.As(err, &link):
		err = link.Err
	case err == nil:
		return nil
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}
