// Package columnar reads tables that are stored by columns, Parquet and Arrow IPC
// files, and writes Parquet. It knows the formats and nothing of schemas, rows that
// are sensitive or what a column means. No error repeats a value of the file.
package columnar

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

// Kind says how the cells of a column are handed out.
type Kind int

const (
	Unsupported Kind = iota // cannot be read: dates, binary, structures, lists of other things
	Boolean
	Integer
	Float
	Text   // also decimals, as their exact digits
	Vector // a list of floats
)

// Column is one column at the top level of a file.
type Column struct {
	Name string
	Kind Kind
	// Type is the file's own name for what the column holds, for errors.
	Type string
}

// Fault is a fault of a file. Texts of the libraries beneath are not passed on,
// since nobody promises that they repeat no value.
type Fault struct {
	Column string // empty when no single column is at fault
	Group  int    // row group or record batch, counted from 1; 0 when none is at fault
	Msg    string
	Hint   string
}

// Error is one line without the name of the file, which the caller knows.
func (f *Fault) Error() string {
	s := ""
	if f.Group > 0 {
		s = "row group " + strconv.Itoa(f.Group) + ": "
	}
	if f.Column != "" {
		s += "column " + strconv.Quote(f.Column) + ": "
	}
	return s + f.Msg
}

// Source is what a file is read from; *os.File and *bytes.Reader are.
type Source interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// Is says whether the first bytes of a file are those of a format that Open knows.
func Is(start []byte) bool {
	return bytes.HasPrefix(start, parquetMagic) || bytes.HasPrefix(start, arrowMagic)
}

var (
	parquetMagic = []byte("PAR1")
	arrowMagic   = []byte("ARROW1")
)

// MagicLen is how many bytes Is needs.
const MagicLen = 6

// File is an open file. It is not safe for concurrent use.
type File struct {
	format  string
	columns []Column
	scan    func(columns []int) nexter
}

// nexter hands out batches, each of at least one row, then io.EOF.
type nexter interface{ next() (*Batch, error) }

// Open reads the description of the columns; the format is told by content. Errors
// are *Fault or those of the source.
func Open(src Source) (f *File, err error) {
	defer guard(&err, nil)
	var start [MagicLen]byte
	n, err := src.ReadAt(start[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start[:n], parquetMagic):
		f, err = openParquet(src)
	case bytes.HasPrefix(start[:n], arrowMagic):
		f, err = openArrow(src)
	default:
		return nil, &Fault{Msg: "neither a Parquet nor an Arrow file"}
	}
	if err != nil {
		return nil, err
	}
	return f, f.checkNames()
}

// Format is Parquet or Arrow.
func (f *File) Format() string { return f.format }

// Columns describes the columns in the order of the file.
func (f *File) Columns() []Column { return append([]Column(nil), f.columns...) }

func (f *File) checkNames() error {
	seen := map[string]bool{}
	for i, c := range f.columns {
		switch {
		case i == 1<<16: // as in a file of text
			return &Fault{Msg: "the file has more than 65,536 columns", Hint: "split the table"}
		case c.Name == "":
			return &Fault{Msg: "the name of column " + strconv.Itoa(i+1) + " is empty", Hint: "give every column a name"}
		case !utf8.ValidString(c.Name) || bytes.IndexByte([]byte(c.Name), 0) >= 0:
			return &Fault{Msg: "the name of column " + strconv.Itoa(i+1) + " is not UTF-8 text"}
		case seen[c.Name]:
			return &Fault{Column: c.Name, Msg: "two columns have this name", Hint: "rename or remove one of them"}
		}
		seen[c.Name] = true
	}
	if len(f.columns) == 0 {
		return &Fault{Msg: "the file has no columns"}
	}
	return nil
}

// Batch holds consecutive rows of one row group.
type Batch struct {
	Group int   // counted from 1
	First int64 // number of the first row in the file, counted from 1
	Rows  int
	// Chunks holds one chunk per column that was asked for, in that order.
	Chunks []Chunk
}

// Scan reads the rows of some columns, in the order of the file.
type Scan struct {
	in    nexter
	group int
	err   error
}

// Scan starts at the first row; columns index Columns and must be supported.
func (f *File) Scan(columns []int) (*Scan, error) {
	for _, i := range columns {
		if c := f.columns[i]; c.Kind == Unsupported {
			return nil, Refused(c)
		}
	}
	return &Scan{in: f.scan(columns)}, nil
}

// Refused is the fault of a column whose type cannot be read.
func Refused(c Column) *Fault {
	return &Fault{Column: c.Name, Msg: "the type " + c.Type + " cannot be read",
		Hint: "write it as a number, a boolean or a text"}
}

// Next returns the next rows, valid until the next call, and io.EOF after the last.
// Memory is bounded by a few thousand rows of the columns asked for, the page of
// each that they stand in, and for Arrow one record batch.
func (s *Scan) Next() (b *Batch, err error) {
	if s.err != nil {
		return nil, s.err
	}
	// A later call would go on inside of what a panic has left half done.
	defer func() { s.err = err }()
	defer guard(&err, &s.group)
	b, err = s.in.next()
	if b != nil {
		s.group = b.Group
	}
	return b, err
}

// Piece returns the next rows as a Scan of their own, which another goroutine may read, and io.EOF after the last: a row
// group of a Parquet file that has several, else what Next would return.
func (s *Scan) Piece() (*Scan, error) {
	if p, ok := s.in.(*parquetScan); ok && len(p.file.groups) > 1 {
		in, err := p.piece()
		return &Scan{in: in}, err
	}
	b, err := s.Next()
	if err != nil {
		return nil, err
	}
	held := *b // its chunks are its own
	return &Scan{in: &heldBatch{&held}}, nil
}

// heldBatch are rows that were read.
type heldBatch struct{ batch *Batch }

func (h *heldBatch) next() (*Batch, error) {
	b := h.batch
	if h.batch = nil; b == nil {
		return nil, io.EOF
	}
	return b, nil
}

// guard turns a panic of the libraries, which damaged files can cause, into a fault
// that is found after group.
func guard(err *error, group *int) {
	if recover() != nil {
		f := damaged("")
		if group != nil {
			f.Group = *group
		}
		*err = f
	}
}

func damaged(column string) *Fault {
	return &Fault{Column: column, Msg: "the file is damaged or truncated", Hint: "write it again, or copy it again from an intact original"}
}

// Chunk holds the cells of one column in a batch; one of its slices is filled.
type Chunk struct {
	null     []bool // nil when no cell is null
	bools    []bool
	ints     []int64
	unsigned bool // ints holds the bits of unsigned numbers
	floats   []float64
	single   bool // floats holds float32 values
	texts    []string
	vectors  [][]float32
}

// Null says whether a cell is null.
func (c *Chunk) Null(i int) bool { return c.null != nil && c.null[i] }

// Text is the cell as it would be written in CSV: the shortest digits that read
// back as the same number, true or false, the text itself. A null, which has no
// text, and a vector give the empty text.
func (c *Chunk) Text(i int) string {
	switch {
	case c.Null(i):
		return ""
	case c.texts != nil:
		return c.texts[i]
	case c.ints != nil && c.unsigned:
		return strconv.FormatUint(uint64(c.ints[i]), 10)
	case c.ints != nil:
		return strconv.FormatInt(c.ints[i], 10)
	case c.floats != nil && math.Trunc(c.floats[i]) == c.floats[i] && math.Abs(c.floats[i]) < 1<<53:
		// Without an exponent, since a column of identifiers with nulls often comes as floats.
		return strconv.FormatFloat(c.floats[i], 'f', -1, 64)
	case c.floats != nil && c.single:
		return strconv.FormatFloat(c.floats[i], 'g', -1, 32)
	case c.floats != nil:
		return strconv.FormatFloat(c.floats[i], 'g', -1, 64)
	case c.bools != nil:
		return strconv.FormatBool(c.bools[i])
	}
	return ""
}

// Single says that the cells are floats of single precision.
func (c *Chunk) Single() bool { return c.single }

// Float is the cell as a number: NaN for a null, a text and a vector.
func (c *Chunk) Float(i int) float64 {
	switch {
	case c.Null(i):
	case c.floats != nil:
		return c.floats[i]
	case c.ints != nil && c.unsigned:
		return float64(uint64(c.ints[i]))
	case c.ints != nil:
		return float64(c.ints[i])
	case c.bools != nil && c.bools[i]:
		return 1
	case c.bools != nil:
		return 0
	}
	return math.NaN()
}

// Vector is the list of a cell, with NaN for its nulls; nil for a null list.
func (c *Chunk) Vector(i int) []float32 {
	if c.vectors == nil || c.Null(i) {
		return nil
	}
	return c.vectors[i]
}
