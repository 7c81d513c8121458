//go:build oracle

package reader

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	pq "github.com/apache/arrow-go/v18/parquet/schema"
	"pgregory.net/rapid"

	"pawl/internal/recorded"
)

// With the tag oracle, arrow-go writes the files that the tests read; without it they are read from the archive.

var update = flag.Bool("update", false, "record the files that arrow-go writes")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(written.Close(m.Run(), *update))
}

func (c typed) first() any {
	for _, x := range c.cells {
		if x != nil {
			return x
		}
	}
	return ""
}

func asParquet(t testing.TB, size int, columns ...typed) []byte {
	t.Helper()
	return written.Put(recorded.Key("parquet", size, columns), parquetOf(t, size, columns...))
}

func asArrow(t testing.TB, columns ...typed) []byte {
	t.Helper()
	return written.Put(recorded.Key("arrow", columns), arrowOf(t, columns...))
}

// The same table in each format gives the same numbers, identifiers and refusals, for tables drawn afresh in every run.
func TestFormatsAgreeAtRandom(t *testing.T) {
	agree := agreement(t)
	rapid.Check(t, func(rt *rapid.T) {
		tab := drawn.Draw(rt, "table")
		agree(rt, tab, parquetOf(t, tab.size, tab.columns...), arrowOf(t, tab.columns...))
	})
}

// asParquet writes the rows in groups of at most size.
func parquetOf(t testing.TB, size int, columns ...typed) []byte {
	t.Helper()
	fields := make(pq.FieldList, len(columns))
	for i, c := range columns {
		kind, logical := parquet.Types.ByteArray, pq.LogicalType(pq.StringLogicalType{})
		switch c.first().(type) {
		case int64:
			kind, logical = parquet.Types.Int64, nil
		case float64:
			kind, logical = parquet.Types.Double, nil
		case bool:
			kind, logical = parquet.Types.Boolean, nil
		}
		fields[i] = pq.Must(pq.NewPrimitiveNodeLogical(c.name, parquet.Repetitions.Optional, logical, kind, 0, -1))
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, pq.MustGroup(pq.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)))
	for from := 0; from < len(columns[0].cells); from += size {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			cells := c.cells[from:min(from+size, len(c.cells))]
			cw, err := g.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			switch cw := cw.(type) {
			case *file.Int64ColumnChunkWriter:
				v, d := present[int64](cells)
				_, err = cw.WriteBatch(v, d, nil)
			case *file.Float64ColumnChunkWriter:
				v, d := present[float64](cells)
				_, err = cw.WriteBatch(v, d, nil)
			case *file.BooleanColumnChunkWriter:
				v, d := present[bool](cells)
				_, err = cw.WriteBatch(v, d, nil)
			case *file.ByteArrayColumnChunkWriter:
				v, d := present[string](cells)
				raw := make([]parquet.ByteArray, len(v))
				for i := range v {
					raw[i] = parquet.ByteArray(v[i])
				}
				_, err = cw.WriteBatch(raw, d, nil)
			}
			if err := errors.Join(err, cw.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func present[T any](cells []any) (values []T, levels []int16) {
	for _, x := range cells {
		if x == nil {
			levels = append(levels, 0)
			continue
		}
		values, levels = append(values, x.(T)), append(levels, 1)
	}
	return values, levels
}

// asArrow writes the same columns, texts by dictionaries.
func arrowOf(t testing.TB, columns ...typed) []byte {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Nullable: true}
		switch c.first().(type) {
		case int64:
			fields[i].Type = arrow.PrimitiveTypes.Int64
		case float64:
			fields[i].Type = arrow.PrimitiveTypes.Float64
		case bool:
			fields[i].Type = arrow.FixedWidthTypes.Boolean
		default:
			fields[i].Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		}
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), s)
	for i, c := range columns {
		for _, x := range c.cells {
			switch x := x.(type) {
			case nil:
				b.Field(i).AppendNull()
			case int64:
				b.Field(i).(*array.Int64Builder).Append(x)
			case float64:
				b.Field(i).(*array.Float64Builder).Append(x)
			case bool:
				b.Field(i).(*array.BooleanBuilder).Append(x)
			case string:
				if err := b.Field(i).(*array.BinaryDictionaryBuilder).AppendString(x); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func oddTypes(t testing.TB) []byte {
	t.Helper()
	date := pq.Must(pq.NewPrimitiveNodeLogical("age", parquet.Repetitions.Optional, pq.DateLogicalType{}, parquet.Types.Int32, 0, -1))
	inner := pq.Must(pq.NewPrimitiveNode("inner", parquet.Repetitions.Optional, parquet.Types.Int32, -1, 0))
	group := pq.MustGroup(pq.NewGroupNode("id", parquet.Repetitions.Optional, pq.FieldList{inner}, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, pq.MustGroup(pq.NewGroupNode("schema", parquet.Repetitions.Required, pq.FieldList{group, date, pq.NewInt32Node("n", parquet.Repetitions.Optional, -1)}, -1)))
	g, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cw, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cw.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{4}, []int16{cw.Descr().MaxDefinitionLevel()}, nil); err != nil {
			t.Fatal(err)
		}
		if err := cw.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(g.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return written.Put("odd types", b.Bytes())
}

// asParquetLists writes texts beside lists of float32, the lengths of which are given.
func asParquetLists(t testing.TB, keys []string, values []float32, lengths ...int) []byte {
	t.Helper()
	key := pq.Must(pq.NewPrimitiveNodeLogical("key", parquet.Repetitions.Required, pq.StringLogicalType{}, parquet.Types.ByteArray, 0, -1))
	list := pq.MustGroup(pq.ListOf(pq.NewFloat32Node("embedding", parquet.Repetitions.Required, -1), parquet.Repetitions.Required, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, pq.MustGroup(pq.NewGroupNode("schema", parquet.Repetitions.Required, pq.FieldList{key, list}, -1)))
	g, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]parquet.ByteArray, len(keys))
	for i := range keys {
		raw[i] = parquet.ByteArray(keys[i])
	}
	var definition, repetition []int16
	for _, n := range lengths {
		for k := range n {
			definition, repetition = append(definition, 1), append(repetition, int16(min(k, 1)))
		}
	}
	cw, err := g.NextColumn()
	if err == nil {
		_, err = cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(raw, nil, nil)
	}
	if err := errors.Join(err, cw.Close()); err != nil {
		t.Fatal(err)
	}
	if cw, err = g.NextColumn(); err == nil {
		_, err = cw.(*file.Float32ColumnChunkWriter).WriteBatch(values, definition, repetition)
	}
	if err := errors.Join(err, cw.Close(), g.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return written.Put(recorded.Key("lists", keys, values, lengths), b.Bytes())
}
