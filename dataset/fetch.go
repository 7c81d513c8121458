package dataset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// DataDirVariable is the environment variable that names the data folder.
const DataDirVariable = "PAWL_DATA"

// maxContent bounds a file after decompression.
const maxContent = 64 << 20

// FileError says why a file of a data set cannot be used.
type FileError struct {
	Dataset, Msg, hint string
}

func (e *FileError) Error() string { return fmt.Sprintf("data set %q: %s", e.Dataset, e.Msg) }

// Hint says how to get the file.
func (e *FileError) Hint() string { return e.hint }

// content returns a file's bytes after decompression, with the SHA-256 that the
// publisher's file has.
func (b *Builtin) content(f File, dataDir string) ([]byte, error) {
	raw, where, err := b.raw(f, dataDir)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			raw, err = io.ReadAll(io.LimitReader(z, maxContent+1))
		}
		if err != nil {
			return nil, &FileError{b.Name, where + " is a damaged gzip file", ""}
		}
	}
	sum := sha256.Sum256(raw)
	// The sum that was found is not said: it would let others guess at a small file.
	if hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, &FileError{b.Name, fmt.Sprintf("%s is not the publisher's file: its SHA-256 is not %s", where, f.SHA256),
			"get the original from " + b.Source + ", or use your file by its path with a schema of its own"}
	}
	return raw, nil
}

func (b *Builtin) raw(f File, dataDir string) (raw []byte, where string, err error) {
	if b.Embedded {
		where = path.Join("files", strings.TrimSuffix(path.Base(f.Path), ".gz")+".gz")
		raw, err = files.ReadFile(where)
		return raw, where, err
	}
	if dataDir == "" {
		dataDir = os.Getenv(DataDirVariable)
	}
	how := fmt.Sprintf("put %s (%s) into a folder and name the folder with --data-dir or %s", f.Path, b.Source, DataDirVariable)
	if dataDir == "" {
		return nil, "", &FileError{b.Name, "not part of the program (" + b.Licence + ") and no data folder is named", how}
	}
	where = filepath.Join(dataDir, filepath.FromSlash(f.Path))
	file, err := os.Open(where)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", &FileError{b.Name, "the data folder has no file " + f.Path, how}
	}
	if err != nil {
		return nil, "", fmt.Errorf("data set %q: %w", b.Name, err)
	}
	defer file.Close()
	if raw, err = io.ReadAll(io.LimitReader(file, maxContent)); err != nil {
		return nil, "", fmt.Errorf("data set %q: %w", b.Name, err)
	}
	return raw, where, nil
}
