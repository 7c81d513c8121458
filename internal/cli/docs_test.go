package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var updateDocs = flag.Bool("update", false, "write docs/reference from the commands")

// The reference is generated from the commands, so that it cannot promise a flag that is
// gone or omit one that is new.
func TestReference(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "reference")
	want := reference(t, (&app{}).root())
	if *updateDocs {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	there, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, file := range there {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		have[filepath.Base(file)] = string(text)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("docs/reference is out of date: run go test ./internal/cli -run TestReference -update\n(-commands +docs/reference)\n%s", diff)
	}
}

// reference returns the pages of the reference by file name: one for each command, with
// its subcommands, and an index.
func reference(t *testing.T, root *cobra.Command) map[string]string {
	root.InitDefaultHelpFlag()
	pages := map[string]string{}
	var index strings.Builder
	index.WriteString("# Commands\n\nGenerated from the commands by `go test ./internal/cli -run TestReference -update`; `pawl COMMAND --help` prints the same.\n")
	grouped := 0
	for _, g := range verbGroups {
		fmt.Fprintf(&index, "\n| %s | |\n|---|---|\n", g.title)
		for _, name := range strings.Fields(g.names) {
			c, _, err := root.Find([]string{name})
			if err != nil || c == root {
				continue
			}
			grouped++
			var page strings.Builder
			command(&page, c, "#")
			pages[name+".md"] = page.String()
			entries(&index, c, name+".md")
		}
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			grouped--
		}
	}
	if grouped != 0 {
		t.Errorf("a command is in no group of the help, or in two")
	}
	index.WriteString("\n## Flags of every command\n\n")
	var global []*pflag.Flag
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { global = append(global, f) })
	flags(&index, "flag", global)
	index.WriteString(`## Exit status

| status | meaning |
|---|---|
`)
	for _, s := range []struct {
		status  int
		meaning string
	}{
		{exitOK, "done"},
		{exitOther, "any other error"},
		{exitUsage, "bad usage or bad data"},
		{exitRefused, "the ledger refuses the job"},
		{exitFailed, "a privacy check failed"},
	} {
		fmt.Fprintf(&index, "| %d | %s |\n", s.status, s.meaning)
	}
	index.WriteString(`
## Environment variables

All are optional.

| variable | meaning |
|---|---|
| ` + "`PAWL_LEDGER`" + ` | ledger to charge, if --ledger is absent |
| ` + "`PAWL_DATA`" + ` | folder of downloaded data sets, if --data-dir is absent |
| ` + "`PAWL_KERNEL`" + ` | arithmetic to use instead of the fastest available: avx512, avx2 or portable; the weights differ in their last digits |
| ` + "`PGPASSWORD`" + ` | password of a PostgreSQL ledger (or ~/.pgpass) |
| ` + "`XDG_DATA_HOME`, `XDG_STATE_HOME`" + ` | folders of the user's own ledger and of its second place (default: ~/.local/share, ~/.local/state) |
`)
	pages["README.md"] = index.String()
	return pages
}

// entries lists c and its subcommands in a table.
func entries(w *strings.Builder, c *cobra.Command, page string) {
	anchor := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(w, "| [`%s`](%s#%s) | %s |\n", c.CommandPath(), page, anchor, inCell(c.Short))
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			entries(w, sub, page)
		}
	}
}

// command writes the section of c, and below it those of its subcommands.
func command(w *strings.Builder, c *cobra.Command, level string) {
	fmt.Fprintf(w, "%s %s\n\n", level, c.CommandPath())
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	for _, block := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if lines := strings.Split(block, "\n"); slices.ContainsFunc(lines, tabular) {
			fmt.Fprintf(w, "```text\n%s\n```\n\n", block)
		} else {
			fmt.Fprintf(w, "%s\n\n", inText(block))
		}
	}
	if c.Runnable() && !c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "```text\n%s\n```\n\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(w, "```sh\n%s\n```\n\n", unindent(c.Example))
	}
	var own []*pflag.Flag
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { own = append(own, f) })
	if c.Flags().Lookup("schema") != nil {
		for _, g := range flagGroups {
			names := strings.Fields(g.names)
			var of []*pflag.Flag
			own = slices.DeleteFunc(own, func(f *pflag.Flag) bool {
				in := slices.Contains(names, f.Name)
				if in {
					of = append(of, f)
				}
				return in
			})
			flags(w, g.title, of)
		}
		flags(w, "Other", own)
	} else {
		flags(w, "Flags", own)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			command(w, sub, level+"#")
		}
	}
	if level == "#" {
		text := strings.TrimRight(w.String(), "\n") + "\n"
		w.Reset()
		w.WriteString(text)
	}
}

// tabular reports whether a line depends on its spacing.
func tabular(line string) bool {
	return strings.HasPrefix(line, " ") || strings.Contains(line, "  ")
}

func unindent(example string) string {
	lines := strings.Split(example, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// flags writes a table of the flags that help shows.
func flags(w *strings.Builder, title string, list []*pflag.Flag) {
	list = slices.DeleteFunc(list, func(f *pflag.Flag) bool { return f.Hidden || f.Deprecated != "" || f.Name == "help" })
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "| %s | |\n|---|---|\n", inCell(title))
	for _, f := range list {
		name, usage := "--"+f.Name, f.Usage
		if f.Value.Type() != "bool" {
			name += " " + metavar(f)
		}
		if !strings.Contains(usage, "(default") && !zero(f) {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(w, "| `%s` | %s |\n", name, inCell(usage))
	}
	w.WriteString("\n")
}

// inText escapes what Markdown would read as markup.
func inText(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}

func inCell(s string) string { return strings.ReplaceAll(inText(s), "|", `\|`) }

// shellBlocks returns the lines of the sh blocks of a Markdown file, with continued lines
// joined, comments taken off and the text of here-documents left out.
func shellBlocks(text []byte) []string {
	var all []string
	inside, end := false, ""
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case end != "":
			if line == end {
				end = ""
			}
		case strings.HasPrefix(line, "```"):
			inside = !inside && line == "```sh"
		case inside:
			if before, word, ok := strings.Cut(line, "<<"); ok {
				end = strings.Trim(word, "'")
				line = before
			}
			line, _, _ = strings.Cut(line, " #")
			if n := len(all); n > 0 && strings.HasSuffix(all[n-1], `\`) {
				all[n-1] = strings.TrimSuffix(all[n-1], `\`) + line
			} else {
				all = append(all, line)
			}
		}
	}
	return all
}

// fields splits a line of shell into words: quotes hold words together, and the words of
// a redirection or of another command are left out.
func fields(line string) []string {
	var words []string
	var word strings.Builder
	quote := rune(0)
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && r == ' ':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{">", "|", "||", "&&", ";", "2>"}, w) }); i >= 0 {
		words = words[:i]
	}
	return words
}

// Every command in the documents has a verb and flags that exist, and the arguments that
// the verb wants.
func TestCommandsInDocs(t *testing.T) {
	var files []string
	for _, pattern := range []string{"README.md", "core/README.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	commands := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shellBlocks(text) {
			words := fields(line)
			for len(words) > 0 && strings.Contains(words[0], "=") {
				words = words[1:]
			}
			if len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/pawl" {
				words = words[2:]
			}
			if len(words) == 0 || filepath.Base(words[0]) != "pawl" {
				continue
			}
			commands++
			a := &app{}
			c, rest, err := a.root().Find(words[1:])
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err == nil && !slices.Contains(rest, "--help") {
				err = c.ValidateRequiredFlags()
			}
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), strings.TrimSpace(line), err)
			}
		}
	}
	if commands < 50 {
		t.Errorf("found %d commands: is this still the way to find them?", commands)
	}
}

// Links between the documents lead to files that are there.
func TestLinksInDocs(t *testing.T) {
	root := filepath.Join("..", "..")
	var files []string
	for _, pattern := range []string{"README.md", "core/README.md", "docs/*.md", "docs/*/*.md"} {
		found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range bytes.Split(text, []byte("]("))[1:] {
			target, _, _ := bytes.Cut(part, []byte(")"))
			path, _, _ := strings.Cut(string(target), "#")
			if path == "" || strings.Contains(path, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), path)); err != nil {
				t.Errorf("%s: link to %s leads nowhere", filepath.Base(file), target)
			}
		}
	}
}

// block is a piece of shell of the tutorial and the output that the page shows below it.
type block struct {
	shell string
	shows []string
}

func tutorial(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for i, part := range strings.Split(string(text), "```") {
		if i%2 == 0 {
			continue
		}
		kind, body, _ := strings.Cut(part, "\n")
		switch {
		case kind == "sh":
			blocks = append(blocks, block{shell: body})
		case kind == "text" && len(blocks) > 0:
			last := &blocks[len(blocks)-1]
			last.shows = append(last.shows, strings.Split(strings.TrimSpace(body), "\n")...)
		default:
			t.Fatalf("the tutorial has a block of kind %q", kind)
		}
	}
	return blocks
}

var (
	numbers = regexp.MustCompile(`[0-9a-f]{8,}|[0-9]+([.:e-][0-9]+)*`)
	spaces  = regexp.MustCompile(`\s+`)
)

// shape is a line without what differs from run to run and from user to user.
func shape(line, user string) string {
	line = regexp.MustCompile(`\b`+regexp.QuoteMeta(user)+`\b`).ReplaceAllString(line, "root")
	return strings.TrimSpace(spaces.ReplaceAllString(numbers.ReplaceAllString(line, "0"), " "))
}

// The tutorial works as it stands: its blocks, pasted into a shell with an empty home,
// print what the page shows, up to numbers, and give the files that it names. Only the
// build is replaced, by this test binary.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "examples", "patients", "patients.csv"))
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	const separator, build = "=== block\n", "go build -o first/ ./cmd/pawl\n"
	blocks := tutorial(t)
	var script strings.Builder
	for _, b := range blocks {
		script.WriteString("printf '" + strings.ReplaceAll(separator, "\n", `\n`) + "'\n" + b.shell)
	}
	if !strings.Contains(script.String(), build) {
		t.Fatalf("the tutorial does not build the program by %s", build)
	}
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "examples", "patients"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "examples", "patients", "patients.csv"), table, 0o644))
	must(os.Mkdir(filepath.Join(dir, "first"), 0o755))
	must(os.Symlink(program(t), filepath.Join(dir, "first", "pawl")))
	shell := exec.Command("bash", "-c", strings.Replace(script.String(), build, "", 1))
	shell.Dir = dir
	shell.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := shell.CombinedOutput()
	if err == nil || shell.ProcessState.ExitCode() != exitRefused {
		t.Errorf("the last command ends with %v, want status %d", err, exitRefused)
	}
	for i, printed := range strings.Split(string(out), separator)[1:] {
		have := map[string]bool{}
		for _, line := range strings.Split(printed, "\n") {
			have[shape(line, me.Username)] = true
		}
		for _, line := range blocks[i].shows {
			if !have[shape(line, me.Username)] {
				t.Errorf("the tutorial shows a line that is not printed:\n%s\nof:\n%s", line, printed)
			}
		}
	}
	for _, name := range []string{"out/report.html", "out/statement.json", "out/README.md", "predictions.csv"} {
		if info, err := os.Stat(filepath.Join(dir, "first", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: missing or empty (%v)", name, err)
		}
	}
}
