package whole

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Fatalf("the folder holds %v (%v), want %v", entries, err, names)
	}
	for i, e := range entries {
		if e.Name() != names[i] {
			t.Fatalf("the folder holds %v, want %v", entries, names)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o644} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		for _, content := range []string{"first", "second, which is longer", ""} {
			if err := Write(path, []byte(content), mode); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode() != mode {
				t.Fatalf("%v: %v, want mode %v", err, info, mode)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != content {
				t.Errorf("reads %q (%v), want %q", got, err, content)
			}
		}
		only(t, dir, "file")
	}
}

func TestFailuresLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "file"), []byte("x"), 0o600); err == nil || strings.Contains(err.Error(), Unfinished) || !strings.Contains(err.Error(), "file") {
		t.Error("wrote into a folder that is not there")
	}
	// A folder that is not empty keeps its name, whoever writes.
	if err := os.MkdirAll(filepath.Join(dir, "taken", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "taken"), []byte("x"), 0o600); err == nil {
		t.Error("replaced a folder")
	}
	only(t, dir, "taken")
}

// A reader beside writers never sees a part, nor no file.
func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	a, b := bytes.Repeat([]byte{'a'}, 1<<16), bytes.Repeat([]byte{'b'}, 1<<16)
	if err := Write(path, a, 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, content := range [][]byte{a, b} {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, content, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for going := true; going; {
		select {
		case <-done:
			going = false
		default:
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, a) && !bytes.Equal(got, b) {
			t.Fatalf("read %d bytes, neither of the two contents (%v)", len(got), err)
		}
	}
}
