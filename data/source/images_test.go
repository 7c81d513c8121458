package source

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// A budget belongs to the name, so a folder has one name however its path is written.
func TestNamesOfFolders(t *testing.T) {
	root := t.TempDir()
	for _, class := range []string{"ill", "well"} {
		if err := os.MkdirAll(filepath.Join(root, "scans.v2", class), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(root, "scans.v2", class, "1.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	t.Chdir(filepath.Join(root, "scans.v2"))
	for _, path := range []string{".", "./", "ill/..", "../scans.v2", "../scans.v2/", filepath.Join(root, "scans.v2")} {
		p, err := OpenOwnImages(path, "", "")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if p.Name != "scans.v2" {
			t.Errorf("%s is called %q", path, p.Name)
		}
	}
}
