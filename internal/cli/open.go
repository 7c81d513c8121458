package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/dataset"
	"pawl/data/schema"
	"pawl/reader"
)

// source is where rows come from: a file with its schema, or a built-in data set.
type source struct {
	name    string // of the data set, under which it is budgeted
	schema  *schema.Schema
	builtin *dataset.Builtin
	content []byte // the file as read, for its keyed digest
	path    string
	target  string // the built-in's own
	licence string
	// vectors of a public extractor, or nil; whole says that each belongs to a row.
	vectors *reader.Embeddings
	whole   bool
	// rehearsal says that rows are read and not kept: nothing is to be run on them.
	rehearsal bool
	note      func(string) // told of doubtful identifiers of units; may be nil
	// printKey is the ledger's, nil where nothing is compared; prints are of the rows that were read with it, and
	// tests of files of test rows.
	printKey *[32]byte
	prints   []*identity.Print
	tests    []tested
}

// openSource resolves DATA and --schema. It reads the whole file once, so that
// the bytes that are digested are those that are parsed.
func (a *app) openSource(data, schemaPath string) (*source, error) {
	info, statErr := os.Stat(data)
	if b, ok := dataset.Lookup(data); ok && (statErr != nil || info.IsDir()) {
		if schemaPath != "" {
			return nil, &usageError{fmt.Sprintf("data set %q is built in and has its own schema", b.Name), "leave out --schema"}
		}
		r, err := b.TrainCSV(a.dataDir)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return &source{name: b.Name, schema: b.Schema(), builtin: b, content: content, path: b.Name, target: b.Target, licence: b.Licence}, nil
	}
	if statErr != nil {
		if errors.Is(statErr, os.ErrNotExist) {
			if _, ok := dataset.Images(data); ok {
				return nil, &usageError{fmt.Sprintf("%s is a built-in set of images, and this command needs a table", data),
					fmt.Sprintf("pawl fit %s --epsilon E, or pawl plan fit to see its cost; pawl train %s --model NAME for one network", data, data)}
			}
			return nil, &usageError{fmt.Sprintf("%s: neither a file nor a built-in data set", data), builtinAdvice(data)}
		}
		return nil, statErr
	}
	if schemaPath == "" {
		return nil, &usageError{fmt.Sprintf("%s: missing --schema: bounds and categories are never read from rows", data),
			fmt.Sprintf("pawl init %s writes a template; then pass --schema", data)}
	}
	s, err := schema.Load(schemaPath)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &usageError{fmt.Sprintf("%s: no such schema file", schemaPath), fmt.Sprintf("pawl init %s writes a template", data)}
	} else if err != nil {
		return nil, err
	}
	content, err := readFile(data)
	if err != nil {
		return nil, err
	}
	name := s.Dataset
	if name == "" {
		name = baseName(data)
	}
	if !s.Public {
		if err := ownName(data, name, "give the data set another name in the schema: dataset: NAME"); err != nil {
			return nil, err
		}
	}
	return &source{name: name, schema: s, content: content, path: data}, nil
}

// readFile reads a table or a pipe whole.
func readFile(path string) ([]byte, error) {
	if err := checkFile(path); err != nil {
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
		return &usageError{path + ": the file changed while it was being read", "run the command again when nothing writes to the file"}
	}
	return nil
}

// checkFile says why a path cannot be a table. A device never ends and would
// fill the memory.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		advice := ""
		if path == "-" {
			advice = "to read standard input, use /dev/stdin"
		}
		return &usageError{fmt.Sprintf("%s: no such file", path), advice}
	case err != nil:
		return err
	case info.IsDir():
		return &usageError{fmt.Sprintf("%s is a directory, not a file", path), "name one file; join several files first"}
	case info.Mode()&os.ModeDevice != 0:
		return &usageError{fmt.Sprintf("%s is a device, not a file", path), "name a file, or pipe one into /dev/stdin"}
	}
	return nil
}

// sameTable reports whether two tables hold the same bytes, compressed or not.
func sameTable(a, b []byte) bool {
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

// notSensitive refuses bytes, as they are or unpacked, that the ledger holds as a sensitive
// data set, where they would be scored exactly and for nothing.
func notSensitive(ctx context.Context, l *ledger.Ledger, path string, content []byte, why, advice string) error {
	owner, err := sensitiveOwner(ctx, l, content)
	return heldAsSensitive(path, owner, err, why, advice)
}

func heldAsSensitive(path, owner string, err error, why, advice string) error {
	if err != nil || owner == "" {
		return err
	}
	return &usageError{fmt.Sprintf("%s: the ledger knows this file as the sensitive data set %q, and %s", path, owner, why), advice}
}

const (
	testIsExact = "a test file is scored exactly, without noise"
	otherTest   = "leave out --test, or use a file whose rows are public"
)

// sensitiveOwner is the sensitive data set that the ledger holds under these bytes, or under
// what they unpack to; "" for none.
func sensitiveOwner(ctx context.Context, l *ledger.Ledger, content []byte) (string, error) {
	readers := []io.Reader{bytes.NewReader(content)}
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return "", err
		}
		readers = append(readers, z)
	}
	for _, r := range readers {
		digest, err := l.Digest(ctx, r)
		if err != nil {
			return "", err
		}
		if owner, err := l.SensitiveUnder(ctx, digest); err != nil || owner != "" {
			return owner, err
		}
	}
	return "", nil
}

// ownName refuses a built-in's name for sensitive data: under it the ledger may
// hold the data set as public already.
func ownName(data, name, advice string) error {
	b, err := lookupData(name)
	if err != nil {
		return nil
	}
	return &usageError{fmt.Sprintf("%s: %q is the name of the built-in public data set %q", data, name, b.Name), advice}
}

// rows returns the number of rows when it is public, declared or nominal, and 0
// when it has to be paid for.
func (s *source) rows() (int64, error) {
	switch s.schema.Rows.Kind {
	case schema.RowsDeclared, schema.RowsAbout:
		return s.schema.Rows.N, nil
	case schema.RowsPrivate:
		return 0, nil
	}
	n := int64(0)
	err := s.each(reader.Default, func([]float64, schema.Record) error { n++; return nil })
	return n, err
}

func (s *source) each(bad reader.BadRows, row reader.Row) error {
	return s.eachWith(reader.Options{BadRows: bad, Note: s.note}, row)
}

func (s *source) eachWith(o reader.Options, row reader.Row) error {
	return readRows(s.path, bytes.NewReader(s.content), s.schema, o, s.vectors, s.whole, row)
}

// seal parses every row and seals it. Faults are found here, before anything is
// reserved.
func (s *source) seal(bad reader.BadRows, key *intake.Key) (*intake.Rows, error) {
	b := intake.NewBuilder(key, s.schema)
	if s.rehearsal {
		b = intake.NewRehearsal(key, s.schema)
	}
	if err := s.printed(bad, b.Add); err != nil {
		return nil, err
	}
	return b.Seal(), nil
}

// scopeKey is the ledger's for the data set, so that a unit never changes its
// scope. On public data a seed makes its own, so that a seeded run is the same
// anywhere and every seed is another split.
func scopeKey(ctx context.Context, l *ledger.Ledger, name string, s *schema.Schema, seed *uint64) (*intake.Key, error) {
	if seed != nil && s.Public {
		return intake.SimulationKey(name, *seed), nil
	}
	return l.Key(ctx, name)
}

// effectivePublic asks the ledger whether the data set is public: the schema's
// flag counts only when the data set is new to it.
func effectivePublic(ctx context.Context, l *ledger.Ledger, name string, s *schema.Schema) error {
	public, err := l.Public(ctx, name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset):
		return nil
	case err != nil:
		return err
	}
	if !public && s.Unit.Assumed {
		return schema.NoUnit(fmt.Sprintf("the ledger lists data set %q as sensitive", name))
	}
	if s.Public && !public {
		s.Warnings = append(s.Warnings,
			"the schema says public, but the ledger lists the data set as sensitive, and that decides (to change it: pawl ledger declare-public)")
	}
	s.Public = public
	return nil
}

// readTest reads a public test file against the schema; the unit's column may be
// absent. Where it is there, its cell is the running number of the row's unit. The print
// of a file of the operator's is kept, to be compared.
func (src *source) readTest(name string, content io.Reader, bad reader.BadRows, own bool) ([][]float64, error) {
	s := src.schema
	var rows [][]float64
	o := reader.Options{BadRows: bad}
	if s.Unit.Column != "" {
		o.Optional = map[string]bool{s.Unit.Column: true}
	}
	var w watcher
	if own && src.printKey != nil {
		w.key, w.uses = *src.printKey, usedBy(s)
		w.watch(&o)
	}
	column, units := s.Column(s.Unit.Column), map[string]float64{}
	err := readRows(name, content, s, o, src.vectors, false, func(cells []float64, found schema.Record) error {
		// An optional unit is not looked at while rows are read.
		if i, ok := slices.BinarySearch(found.Columns, s.Unit.Column); ok && column >= 0 && found.Cells[i].Text != "" {
			unit := found.Cells[i].Text
			if _, known := units[unit]; !known {
				units[unit] = float64(len(units))
			}
			cells[column] = units[unit]
		}
		rows = append(rows, cells)
		return nil
	})
	if prints := w.end(err); prints != nil {
		src.tests = append(src.tests, tested{name, prints})
	}
	return rows, err
}
