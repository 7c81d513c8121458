package columnar

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/internal/recorded"
)

// files are what arrow-go, another implementation of both formats, writes: the oracle of these tests. Without the tag
// oracle they come from the archive.
var files = recorded.In("testdata/arrow.zip")

// A drawnColumn is one of a file that is written by arrow-go; definition is 0 where a cell is null.
type drawnColumn struct {
	name       string
	values     any
	definition []int16
}

// drawn has n rows of a column of each stored form, and what their cells read as.
func drawn(rng *rand.Rand, n int) (columns []drawnColumn, want [][]string) {
	want = make([][]string, n)
	column := func(name string, draw func() string, values any) {
		c := drawnColumn{name: name, definition: make([]int16, n)}
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
		case *[][]byte:
			c.values = *v
		}
		columns = append(columns, c)
	}
	var b []bool
	column("bool", func() string { b = append(b, rng.IntN(9) == 0); return fmt.Sprint(b[len(b)-1]) }, &b)
	var i32, d32 []int32
	column("i32", func() string { i32 = append(i32, int32(rng.Uint32())); return fmt.Sprint(i32[len(i32)-1]) }, &i32)
	var i64, d64 []int64
	column("i64", func() string {
		i64 = append(i64, int64(rng.Uint64())>>rng.IntN(64))
		return fmt.Sprint(i64[len(i64)-1])
	}, &i64)
	var f32 []float32
	column("f32", func() string {
		f32 = append(f32, float32(rng.IntN(1000))/8)
		return fmt.Sprint(f32[len(f32)-1])
	}, &f32)
	var f64 []float64
	column("f64", func() string {
		f64 = append(f64, float64(rng.IntN(100000))/64)
		return fmt.Sprint(f64[len(f64)-1])
	}, &f64)
	var text, decBytes [][]byte
	column("text", func() string {
		t := strings.Repeat("common beginning "[:rng.IntN(17)], rng.IntN(3)) + fmt.Sprint(rng.IntN(50))
		text = append(text, []byte(t))
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
	column("d32", func() string {
		v, s := cents()
		d32 = append(d32, int32(v))
		return s
	}, &d32)
	column("d64", func() string {
		v, s := cents()
		d64 = append(d64, v)
		return s
	}, &d64)
	column("dbytes", func() string {
		v, s := cents()
		decBytes = append(decBytes, binary.BigEndian.AppendUint64(nil, uint64(v)))
		return s
	}, &decBytes)
	var fixed [][]byte
	column("dfixed", func() string {
		v, s := cents()
		fixed = append(fixed, binary.BigEndian.AppendUint64(nil, uint64(v)))
		return s
	}, &fixed)
	return columns, want
}

// An encoded file is one of each encoding, page version and size, with a codec in turn.
type encoded struct {
	encoding string
	version  int
	rows     int
	codec    string
}

func (e encoded) name() string {
	return fmt.Sprintf("%s, pages %d, %d rows, %s", e.encoding, e.version, e.rows, e.codec)
}

// draw gives the columns of the file, of which it has two groups.
func (e encoded) draw() ([]drawnColumn, [][]string) {
	return drawn(rand.New(rand.NewPCG(uint64(e.rows), uint64(e.version))), e.rows)
}

// encodedFiles are files of at most so many rows.
func encodedFiles(most int) (all []encoded) {
	codecs := []string{"none", "snappy", "gzip", "brotli", "zstd", "lz4"}
	k := 0
	for _, encoding := range []string{"plain", "dictionary", "dictionary then plain", "delta", "front", "split", "runs of booleans"} {
		for _, version := range []int{1, 2} {
			for _, rows := range []int{1, 300, 5000} {
				if rows <= most {
					all = append(all, encoded{encoding, version, rows, codecs[k%len(codecs)]})
				}
				k++
			}
		}
	}
	return all
}

// reads compares an encoded file with what was drawn.
func (e encoded) reads(t *testing.T, data []byte) {
	t.Helper()
	_, want := e.draw()
	got, _, _, err := readAll(data)
	if err != nil {
		t.Fatalf("%s: %v", e.name(), err)
	}
	if d := cmp.Diff(append(want[:e.rows:e.rows], want...), got); d != "" {
		t.Errorf("%s: cells differ (-written +read):\n%.2000s", e.name(), d)
	}
}

func TestEncodingsAgreeWithTheOracle(t *testing.T) {
	for _, e := range encodedFiles(300) {
		e.reads(t, fileOf(t, e.name()))
	}
}

const groupsRows = 500

// Each row group has its own codec and encoding, which nothing forbids.
func TestGroupsOfDifferentCodecs(t *testing.T) {
	for _, codec := range []string{"none", "brotli", "lz4"} {
		_, want := drawn(rand.New(rand.NewPCG(3, 4)), groupsRows)
		got, _, _, err := readAll(fileOf(t, "codecs/"+codec))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v, %v: %.500s", codec, err, d)
		}
	}
}

// sample is a file of two groups in our own writing.
func sample(t *testing.T) (columns []Data, file []byte) {
	n := groupRows + pageRows + 5
	d := []Data{{Name: "p", Floats: make([]float64, n)}, {Name: "class", Texts: make([]string, n)}}
	for i := range n {
		d[0].Floats[i], d[1].Texts[i] = float64(i)/7, strings.Repeat("ü", i%5)
	}
	var b bytes.Buffer
	if err := WriteParquet(&b, d); err != nil {
		t.Fatal(err)
	}
	return d, b.Bytes()
}

// What is written has the bytes that arrow-go read (TestTheOracleReadsWhatIsWritten, with the tag oracle).
func TestWrittenAsTheOracleReadIt(t *testing.T) {
	_, file := sample(t)
	if got := digest(file); got != string(fileOf(t, "digest of what is written")) {
		t.Errorf("what is written has changed (%s): run go test -tags oracle -update here, which reads it by arrow-go", got)
	}
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

const moreRows = 200

func TestMoreArrowTypesAgreeWithTheOracle(t *testing.T) {
	const n = moreRows
	for _, name := range []string{"more/plain", "more/zstd", "more/lz4", "more/deltas"} {
		rows, _, vectors, err := readAll(fileOf(t, name))
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
