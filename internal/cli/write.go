package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pawl/workflow"
)

// writeFile makes a file whole or not at all. Without replace it refuses a file
// that is there, even one that appeared a moment ago.
//
// What is no regular file (a device, a pipe) is written into and never replaced.
func writeFile(path string, replace bool, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && replace && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return cannotWrite(path, err)
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pawl-*")
	if err != nil {
		return cannotWrite(path, err)
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(w.Flush(), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if !replace {
		switch err := os.Link(f.Name(), path); {
		case err == nil:
			return nil
		case errors.Is(err, os.ErrExist):
			return cannotWrite(path, err)
		} // else the file system knows no links
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// numberedFile is a name beside that of a file: bounds-2.yaml.
func numberedFile(path string, n int) string {
	end := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, end), n, end)
}

func movedAside(wanted, path string) string {
	return fmt.Sprintf("%s appeared during the run and is not replaced; the results are in %s", wanted, path)
}

// writePaid is writeFile for what cannot be had again, and says where it lies: beside a
// file that has appeared since its name was found to be free.
func (a *app) writePaid(path string, replace bool, write func(io.Writer) error) (string, error) {
	name := path
	for n := 2; ; n++ {
		err := writeFile(name, replace && name == path, write)
		if err == nil && name != path {
			a.note(movedAside(path, name))
		}
		if _, there := os.Lstat(name); err == nil || there != nil || n > 1000 {
			return name, err
		}
		name = numberedFile(path, n)
	}
}

// outDir is where a run writes what it releases; path "" asks for a folder of its own.
type outDir struct {
	path  string
	force bool
	// again says that a run goes on: what it has written already it may write again, and
	// what another has written stays all the same.
	again bool
}

func (o *outDir) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&o.path, "out", "", "output directory (default: a new one, "+workflow.DefaultDir+"/DATA-TARGET-epsE-ENTRY)")
	s.BoolVar(&o.force, "force", false, "replace the files of an earlier run in --out")
}

// root is the directory in which all of it will lie.
func (o outDir) root() string { return cmp.Or(o.path, workflow.DefaultDir) }

// check refuses an output directory in which a run would replace files: those of an
// earlier run, which were paid for, unless by force, and all others, since --out . must not
// cost anybody a README.
func (o outDir) check() error {
	dir := o.root()
	info, err := os.Stat(dir)
	if err != nil {
		return nil // it will be made, or making it says why not
	}
	advice := "choose another directory with --out"
	if !info.IsDir() {
		return &usageError{fmt.Sprintf("%s is a file, not a directory", dir), advice}
	}
	if o.path == "" {
		return nil
	}
	if workflow.Earlier(dir) != nil {
		if o.force || o.again {
			return nil
		}
		return &usageError{fmt.Sprintf("%s contains the results of an earlier run, which are not replaced", dir),
			"choose another directory with --out, or leave it out for a new one; --force replaces the files"}
	}
	for _, name := range []string{workflow.ModelDir, workflow.ReportFile, workflow.StatementFile, workflow.CardFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return &usageError{fmt.Sprintf("%s contains %s, which does not come from an earlier run", dir, name), advice}
		}
	}
	return nil
}

func cannotWrite(path string, err error) error {
	var named *os.PathError
	if errors.As(err, &named) {
		err = named.Err // the temporary name says nothing to a person
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	return &usageError{fmt.Sprintf("%s cannot be written: %v", path, err), ""}
}

// shell quotes a path so that a hint can be pasted.
func shell(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/+=:@%", r)
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
