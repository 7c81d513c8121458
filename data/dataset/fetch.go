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
	"strings"
)

// DataDirVariable is the environment variable that names the data folder.
const DataDirVariable = "PAWL_DATA"

// maxContent bounds a file, and a file after decompression.
const maxContent = 64 << 20

// FileError says why a file of a data set cannot be used.
type FileError struct {
	Dataset, Msg, hint string

	absent bool
}

func (e *FileError) Error() string { return fmt.Sprintf("data set %q: %s", e.Dataset, e.Msg) }

// Hint says how to get the file.
func (e *FileError) Hint() string { return e.hint }

// ExitStatus is that of wrong usage or data.
func (e *FileError) ExitStatus() int { return 2 }

// Find says whether all files are part of the program or in a folder: nil, or an
// error that says which is missing and how to get it. Nothing is read.
func (i *Info) Find(dataDir string) error {
	if i.Embedded {
		return nil
	}
	for _, f := range i.Files {
		if _, err := i.locate(f, dataDir); err != nil {
			return err
		}
	}
	return nil
}

// FindAll is Find for built-in data sets of any kind and for others: the error is that of the first one that is missing,
// and names the rest. A set that a Go module carries is fetched, like by ImageSet.Train.
func FindAll(dataDir string, names []string, others ...Info) error {
	var first *FileError
	var rest []string
	missing := func(name string, err error) error {
		var absent *FileError
		switch {
		case err == nil:
		case !errors.As(err, &absent):
			return err
		case first == nil:
			first = absent
		default:
			rest = append(rest, name)
		}
		return nil
	}
	for _, name := range names {
		i, ok := Describe(name)
		if !ok {
			return fmt.Errorf("no built-in data set %q", name)
		}
		err := i.Find(dataDir)
		if s, ok := Images(name); ok && err != nil && s.module != (module{}) {
			_, err = s.contentOrModule(s.Files[0], dataDir)
		}
		if err := missing(name, err); err != nil {
			return err
		}
	}
	for _, i := range others {
		if err := missing(i.Name, i.Find(dataDir)); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	if len(rest) > 0 {
		first.Msg += " (" + strings.Join(rest, ", ") + " missing as well)"
	}
	return first
}

// Verify is Find and compares every file's content with its checksum.
func (i *Info) Verify(dataDir string) error {
	for _, f := range i.Files {
		if _, err := i.content(f, dataDir); err != nil {
			return err
		}
	}
	return nil
}

// Content returns the content of a file from a data folder, after decompression and a comparison of
// its checksum. Errors are *FileError or of the file system.
func (i *Info) Content(f File, dataDir string) ([]byte, error) { return i.content(f, dataDir) }

// content returns a file's bytes after decompression, with the SHA-256 that the
// publisher's file has.
func (i *Info) content(f File, dataDir string) ([]byte, error) {
	if i.Embedded {
		where := path.Join("files", strings.TrimSuffix(path.Base(f.Path), ".gz")+".gz")
		raw, err := files.ReadFile(where)
		if err != nil {
			return nil, err
		}
		return i.checked(f, raw, where)
	}
	where, err := i.locate(f, dataDir)
	if err != nil {
		return nil, err
	}
	raw, err := readBounded(where)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", i.Name, err)
	}
	return i.checked(f, raw, where)
}

// checked decompresses what was found at a place and compares its checksum.
func (i *Info) checked(f File, raw []byte, where string) ([]byte, error) {
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			raw, err = io.ReadAll(io.LimitReader(z, maxContent+1))
		}
		if err != nil {
			return nil, &FileError{Dataset: i.Name, Msg: where + " is a damaged gzip file", hint: "get it again from " + i.Source}
		}
	}
	sum := sha256.Sum256(raw)
	// The sum that was found is not said: it would let others guess at a small file.
	if hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, &FileError{Dataset: i.Name, Msg: fmt.Sprintf("%s is not the publisher's file: its SHA-256 is not %s", where, f.SHA256),
			hint: "get the original from " + i.Source + ", or give the path of your file, with its own schema"}
	}
	return raw, nil
}

func (i *Info) locate(f File, dataDir string) (string, error) {
	where, err := locate(f.Path, dataDir)
	switch {
	case err == nil:
		return where, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("data set %q: %w", i.Name, err)
	case dataDir == "" && os.Getenv(DataDirVariable) == "":
		return "", &FileError{i.Name, "not part of the program (" + i.Licence + ") and no data folder is named", i.how(f), true}
	}
	return "", &FileError{i.Name, "the data folder has no file " + f.Path, i.how(f), true}
}

// how says how a person gets a file.
func (i *Info) how(f File) string {
	if i.fetched {
		return fmt.Sprintf("pawl data get %s; or %s", i.Name, i.by(f))
	}
	return i.by(f)
}

// by is how without pawl's help.
func (i *Info) by(f File) string {
	return fmt.Sprintf("put %s (%s; SHA-256 of the content %s) into a folder and name the folder with --data-dir or %s",
		f.Path, i.Source, f.SHA256, DataDirVariable)
}
