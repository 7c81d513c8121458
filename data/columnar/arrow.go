package columnar

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// openArrow reads an Arrow IPC file, which Feather version 2 is too.
func openArrow(src Source) (*File, error) {
	if err := checkArrow(src); err != nil {
		return nil, err
	}
	in, err := ipc.NewFileReader(struct{ Source }{src}, ipc.WithAllocator(&bounded{}))
	if err != nil {
		return nil, damaged("")
	}
	f := &File{format: "Arrow"}
	for _, field := range in.Schema().Fields() {
		c := Column{Name: field.Name, Type: field.Type.String()}
		c.Kind = arrowKind(field.Type)
		f.columns = append(f.columns, c)
	}
	f.scan = func(columns []int) nexter { return &arrowScan{in: in, file: f, columns: columns, row: 1} }
	return f, nil
}

func arrowKind(t arrow.DataType) Kind {
	switch t := t.(type) {
	case *arrow.NullType:
		return Text
	case *arrow.BooleanType:
		return Boolean
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return Integer
	case *arrow.Float32Type, *arrow.Float64Type:
		return Float
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return Text
	case *arrow.Decimal128Type:
		if t.Scale >= 0 && t.Scale <= maxScale {
			return Text
		}
	case *arrow.Decimal256Type:
		if t.Scale >= 0 && t.Scale <= maxScale {
			return Text
		}
	case *arrow.DictionaryType:
		// A dictionary is a way to store texts; the schema's categories are declared.
		if k := arrowKind(t.ValueType); k != Unsupported && k != Vector && t.ValueType.ID() != arrow.NULL {
			return Text
		}
	case *arrow.FixedSizeListType:
		if arrowKind(t.Elem()) == Float {
			return Vector
		}
	case *arrow.ListType:
		if arrowKind(t.Elem()) == Float {
			return Vector
		}
	case *arrow.LargeListType:
		if arrowKind(t.Elem()) == Float {
			return Vector
		}
	}
	return Unsupported
}

// arrowScan walks through the record batches, one of which is in memory at a time.
type arrowScan struct {
	in      *ipc.FileReader
	file    *File
	columns []int
	group   int // the next
	row     int64
}

func (s *arrowScan) next() (*Batch, error) {
	for {
		if s.group == s.in.NumRecords() {
			return nil, io.EOF
		}
		record, err := s.in.RecordBatchAt(s.group)
		s.group++
		if err != nil {
			f := damaged("")
			f.Group = s.group
			return nil, f
		}
		if record.NumRows() == 0 {
			continue
		}
		b := &Batch{Group: s.group, First: s.row, Rows: int(record.NumRows()), Chunks: make([]Chunk, len(s.columns))}
		for i, c := range s.columns {
			column := record.Column(c)
			// The library takes the number of rows as it stands in the file.
			if column.Len() != b.Rows {
				f := damaged(s.file.columns[c].Name)
				f.Group = s.group
				return nil, f
			}
			b.Chunks[i] = arrowChunk(column)
		}
		s.row += int64(b.Rows)
		return b, nil
	}
}

func arrowChunk(a arrow.Array) Chunk {
	n := a.Len()
	c := Chunk{}
	if a.NullN() > 0 || a.DataType().ID() == arrow.NULL || a.DataType().ID() == arrow.DICTIONARY {
		c.null = make([]bool, n)
		for i := range n {
			c.null[i] = a.IsNull(i) || a.DataType().ID() == arrow.NULL // which has no bits that say so
		}
	}
	switch a := a.(type) {
	case *array.Boolean:
		c.bools = make([]bool, n)
		for i := range n {
			c.bools[i] = a.Value(i)
		}
	case *array.Int8:
		c.ints = widened(a.Int8Values())
	case *array.Int16:
		c.ints = widened(a.Int16Values())
	case *array.Int32:
		c.ints = widened(a.Int32Values())
	case *array.Int64:
		c.ints = a.Int64Values()
	case *array.Uint8:
		c.ints = widened(a.Uint8Values())
	case *array.Uint16:
		c.ints = widened(a.Uint16Values())
	case *array.Uint32:
		c.ints = widened(a.Uint32Values())
	case *array.Uint64:
		c.ints, c.unsigned = widened(a.Uint64Values()), true
	case *array.Float32:
		c.single, c.floats = true, make([]float64, n)
		for i, v := range a.Float32Values() {
			c.floats[i] = float64(v)
		}
	case *array.Float64:
		c.floats = a.Float64Values()
	case *array.FixedSizeList:
		c.vectors = arrowVectors(a, a.ListValues(), c.null)
	case *array.List:
		c.vectors = arrowVectors(a, a.ListValues(), c.null)
	case *array.LargeList:
		c.vectors = arrowVectors(a, a.ListValues(), c.null)
	case *array.Dictionary:
		values := arrowChunk(a.Dictionary())
		c.texts = make([]string, n)
		for i := range n {
			if c.null[i] {
				continue
			}
			// The dictionary itself may hold a null.
			at := a.GetValueIndex(i)
			if c.null[i] = values.Null(at); !c.null[i] {
				c.texts[i] = values.Text(at)
			}
		}
	default:
		c.texts = arrowTexts(a, c.null)
	}
	return c
}

func widened[T int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64](v []T) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

// arrowTexts copies texts, whose bytes belong to the record batch.
func arrowTexts(a arrow.Array, null []bool) []string {
	value := func(int) string { return "" }
	switch a := a.(type) {
	case *array.String:
		value = a.Value
	case *array.LargeString:
		value = a.Value
	case *array.StringView:
		value = a.Value
	case *array.Decimal128:
		scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
		value = func(i int) string { return decimal(a.Value(i).BigInt(), scale) }
	case *array.Decimal256:
		scale := int(a.DataType().(*arrow.Decimal256Type).Scale)
		value = func(i int) string { return decimal(a.Value(i).BigInt(), scale) }
	}
	out := make([]string, a.Len())
	for i := range out {
		if null == nil || !null[i] {
			out[i] = string([]byte(value(i)))
		}
	}
	return out
}

// arrowVectors cuts the values of all lists into those of each row.
func arrowVectors(a array.ListLike, values arrow.Array, null []bool) [][]float32 {
	all := arrowChunk(values)
	out := make([][]float32, a.Len())
	for i := range out {
		if null != nil && null[i] {
			continue
		}
		from, to := a.ValueOffsets(i)
		if from < 0 || to < from || to > int64(values.Len()) { // before memory is taken for it
			panic("columnar: a list outside of its values")
		}
		out[i] = make([]float32, 0, to-from)
		for k := from; k < to; k++ {
			out[i] = append(out[i], float32(all.Float(int(k))))
		}
	}
	return out
}
