package reader

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"pawl/data/columnar"
	"pawl/data/images"
	"pawl/data/schema"
)

// Embeddings are vectors that a public extractor has made, one per key. That the
// extractor is public is the user's word: one that was trained on the rows that are
// to be protected would carry them past every mechanism.
type Embeddings struct {
	name  string
	width int
	row   map[string]int
	data  []float32
}

// EmbeddingFiles says where embeddings stand.
type EmbeddingFiles struct {
	// Path is an npy file of N x d numbers, or a Parquet or Arrow file with a column
	// of keys and either one column of lists or d columns of floats.
	Path string
	// Keys is the text file that goes with an npy file, one key a line in the order
	// of its rows; empty: Path with .keys for .npy.
	Keys string
	// KeyColumn is the column of keys of a Parquet or Arrow file; empty: its only
	// column of texts or whole numbers.
	KeyColumn string
	// Width, unless 0, is the d that is needed, as of a model that was trained.
	Width int
}

// maxEmbeddings bounds the numbers of all vectors together, 4 bytes each.
const maxEmbeddings = 1 << 32

// LoadEmbeddings reads all vectors into memory. A key that stands twice, a number
// that is null, NaN, infinite or beyond float32, and vectors of different lengths
// are refused with the file and the row, without the key.
func LoadEmbeddings(o EmbeddingFiles) (*Embeddings, error) {
	e := &Embeddings{name: o.Path, row: map[string]int{}}
	f, err := os.Open(o.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var start [columnar.MagicLen]byte
	n, err := f.ReadAt(start[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if columnar.Is(start[:n]) {
		err = e.fromColumns(f, o.KeyColumn)
	} else {
		err = e.fromNPY(f, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Width != 0 && e.width != o.Width {
		return nil, e.fault(0, "", fmt.Sprintf("vectors of %d numbers, and %d are needed", e.width, o.Width), "use the extractor that the model was trained with")
	}
	return e, nil
}

// Len is the number of keys; Width that of the numbers of each vector.
func (e *Embeddings) Len() int   { return len(e.row) }
func (e *Embeddings) Width() int { return e.width }

// Join returns the vector of a key, which the caller must not change.
func (e *Embeddings) Join(key string) ([]float32, bool) {
	i, ok := e.row[key]
	if !ok {
		return nil, false
	}
	return e.data[i*e.width : (i+1)*e.width : (i+1)*e.width], true
}

// Reader gives keys and vectors as bytes, for a digest: in the order of the keys, so
// that files with the same vectors under the same keys give the same bytes, whatever
// their order and format.
func (e *Embeddings) Reader() io.Reader {
	return &vectorBytes{of: e, keys: slices.Sorted(maps.Keys(e.row))}
}

type vectorBytes struct {
	of   *Embeddings
	keys []string // still to be given
	part []byte
}

func (v *vectorBytes) Read(b []byte) (int, error) {
	for len(v.part) == 0 {
		if len(v.keys) == 0 {
			return 0, io.EOF
		}
		key := v.keys[0]
		v.keys, v.part = v.keys[1:], append(binary.AppendUvarint(nil, uint64(len(key))), key...)
		vector, _ := v.of.Join(key)
		v.part = binary.AppendUvarint(v.part, uint64(len(vector)))
		for _, x := range vector {
			v.part = binary.LittleEndian.AppendUint32(v.part, math.Float32bits(x))
		}
	}
	n := copy(b, v.part)
	v.part = v.part[n:]
	return n, nil
}

func (e *Embeddings) fault(row int64, column, msg, hint string) error {
	return &PositionError{File: e.name, Row: row, Column: column, Msg: msg, hint: hint}
}

func (e *Embeddings) key(row int64, key, column string) error {
	switch {
	case key == "":
		return e.fault(row, column, "the key is missing", "every vector needs one")
	case faultOf(key) != "":
		return e.fault(row, column, "the key is "+faultOf(key), "keys are short texts in UTF-8")
	}
	if _, twice := e.row[key]; twice {
		return e.fault(row, column, "the key occurs in an earlier row too", "one vector per key: leave one of them out")
	}
	e.row[key] = len(e.row)
	return nil
}

const notFinite = "a number is null, NaN, infinite or beyond float32"

func (e *Embeddings) vector(row int64, v []float32) error {
	if e.width == 0 {
		e.width = len(v)
	}
	switch {
	case len(v) == 0:
		return e.fault(row, "", "an empty vector", "")
	case len(v) != e.width:
		return e.fault(row, "", "a vector of another length than the first", "one extractor gives vectors of one length")
	case len(e.data)+len(v) > maxEmbeddings:
		return e.fault(0, "", "more than 16 GiB of numbers", "use a smaller extractor, or fewer rows")
	}
	for _, x := range v {
		if x-x != 0 { // NaN and the infinities
			return e.fault(row, "", notFinite, "correct the extractor, or write a constant that does not depend on the data")
		}
	}
	e.data = append(e.data, v...)
	return nil
}

func (e *Embeddings) fromNPY(f io.Reader, o EmbeddingFiles) error {
	set, err := images.NPY(images.Source{Name: o.Path, Reader: f}, images.Source{}, nil)
	if err != nil {
		return err
	}
	if set.Shape[0] != 1 || set.Shape[1] != 1 {
		return e.fault(0, "", "an array of images; embeddings have the shape (n, d)", "save array.reshape(n, -1)")
	}
	e.width, e.data = set.Shape[2], set.Floats
	if set.Floats == nil {
		e.data = make([]float32, len(set.Bytes))
		for i, b := range set.Bytes {
			e.data[i] = float32(b)
		}
	}
	if o.Keys == "" {
		o.Keys = strings.TrimSuffix(o.Path, ".npy") + ".keys"
	}
	keys, err := os.Open(o.Keys)
	if err != nil {
		return fmt.Errorf("the keys of %s, one per line: %w", o.Path, err)
	}
	defer keys.Close()
	e.name = o.Keys
	defer func() { e.name = o.Path }()
	in := bufio.NewScanner(keys)
	in.Buffer(nil, maxCell)
	for in.Scan() {
		line := in.Bytes()
		if len(e.row) == 0 {
			line = bytes.TrimPrefix(line, []byte{0xef, 0xbb, 0xbf})
		}
		if err := e.key(int64(len(e.row)+1), string(line), ""); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", o.Keys, err)
	}
	if len(e.row) != set.Len() {
		return e.fault(0, "", "not as many keys as "+o.Path+" has rows", "write one key per line, in the order of the rows, without a header")
	}
	return nil
}

func (e *Embeddings) fromColumns(f columnar.Source, keyColumn string) error {
	in, err := columnar.Open(f)
	if err != nil {
		return columnarFault(e.name, err)
	}
	all := in.Columns()
	key, err := e.keyColumn(all, keyColumn)
	if err != nil {
		return err
	}
	fields := []int{key}
	for i, c := range all {
		switch {
		case i == key:
		case c.Kind == columnar.Float, c.Kind == columnar.Vector && len(all) == 2:
			fields = append(fields, i)
		case c.Kind == columnar.Vector:
			return e.fault(0, c.Name, "a column of lists and other columns", "keep only the key and one column of lists")
		default:
			return e.fault(0, c.Name, "of type "+c.Type+", which is neither the key nor a column of floats", "leave the column out")
		}
	}
	if len(fields) == 1 {
		return e.fault(0, "", "no column of numbers besides the key", "")
	}
	scan, err := in.Scan(fields)
	if err != nil {
		return columnarFault(e.name, err)
	}
	flat := make([]float32, len(fields)-1)
	for {
		b, err := scan.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return columnarFault(e.name, err)
		}
		for i := range b.Rows {
			row := b.First + int64(i)
			if err := e.key(row, b.Chunks[0].Text(i), all[key].Name); err != nil {
				return e.inGroup(err, b.Group)
			}
			v := b.Chunks[1].Vector(i)
			if all[fields[1]].Kind == columnar.Float {
				v = flat
				for k := range v {
					v[k] = float32(b.Chunks[k+1].Float(i))
				}
			}
			if err := e.vector(row, v); err != nil {
				return e.inGroup(err, b.Group)
			}
		}
	}
	if len(e.row) == 0 {
		return e.fault(0, "", "the file has no rows", "")
	}
	return nil
}

func (e *Embeddings) inGroup(err error, group int) error {
	if p, ok := err.(*PositionError); ok && p.Row > 0 {
		p.Group = group
	}
	return err
}

func (e *Embeddings) keyColumn(all []columnar.Column, name string) (int, error) {
	isKey := func(c columnar.Column) bool { return c.Kind == columnar.Text || c.Kind == columnar.Integer }
	if name != "" {
		i := slices.IndexFunc(all, func(c columnar.Column) bool { return c.Name == name })
		switch {
		case i < 0:
			names := make([]string, len(all))
			for k := range all {
				names[k] = all[k].Name
			}
			return 0, e.fault(0, "", fmt.Sprintf("the file has no column %q to join by", name), nearestHint(name, names, nil, ""))
		case !isKey(all[i]):
			return 0, e.fault(0, name, "of type "+all[i].Type+"; keys are texts or whole numbers", "")
		}
		return i, nil
	}
	at := -1
	for i, c := range all {
		if !isKey(c) {
			continue
		}
		if at >= 0 {
			return 0, e.fault(0, "", fmt.Sprintf("both %q and %q could be the key", all[at].Name, c.Name), "name it")
		}
		at = i
	}
	if at < 0 {
		return 0, e.fault(0, "", "no column of texts or whole numbers to join by", "write the key of each row beside its vector")
	}
	return at, nil
}

// JoinedRow receives a row with the vector of its key.
type JoinedRow func(cells []float64, found schema.Record, vector []float32) error

// ReadJoined is ReadFrom for a table each of whose rows has a vector under the text
// of its column key, which the schema declares, as type: ignore if it is nothing
// else. Rows may share a key.
//
// A row without a vector is refused; under the rule Default it gets zeros, as do its
// malformed cells get theirs, so that no row decides whether the others are read.
// With whole set, a vector that no row asks for is refused too, which mostly means
// that the files belong to different tables; not so under Default, where the absence
// of one row must not be told.
func ReadJoined(name string, r io.Reader, s *schema.Schema, o Options, key string, whole bool, e *Embeddings, row JoinedRow) error {
	t, in, strict, err := openTable(name, r, s, o, key, fmt.Errorf("the schema declares no column %q to join by", key))
	if err != nil {
		return err
	}
	defer in.Close()
	field := t.field[t.key]
	if field < 0 {
		return in.absent(key, "to join by", "name the column that holds the keys with --key")
	}
	used := make(map[string]bool, e.Len())
	var sum []byte // of a vector
	t.watch = t.watchRecords(in, o)
	err = t.read(strict, func(cells []float64, found *schema.Record, record []cell) error {
		text := ""
		if field < len(record) && record[field].bad == "" && !record[field].null {
			text = record[field].text
		}
		v, ok := e.Join(text)
		switch {
		case ok:
			used[text] = true
		case strict && text == "":
			return in.rowFault(record, field, key, "the key is missing", "every row needs one to be joined")
		case strict:
			return in.rowFault(record, field, key, "no vector has this key in "+e.name, "run the extractor on every row; keys are compared as texts")
		default:
			v = make([]float32, e.width)
		}
		// What a mechanism reads belongs to the record.
		sum = sum[:0]
		for _, x := range v {
			sum = binary.LittleEndian.AppendUint32(sum, math.Float32bits(x))
		}
		digest := sha256.Sum256(sum)
		found.Raw = digest[:]
		return row(cells, *found, v)
	})
	if err == nil && whole && strict && len(used) != e.Len() {
		return e.fault(0, "", "holds vectors with keys that no row of "+name+" has", "join the table that the extractor was run on")
	}
	return err
}
