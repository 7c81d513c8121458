// Package recorded stores files that another implementation of a format wrote, so that
// tests can read them without building that implementation: it would be a third of what
// the tests build. Tests with the build tag oracle write the files afresh, and record
// them with -update.
package recorded

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
)

// Files are the files of one archive.
type Files struct {
	archive string
	load    func() (map[string][]byte, error)
	mu      sync.Mutex
	written map[string][]byte
}

// In returns the files of the zip archive of that path, which is read when the first one is needed.
func In(archive string) *Files {
	return &Files{archive: archive, written: map[string][]byte{}, load: sync.OnceValues(func() (map[string][]byte, error) { return read(archive) })}
}

func read(archive string) (map[string][]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	all := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		all[f.Name] = content
	}
	return all, nil
}

// Key names a file by what it was written from: its kind and the values, which print the same in every run.
func Key(kind string, values ...any) string {
	h := sha256.New()
	for _, v := range values {
		fmt.Fprintf(h, "%#v\n", v)
	}
	return fmt.Sprintf("%s-%x", kind, h.Sum(nil)[:8])
}

// Get returns a recorded file.
func (f *Files) Get(tb testing.TB, name string) []byte {
	tb.Helper()
	all, err := f.load()
	if err != nil {
		tb.Fatal(err)
	}
	content, ok := all[name]
	if !ok {
		tb.Fatalf("%s has no file %s: record it by go test -tags oracle -update in this directory", f.archive, name)
	}
	return bytes.Clone(content)
}

// Put notes a file that was just written, and returns it.
func (f *Files) Put(name string, content []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written[name] = bytes.Clone(content)
	return content
}

// Close ends a run of tests that wrote files, and returns its exit status: it replaces the archive by what was written,
// or, if update is false, demands that the archive has files of the same names. A failed or partial run changes nothing.
func (f *Files) Close(status int, update bool) int {
	if status != 0 {
		return status
	}
	if update {
		if err := f.save(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	all, err := f.load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name := range f.written {
		if _, ok := all[name]; !ok {
			fmt.Fprintf(os.Stderr, "%s has no file %s: record it with -update\n", f.archive, name)
			return 1
		}
	}
	return 0
}

func (f *Files) save() error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f.written)) {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.written[name]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(f.archive, b.Bytes(), 0o644)
}
