package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A folder where a command takes a file is one line, with a hint.
func TestFoldersAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(table, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("XDG_DATA_HOME", dir)
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"fit t.csv --schema folder --target a --epsilon 1",
		"check t.csv --schema folder --target a --epsilon 1",
		"select t.csv --schema folder --target a --epsilon 1",
		"describe t.csv --schema folder --epsilon 1",
		"fit adult --test folder --target income --epsilon 1",
		"fit sms-spam --embeddings folder --key k --epsilon 1",
		"train mnist --model folder --epsilon 1",
		"plan search mnist --space ./folder --epsilon 1 --strategy all",
		"account event folder --delta 1e-5",
		"account export folder",
		"calibrate event folder --epsilon 1 --delta 1e-5",
		"ledger book clinic --event folder --reason test",
		"ledger import folder",
		"ledger show --ledger sqlite:folder",
		"serve --roles folder",
		"audit mia --scores folder",
		"init folder",
		"init --from-smartnoise folder",
	} {
		var out, stderr bytes.Buffer
		got := run(context.Background(), strings.Fields(args), streams{in: strings.NewReader(""), out: &out, err: &stderr})
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if strings.HasPrefix(lines[0], "warning: ") { // of a new ledger
			lines = lines[1:]
		}
		if got != exitUsage || len(lines) != 2 || !strings.HasSuffix(lines[0], "folder is a directory, not a file") || strings.Count(lines[0], "folder") != 1 || !strings.HasPrefix(lines[1], "hint: name ") {
			t.Errorf("%s: status %d, %s", args, got, stderr.String())
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// What could not be printed is no success, whichever command it is: its help, and what a few print.
func TestUnwrittenOutputIsNoSuccess(t *testing.T) {
	lines := [][]string{{"--version"}, {"version"}, {"advise", "rules"}, {"advise", "rules", "--json"}, {"models", "list"}, {"data", "list"}, {"account", "dpsgd", "--sampling-rate", "0.02", "--noise-multiplier", "1.5", "--steps", "100", "--delta", "1e-5"}}
	var all func(c *cobra.Command, path []string)
	all = func(c *cobra.Command, path []string) {
		lines = append(lines, append(slices.Clone(path), "--help"))
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				all(sub, append(path, sub.Name()))
			}
		}
	}
	all((&app{}).root(), nil)
	if len(lines) < 60 {
		t.Fatalf("%d commands", len(lines))
	}
	for _, args := range lines {
		var stderr bytes.Buffer
		if got := run(context.Background(), args, streams{in: strings.NewReader(""), out: full{}, err: &stderr}); got == exitOK || stderr.String() != "error: standard output: no space left\n" {
			t.Errorf("pawl %s: status %d, %s", strings.Join(args, " "), got, stderr.String())
		}
	}
}
