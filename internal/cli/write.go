package cli

import (
	"cmp"
	"io"
	"slices"

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
