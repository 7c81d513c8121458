package source

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pawl/internal/usage"
)

// ReadFile reads a table or a pipe whole.
func ReadFile(path string) ([]byte, error) {
	if err := CheckFile(path); err != nil {
		return nil, err
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return content, unchanged(path, before)
}

// unchanged refuses a file that somebody wrote to while it was read: what was read may be
// half of the old and half of the new. What happens to it later has no effect, since
// nothing is read twice.
func unchanged(path string, before os.FileInfo) error {
	if !before.Mode().IsRegular() {
		return nil
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return usage.New(path+": the file changed while it was being read", "run the command again when nothing writes to the file")
	}
	return nil
}

// CheckFile says why a path cannot be a table. A device never ends and would
// fill the memory.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		advice := ""
		if path == "-" {
			advice = "to read standard input, use /dev/stdin"
		}
		return usage.New(fmt.Sprintf("%s: no such file", path), advice)
	case err != nil:
		return err
	case info.IsDir():
		return usage.New(fmt.Sprintf("%s is a directory, not a file", path), "name one file; join several files first")
	case info.Mode()&os.ModeDevice != 0:
		return usage.New(fmt.Sprintf("%s is a device, not a file", path), "name a file, or pipe one into /dev/stdin")
	}
	return nil
}

// SameTable reports whether two tables hold the same bytes, compressed or not.
func SameTable(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := tableSum(a)
	y, errY := tableSum(b)
	return errX == nil && errY == nil && x == y
}

// tableSum hashes what a file holds once it is unpacked; unpacked bytes are not kept.
func tableSum(content []byte) (sum [sha256.Size]byte, err error) {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return sha256.Sum256(content), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, z); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// BaseName is a file's name without folder and extensions: that of a data set.
func BaseName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// IsTable goes by the name: what is neither images nor labels is asked for a schema.
func IsTable(path string) bool {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	for _, end := range []string{".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
