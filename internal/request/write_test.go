package request

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A name that was free before a run and is taken after it: what was paid for goes beside.
func TestPaidFilesAreNotLost(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(w io.Writer) error { _, err := io.WriteString(w, "paid"); return err }
	holds := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	mine := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mine("b.yaml")
	mine("b-2.yaml")
	said := ""
	note := func(text string) { said += text }
	if path, err := WritePaid(note, "b.yaml", false, put); err != nil || path != "b-3.yaml" || !strings.Contains(said, "the results are in b-3.yaml") {
		t.Errorf("%q, %v, %q", path, err, said)
	}
	holds("b.yaml", "mine")
	holds("b-3.yaml", "paid")
	if path, err := WritePaid(note, "b.yaml", true, put); err != nil || path != "b.yaml" {
		t.Errorf("%q, %v", path, err)
	}
	holds("b.yaml", "paid")
	if path, err := WritePaid(note, "gone/b.yaml", false, put); err == nil {
		t.Errorf("written to %q", path)
	}
	// An error of the disk names the file that was asked for, and nothing is left of another.
	full := func(w io.Writer) error {
		files, _ := filepath.Glob(".pawl-*")
		return &os.PathError{Op: "write", Path: "./" + files[0], Err: syscall.ENOSPC}
	}
	if _, err := WritePaid(note, "c.yaml", false, full); err == nil || err.Error() != "c.yaml cannot be written: no space left on device" {
		t.Error(err)
	}
	if files, _ := filepath.Glob("[.c]*"); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}
