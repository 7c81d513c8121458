package request

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pawl/internal/usage"
	"pawl/internal/whole"
)

// WriteFile makes a file whole or not at all. Without replace it refuses a file
// that is there, even one that appeared a moment ago.
//
// What is not a regular file (a device, a pipe) is written into and never replaced.
func WriteFile(path string, replace bool, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && replace && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return CannotWrite(path, err)
		}
		return cmp.Or(write(f), f.Close())
	}
	f, err := whole.Temp(filepath.Dir(path))
	if err != nil {
		return CannotWrite(path, err)
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		f.Close()
		if file := (*os.PathError)(nil); errors.As(err, &file) && file.Path == f.Name() {
			err = CannotWrite(path, err)
		}
		return err
	}
	// The first error explains those after it.
	if err := cmp.Or(w.Flush(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return CannotWrite(path, err)
	}
	if !replace {
		switch err := os.Link(f.Name(), path); {
		case err == nil:
			return nil
		case errors.Is(err, os.ErrExist):
			return CannotWrite(path, err)
		} // else the file system knows no links
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return CannotWrite(path, err)
	}
	return nil
}

// WritePaid is WriteFile for what cannot be had again, and says where it lies: beside a
// file that has appeared since its name was found to be free.
func WritePaid(note func(string), path string, replace bool, write func(io.Writer) error) (string, error) {
	name := path
	for n := 2; ; n++ {
		err := WriteFile(name, replace && name == path, write)
		if err == nil && name != path {
			note(movedAside(path, name))
		}
		if _, there := os.Lstat(name); err == nil || there != nil || n > 1000 {
			return name, err
		}
		name = numberedFile(path, n)
	}
}

// writable tries the folder of a file before anything is charged.
func writable(path string) error {
	f, err := whole.Temp(filepath.Dir(path))
	if err != nil {
		return usage.New(CannotWrite(path, err).Error(), "choose another file with --out")
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// numberedFile is a name beside that of a file: bounds-2.yaml.
func numberedFile(path string, n int) string {
	end := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, end), n, end)
}

// movedAside says where a result went whose place was taken.
func movedAside(wanted, path string) string {
	return fmt.Sprintf("%s appeared during the run and is not replaced; the results are in %s", wanted, path)
}

// CannotWrite says why a file could not be written, without its temporary name.
func CannotWrite(path string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "make the folder first: mkdir -p " + usage.Shell(filepath.Dir(path))
	case errors.Is(err, syscall.ENOSPC):
		hint = "free some space, or choose another place"
	}
	return usage.New(fmt.Sprintf("%s cannot be written: %v", path, usage.WithoutPath(err)), hint)
}
