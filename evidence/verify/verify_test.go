package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is compared is what was digested: after the one look at the files none is opened again. Else a file that
// changes between two looks would be compared by one text and verified by another.
func TestFilesAreReadOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.CopyFS(dir, os.DirFS("../../internal/cli/testdata/released/signed")); err != nil {
		t.Fatal(err)
	}
	f, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r, err := f.check(nil); err != nil || !r.Verified || len(r.Files) != 6 {
		t.Errorf("%+v (%v)", r, err)
	}
	f.texts["statement.json"] = []byte("{}")
	if _, err := f.check(nil); err == nil || !strings.Contains(err.Error(), "is not a statement of pawl") {
		t.Errorf("%v", err)
	}
}
