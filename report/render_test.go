package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRender writes the demonstration pages to the folder named by PAWL_REPORT_DIR,
// for a person or a browser to look at; without it the pages are only rendered.
func TestRender(t *testing.T) {
	dir := os.Getenv("PAWL_REPORT_DIR")
	for name, s := range demos() {
		var b bytes.Buffer
		if err := HTML(&b, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if dir == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
