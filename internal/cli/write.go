package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pawl/data/table"
	"pawl/internal/request"
	"pawl/internal/usage"
	"pawl/workflow"
)

func writeFile(path string, replace bool, write func(io.Writer) error) error {
	return request.WriteFile(path, replace, write)
}

// wrote names the file that was written, or says more of it as JSON.
func (a *app) wrote(path string, more any) error {
	return a.print(more, func(w io.Writer) error { _, err := fmt.Fprintln(w, path); return err })
}

// replaced is the fault of a flag that names a file to write which the command also reads, nil without one.
func replaced(c *cobra.Command, args []string) error {
	read := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(written, f.Name) {
			read = append(read, f.Value.String())
		}
	})
	for _, name := range written {
		f := c.Flag(name)
		if f != nil && slices.ContainsFunc(read, func(arg string) bool { return table.Holds(arg, f.Value.String()) }) {
			return mistakef("choose another place with --"+name, "--%s %s is a file that the command reads", name, f.Value)
		}
	}
	return nil
}

// standard settles what - stands for: standard input where a file is read, by one at the most, and standard output where
// a command writes there by default. No other output has a place there.
func standard(c *cobra.Command, args []string) error {
	read, faults := []string{}, []error{}
	for i, arg := range args {
		if arg == table.Stdin {
			read = append(read, fmt.Sprintf("argument %d", i+1))
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.String() != table.Stdin:
		case strings.Contains(f.Usage, "default: standard output"):
			_ = f.Value.Set("")
		case slices.Contains(written, f.Name) || slices.Contains([]string{"checkpoint", "resume", "store", "html"}, f.Name):
			faults = append(faults, mistakef("name a place on the disk; a file or folder of that name is ./-", "--%s -: this is not written to standard output", f.Name))
		case f.Name == "test":
			read = append(read, "--test")
		}
	})
	if len(read) > 1 {
		faults = append(faults, mistakef("name a file for one of them", "standard input can be read once, and is asked for by %s", strings.Join(read, " and ")))
	}
	return usage.All(faults...)
}

// written are the flags that name files to write, some of them in place of those that are there.
var written = []string{"out", "output", "diagram"}

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
