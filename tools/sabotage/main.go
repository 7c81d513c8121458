// Command sabotage weakens core, and the scoring code, one line at a time, and checks that pawl audit, or a test,
// detects it. It never changes the tree: the changed file is an overlay for one build. The
// result is the table of docs/SABOTAGE.md.
//
//	go run ./tools/sabotage                # all, some seconds each
//	go run ./tools/sabotage -check         # check only that every line still occurs in its file, once
//	go run ./tools/sabotage -only boosting # those with this word; the other rows of the table remain
//
// It runs in the root of the module. Exit status 1: a sabotage was not detected, a line
// no longer matches, or the honest build was rejected.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const table = "docs/SABOTAGE.md"

func main() {
	check := flag.Bool("check", false, "only check that every line still matches")
	only := flag.String("only", "", "only those whose description or file contains one of these words, separated by commas")
	flag.Parse()
	if err := run(*check, *only); err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		os.Exit(1)
	}
}

func run(check bool, only string) error {
	work, err := os.MkdirTemp("", "sabotage")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	rows := readTable()
	bad := 0
	if !check && only == "" {
		result := try(work, sabotage{what: honest, audits: mechanism("all")})
		if rows[honest] = row(honest, "", result); result != free {
			bad++
		}
		fmt.Println(rows[honest])
	}
	for _, s := range sabotages {
		if _, err := patched(s); err != nil {
			bad++
			fmt.Printf("%s: %v\n", s.what, err)
			rows[s.what] = row(s.what, s.file, "not tried: the line no longer matches")
			continue
		}
		wanted := func(word string) bool { return strings.Contains(s.what, word) || strings.Contains(s.file, word) }
		if check || !slices.ContainsFunc(strings.Split(only, ","), wanted) {
			continue
		}
		result := try(work, s)
		if strings.HasPrefix(result, free) || strings.HasPrefix(result, broken) {
			bad++
		}
		rows[s.what] = row(s.what, s.file, result)
		fmt.Println(rows[s.what])
		if err := writeTable(rows); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d sabotages failed", bad, len(sabotages))
	}
	return nil
}

const (
	honest = "none: the honest build"
	free   = "NOT detected"
	broken = "no build or no audit"
)

// patched is the file with the line changed.
func patched(s sabotage) ([]byte, error) {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return nil, err
	}
	forms := []line{{s.old, s.new}}
	if s.or != nil {
		forms = append(forms, *s.or)
	}
	for _, f := range forms {
		if bytes.Count(text, []byte(f.old)) == 1 {
			return bytes.Replace(text, []byte(f.old), []byte(f.new), 1), nil
		}
	}
	return nil, fmt.Errorf("%s: the line does not occur exactly once: %q", s.file, s.old)
}

// try builds pawl with a sabotage and runs its audits. It returns what detected it.
func try(work string, s sabotage) string {
	binary := filepath.Join(work, "pawl")
	args := []string{"build", "-o", binary}
	if s.file != "" {
		text, err := patched(s)
		if err != nil {
			return broken + ": " + err.Error()
		}
		changed, overlay := filepath.Join(work, "changed.go"), filepath.Join(work, "overlay.json")
		path, err := filepath.Abs(s.file)
		replace, failed := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
		if err := errors.Join(err, failed, os.WriteFile(changed, text, 0o644), os.WriteFile(overlay, replace, 0o644)); err != nil {
			return broken + ": " + err.Error()
		}
		args = append(args, "-overlay", overlay)
	}
	// One specification runs in a small program of the same package that builds in seconds;
	// everything else in pawl itself.
	built := ""
	failure := ""
	for _, audit := range s.audits {
		words := strings.Fields(audit)
		if words[0] == "test" {
			out, err := exec.Command("go", append([]string{"test", "-count=1", "-run", "^" + words[2] + "$"}, append(slices.Clone(args[3:]), words[1])...)...).CombinedOutput()
			if err != nil && bytes.Contains(out, []byte("--- FAIL: "+words[2])) {
				return "`go test " + words[1] + " -run " + words[2] + "`"
			}
			if err != nil {
				failure = broken + ": " + lastLine(out)
			}
			continue
		}
		of, command := "./cmd/pawl", append(append([]string{"audit"}, words...), "--json", "--seed", "1")
		if words[0] == "mechanism" && words[2] != "all" {
			of, command = "./tools/sabotage/quick", words[2:]
		}
		if of != built {
			if out, err := exec.Command("go", append(slices.Clone(args), of)...).CombinedOutput(); err != nil {
				return broken + ": " + lastLine(out)
			}
			built = of
		}
		c := exec.Command(binary, command...)
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+work)
		var out, faults bytes.Buffer
		c.Stdout, c.Stderr = &out, &faults
		err := c.Run()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == 4:
			return "`audit " + audit + "`: " + evidence(out.Bytes())
		case err != nil:
			failure = broken + ": " + lastLine(faults.Bytes())
		}
	}
	if failure != "" {
		return failure
	}
	return free
}

// evidence describes the first test that rejects.
func evidence(out []byte) string {
	type check struct {
		What      string  `json:"test"`
		Statistic float64 `json:"statistic"`
		Expected  float64 `json:"expected"`
		Convicted bool    `json:"convicted"`
	}
	type specification struct {
		Checks []check `json:"tests"`
	}
	var got struct {
		Specification  []check         `json:"specification"` // of a canary audit
		Specifications []specification `json:"specifications"`
	}
	if err := json.Unmarshal(out, &got); err == nil {
		for _, s := range append(got.Specifications, specification{got.Specification}) {
			for _, c := range s.Checks {
				if c.Convicted {
					return fmt.Sprintf("%s (%.3g, honest %.3g)", c.What, c.Statistic, c.Expected)
				}
			}
		}
	}
	return "the claim"
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func row(what, file, result string) string {
	return fmt.Sprintf("| %s | %s | %s |", what, file, strings.ReplaceAll(result, "|", "/"))
}

const head = `# Sabotages, and what detects them

` + "`go run ./tools/sabotage`" + ` makes this table. It changes one line of core at a time (tools/sabotage/data.go
holds the old and the new line), builds the audits and runs them as ` + "`pawl audit`" + ` does. Each sabotage halves a noise or more,
drops a factor of √2 or more, or removes a clip, a charge or a bound. The named audit rejects it at 99.9 % confidence over all tests of a
command; a test detects a fault in code outside core. Each row gives the last run of its sabotage, in brackets the statistic and its value in an honest build.

| sabotage | file | detected by |
|---|---|---|
`

// readTable keeps the rows of sabotages that are not tried now.
func readTable() map[string]string {
	rows := map[string]string{}
	text, _ := os.ReadFile(table)
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(line)
		}
	}
	return rows
}

// writeTable writes the rows in the order of the data.
func writeTable(rows map[string]string) error {
	var out strings.Builder
	out.WriteString(head)
	for _, s := range append([]sabotage{{what: honest}}, sabotages...) {
		line, ok := rows[s.what]
		if !ok {
			line = row(s.what, s.file, "not tried yet")
		}
		out.WriteString(line + "\n")
	}
	return os.WriteFile(table, []byte(out.String()), 0o644)
}
