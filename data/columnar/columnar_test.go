package columnar

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// stored is a column of a file that a test writes by the library, with levels given.
type stored struct {
	node                   schema.Node
	values                 any
	definition, repetition []int16
}

func optional(name string, l schema.LogicalType, t parquet.Type, length int) schema.Node {
	return schema.Must(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Optional, l, t, length, -1))
}

// parquetOf writes every group with the same columns.
func parquetOf(t testing.TB, groups int, columns []stored, o ...parquet.WriterProperty) []byte {
	t.Helper()
	fields := make(schema.FieldList, len(columns))
	for i, c := range columns {
		fields[i] = c.node
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(parquet.NewWriterProperties(o...)))
	for range groups {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			cw, err := g.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			switch v := c.values.(type) {
			case []bool:
				_, err = cw.(*file.BooleanColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []int32:
				_, err = cw.(*file.Int32ColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []int64:
				_, err = cw.(*file.Int64ColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []float32:
				_, err = cw.(*file.Float32ColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []float64:
				_, err = cw.(*file.Float64ColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []parquet.ByteArray:
				_, err = cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			case []parquet.FixedLenByteArray:
				_, err = cw.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(v, c.definition, c.repetition)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := cw.Close(); err != nil {
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

// everyKind has three rows: a value, a null, a value.
func everyKind() []stored {
	null := []int16{1, 0, 1}
	list := schema.MustGroup(schema.ListOf(schema.NewFloat32Node("v", parquet.Repetitions.Optional, -1), parquet.Repetitions.Optional, -1))
	return []stored{
		{optional("bool", nil, parquet.Types.Boolean, 0), []bool{true, false}, null, nil},
		{optional("i32", nil, parquet.Types.Int32, 0), []int32{-5, 7}, null, nil},
		{optional("u32", schema.NewIntLogicalType(32, false), parquet.Types.Int32, 0), []int32{-1, 7}, null, nil},
		{optional("i64", nil, parquet.Types.Int64, 0), []int64{math.MinInt64, 1<<53 + 1}, null, nil},
		{optional("u64", schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0), []int64{-1, 7}, null, nil},
		{optional("f32", nil, parquet.Types.Float, 0), []float32{0.1, 1e20}, null, nil},
		{optional("f64", nil, parquet.Types.Double, 0), []float64{0.1, math.NaN()}, null, nil},
		{optional("text", schema.StringLogicalType{}, parquet.Types.ByteArray, 0), []parquet.ByteArray{[]byte("a,\"b\""), {}}, null, nil},
		{optional("dec", schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0), []int32{-5, 12345}, null, nil},
		{optional("decbig", schema.NewDecimalLogicalType(30, 3), parquet.Types.FixedLenByteArray, 13),
			[]parquet.FixedLenByteArray{bytes.Repeat([]byte{255}, 13), append(make([]byte, 12), 255)}, null, nil},
		{list, []float32{1, 2, 3, 4}, []int16{3, 3, 0, 3, 3, 2}, []int16{0, 1, 0, 0, 1, 1}},
	}
}

var everyText = [][]string{
	{"true", "-5", "4294967295", "-9223372036854775808", "18446744073709551615", "0.1", "0.1", `a,"b"`, "-0.05", "-0.001", ""},
	{"", "", "", "", "", "", "", "", "", "", ""},
	{"false", "7", "7", "9007199254740993", "7", "1e+20", "NaN", "", "123.45", "0.255", ""},
}

// readAll returns the texts of all supported columns, with "null" told apart.
func readAll(data []byte) (rows [][]string, nulls int, vectors [][]float32, err error) {
	f, err := Open(bytes.NewReader(data))
	if err != nil {
		return nil, 0, nil, err
	}
	var columns []int
	for i, c := range f.Columns() {
		if c.Kind != Unsupported {
			columns = append(columns, i)
		}
	}
	s, err := f.Scan(columns)
	if err != nil {
		return nil, 0, nil, err
	}
	for {
		b, err := s.Next()
		if err == io.EOF {
			return rows, nulls, vectors, nil
		}
		if err != nil {
			return rows, nulls, vectors, err
		}
		if b.First != int64(len(rows)+1) || b.Rows < 1 {
			return nil, 0, nil, errors.New("rows are numbered wrongly")
		}
		for i := range b.Rows {
			row := make([]string, len(columns))
			for k := range b.Chunks {
				c := &b.Chunks[k]
				row[k] = c.Text(i)
				if c.Null(i) {
					nulls++
				}
				if f.columns[columns[k]].Kind == Vector {
					vectors = append(vectors, c.Vector(i))
				}
			}
			if rows = append(rows, row); len(rows) > 1<<16 {
				return nil, 0, nil, errors.New("too many rows for a test")
			}
		}
	}
}

func TestParquetKinds(t *testing.T) {
	for _, o := range []struct {
		name string
		with []parquet.WriterProperty
	}{
		{"plain", []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		{"dictionary", []parquet.WriterProperty{parquet.WithDictionaryDefault(true)}},
		{"pages of version 2, zstd", []parquet.WriterProperty{parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)}},
		{"snappy", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy)}},
		{"gzip", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Gzip)}},
	} {
		t.Run(o.name, func(t *testing.T) {
			rows, nulls, vectors, err := readAll(parquetOf(t, 2, everyKind(), o.with...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(append(everyText[:3:3], everyText...), rows); d != "" {
				t.Errorf("rows differ (-want +got):\n%s", d)
			}
			if nulls != 20 {
				t.Errorf("%d nulls, want 20: the null list is a vector of one NaN", nulls)
			}
			if len(vectors) != 6 || !cmp.Equal(vectors[0], []float32{1, 2}) || !isNaN(vectors[1]) || len(vectors[2]) != 3 || !isNaN(vectors[2][2:]) {
				t.Errorf("vectors %v", vectors)
			}
		})
	}
}

func isNaN(v []float32) bool { return len(v) == 1 && v[0] != v[0] }

// Batches, pages and row groups end at different rows; no cell may move.
func TestParquetManyRows(t *testing.T) {
	const n = 3*batchRows + 17
	values, definition := []int64{}, make([]int16, n)
	list, levels, reps := []float64{}, []int16{}, []int16{}
	for i := range n {
		if i%3 != 1 {
			definition[i] = 1
			values = append(values, int64(i))
		}
		for k := range 3 {
			list, levels, reps = append(list, float64(3*i+k)), append(levels, 2), append(reps, int16(min(k, 1)))
		}
	}
	lists := schema.MustGroup(schema.ListOf(schema.NewFloat64Node("v", parquet.Repetitions.Required, -1), parquet.Repetitions.Optional, -1))
	data := parquetOf(t, 2, []stored{
		{optional("x", nil, parquet.Types.Int64, 0), values, definition, nil},
		{lists, list, levels, reps},
	}, parquet.WithDataPageSize(1000), parquet.WithBatchSize(100))
	rows, nulls, vectors, err := readAll(data)
	if err != nil || len(rows) != 2*n || nulls != 2*((n+1)/3) {
		t.Fatalf("%d rows, %d nulls, %v", len(rows), nulls, err)
	}
	for i := range rows {
		at := i % n
		want := ""
		if at%3 != 1 {
			want = big.NewInt(int64(at)).String()
		}
		f := float32(3 * at)
		if rows[i][0] != want || !cmp.Equal(vectors[i], []float32{f, f + 1, f + 2}) {
			t.Fatalf("row %d: %q, want %q; %v", i, rows[i][0], want, vectors[i])
		}
	}
}

func TestColumnTypesAreNamed(t *testing.T) {
	nested := schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Required, schema.FieldList{schema.NewInt32Node("a", parquet.Repetitions.Required, -1)}, -1))
	texts := schema.MustGroup(schema.ListOf(schema.MustPrimitive(schema.NewPrimitiveNodeLogical("l", parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)), parquet.Repetitions.Optional, -1))
	data := parquetOf(t, 0, []stored{
		{node: nested}, {node: texts},
		{node: optional("date", schema.DateLogicalType{}, parquet.Types.Int32, 0)},
		{node: optional("when", schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, 0)},
		{node: optional("bytes", nil, parquet.Types.ByteArray, 0)},
		{node: schema.NewInt32Node("many", parquet.Repetitions.Repeated, -1)},
		{node: schema.NewInt96Node("old", parquet.Repetitions.Required, -1)},
	})
	f, err := Open(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"structure", "list of BYTE_ARRAY", "Date", "Timestamp", "binary", "repeated INT32", "INT96"} {
		c := f.Columns()[i]
		if c.Kind != Unsupported || !strings.HasPrefix(c.Type, want) {
			t.Errorf("column %q: kind %d, type %q, want %q", c.Name, c.Kind, c.Type, want)
		}
		if _, err := f.Scan([]int{i}); err == nil || !strings.Contains(err.Error(), c.Name) || !strings.Contains(err.Error(), want) {
			t.Errorf("column %q is not refused by its name and type: %v", c.Name, err)
		}
	}
}

func arrowOf(t testing.TB, o ...ipc.Option) []byte {
	t.Helper()
	mem := memory.NewGoAllocator()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "bool", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "i8", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
		{Name: "u64", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "dec", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
		{Name: "null", Type: arrow.Null, Nullable: true},
		{Name: "vec", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "when", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(mem, s)
	b.Field(0).(*array.BooleanBuilder).AppendValues([]bool{true, false, false}, []bool{true, false, true})
	b.Field(1).(*array.Int8Builder).AppendValues([]int8{-5, 0, 7}, []bool{true, false, true})
	b.Field(2).(*array.Uint64Builder).AppendValues([]uint64{math.MaxUint64, 0, 7}, []bool{true, false, true})
	b.Field(3).(*array.Float32Builder).AppendValues([]float32{0.1, 0, 1e20}, []bool{true, false, true})
	b.Field(4).(*array.LargeStringBuilder).AppendValues([]string{"a", "", ""}, []bool{true, false, true})
	dict := b.Field(5).(*array.BinaryDictionaryBuilder)
	for _, v := range []string{"red", "", "blue"} {
		if v == "" {
			dict.AppendNull()
		} else if err := dict.AppendString(v); err != nil {
			t.Fatal(err)
		}
	}
	dec := b.Field(6).(*array.Decimal128Builder)
	dec.Append(decimal128.FromI64(-5))
	dec.AppendNull()
	dec.Append(decimal128.FromI64(12345))
	b.Field(7).(*array.NullBuilder).AppendNulls(3)
	vec := b.Field(8).(*array.FixedSizeListBuilder)
	for i, ok := range []bool{true, false, true} {
		vec.Append(ok)
		vec.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{float64(i), 0.5}, nil)
	}
	b.Field(9).(*array.Date32Builder).AppendValues([]arrow.Date32{1, 2, 3}, nil)
	record := b.NewRecordBatch()
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, append(o, ipc.WithSchema(s))...)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArrowKinds(t *testing.T) {
	for _, o := range []struct {
		name string
		with []ipc.Option
	}{{"plain", nil}, {"zstd", []ipc.Option{ipc.WithZstd()}}, {"lz4", []ipc.Option{ipc.WithLZ4()}}} {
		t.Run(o.name, func(t *testing.T) {
			rows, nulls, vectors, err := readAll(arrowOf(t, o.with...))
			if err != nil {
				t.Fatal(err)
			}
			want := [][]string{
				{"true", "-5", "18446744073709551615", "0.1", "a", "red", "-0.05", "", ""},
				{"", "", "", "", "", "", "", "", ""},
				{"false", "7", "7", "1e+20", "", "blue", "123.45", "", ""},
			}
			if d := cmp.Diff(append(want[:3:3], want...), rows); d != "" {
				t.Errorf("rows differ (-want +got):\n%s", d)
			}
			if nulls != 2*(8+3) || !cmp.Equal(vectors[2], []float32{2, 0.5}) || vectors[1] != nil {
				t.Errorf("%d nulls; vectors %v", nulls, vectors)
			}
		})
	}
}

// What was cut or changed is refused or read, and ends in no panic.
func TestDamagedFiles(t *testing.T) {
	for name, data := range map[string][]byte{"parquet": parquetOf(t, 2, everyKind()), "arrow": arrowOf(t), "arrow zstd": arrowOf(t, ipc.WithZstd())} {
		t.Run(name, func(t *testing.T) {
			for n := 0; n < len(data); n += 3 {
				if _, _, _, err := readAll(data[:n]); err == nil {
					t.Fatalf("the first %d of %d bytes were read without an error", n, len(data))
				}
			}
			step := 5 // coprime to most strides of the formats
			for i := 0; i < len(data); i += step {
				for _, bit := range []byte{1, 0x40, 0x80} {
					damaged := bytes.Clone(data)
					damaged[i] ^= bit
					var f *Fault
					if _, _, _, err := readAll(damaged); err != nil && !errors.As(err, &f) && !strings.HasPrefix(err.Error(), "too many rows") {
						t.Fatalf("byte %d: error of another kind: %v", i, err)
					}
				}
			}
		})
	}
}

func TestWriteParquet(t *testing.T) {
	texts := make([]string, groupRows+3)
	floats := make([]float64, len(texts))
	for i := range texts {
		texts[i], floats[i] = strings.Repeat("é", i%3), float64(i)/8
	}
	floats[1] = math.NaN()
	columns := []Data{{Name: "class, of 2", Texts: texts}, {Name: "p", Floats: floats}}
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := WriteParquet(w, columns); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same columns give other bytes")
	}
	f, err := Open(bytes.NewReader(a.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Column{{"class, of 2", Text, "String"}, {"p", Float, "DOUBLE"}}, f.Columns()); d != "" {
		t.Error(d)
	}
	s, err := f.Scan([]int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			if v := b.Chunks[0].Float(i); v != floats[at] && at != 1 || b.Chunks[1].Text(i) != texts[at] {
				t.Fatalf("row %d reads otherwise", at)
			}
			at++
		}
	}
	if at != len(texts) {
		t.Errorf("%d rows, want %d", at, len(texts))
	}
	if err := WriteParquet(io.Discard, []Data{{Name: "none", Floats: []float64{}}}); err != nil {
		t.Errorf("no rows: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("columns of different lengths were written")
		}
	}()
	_ = WriteParquet(io.Discard, []Data{{Name: "a", Floats: []float64{1}}, {Name: "b", Texts: []string{"x", "y"}}})
}

// A full disk is an error wherever it is met, and never a panic.
func TestWriteParquetFails(t *testing.T) {
	texts, floats := make([]string, groupRows+1), make([]float64, groupRows+1)
	for i := range texts {
		texts[i], floats[i] = strings.Repeat("x", i%100), float64(i)*math.Pi
	}
	columns := []Data{{Name: "a", Floats: floats}, {Name: "b", Texts: texts}}
	whole := &full{left: 1 << 30}
	if err := WriteParquet(whole, columns); err != nil {
		t.Fatal(err)
	}
	size := 1<<30 - whole.left
	for _, left := range []int{0, 3, 4, 100, size / 3, size / 2, size * 9 / 10, size - 100, size - 9, size - 1} {
		if err := WriteParquet(&full{left: left}, columns); err == nil {
			t.Errorf("an error after %d of %d bytes was lost", left, size)
		}
	}
}

// full is a disk with room for a number of bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, errors.New("disk full")
	}
	f.left -= len(p)
	return len(p), nil
}

func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "unscaled")
		scale := rapid.IntRange(0, 30).Draw(t, "scale")
		got, ok := new(big.Rat).SetString(decimal(big.NewInt(v), scale))
		want := new(big.Rat).SetFrac(big.NewInt(v), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%d with %d digits behind the point: %s", v, scale, decimal(big.NewInt(v), scale))
		}
		raw := make([]byte, 12)
		for i := range 8 {
			raw[4+i] = byte(v >> (56 - 8*i))
		}
		if v < 0 {
			copy(raw, []byte{255, 255, 255, 255})
		}
		if bigEndian(raw).Cmp(big.NewInt(v)) != 0 {
			t.Fatalf("%d reads as %v", v, bigEndian(raw))
		}
	})
}

func FuzzOpen(f *testing.F) {
	f.Add(parquetOf(f, 1, everyKind()))
	f.Add(parquetOf(f, 2, everyKind(), parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)))
	f.Add(arrowOf(f))
	f.Add(arrowOf(f, ipc.WithZstd()))
	f.Add([]byte("PAR1PAR1PAR1"))
	f.Add([]byte("ARROW1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, _, _, _ := readAll(data)
		for _, r := range rows {
			if len(r) != len(rows[0]) {
				t.Fatal("rows of different widths")
			}
		}
	})
}
