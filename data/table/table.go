// Package table opens what a table is kept in, by its name on the command line: standard input; a file, packed
// or not; many files as one; a member of an archive; a sheet of a workbook; a table or a query of
// a database. Whatever it is, the bytes that are digested are those that are
// parsed, and nothing that changes meanwhile is mixed: it is read once and whole, or where it lies, and then refused
// if another reading finds other bytes.
//
// It knows no schema and no ledger. Errors are usage errors of one line without a cell and
// without a password.
package table

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pawl/internal/usage"
	"pawl/reader"
)

// Stdin is the argument that stands for standard input; a file of this name is ./-.
const Stdin = "-"

// shownStdin is standard input in messages.
const shownStdin = "standard input"

// name is what an argument names.
type name struct {
	// text stands for it in errors: the argument, and of a database what may be shown.
	text string
	// files are their paths, sorted; nil for a database and for standard input.
	files []string
	// inner is the member of an archive or the sheet of a workbook, "" for the only one.
	inner string
	db    *database
}

// parse says what an argument names. Files are not opened.
func parse(arg string) (*name, error) {
	if isDatabase(arg) {
		d, err := parseDatabase(arg)
		if err != nil {
			return nil, err
		}
		return &name{text: d.shown, db: d}, nil
	}
	if arg == Stdin {
		return &name{text: shownStdin}, nil
	}
	if err := NotAddress(arg); err != nil {
		return nil, err
	}
	n := &name{text: arg, files: []string{arg}}
	if _, err := os.Stat(arg); err == nil {
		return n, nil
	}
	if outer, inner, ok := strings.Cut(arg, "#"); ok && inner != "" {
		if info, err := os.Stat(outer); err == nil && !info.IsDir() {
			n.files[0], n.inner = outer, inner
			return n, nil
		}
	}
	if !strings.ContainsAny(arg, "*?[") {
		return n, CheckFile(arg)
	}
	var err error
	if n.files, err = filepath.Glob(arg); err != nil {
		return nil, usage.New(fmt.Sprintf("%s: not a pattern of file names", arg), "* stands for any letters, ? for one; write [ as [[]")
	}
	if len(n.files) == 0 {
		return nil, usage.New(fmt.Sprintf("%s: no file matches this pattern", arg), "quote a pattern, so that the shell does not expand it: 'visits-*.csv'")
	}
	slices.Sort(n.files)
	return n, nil
}

// Holds says that path is one of the files that an argument stands for.
func Holds(arg, path string) bool {
	n, err := parse(arg)
	info, missing := os.Stat(path)
	if err != nil || missing != nil || !info.Mode().IsRegular() {
		return false
	}
	if n.db != nil && !n.db.server {
		n.files = []string{n.db.address}
	}
	return slices.ContainsFunc(n.files, func(file string) bool {
		i, err := os.Stat(file)
		return err == nil && os.SameFile(i, info)
	})
}

// Foreign says that an argument can be neither the name of a built-in data set nor that of one
// file or folder: standard input, a pattern, a part of a file, or a database.
func Foreign(arg string) bool {
	if isDatabase(arg) || arg == Stdin {
		return true
	}
	if _, err := os.Stat(arg); err == nil {
		return false
	}
	return strings.ContainsAny(arg, "*?[#")
}

// Read reads a table.
func Read(arg string) (*reader.Content, error) {
	n, err := parse(arg)
	if err != nil {
		return nil, err
	}
	if n.db != nil {
		rows, err := n.db.read(false)
		if err != nil {
			return nil, err
		}
		return reader.NewContent(n.text, reader.Part{Name: n.text, Rows: rows}), nil
	}
	var parts []reader.Part
	if arg == Stdin {
		p, err := readOpen(n.text, "", os.Stdin)
		if err != nil {
			return nil, err
		}
		if p.Stored == nil && len(p.Bytes) == 0 {
			return nil, usage.New(shownStdin+" is empty", "pipe a table with its header line into the command; it is read once")
		}
		parts = append(parts, p)
	}
	for _, path := range n.files {
		p, err := readPart(path, n.inner)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return reader.NewContent(n.text, parts...), nil
}

// Propose names the columns and says how a file of text seems to be written, by its first
// line alone; see reader.Propose. It reads no row of a database: it asks its catalogue.
func Propose(arg string, keys reader.Keys, sure bool) (*reader.Proposal, error) {
	n, err := parse(arg)
	if err != nil {
		return nil, err
	}
	var c *reader.Content
	if n.db != nil {
		rows, err := n.db.read(true)
		if err != nil {
			return nil, err
		}
		c = reader.NewContent(n.text, reader.Part{Name: n.text, Rows: rows})
	} else if c, err = Read(arg); err != nil {
		return nil, err
	}
	return c.Propose(keys, sure)
}

// readPart reads one file, unpacks it and picks the member or the sheet.
func readPart(path, inner string) (reader.Part, error) {
	if err := CheckFile(path); err != nil {
		return reader.Part{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return reader.Part{}, err
	}
	defer f.Close()
	return readOpen(path, inner, f)
}

// readOpen is readPart for an open file, which name stands for in errors.
func readOpen(name, inner string, f *os.File) (reader.Part, error) {
	most := int64(mostHeld)
	if inner != "" {
		most = math.MaxInt64 - 1
	}
	p, content, err := readStored(name, f, most)
	if err != nil || p.Stored != nil {
		return p, err
	}
	return unpack(name, inner, content)
}

// ReadFile reads a file or a pipe whole and as it is.
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
	return content, Unchanged(path, before)
}

// Unchanged refuses a file that somebody wrote to while it was read: what was read may be
// half of the old and half of the new. What happens to it later has no effect, since
// nothing is read twice.
func Unchanged(path string, before os.FileInfo) error {
	if !before.Mode().IsRegular() {
		return nil
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return usage.New(path+": the file changed while it was being read", "run the command again when no program is writing to the file")
	}
	return nil
}

// CheckFile says why a path cannot be a table. A device never ends and would
// fill the memory.
func CheckFile(path string) error {
	if err := NotAddress(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return usage.New(fmt.Sprintf("%s: no such file", path), "")
	case err != nil:
		return err
	case info.IsDir():
		return usage.New(fmt.Sprintf("%s is a directory, not a file", path), fmt.Sprintf("name one file, or several of the same columns by a pattern: '%s'", filepath.Join(path, "*.csv")))
	case info.Mode()&os.ModeDevice != 0:
		return usage.New(fmt.Sprintf("%s is a device, not a file", path), "name a file, or pipe one into the command and name it -")
	}
	return nil
}

// formats are the endings of tables.
var formats = []string{".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".xlsx"}

// Named goes by the name alone: what is neither images nor labels is asked for a schema.
func Named(arg string) bool {
	if isDatabase(arg) {
		return true
	}
	path := strings.ToLower(arg)
	if outer, _, ok := strings.Cut(path, "#"); ok {
		path = outer
	}
	if strings.HasSuffix(path, ".zip") {
		return true
	}
	return slices.ContainsFunc(formats, func(end string) bool { return strings.HasSuffix(reader.WithoutPacking(path), end) })
}

// descriptor is a path to what a process has open, whatever that is.
var descriptor = regexp.MustCompile(`^/dev/(stdin|fd/\d+)$|^/proc/[^/]+/fd/`)

// BaseName is the name of a data set by that of its file, without folder and extensions; of a
// pattern what its files have in common; of a database that of the table, and "" of a query, of standard input and of
// any other pipe.
func BaseName(arg string) string {
	if arg == Stdin {
		return ""
	}
	if isDatabase(arg) {
		d, err := parseDatabase(arg)
		if err != nil {
			return ""
		}
		return d.table
	}
	path, inner := arg, ""
	switch info, err := os.Stat(arg); {
	case err != nil:
		path, inner, _ = strings.Cut(arg, "#")
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0, descriptor.MatchString(filepath.ToSlash(filepath.Clean(arg))):
		return "" // what a shell hands over: /dev/stdin, or /dev/fd/63, which has another number the next time
	}
	base := reader.WithoutPacking(filepath.Base(path))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if Foreign(path) {
		base = strings.Trim(strings.Map(func(r rune) rune {
			if strings.ContainsRune("*?[]", r) {
				return ' '
			}
			return r
		}, base), " -_.")
		base = strings.Join(strings.Fields(base), "-")
		if base == "" && filepath.Dir(path) != "." {
			base = filepath.Base(filepath.Dir(path))
		}
	}
	if inner != "" {
		inner = filepath.Base(inner)
		base += "-" + strings.TrimSuffix(inner, filepath.Ext(inner))
	}
	return base
}

// Dir is the folder beside whose files a schema is written: that of a database is the working
// directory.
func Dir(arg string) string {
	dir := filepath.Dir(arg)
	if isDatabase(arg) || strings.ContainsAny(dir, "*?[") {
		return "."
	}
	return dir
}

// JSONNamed says that a table is read as JSON lines, which have no header: it goes by the name.
func JSONNamed(arg string) bool {
	if isDatabase(arg) {
		return false
	}
	return reader.JSONNamed(arg)
}

// Shown is an argument as it may be printed and stored: without the user, the password and the
// parameters of a database.
func Shown(arg string) string {
	if arg == Stdin {
		return shownStdin
	}
	if !isDatabase(arg) {
		return arg
	}
	d, err := parseDatabase(arg)
	if err != nil {
		return scheme(arg) + ":"
	}
	return d.shown
}
