package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model of a table is trained on public rows first: with hardly any budget it has their accuracy. A table of
// other columns or classes, DATA itself in any order, what the ledger knows as sensitive, and what cannot begin
// there are refused in one line, and nothing is charged.
func TestFitWithAPublicTable(t *testing.T) {
	dir := atHome(t)
	t.Chdir(dir)
	write := func(name string, lines []string, edits ...string) {
		text := strings.NewReplacer(edits...).Replace("a,b,ill\n" + strings.Join(lines, "\n") + "\n")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(seed uint64, n int) (lines []string) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for range n {
			a, b := rng.Float64(), []string{"red", "blue"}[rng.IntN(2)]
			ill := "no"
			if a > 0.3 && (b == "red" || a > 0.8) {
				ill = "yes"
			}
			lines = append(lines, fmt.Sprintf("%.12f,%s,%s", a, b, ill))
		}
		return lines
	}
	own, other, third := rows(1, 400), rows(2, 400), rows(3, 400)
	write("clinic.csv", own)
	write("open.csv", other)
	write("wards.csv", third)
	write("columns.csv", other, "a,b,ill", "a,c,ill")
	write("classes.csv", other, "yes", "maybe")
	write("empty.csv", nil)
	turned := slices.Clone(own)
	slices.Reverse(turned)
	write("turned.csv", turned)
	sealed := slices.Clone(third)
	slices.Reverse(sealed)
	write("sealed.csv", sealed)
	// Some of one's own rows among others.
	write("mixed.csv", slices.Concat(other, own[:75]))
	schema := "version: 1\nunit: row\nrows: about 400\ncolumns:\n  - {name: a, type: numeric, lower: 0, upper: 1}\n" +
		"  - {name: b, type: categorical, categories: [red, blue]}\n  - {name: ill, type: boolean}\n"
	if err := os.WriteFile("s.yaml", []byte(schema), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("private.yaml", []byte(strings.Replace(schema, "about 400", "private", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := call(t, "fit", "wards.csv", "--schema", "s.yaml", "--target", "ill", "--epsilon", "1", "--delta", "1e-4", "--out", "w"); status != 0 {
		t.Fatal(errs)
	}
	fit := func(schema string, more ...string) (int, string, string) {
		return call(t, append([]string{"fit", "clinic.csv", "--schema", schema, "--target", "ill", "--epsilon", "0.1", "--delta", "1e-4", "--out", filepath.Join(dir, "out"), "--json"}, more...)...)
	}
	for _, c := range []struct {
		schema string
		more   []string
		want   string
	}{
		{"s.yaml", []string{"--public", "none.csv"}, "none.csv"},
		{"s.yaml", []string{"--public", "columns.csv"}, `columns.csv:1: column "b"`},
		{"s.yaml", []string{"--public", "classes.csv"}, `column "ill": not a boolean`},
		{"s.yaml", []string{"--public", "empty.csv"}, "empty.csv: the file has a header and no rows"},
		{"s.yaml", []string{"--public", "clinic.csv"}, "--public clinic.csv: these are the rows of DATA itself"},
		{"s.yaml", []string{"--public", "turned.csv"}, "--public turned.csv holds rows of DATA itself"},
		{"s.yaml", []string{"--public", "wards.csv"}, "wards"},
		{"s.yaml", []string{"--public", "sealed.csv"}, `--public sealed.csv: the ledger lists these rows as the sensitive data set "wards"`},
		{"s.yaml", []string{"--public", "mixed.csv"}, "--public mixed.csv holds rows of DATA itself"},
		{"s.yaml", []string{"--public", "open.csv", "--search"}, "--search and --public exclude each other"},
		{"s.yaml", []string{"--public", "open.csv", "--model", "ebm"}, `--public: model "ebm" does not start from public rows`},
		{"private.yaml", []string{"--public", "open.csv"}, "--public needs a public number of rows"},
	} {
		status, _, errs := fit(c.schema, c.more...)
		if status != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s, want %q", c.more, status, errs, c.want)
		}
	}
	if status, _, _ := call(t, "ledger", "show", "clinic"); status != exitUsage {
		t.Error("a run that was refused is in the ledger")
	}
	status, text, errs := fit("s.yaml", "--public", "open.csv")
	if status != 0 {
		t.Fatal(errs)
	}
	var s struct {
		Privacy struct {
			NotCovered []string `json:"not_covered"`
		}
		Choice struct {
			Model           string
			Hyperparameters struct {
				Set struct {
					Name, SHA256 string
					Rows         int
				} `json:"public_set"`
				Movement float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if h := s.Choice.Hyperparameters; h.Set.Name != "open" || h.Set.Rows != 400 || len(h.Set.SHA256) != 64 || h.Movement != 0.05 || s.Choice.Model == "" {
		t.Errorf("the statement names %+v", h)
	}
	if !strings.Contains(strings.Join(s.Privacy.NotCovered, "\n"), "The public set: open (400 rows") {
		t.Errorf("the statement does not say that the table is declared public: %v", s.Privacy.NotCovered)
	}
	// At this budget a model of the clinic alone is a constant, which 56 % of the rows are.
	status, text, errs = call(t, "predict", filepath.Join("out", "model"), "wards.csv")
	if status != 0 {
		t.Fatal(errs)
	}
	right := 0
	for i, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		truth := strings.HasSuffix(third[i], ",yes")
		cells := strings.Split(line, ",")
		if slices.Contains(cells, "true") == truth {
			right++
		}
	}
	if right < 340 {
		t.Errorf("%d of 400 predictions are right", right)
	}
}
