package cli

import (
	"pawl/internal/cost"

	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"pawl/core/dp"
)

// readEventFile reads a file or stdin, no more than a document may have.
func (a *app) readEventFile(path string) (text []byte, name string, err error) {
	in, name := io.Reader(a.in), "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, path, err
		}
		defer f.Close()
		in, name = f, path
	}
	text, err = io.ReadAll(io.LimitReader(in, cost.MaxDocument+1))
	return text, name, err
}

// under is the relation of a file and of --relation. Numbers that were taken for one
// relation mean nothing under another.
func (f *howFlags) under(c *cobra.Command, name string, stated, asked dp.Relation) (dp.Relation, error) {
	switch {
	case stated == 0:
		return asked, nil
	case c.Flags().Changed("relation") && asked != stated:
		return 0, &usageError{fmt.Sprintf("%s: its events are stated under %v, not under %v", name, stated, asked),
			"noise multipliers depend on the relation through the sensitivity: restate them, or leave out --relation"}
	}
	return stated, nil
}
