// Package whole writes files whole or not at all.
package whole

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
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

// forgotten is for how long nothing was written to a file that no process is going to finish: it is unlocked, and so it is
// between the moment it is closed and the one in which it gets its name.
const forgotten = time.Minute

// Temp makes a file in dir whose name begins with Unfinished, locked until it is closed, and removes those of processes
// that were killed.
func Temp(dir string) (*os.File, error) {
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		number, ours := strings.CutPrefix(e.Name(), Unfinished)
		if !ours || !e.Type().IsRegular() || strings.Trim(number, "0123456789") != "" {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < forgotten {
			continue
		}
		if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
			locked := TryLock(f)
			f.Close()
			if locked == nil {
				os.Remove(name)
			}
		}
	}
	f, err := os.CreateTemp(dir, Unfinished+"*")
	if err == nil {
		_ = TryLock(f) // where files cannot be locked, nobody removes them
	}
	return f, err
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
