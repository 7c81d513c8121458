package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var everyText = [][]string{
	{"true", "-5", "4294967295", "-9223372036854775808", "18446744073709551615", "0.1", "0.1", `a,"b"`, "-0.05", "-0.001", ""},
	{"", "", "", "", "", "", "", "", "", "", ""},
	{"false", "7", "7", "9007199254740993", "7", "1e+20", "NaN", "", "123.45", "0.255", ""},
}

// readAll returns the texts of all supported columns, and counts nulls. Pieces of the file, all taken before one is read
// and the last read first, hold the same rows, or the first of them that is faulty holds the same fault.
func readAll(data []byte) (rows [][]string, nulls int, vectors [][]float32, err error) {
	rows, nulls, vectors, err = readScan(data, func(s *Scan) func() (*Batch, error) { return s.Next })
	again, nullsAgain, vectorsAgain, errAgain := readScan(data, byPieces)
	if fmt.Sprint(err) != fmt.Sprint(errAgain) || err == nil && (nulls != nullsAgain || fmt.Sprint(rows, vectors) != fmt.Sprint(again, vectorsAgain)) {
		return nil, 0, nil, fmt.Errorf("pieces give %d rows (%v), the whole %d (%v)", len(again), errAgain, len(rows), err)
	}
	return rows, nulls, vectors, err
}

func byPieces(s *Scan) func() (*Batch, error) {
	var pieces [][]*Batch
	var scans []*Scan
	var end error
	for end == nil {
		var p *Scan
		if p, end = s.Piece(); end == nil {
			scans = append(scans, p)
		}
	}
	pieces = make([][]*Batch, len(scans))
	faults := make([]error, len(scans))
	for i := len(scans) - 1; i >= 0; i-- {
		for {
			b, err := scans[i].Next()
			if faults[i] = err; err != nil {
				break
			}
			own := *b
			pieces[i] = append(pieces[i], &own)
		}
	}
	at := 0
	return func() (*Batch, error) {
		for ; at < len(scans); at++ {
			if len(pieces[at]) > 0 {
				b := pieces[at][0]
				pieces[at] = pieces[at][1:]
				return b, nil
			}
			if faults[at] != io.EOF {
				return nil, faults[at]
			}
		}
		return nil, end
	}
}

func readScan(data []byte, begin func(s *Scan) func() (*Batch, error)) (rows [][]string, nulls int, vectors [][]float32, err error) {
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
	next := begin(s)
	for {
		b, err := next()
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
	for _, name := range []string{"plain", "dictionary", "pages of version 2, zstd", "snappy", "gzip"} {
		t.Run(name, func(t *testing.T) {
			rows, nulls, vectors, err := readAll(fileOf(t, "kinds/"+name))
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

const manyRows = 3*batchRows + 17

// Batches, pages and row groups end at different rows; no cell may move.
func TestParquetManyRows(t *testing.T) {
	const n = manyRows
	rows, nulls, vectors, err := readAll(fileOf(t, "many rows"))
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
	f, err := Open(bytes.NewReader(fileOf(t, "types")))
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

func TestArrowKinds(t *testing.T) {
	for _, name := range []string{"plain", "zstd", "lz4"} {
		t.Run(name, func(t *testing.T) {
			rows, nulls, vectors, err := readAll(fileOf(t, "arrow/"+name))
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
	for name, data := range map[string][]byte{"parquet": fileOf(t, "kinds/default"), "arrow": fileOf(t, "arrow/plain"), "arrow zstd": fileOf(t, "arrow/zstd")} {
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
	for _, name := range []string{"one group", "kinds/snappy, version 2", "arrow/plain", "arrow/zstd"} {
		f.Add(fileOf(f, name))
	}
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

// A file may have as many columns as a file of text, and no more.
func TestTooManyColumns(t *testing.T) {
	f := File{columns: make([]Column, 1<<16)}
	for i := range f.columns {
		f.columns[i].Name = fmt.Sprint("c", i)
	}
	if err := f.checkNames(); err != nil {
		t.Error(err)
	}
	if f.columns = append(f.columns, Column{Name: "one more"}); f.checkNames() == nil || !strings.Contains(f.checkNames().Error(), "65,536 columns") {
		t.Errorf("%d columns: %v", len(f.columns), f.checkNames())
	}
}
