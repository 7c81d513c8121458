package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// batchRows bounds the rows of one batch of a Parquet file.
const batchRows = 2048

// maxFooter bounds the description at the end of a Parquet file, which is read whole.
const maxFooter = 64 << 20

// maxScale bounds the digits behind the point of a decimal.
const maxScale = 100

// parquetFile reads through package file alone: the library's bridge to Arrow
// brings a remote procedure protocol with it and decodes in goroutines, where a
// panic about a damaged page would end the program.
type parquetFile struct {
	in   *file.Reader
	size int64
	// leaf is the stored column of each column; -1 where it has several or none.
	leaf    []int
	columns []Column
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
	switch footer := binary.LittleEndian.Uint32(end[:]); {
	case string(end[4:]) == "PARE":
		return nil, &Fault{Msg: "the file is encrypted", Hint: "write it without encryption"}
	case string(end[4:]) != string(parquetMagic), int64(footer) > size-12:
		return nil, damaged("")
	case footer > maxFooter:
		return nil, &Fault{Msg: "the description of the columns is longer than 64 MiB", Hint: "write fewer columns, or larger row groups"}
	}
	props := parquet.NewReaderProperties(&bounded{})
	props.BufferedStreamEnabled = true // page after page, not a whole row group at once
	in, err := file.NewParquetReader(struct{ Source }{src}, file.WithReadProps(props))
	if err != nil {
		return nil, damaged("")
	}
	p := &parquetFile{in: in, size: size}
	p.describe()
	return &File{format: "Parquet", columns: p.columns, scan: func(columns []int) nexter {
		return &parquetScan{file: p, columns: columns, row: 1}
	}}, nil
}

func (p *parquetFile) describe() {
	s := p.in.MetaData().Schema
	leaves := map[schema.Node][]int{}
	for i := range s.NumColumns() {
		root := s.ColumnRoot(i)
		leaves[root] = append(leaves[root], i)
	}
	root := s.Root()
	for i := range root.NumFields() {
		field := root.Field(i)
		c, at := Column{Name: field.Name(), Type: field.LogicalType().String()}, -1
		if l := leaves[field]; len(l) == 1 {
			at = l[0]
		}
		switch node := field.(type) {
		case *schema.PrimitiveNode:
			c.Kind, c.Type = parquetKind(node)
			if node.RepetitionType() == parquet.Repetitions.Repeated {
				c.Kind, c.Type = Unsupported, "repeated "+c.Type
			}
		case *schema.GroupNode:
			if field.LogicalType().IsNone() {
				c.Type = "structure"
			}
			if at >= 0 {
				d := s.Column(at)
				float := d.PhysicalType() == parquet.Types.Float || d.PhysicalType() == parquet.Types.Double
				if _, list := field.LogicalType().(schema.ListLogicalType); list {
					c.Type = "list of " + d.PhysicalType().String()
					if float && d.MaxRepetitionLevel() == 1 {
						c.Kind = Vector
					}
				}
			}
		}
		p.columns, p.leaf = append(p.columns, c), append(p.leaf, at)
	}
}

// parquetKind reads the logical type first: a date is stored as a number and is none.
func parquetKind(n *schema.PrimitiveNode) (Kind, string) {
	physical := n.PhysicalType()
	logical := n.LogicalType()
	name := logical.String()
	if logical.IsNone() {
		name = physical.String()
	}
	switch l := logical.(type) {
	case schema.NoLogicalType:
		switch physical {
		case parquet.Types.Boolean:
			return Boolean, name
		case parquet.Types.Int32, parquet.Types.Int64:
			return Integer, name
		case parquet.Types.Float, parquet.Types.Double:
			return Float, name
		case parquet.Types.ByteArray:
			return Unsupported, "binary (bytes that are not declared to be text)"
		}
	case schema.IntLogicalType:
		return Integer, name
	case schema.StringLogicalType, schema.EnumLogicalType:
		if physical == parquet.Types.ByteArray {
			return Text, name
		}
	case schema.DecimalLogicalType:
		if l.Scale() >= 0 && l.Scale() <= maxScale {
			return Text, name
		}
	case schema.NullLogicalType: // a column of nulls, whose physical type means nothing
		if physical == parquet.Types.Int32 || physical == parquet.Types.Int64 {
			return Integer, name
		}
	}
	return Unsupported, name
}

// parquetScan walks through the row groups.
type parquetScan struct {
	file    *parquetFile
	columns []int
	group   int   // of the present readers, counted from 1
	row     int64 // next row of the file, counted from 1
	left    int64 // rows of the group
	cells   []cellReader
	batch   Batch
}

// cellReader reads the next n cells of a column of a row group.
type cellReader interface {
	read(n int, into *Chunk) error
	// end says whether the column has no further cell.
	end() bool
}

func (s *parquetScan) next() (*Batch, error) {
	for s.left == 0 {
		for i, c := range s.cells {
			if !c.end() {
				return nil, s.damaged(i)
			}
		}
		if s.group == s.file.in.NumRowGroups() {
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

func (s *parquetScan) damaged(i int) *Fault {
	f := damaged(s.file.columns[s.columns[i]].Name)
	f.Group = s.group
	return f
}

// open starts the next row group.
func (s *parquetScan) open() error {
	g := s.file.in.RowGroup(s.group)
	s.group++
	s.left, s.cells = g.NumRows(), nil
	if s.left < 0 || s.left > math.MaxInt64-s.row {
		return &Fault{Group: s.group, Msg: damaged("").Msg, Hint: damaged("").Hint}
	}
	for i, c := range s.columns {
		leaf := s.file.leaf[c]
		if err := s.check(g, leaf, i); err != nil {
			return err
		}
		col, err := g.Column(leaf)
		if err != nil {
			return s.damaged(i)
		}
		s.cells = append(s.cells, newCellReader(col, s.file.columns[c].Kind))
	}
	return nil
}

// check looks at what the file says of a stored column before memory is taken for it.
func (s *parquetScan) check(g *file.RowGroupReader, leaf, i int) error {
	m, err := g.MetaData().ColumnChunk(leaf)
	if err != nil {
		return s.damaged(i)
	}
	if m.CryptoMetadata() != nil {
		return &Fault{Group: s.group, Column: s.file.columns[s.columns[i]].Name, Msg: "the column is encrypted", Hint: "write it without encryption"}
	}
	start, length := m.DataPageOffset(), m.TotalCompressedSize()
	if start < 0 || length < 0 || start > s.file.size || length > s.file.size-start {
		// The dictionary may stand first; then length counts from there.
		if !m.HasDictionaryPage() || m.DictionaryPageOffset() < 0 || length < 0 || m.DictionaryPageOffset() > s.file.size ||
			length > s.file.size-m.DictionaryPageOffset() {
			return s.damaged(i)
		}
	}
	if _, err := compress.GetCodec(m.Compression()); err != nil {
		return &Fault{Group: s.group, Column: s.file.columns[s.columns[i]].Name,
			Msg: fmt.Sprintf("compressed by %s, which cannot be read", m.Compression()), Hint: "write it with snappy, zstd or gzip"}
	}
	return nil
}

// decimalText turns the cells of a decimal column, in any of its stored forms, to text.
func decimalText(l schema.LogicalType) func(*big.Int) string {
	scale := int(l.(schema.DecimalLogicalType).Scale())
	return func(v *big.Int) string { return decimal(v, scale) }
}
