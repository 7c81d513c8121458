package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
)

// In this file arrow-go, another implementation of both formats, is the oracle: it
// writes what is read here, and reads what is written here.

// drawn has n rows of a column of each stored form, and what their cells read as.
func drawn(rng *rand.Rand, n int) (columns []stored, want [][]string) {
	want = make([][]string, n)
	column := func(node schema.Node, draw func() string, values any) {
		c := stored{node: node, definition: make([]int16, n)}
		for i := range n {
			text := ""
			if rng.IntN(8) > 0 {
				c.definition[i], text = 1, draw()
			}
			want[i] = append(want[i], text)
		}
		switch v := values.(type) {
		case *[]bool:
			c.values = *v
		case *[]int32:
			c.values = *v
		case *[]int64:
			c.values = *v
		case *[]float32:
			c.values = *v
		case *[]float64:
			c.values = *v
		case *[]parquet.ByteArray:
			c.values = *v
		case *[]parquet.FixedLenByteArray:
			c.values = *v
		}
		columns = append(columns, c)
	}
	var b []bool
	column(optional("bool", nil, parquet.Types.Boolean, 0), func() string { b = append(b, rng.IntN(9) == 0); return fmt.Sprint(b[len(b)-1]) }, &b)
	var i32, d32 []int32
	column(optional("i32", nil, parquet.Types.Int32, 0), func() string { i32 = append(i32, int32(rng.Uint32())); return fmt.Sprint(i32[len(i32)-1]) }, &i32)
	var i64, d64 []int64
	column(optional("i64", nil, parquet.Types.Int64, 0), func() string {
		i64 = append(i64, int64(rng.Uint64())>>rng.IntN(64))
		return fmt.Sprint(i64[len(i64)-1])
	}, &i64)
	var f32 []float32
	column(optional("f32", nil, parquet.Types.Float, 0), func() string {
		f32 = append(f32, float32(rng.IntN(1000))/8)
		return fmt.Sprint(f32[len(f32)-1])
	}, &f32)
	var f64 []float64
	column(optional("f64", nil, parquet.Types.Double, 0), func() string {
		f64 = append(f64, float64(rng.IntN(100000))/64)
		return fmt.Sprint(f64[len(f64)-1])
	}, &f64)
	var text, decBytes []parquet.ByteArray
	column(optional("text", schema.StringLogicalType{}, parquet.Types.ByteArray, 0), func() string {
		t := strings.Repeat("common beginning "[:rng.IntN(17)], rng.IntN(3)) + fmt.Sprint(rng.IntN(50))
		text = append(text, parquet.ByteArray(t))
		return t
	}, &text)
	cents := func() (int64, string) {
		v := int64(rng.Uint64())>>(32+rng.IntN(30)) | 1<<8 // 3 digits or more
		sign, digits := "", fmt.Sprint(v)
		if v < 0 {
			sign, digits = "-", digits[1:]
		}
		digits = strings.Repeat("0", max(0, 3-len(digits))) + digits
		return v, sign + digits[:len(digits)-2] + "." + digits[len(digits)-2:]
	}
	column(optional("d32", schema.NewDecimalLogicalType(9, 2), parquet.Types.Int32, 0), func() string {
		v, s := cents()
		d32 = append(d32, int32(v))
		return s
	}, &d32)
	column(optional("d64", schema.NewDecimalLogicalType(18, 2), parquet.Types.Int64, 0), func() string {
		v, s := cents()
		d64 = append(d64, v)
		return s
	}, &d64)
	column(optional("dbytes", schema.NewDecimalLogicalType(18, 2), parquet.Types.ByteArray, 0), func() string {
		v, s := cents()
		decBytes = append(decBytes, binary.BigEndian.AppendUint64(nil, uint64(v)))
		return s
	}, &decBytes)
	var fixed []parquet.FixedLenByteArray
	column(optional("dfixed", schema.NewDecimalLogicalType(18, 2), parquet.Types.FixedLenByteArray, 8), func() string {
		v, s := cents()
		fixed = append(fixed, binary.BigEndian.AppendUint64(nil, uint64(v)))
		return s
	}, &fixed)
	return columns, want
}

func TestEncodingsAgreeWithTheOracle(t *testing.T) {
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
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli,
		compress.Codecs.Zstd, compress.Codecs.Lz4Raw}
	k := 0
	for name, e := range encodings {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, rows := range []int{1, 300, 5000} {
				codec := codecs[k%len(codecs)]
				k++
				t.Run(fmt.Sprint(name, "/", version, "/", rows, "/", codec), func(t *testing.T) {
					columns, want := drawn(rand.New(rand.NewPCG(uint64(k), 1)), rows)
					data := parquetOf(t, 2, columns, append(p{parquet.WithDataPageVersion(version), parquet.WithCompression(codec),
						parquet.WithDataPageSize(700), parquet.WithBatchSize(64)}, e...)...)
					got, _, _, err := readAll(data)
					if err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(append(want[:rows:rows], want...), got); d != "" {
						t.Errorf("cells differ (-written +read):\n%.2000s", d)
					}
				})
			}
		}
	}
}

// Each row group has its own codec and encoding, which nothing forbids.
func TestGroupsOfDifferentCodecs(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Brotli, compress.Codecs.Lz4Raw} {
		columns, want := drawn(rand.New(rand.NewPCG(3, 4)), 500)
		data := parquetOf(t, 1, columns, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithCompressionFor("text", codec), parquet.WithCompressionFor("i64", codec))
		got, _, _, err := readAll(data)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v, %v: %.500s", codec, err, d)
		}
	}
}

func TestTheOracleReadsWhatIsWritten(t *testing.T) {
	n := groupRows + pageRows + 5
	d := []Data{{Name: "p", Floats: make([]float64, n)}, {Name: "class", Texts: make([]string, n)}}
	for i := range n {
		d[0].Floats[i], d[1].Texts[i] = float64(i)/7, strings.Repeat("ü", i%5)
	}
	var b bytes.Buffer
	if err := WriteParquet(&b, d); err != nil {
		t.Fatal(err)
	}
	in, err := file.NewParquetReader(bytes.NewReader(b.Bytes()))
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

func TestMoreArrowTypesAgreeWithTheOracle(t *testing.T) {
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
	for _, o := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}, {ipc.WithDictionaryDeltas(true)}} {
		var out bytes.Buffer
		w, err := ipc.NewFileWriter(&out, append(o, ipc.WithSchema(s))...)
		if err != nil {
			t.Fatal(err)
		}
		b := array.NewRecordBuilder(mem, s)
		const n = 200
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
		rows, _, vectors, err := readAll(out.Bytes())
		if err != nil || len(rows) != n+64 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for k, r := range rows {
			i := k
			if k >= n {
				i = k - n + 13
			}
			list, big := vectors[2*k], vectors[2*k+1]
			if i%7 == 3 {
				if strings.Join(r, "") != "" || list != nil || big != nil {
					t.Fatalf("row %d is null and reads %q, %v, %v", i, r, list, big)
				}
				continue
			}
			d := fmt.Sprintf("-%d%028d.00", i, 0)
			if i == 0 {
				d = "0.00"
			}
			want := []string{strings.Repeat("long text ", i%4) + fmt.Sprint(i), "", "", d, fmt.Sprint(i % 5), fmt.Sprint(65535 - i)}
			if diff := cmp.Diff(want, r); diff != "" || !cmp.Equal(list, []float32{0, 1, 2}[:i%3]) || !cmp.Equal(big, []float32{float32(i), 0.5}) {
				t.Fatalf("row %d: %s; %v %v", i, diff, list, big)
			}
		}
	}
}

// A file that claims more than it holds is refused before memory is taken for it.
func TestClaimsTakeNoMemory(t *testing.T) {
	footer := func(b ...byte) []byte {
		data := append([]byte("PAR1"), b...)
		return append(binary.LittleEndian.AppendUint32(data, uint32(len(b))), "PAR1"...)
	}
	for name, data := range map[string][]byte{
		// A list of 2³¹ row groups, of columns, a text of 2³¹ bytes.
		"groups":  footer(0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07),
		"columns": footer(0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07),
		"text":    footer(0x68, 0xff, 0xff, 0xff, 0xff, 0x07),
		"nested":  footer(bytes.Repeat([]byte{0x1c}, 1<<20)...),
	} {
		grown := testing.AllocsPerRun(1, func() {
			if _, err := Open(bytes.NewReader(data)); err == nil {
				t.Errorf("%s: read", name)
			}
		})
		if grown > 200 {
			t.Errorf("%s: %v allocations", name, grown)
		}
	}
	// Blocks that claim a gigabyte.
	u := &unpacker{}
	for _, c := range []codec{snappyCodec, gzipCodec, brotliCodec, zstdCodec, lz4Block, lz4Frame} {
		if b, err := u.unpack(c, []byte{0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0}, maxBlock); err == nil || cap(b) > 1<<20 {
			t.Errorf("codec %d: %d bytes, %v", c, cap(b), err)
		}
	}
}

func BenchmarkReadParquet(b *testing.B) {
	columns, _ := drawn(rand.New(rand.NewPCG(1, 2)), 100_000)
	data := parquetOf(b, 1, columns, parquet.WithCompression(compress.Codecs.Snappy))
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
