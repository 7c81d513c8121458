package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// batchRows bounds the rows of one batch of a Parquet file.
const batchRows = 2048

// maxFooter bounds the description at the end of a Parquet file, which is read whole.
const maxFooter = 64 << 20

// maxScale bounds the digits behind the point of a decimal.
const maxScale = 100

// maxElements bounds the columns of a file and what they are made of.
const maxElements = 1 << 20

// physical is how values are stored, by its number in the format.
type physical int

const (
	boolean physical = iota
	int32Values
	int64Values
	int96Values
	float32Values
	float64Values
	byteArrays
	fixedArrays
	group physical = -1
)

func (p physical) String() string {
	names := []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if p < 0 || int(p) >= len(names) {
		return "of an unknown kind"
	}
	return names[p]
}

// Numbers of logical types in the format. Older files say the same by converted types.
const (
	logicalString = 1
	logicalList   = 3
	logicalEnum   = 4
	logicalNumber = 5
	logicalInt    = 10
	logicalNull   = 11
)

var logicalNames = []string{1: "String", 2: "Map", 3: "List", 4: "Enum", 5: "Decimal", 6: "Date", 7: "Time", 8: "Timestamp", 9: "Interval",
	10: "Int", 11: "Null", 12: "JSON", 13: "BSON", 14: "UUID", 15: "Float16", 16: "Variant", 17: "Geometry", 18: "Geography"}

// converted gives the logical type of each converted type.
var converted = []int{1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 8, 10, 10, 10, 10, 10, 10, 10, 10, 12, 13, 9}

// element is a node of the tree of columns as the file lists it.
type element struct {
	name       string
	physical   physical
	length     int // of fixed arrays, in bytes
	repetition int // 0 required, 1 optional, 2 repeated
	children   int
	logical    int // 0 when the file says nothing
	scale      int
	precision  int
	bits       int
	unsigned   bool
}

func (e *element) typeName() string {
	switch {
	case e.logical == logicalNumber:
		return fmt.Sprintf("Decimal(precision=%d, scale=%d)", e.precision, e.scale)
	case e.logical == logicalInt:
		return fmt.Sprintf("Int(bitWidth=%d, isSigned=%v)", e.bits, !e.unsigned)
	case e.logical > 0 && e.logical < len(logicalNames):
		return logicalNames[e.logical]
	case e.physical == group:
		return "structure"
	}
	return e.physical.String()
}

// kind reads the logical type first: a date is stored as a number and is none.
func (e *element) kind() (Kind, string) {
	whole := e.physical == int32Values || e.physical == int64Values
	switch e.logical {
	case 0:
		switch {
		case e.physical == boolean:
			return Boolean, e.typeName()
		case whole:
			return Integer, e.typeName()
		case e.physical == float32Values || e.physical == float64Values:
			return Float, e.typeName()
		case e.physical == byteArrays:
			return Unsupported, "binary (bytes that are not declared to be text)"
		}
	case logicalInt, logicalNull: // the latter a column of nulls, whose physical type means nothing
		if whole {
			return Integer, e.typeName()
		}
	case logicalString, logicalEnum:
		if e.physical == byteArrays {
			return Text, e.typeName()
		}
	case logicalNumber:
		if (whole || e.physical == byteArrays || e.physical == fixedArrays) && e.scale >= 0 && e.scale <= maxScale {
			return Text, e.typeName()
		}
	}
	return Unsupported, e.typeName()
}

// leaf is a stored column.
type leaf struct {
	*element
	index                     int // among the stored columns
	maxDefinition, maxRepeats int
}

// parquetFile holds the description of the columns; row groups are described where
// they are read.
type parquetFile struct {
	src     Source
	size    int64
	footer  []byte
	groups  []rowGroup
	columns []Column
	leaf    []*leaf // the stored column of each column; nil where it has several or none
}

type rowGroup struct {
	at   int // of its description in the footer
	rows int64
}

func openParquet(src Source) (*File, error) {
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var end [8]byte
	if size < 12 {
		return nil, damaged("")
	}
	if _, err := src.ReadAt(end[:], size-8); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(end[:])
	switch {
	case string(end[4:]) == "PARE":
		return nil, &Fault{Msg: "the file is encrypted", Hint: "write it without encryption"}
	case string(end[4:]) != string(parquetMagic), int64(length) > size-12:
		return nil, damaged("")
	case length > maxFooter:
		return nil, &Fault{Msg: "the description of the columns is longer than 64 MiB", Hint: "write fewer columns, or larger row groups"}
	}
	p := &parquetFile{src: src, size: size, footer: make([]byte, length)}
	if _, err := src.ReadAt(p.footer, size-8-int64(length)); err != nil {
		return nil, err
	}
	elements := p.read()
	if err := p.describe(elements); err != nil {
		return nil, err
	}
	return &File{format: "Parquet", columns: p.columns, scan: func(columns []int) nexter {
		return &parquetScan{file: p, columns: columns, last: len(p.groups), row: 1}
	}}, nil
}

// read looks through the footer.
func (p *parquetFile) read() (elements []element) {
	c := &compact{b: p.footer}
	c.fields(func(id int, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			n, _ := c.list(6)
			if n > maxElements {
				panic("columnar: too many columns")
			}
			for range n {
				elements = append(elements, readElement(c))
			}
		case id == 4 && kind == thriftList:
			n, _ := c.list(6)
			for range n {
				g := rowGroup{at: c.at, rows: -1}
				c.fields(func(id int, kind byte) bool {
					if id == 3 && kind == thriftI64 {
						g.rows = c.int()
						return true
					}
					return false
				})
				p.groups = append(p.groups, g)
			}
		default:
			return false
		}
		return true
	})
	return elements
}

func readElement(c *compact) element {
	e := element{physical: group}
	old := -1
	c.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			e.physical = physical(c.int())
		case id == 2 && kind == thriftI32:
			e.length = int(c.int())
		case id == 3 && kind == thriftI32:
			e.repetition = int(c.int())
		case id == 4 && kind == thriftBinary:
			e.name = string(c.bytes())
		case id == 5 && kind == thriftI32:
			e.children = int(c.int())
		case id == 6 && kind == thriftI32:
			old = int(c.int())
		case id == 7 && kind == thriftI32:
			e.scale = int(c.int())
		case id == 8 && kind == thriftI32:
			e.precision = int(c.int())
		case id == 10 && kind == thriftStruct:
			c.fields(func(id int, kind byte) bool {
				e.logical = id
				if kind != thriftStruct {
					return false
				}
				c.fields(e.parameter(c, id))
				return true
			})
		default:
			return false
		}
		return true
	})
	if e.logical == 0 && old >= 0 && old < len(converted) {
		e.logical = converted[old]
		if e.logical == logicalInt {
			e.bits, e.unsigned = 8<<((old-11)%4), old < 15
		}
	}
	return e
}

// parameter reads the fields of a logical type that matter.
func (e *element) parameter(c *compact, logical int) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		switch {
		case logical == logicalNumber && id == 1 && kind == thriftI32:
			e.scale = int(c.int())
		case logical == logicalNumber && id == 2 && kind == thriftI32:
			e.precision = int(c.int())
		case logical == logicalInt && id == 1 && kind == thriftByte:
			e.bits = int(c.byte())
		case logical == logicalInt && id == 2 && (kind == thriftTrue || kind == thriftFalse):
			e.unsigned = kind == thriftFalse
			return true
		default:
			return false
		}
		return true
	}
}

// describe walks through the tree, which the file lists parents first.
func (p *parquetFile) describe(elements []element) error {
	if len(elements) == 0 {
		return damaged("")
	}
	at, stored := 1, 0
	var walk func(depth, definition, repeats int) []*leaf
	walk = func(depth, definition, repeats int) []*leaf {
		if at >= len(elements) || depth > 64 {
			panic("columnar: a column is made of more than the file describes")
		}
		e := &elements[at]
		at++
		switch e.repetition {
		case 1:
			definition++
		case 2:
			definition, repeats = definition+1, repeats+1
		}
		if e.physical != group {
			stored++
			return []*leaf{{element: e, index: stored - 1, maxDefinition: definition, maxRepeats: repeats}}
		}
		var all []*leaf
		for range e.children {
			all = append(all, walk(depth+1, definition, repeats)...)
		}
		return all
	}
	for range elements[0].children {
		e := &elements[min(at, len(elements)-1)]
		leaves := walk(0, 0, 0)
		c := Column{Name: e.name, Type: e.typeName()}
		var of *leaf
		if len(leaves) == 1 {
			of = leaves[0]
		}
		switch {
		case e.physical != group:
			if c.Kind, c.Type = e.kind(); e.repetition == 2 {
				c.Kind, c.Type = Unsupported, "repeated "+c.Type
			}
		case of != nil && e.logical == logicalList:
			c.Type = "list of " + of.physical.String()
			if (of.physical == float32Values || of.physical == float64Values) && of.logical == 0 && of.maxRepeats == 1 {
				c.Kind = Vector
			}
		}
		p.columns, p.leaf = append(p.columns, c), append(p.leaf, of)
	}
	return nil
}

// parquetScan walks through the row groups.
type parquetScan struct {
	file    *parquetFile
	columns []int
	group   int   // of the present readers, counted from 1
	last    int   // group
	row     int64 // next row of the file, counted from 1
	left    int64 // rows of the group
	cells   []*cells
	batch   Batch
}

func (s *parquetScan) next() (*Batch, error) {
	for s.left == 0 {
		for i, c := range s.cells {
			if !c.end() {
				return nil, s.damaged(i)
			}
		}
		if s.group == s.last {
			return nil, io.EOF
		}
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	n := int(min(s.left, batchRows))
	b := &s.batch
	*b = Batch{Group: s.group, First: s.row, Rows: n, Chunks: make([]Chunk, len(s.columns))}
	for i, c := range s.cells {
		if err := c.read(n, &b.Chunks[i]); err != nil {
			return nil, s.damaged(i)
		}
	}
	s.left, s.row = s.left-int64(n), s.row+int64(n)
	return b, nil
}

// piece is a scan of the next row group alone.
func (s *parquetScan) piece() (*parquetScan, error) {
	if s.group == s.last {
		return nil, io.EOF
	}
	p := &parquetScan{file: s.file, columns: s.columns, group: s.group, last: s.group + 1, row: s.row}
	rows := s.file.groups[s.group].rows
	if s.group++; rows < 0 || rows > math.MaxInt64-s.row {
		s.group = s.last // the piece ends in this fault
	} else {
		s.row += rows
	}
	return p, nil
}

func (s *parquetScan) damaged(i int) *Fault {
	f := damaged(s.file.columns[s.columns[i]].Name)
	f.Group = s.group
	return f
}

// open starts the next row group.
func (s *parquetScan) open() error {
	g := s.file.groups[s.group]
	s.group++
	s.left, s.cells = g.rows, nil
	if s.left < 0 || s.left > math.MaxInt64-s.row {
		return &Fault{Group: s.group, Msg: damaged("").Msg, Hint: damaged("").Hint}
	}
	chunks := readChunks(&compact{b: s.file.footer, at: g.at})
	for i, c := range s.columns {
		leaf := s.file.leaf[c]
		if leaf.index >= len(chunks) {
			return s.damaged(i)
		}
		chunk := chunks[leaf.index]
		if err := s.check(chunk, leaf, i); err != nil {
			return err
		}
		s.cells = append(s.cells, newCells(s.file.src, chunk, leaf, s.file.columns[c].Kind))
	}
	return nil
}

// chunk is a stored column of one row group.
type chunk struct {
	physical        physical
	codec           int
	values          int64
	start, length   int64
	dictionary      int64
	crypto, outside bool
}

// readChunks reads the description of a row group.
func readChunks(c *compact) (chunks []chunk) {
	c.fields(func(id int, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		n, _ := c.list(6)
		if n > maxElements {
			panic("columnar: too many columns")
		}
		for range n {
			k := chunk{physical: group}
			c.fields(func(id int, kind byte) bool {
				switch {
				case id == 1 && kind == thriftBinary:
					c.bytes()
					k.outside = true
				case id == 3 && kind == thriftStruct:
					c.fields(k.field(c))
				case id == 8 && kind == thriftStruct:
					k.crypto = true
					return false
				default:
					return false
				}
				return true
			})
			if k.dictionary > 0 && k.dictionary < k.start { // where the dictionary stands first, length counts from it
				k.start = k.dictionary
			}
			chunks = append(chunks, k)
		}
		return true
	})
	return chunks
}

func (k *chunk) field(c *compact) func(id int, kind byte) bool {
	return func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			k.physical = physical(c.int())
		case id == 4 && kind == thriftI32:
			k.codec = int(c.int())
		case id == 5 && kind == thriftI64:
			k.values = c.int()
		case id == 7 && kind == thriftI64:
			k.length = c.int()
		case id == 9 && kind == thriftI64:
			k.start = c.int()
		case id == 11 && kind == thriftI64:
			k.dictionary = c.int()
		default:
			return false
		}
		return true
	}
}

// parquetCodecs are the format's numbers of codecs.
var parquetCodecs = map[int]codec{0: uncompressed, 1: snappyCodec, 2: gzipCodec, 4: brotliCodec, 6: zstdCodec, 7: lz4Block}

// check looks at what the file says of a stored column before any of it is read.
func (s *parquetScan) check(k chunk, leaf *leaf, i int) error {
	name := s.file.columns[s.columns[i]].Name
	if k.crypto {
		return &Fault{Group: s.group, Column: name, Msg: "the column is encrypted", Hint: "write it without encryption"}
	}
	if k.outside {
		return &Fault{Group: s.group, Column: name, Msg: "the column is in another file", Hint: "write all columns to one file"}
	}
	if k.start < 0 || k.length < 0 || k.start > s.file.size || k.length > s.file.size-k.start || k.physical != leaf.physical || k.values < 0 {
		return s.damaged(i)
	}
	if _, ok := parquetCodecs[k.codec]; !ok {
		names := map[int]string{3: "LZO", 5: "a non-standard form of LZ4"}
		if names[k.codec] == "" {
			return s.damaged(i)
		}
		return &Fault{Group: s.group, Column: name,
			Msg: fmt.Sprintf("compressed by %s, which cannot be read", names[k.codec]), Hint: "write it with snappy, zstd or gzip"}
	}
	return nil
}
