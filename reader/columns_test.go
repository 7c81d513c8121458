package reader

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pawl/data/columnar"
	"pawl/data/schema"
	"pawl/internal/recorded"
)

// typed is a column of a file that a test writes: nil stands for null.
type typed struct {
	name  string
	cells []any // int64, float64, bool or string
}

// asCSV writes the cells' texts; a null is an empty cell.
func asCSV(t testing.TB, columns ...typed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	_ = w.Write(record)
	for r := range columns[0].cells {
		for i, c := range columns {
			if record[i] = ""; c.cells[r] != nil {
				record[i] = fmt.Sprint(c.cells[r])
			}
		}
		_ = w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// written has the files that arrow-go, another implementation of both formats, writes.
var written = recorded.In("testdata/arrow.zip")

// A drawnTable is what one drawn test reads in three formats.
type drawnTable struct {
	columns []typed
	unit    bool // rows have an identifier
	size    int  // rows of a row group
}

var drawn = rapid.Custom(func(rt *rapid.T) drawnTable {
	cell := func(gens ...*rapid.Generator[any]) *rapid.Generator[any] {
		return rapid.OneOf(append(gens, rapid.Just[any](nil))...)
	}
	texts := func(of ...string) *rapid.Generator[any] {
		return rapid.Map(rapid.SampledFrom(of), func(s string) any { return s })
	}
	ints := rapid.Map(rapid.Int64Range(-9, 200), func(v int64) any { return v })
	floats := rapid.Map(rapid.Float64Range(-1e21, 60), func(v float64) any { return v })
	n := rapid.IntRange(1, 7).Draw(rt, "rows")
	column := func(name string, kinds ...*rapid.Generator[any]) typed {
		g := rapid.SampledFrom(kinds).Draw(rt, name+" kind")
		return typed{name, rapid.SliceOfN(g, n, n).Draw(rt, name)}
	}
	columns := []typed{
		column("id", cell(ints), cell(texts("a", "NA", "b c", "?"))),
		column("age", cell(ints), cell(floats), cell(texts("1", "", "1.5", "x"))),
		column("color", cell(texts("red", "blue", "green", ""))),
		column("bmi", cell(floats), cell(ints)),
		column("sick", cell(rapid.Map(rapid.Bool(), func(b bool) any { return b })), cell(ints), cell(texts("yes", "NA", "maybe"))),
	}
	return drawnTable{columns, rapid.Bool().Draw(rt, "unit"), rapid.IntRange(1, n).Draw(rt, "group")}
})

// agreement compares what a table reads as in three formats.
func agreement(t *testing.T) func(rt rapid.TB, tab drawnTable, parquet, arrow []byte) {
	byRow, byID := must(t, ""), must(t, "unit: id\nrows_per_unit: 2")
	return func(rt rapid.TB, tab drawnTable, parquet, arrow []byte) {
		s := byRow
		if tab.unit {
			s = byID
		}
		for _, rule := range []BadRows{Refuse, Default} {
			want, wantIDs, wantErr := read(string(asCSV(t, tab.columns...)), s, Options{BadRows: rule})
			for format, data := range map[string][]byte{"parquet": parquet, "arrow": arrow} {
				var got [][]float64
				var ids []string
				err := ReadFrom("f", bytes.NewReader(data), s, Options{BadRows: rule}, func(c []float64, found schema.Record) error {
					got, ids = append(got, c), append(ids, found.Unit)
					return nil
				})
				var beside [][]float64
				errBeside := ReadBeside("f", bytes.NewReader(data), s, Options{BadRows: rule}, InOrder(func(c []float64) error {
					beside = append(beside, c)
					return nil
				}))
				if fmt.Sprint(errBeside) != fmt.Sprint(err) || err == nil && !cmp.Equal(got, beside, cmpopts.EquateNaNs()) {
					rt.Fatalf("%s, rule %s: side by side %v (%v), one by one %v (%v)", format, rule, beside, errBeside, got, err)
				}
				var a, b *PositionError
				if errors.As(wantErr, &a) != errors.As(err, &b) || a != nil && (a.Msg != b.Msg || a.Column != b.Column || int64(a.Line-1) != b.Row) {
					rt.Fatalf("%s: error %v, and CSV gives %v", format, err, wantErr)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || !cmp.Equal(ids, wantIDs) {
					rt.Fatalf("%s, rule %s: rows differ (-CSV +%s):\n%s", format, rule, format, d)
				}
			}
		}
	}
}

// The same table in each format gives the same numbers, identifiers and refusals. These tables are the same in every
// run; the tag oracle draws others.
func TestFormatsAgree(t *testing.T) {
	agree := agreement(t)
	for seed := range 150 {
		tab := drawn.Example(seed + 1)
		agree(t, tab, asParquet(t, tab.size, tab.columns...), asArrow(t, tab.columns...))
	}
}

func TestColumnsRefuse(t *testing.T) {
	s := must(t, "")
	good := func() []typed {
		return []typed{{"id", []any{"x", "y", "z"}}, {"age", []any{int64(1), int64(2), int64(3)}}, {"color", []any{"red", "red", "red"}},
			{"bmi", []any{1.5, 2.5, 3.5}}, {"sick", []any{true, false, true}}}
	}
	with := func(i int, name string, cells ...any) []typed {
		c := good()
		c[i] = typed{name, cells}
		return c
	}
	for _, tt := range []struct {
		name       string
		data       []byte
		want, hint string
	}{
		{"not whole", asParquet(t, 2, with(1, "age", 1.0, 2.0, 77.25)...), `f.parquet: row 3 (row group 2): column "age": not a whole number`, ""},
		{"text for a number", asParquet(t, 9, with(1, "age", "1", "SECRET", "3")...), `f.parquet: row 2 (row group 1): column "age": not a whole number`, ""},
		{"null", asParquet(t, 9, with(1, "age", nil, int64(1), int64(1))...), `row 1 (row group 1): column "age": missing value`, "missing: unknown"},
		{"boolean", asParquet(t, 9, with(4, "sick", int64(1), int64(0), int64(2))...), `row 3 (row group 1): column "sick": not a boolean`, ""},
		{"not UTF-8", asParquet(t, 9, with(2, "color", "red", "SECRET\xff", "red")...), `row 2 (row group 1): column "color": not UTF-8`, ""},
		{"column absent", asParquet(t, 9, good()[:4]...), `f.parquet: the file has no column "sick", which the schema declares`, ""},
		{"column misspelt", asParquet(t, 9, with(1, "Age", int64(1), int64(1), int64(1))...), `no column "age"`, `"Age"`},
		{"column too many", asParquet(t, 9, append(good(), typed{"more", []any{true, true, true}})...), `f.parquet: column "more": not declared`, "ignore"},
		{"column twice", asParquet(t, 9, append(good(), good()[1])...), `column "age": two columns have this name`, ""},
		{"no rows", asParquet(t, 9, typed{"id", nil}, typed{"age", nil}, typed{"color", nil}, typed{"bmi", nil}, typed{"sick", nil}), "f.parquet: the file has no rows", ""},
		{"cut", asParquet(t, 9, good()...)[:200], "f.parquet: the file is damaged or truncated", "again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := ReadFrom("f.parquet", bytes.NewReader(tt.data), s, Options{}, func([]float64, schema.Record) error { return nil })
			var p *PositionError
			if !errors.As(err, &p) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(p.Hint(), tt.hint) {
				t.Fatalf("error %v does not say %q, %q", err, tt.want, tt.hint)
			}
			if strings.Contains(err.Error()+p.Hint(), "SECRET") || strings.Contains(err.Error()+p.Hint(), "77") {
				t.Errorf("error %q repeats a cell", err)
			}
		})
	}
}

// A type that no schema can declare is refused by column and type, unless the column
// is ignored: then it may hold anything.
func TestColumnTypes(t *testing.T) {
	for _, tt := range []struct{ columns, want string }{
		{"{name: id, type: ignore}\n  - {name: age, type: integer, lower: 0, upper: 9}", `f: column "age": the type Date cannot be read`},
		{"{name: id, type: integer, lower: 0, upper: 9}\n  - {name: age, type: ignore}", `f: column "id": the type structure cannot be read`},
		{"{name: id, type: ignore}\n  - {name: age, type: ignore}", ""}, // any type may be ignored
	} {
		s, err := schema.Decode("s", []byte("version: 1\nunit: row\ncolumns:\n  - {name: n, type: integer, lower: 0, upper: 9}\n  - "+tt.columns+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		err = ReadFrom("f", bytes.NewReader(oddTypes(t)), s, Options{}, func([]float64, schema.Record) error { rows++; return nil })
		if tt.want == "" && (err != nil || rows != 1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d rows, error %v, want %q", rows, err, tt.want)
		}
	}
}

func TestRecords(t *testing.T) {
	columns := []typed{{"a", []any{int64(1), nil}}, {"b", []any{"x", "y,z"}}}
	want := [][]string{{"1", "x"}, {"", "y,z"}}
	for name, data := range map[string][]byte{"csv": asCSV(t, columns...), "parquet": asParquet(t, 1, columns...), "arrow": asArrow(t, columns...)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			fromFile := fileRecords(t, path)
			defer fromFile.Close()
			piped, err := NewRecords("pipe", io.MultiReader(bytes.NewReader(data)), Keys{})
			if err != nil {
				t.Fatal(err)
			}
			defer piped.Close()
			for _, r := range []*Records{fromFile, piped} {
				var got [][]string
				for {
					row, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, row)
				}
				if d := cmp.Diff([]string{"a", "b"}, r.Header()); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// fileRecords opens the records of a file.
func fileRecords(t *testing.T, path string) *Records {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := NewRecords(path, f, Keys{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func FuzzColumns(f *testing.F) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: id\nrows_per_unit: 2"+columns))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asParquet(f, 1, typed{"id", []any{"x", "y"}}, typed{"age", []any{int64(1), nil}}, typed{"color", []any{"red", "SECRETS"}},
		typed{"bmi", []any{1.5, nil}}, typed{"sick", []any{true, false}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte("PAR1")) {
			return // other formats have their own fuzz tests
		}
		for _, rule := range []BadRows{Refuse, Default} {
			n := 0
			_ = ReadFrom("f", bytes.NewReader(data), s, Options{BadRows: rule}, func(c []float64, found schema.Record) error {
				if n++; len(c) != len(s.Columns) || found.Unit == "" || c[1] < 0 || c[1] > 100 {
					t.Fatalf("row %d is not of the schema", n)
				}
				if n > 1<<16 {
					return errors.New("enough")
				}
				return nil
			})
		}
	})
}

func BenchmarkReadParquet(b *testing.B) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row"+columns))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1000, 100000} {
		c := []columnar.Data{{Name: "id", Texts: make([]string, n)}, {Name: "age", Floats: make([]float64, n)}, {Name: "color", Texts: make([]string, n)},
			{Name: "bmi", Floats: make([]float64, n)}, {Name: "sick", Floats: make([]float64, n)}}
		for i := range n {
			c[0].Texts[i], c[1].Floats[i], c[2].Texts[i], c[3].Floats[i] = "17", float64(i%90), "blue", 20.25+float64(i%7)
		}
		var file bytes.Buffer
		if err := columnar.WriteParquet(&file, c); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := ReadFrom("f", bytes.NewReader(file.Bytes()), s, Options{}, func([]float64, schema.Record) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
