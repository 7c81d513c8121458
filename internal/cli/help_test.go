package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command is listed and described within 80 columns, and no heading names a flag or
// a command that is gone.
func TestHelp(t *testing.T) {
	var verbs, flags []string
	for _, g := range verbGroups {
		verbs = append(verbs, strings.Fields(g.names)...)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		var out bytes.Buffer
		showHelp(c, &out)
		about, _, _ := strings.Cut(out.String(), "\nExamples:")
		_, after, _ := strings.Cut(out.String(), "\nPrivacy:")
		for line := range strings.Lines(about + after) {
			if line = strings.TrimRight(line, "\n"); len([]rune(line)) > helpWidth {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len([]rune(line)), line)
			}
		}
		if c.Parent() != nil && !c.Parent().HasParent() && !c.Hidden && !slices.Contains(verbs, c.Name()) {
			t.Errorf("pawl --help does not list %s", c.Name())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			flags = append(flags, f.Name)
			if !f.Hidden && !strings.Contains(out.String(), "--"+f.Name) && f.Name != "help" {
				t.Errorf("%s --help does not list --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	a := &app{}
	walk(a.root())
	for _, g := range flagGroups {
		for _, name := range strings.Fields(g.names) {
			if !slices.Contains(flags, name) {
				t.Errorf("no command has --%s", name)
			}
		}
	}
	for name := range metavars {
		if !slices.Contains(flags, name) {
			t.Errorf("no command has --%s", name)
		}
	}
}
