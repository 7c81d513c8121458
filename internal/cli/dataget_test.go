package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/data/dataset"
)

// A publisher that serves the files of a data folder: what was got is found, and is
// not got twice.
func TestDataGet(t *testing.T) {
	from := os.Getenv(dataset.DataDirVariable)
	if from == "" {
		from = "../../../shared/data"
	}
	s, _ := dataset.Images("fashion-mnist")
	if s.Find(from) != nil {
		t.Skipf("no folder with fashion-mnist: set %s", dataset.DataDirVariable)
	}
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	from, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(dataset.DataDirVariable, "")
	server := httptest.NewServer(http.FileServer(http.Dir(from)))
	defer server.Close()
	get := func(args ...string) (string, string) {
		t.Helper()
		var out, log bytes.Buffer
		if status := run(context.Background(), append([]string{"data"}, args...), streams{out: &out, err: &log}); status != exitOK {
			t.Fatalf("pawl data %s: exit status %d: %s", strings.Join(args, " "), status, log.String())
		}
		return out.String(), log.String()
	}

	address := server.URL + "/fashion-mnist"
	_, log := get("get", "fashion-mnist", "--from", address)
	if n := strings.Count(log, "  downloading "+address+"/"); n != 4 {
		t.Errorf("%d downloads are said:\n%s", n, log)
	}
	text, log := get("get", "fashion-mnist", "--from", address, "--json")
	var again gotJSON
	if err := json.Unmarshal([]byte(text), &again); err != nil {
		t.Fatal(err)
	}
	if len(again.Files) != 4 || !again.Files[0].Already || log != "" {
		t.Errorf("got again: %s, stderr %q", text, log)
	}
	if text, _ = get("list"); !strings.Contains(text, "needs a data folder (found)") {
		t.Errorf("not found in the list:\n%s", text)
	}
	if text, _ = get("describe", "fashion-mnist"); !strings.Contains(text, "in the data folder, checksum correct") {
		t.Errorf("not right:\n%s", text)
	}
}
