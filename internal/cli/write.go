package cli

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/workflow"
)

// writeFile makes a file whole or not at all. Without replace it refuses a file
// that is there, even one that appeared a moment ago.
//
// What is not a regular file (a device, a pipe) is written into and never replaced.
func writeFile(path string, replace bool, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && replace && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return request.CannotWrite(path, err)
		}
		return cmp.Or(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pawl-*")
	if err != nil {
		return request.CannotWrite(path, err)
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		f.Close()
		if file := (*os.PathError)(nil); errors.As(err, &file) && file.Path == f.Name() {
			err = request.CannotWrite(path, err)
		}
		return err
	}
	// The first error explains those after it.
	if err := cmp.Or(w.Flush(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return request.CannotWrite(path, err)
	}
	if !replace {
		switch err := os.Link(f.Name(), path); {
		case err == nil:
			return nil
		case errors.Is(err, os.ErrExist):
			return request.CannotWrite(path, err)
		} // else the file system knows no links
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return request.CannotWrite(path, err)
	}
	return nil
}

// writePaid is writeFile for what cannot be had again, and says where it lies: beside a
// file that has appeared since its name was found to be free.
func writePaid(a *app, path string, replace bool, write func(io.Writer) error) (string, error) {
	name := path
	for n := 2; ; n++ {
		err := writeFile(name, replace && name == path, write)
		if err == nil && name != path {
			a.note(request.MovedAside(path, name))
		}
		if _, there := os.Lstat(name); err == nil || there != nil || n > 1000 {
			return name, err
		}
		name = request.NumberedFile(path, n)
	}
}

// outDir is where a run writes what it releases; path "" asks for a folder of its own.
type outDir struct {
	path  string
	force bool
}

func (o *outDir) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&o.path, "out", "", "output directory (default: a new one, "+workflow.DefaultDir+"/DATA-TARGET-epsE-ENTRY)")
	s.BoolVar(&o.force, "force", false, "replace the files of an earlier run in --out")
}

// root is the directory in which all of it will lie.
func (o outDir) root() string { return cmp.Or(o.path, workflow.DefaultDir) }

// shell quotes a path so that a hint can be pasted.
func shell(s string) string { return usage.Shell(s) }
