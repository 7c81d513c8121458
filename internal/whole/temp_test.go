package whole

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Of what lies in a folder a new file takes away only what a killed process has left: not what a process has open, what was
// written a moment ago and may get its name now, nor what only begins like it.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * forgotten)
	write := func(name string, when time.Time) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	write(Unfinished+"1", old)
	write(Unfinished+"2", time.Now())
	write(Unfinished+"notes", old)
	write("file", old)
	if err := os.Mkdir(filepath.Join(dir, Unfinished+"3"), 0o700); err != nil {
		t.Fatal(err)
	}
	running, err := Temp(dir) // takes 1 away
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(running.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	next, err := Temp(dir)
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
	os.Remove(next.Name())
	if _, err := os.Stat(running.Name()); err != nil {
		t.Errorf("the file of a process that runs is gone: %v", err)
	}
	running.Close()
	if next, err = Temp(dir); err != nil {
		t.Fatal(err)
	}
	next.Close()
	os.Remove(next.Name())
	only(t, dir, Unfinished+"2", Unfinished+"3", Unfinished+"notes", "file")
}
