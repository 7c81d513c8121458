//go:build oracle

package columnar

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// With the tag oracle arrow-go writes what is read here, and reads what is written here.

var update = flag.Bool("update", false, "record the files that arrow-go writes")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(files.Close(m.Run(), *update))
}

// fileOf writes a file by its name.
func fileOf(t testing.TB, name string) []byte {
	t.Helper()
	write, ok := writers()[name]
	if !ok {
		t.Fatalf("nothing writes %q", name)
	}
	return files.Put(name, write(t))
}

func writers() map[string]func(testing.TB) []byte {
	type options = []parquet.WriterProperty
	all := map[string]func(testing.TB) []byte{"many rows": manyRowsFile, "types": typesFile}
	kinds := func(groups int, o ...parquet.WriterProperty) func(testing.TB) []byte {
		return func(t testing.TB) []byte { return parquetOf(t, groups, everyKind(), o...) }
	}
	for name, o := range map[string]options{
		"default":                  nil,
		"plain":                    {parquet.WithDictionaryDefault(false)},
		"dictionary":               {parquet.WithDictionaryDefault(true)},
		"pages of version 2, zstd": {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)},
		"snappy":                   {parquet.WithCompression(compress.Codecs.Snappy)},
		"gzip":                     {parquet.WithCompression(compress.Codecs.Gzip)},
		"snappy, version 2":        {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)},
	} {
		all["kinds/"+name] = kinds(2, o...)
	}
	all["one group"] = kinds(1)
	for name, o := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}, "deltas": {ipc.WithDictionaryDeltas(true)}} {
		all["arrow/"+name] = func(t testing.TB) []byte { return arrowOf(t, o...) }
		all["more/"+name] = func(t testing.TB) []byte { return moreTypes(t, o...) }
	}
	for name, codec := range codecs {
		all["codecs/"+name] = func(t testing.TB) []byte {
			columns, _ := drawn(rand.New(rand.NewPCG(3, 4)), groupsRows)
			return parquetOf(t, 1, byArrow(columns), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithCompressionFor("text", codec), parquet.WithCompressionFor("i64", codec))
		}
	}
	for _, e := range encodedFiles(5000) {
		all[e.name()] = e.write
	}
	all["digest of what is written"] = func(t testing.TB) []byte {
		_, file := sample(t.(*testing.T))
		return []byte(digest(file))
	}
	return all
}

var codecs = map[string]compress.Compression{"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip,
	"brotli": compress.Codecs.Brotli, "zstd": compress.Codecs.Zstd, "lz4": compress.Codecs.Lz4Raw}

// byArrow gives drawn columns the types under which they are stored.
func byArrow(columns []drawnColumn) (out []stored) {
	cents := schema.NewDecimalLogicalType(18, 2)
	nodes := map[string]schema.Node{
		"bool": optional("bool", nil, parquet.Types.Boolean, 0), "i32": optional("i32", nil, parquet.Types.Int32, 0), "i64": optional("i64", nil, parquet.Types.Int64, 0),
		"f32": optional("f32", nil, parquet.Types.Float, 0), "f64": optional("f64", nil, parquet.Types.Double, 0),
		"text": optional("text", schema.StringLogicalType{}, parquet.Types.ByteArray, 0), "d32": optional("d32", schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0),
		"d64": optional("d64", cents, parquet.Types.Int64, 0), "dbytes": optional("dbytes", cents, parquet.Types.ByteArray, 0),
		"dfixed": optional("dfixed", cents, parquet.Types.FixedLenByteArray, 8),
	}
	for _, c := range columns {
		values := c.values
		if texts, ok := values.([][]byte); ok {
			var plain []parquet.ByteArray
			var fixed []parquet.FixedLenByteArray
			for _, b := range texts {
				plain, fixed = append(plain, b), append(fixed, b)
			}
			if values = plain; c.name == "dfixed" {
				values = fixed
			}
		}
		out = append(out, stored{node: nodes[c.name], values: values, definition: c.definition})
	}
	return out
}

func (e encoded) write(t testing.TB) []byte {
	type p = []parquet.WriterProperty
	on := func(e parquet.Encoding, names ...string) (o p) {
		o = p{parquet.WithDictionaryDefault(false)}
		for _, n := range names {
			o = append(o, parquet.WithEncodingFor(n, e))
		}
		return o
	}
	encodings := map[string]p{
		"plain":      on(parquet.Encodings.Plain),
		"dictionary": {parquet.WithDictionaryDefault(true)},
		// Dictionaries that grow too large end in the middle of a column.
		"dictionary then plain": {parquet.WithDictionaryDefault(true), parquet.WithDictionaryPageSizeLimit(200)},
		"delta":                 append(on(parquet.Encodings.DeltaBinaryPacked, "i32", "i64", "d32", "d64"), parquet.WithEncodingFor("text", parquet.Encodings.DeltaLengthByteArray)),
		"front":                 on(parquet.Encodings.DeltaByteArray, "text", "dbytes"),
		"split":                 on(parquet.Encodings.ByteStreamSplit, "i32", "i64", "f32", "f64", "d32", "d64", "dfixed"),
		// On one page: the oracle writes the booleans of each page again on those that follow.
		"runs of booleans": append(on(parquet.Encodings.RLE, "bool"), parquet.WithDataPageSize(1<<20)),
	}
	version := parquet.DataPageV1
	if e.version == 2 {
		version = parquet.DataPageV2
	}
	columns, _ := e.draw()
	return parquetOf(t, 2, byArrow(columns), append(p{parquet.WithDataPageVersion(version), parquet.WithCompression(codecs[e.codec]),
		parquet.WithDataPageSize(700), parquet.WithBatchSize(64)}, encodings[e.encoding]...)...)
}

func TestLargerEncodedFilesAgree(t *testing.T) {
	for _, e := range encodedFiles(5000) {
		if e.rows > 300 {
			e.reads(t, e.write(t))
		}
	}
}

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
func manyRowsFile(t testing.TB) []byte {
	const n = manyRows
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
	return parquetOf(t, 2, []stored{
		{optional("x", nil, parquet.Types.Int64, 0), values, definition, nil},
		{lists, list, levels, reps},
	}, parquet.WithDataPageSize(1000), parquet.WithBatchSize(100))
}

func typesFile(t testing.TB) []byte {
	nested := schema.MustGroup(schema.NewGroupNode("s", parquet.Repetitions.Required, schema.FieldList{schema.NewInt32Node("a", parquet.Repetitions.Required, -1)}, -1))
	texts := schema.MustGroup(schema.ListOf(schema.MustPrimitive(schema.NewPrimitiveNodeLogical("l", parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)), parquet.Repetitions.Optional, -1))
	return parquetOf(t, 0, []stored{
		{node: nested}, {node: texts},
		{node: optional("date", schema.DateLogicalType{}, parquet.Types.Int32, 0)},
		{node: optional("when", schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, 0)},
		{node: optional("bytes", nil, parquet.Types.ByteArray, 0)},
		{node: schema.NewInt32Node("many", parquet.Repetitions.Repeated, -1)},
		{node: schema.NewInt96Node("old", parquet.Repetitions.Required, -1)},
	})
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
func moreTypes(t testing.TB, o ...ipc.Option) []byte {
	t.Helper()
	const n = moreRows
	mem := memory.NewGoAllocator()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "view", Type: arrow.BinaryTypes.StringView, Nullable: true},
		{Name: "skipped", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.StringView}, arrow.Field{Name: "b", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8)}), Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "big", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "d256", Type: &arrow.Decimal256Type{Precision: 50, Scale: 2}, Nullable: true},
		{Name: "codes", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.PrimitiveTypes.Int64}, Nullable: true},
		{Name: "u16", Type: arrow.PrimitiveTypes.Uint16, Nullable: true},
	}, nil)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, append(o, ipc.WithSchema(s))...)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(mem, s)
	for i := range n {
		if i%7 == 3 {
			for k := range s.NumFields() {
				b.Field(k).AppendNull()
			}
			continue
		}
		b.Field(0).(*array.StringViewBuilder).Append(strings.Repeat("long text ", i%4) + fmt.Sprint(i))
		st := b.Field(1).(*array.StructBuilder)
		st.Append(true)
		st.FieldBuilder(0).(*array.StringViewBuilder).Append(strings.Repeat("of a structure ", i%3))
		st.FieldBuilder(1).AppendNull()
		b.Field(2).(*array.ListBuilder).Append(true)
		for k := range i % 3 {
			b.Field(2).(*array.ListBuilder).ValueBuilder().(*array.Float32Builder).Append(float32(k))
		}
		b.Field(3).(*array.LargeListBuilder).Append(true)
		b.Field(3).(*array.LargeListBuilder).ValueBuilder().(*array.Float64Builder).AppendValues([]float64{float64(i), 0.5}, nil)
		b.Field(4).(*array.Decimal256Builder).Append(decimal256.FromBigInt(new(big.Int).Mul(big.NewInt(int64(-i)), new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil))))
		if err := b.Field(5).(*array.Int64DictionaryBuilder).Append(int64(i % 5)); err != nil {
			t.Fatal(err)
		}
		b.Field(6).(*array.Uint16Builder).Append(uint16(65535 - i))
	}
	whole := b.NewRecordBatch()
	// A piece of a batch too, whose buffers begin elsewhere.
	for _, r := range []arrow.RecordBatch{whole, whole.NewSlice(13, 77)} {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTheOracleReadsWhatIsWritten(t *testing.T) {
	d, written := sample(t)
	n := len(d[0].Floats)
	in, err := file.NewParquetReader(bytes.NewReader(written))
	if err != nil {
		t.Fatal(err)
	}
	if in.NumRows() != int64(n) || in.NumRowGroups() != 2 || in.MetaData().Schema.Column(1).LogicalType().String() != "String" {
		t.Fatalf("%d rows in %d groups, %v", in.NumRows(), in.NumRowGroups(), in.MetaData().Schema)
	}
	at := 0
	for g := range in.NumRowGroups() {
		rows := int(in.RowGroup(g).NumRows())
		floats, texts := make([]float64, rows), make([]parquet.ByteArray, rows)
		for c := range 2 {
			col, err := in.RowGroup(g).Column(c)
			if err != nil {
				t.Fatal(err)
			}
			for read := 0; read < rows; {
				var n int64
				switch col := col.(type) {
				case *file.Float64ColumnChunkReader:
					n, _, err = col.ReadBatch(int64(rows-read), floats[read:], nil, nil)
				case *file.ByteArrayColumnChunkReader:
					n, _, err = col.ReadBatch(int64(rows-read), texts[read:], nil, nil)
					for i := read; i < read+int(n); i++ {
						texts[i] = bytes.Clone(texts[i])
					}
				}
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				read += int(n)
			}
		}
		for i := range rows {
			if floats[i] != d[0].Floats[at] || string(texts[i]) != d[1].Texts[at] {
				t.Fatalf("row %d reads %v, %q", at, floats[i], texts[i])
			}
			at++
		}
	}
}

func BenchmarkReadParquet(b *testing.B) {
	columns, _ := drawn(rand.New(rand.NewPCG(1, 2)), 100_000)
	data := parquetOf(b, 1, byArrow(columns), parquet.WithCompression(compress.Codecs.Snappy))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f, err := Open(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		s, err := f.Scan([]int{0, 1, 2, 3, 4, 5})
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}
