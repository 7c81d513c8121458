package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/data/dataset"
)

// A stored result is shown, written as pages and checked; what cannot be had is one line.
func TestReproduceStored(t *testing.T) {
	dir := atHome(t)
	t.Setenv(dataset.DataDirVariable, "")
	store, pages := filepath.Join(dir, "store"), filepath.Join(dir, "pages")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"dfs-example-1 --scale smoke --out OUT --store STORE", 0, "claim: noise turns the order"},
		{"dfs-example-1 --scale smoke --out OUT --store STORE --nats nats://127.0.0.1:1", 2, "names the one machine"},
		{"show --store STORE --html PAGES", 0, "dfs-example-1  smoke"},
		{"show dfs-example-1 --store STORE", 0, "stored: "},
		{"check dfs-example-1 --store STORE", 0, "the same bits again"},
		{"check dfs-example-1 --store STORE --cell nothing", 2, `no cell whose name contains "nothing"`},
		{"check dfs-exampl-1 --store STORE", 2, `did you mean "dfs-example-1"?`},
		{"show table-10 --store STORE", 2, `has no stored result of "table-10"`},
		{"show --store NOWHERE", 2, "is not a folder of stored results"},
		{"list", 0, "not shown: "},
		{"list", 0, "Times are those of stored results ("},
		{"selection-study --out OUT", 2, `data set "insurance": not part of the program (no clear licence) and no data folder is named (location30 missing as well)`},
	} {
		args := strings.Fields(strings.NewReplacer("OUT", filepath.Join(dir, "out"), "STORE", store, "PAGES", pages, "NOWHERE", filepath.Join(dir, "nowhere")).Replace(c.args))
		status, stdout, stderr := call(t, append([]string{"reproduce"}, args...)...)
		if status != c.status || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: status %d, want %d and %q\n%s%s", c.args, status, c.status, c.want, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(pages, "dfs-example-1.html")); err != nil {
		t.Error(err)
	}
	file := filepath.Join(store, "dfs-example-1.json")
	content, err := os.ReadFile(file)
	must(t, err, os.WriteFile(file, []byte(strings.Replace(string(content), `"version": 1`, `"version": 2`, 1)), 0o644))
	if status, _, stderr := call(t, "reproduce", "check", "dfs-example-1", "--store", store); status != 2 || !strings.Contains(stderr, "stored result of version 2") {
		t.Errorf("another version: status %d\n%s", status, stderr)
	}
}
