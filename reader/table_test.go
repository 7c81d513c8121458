package reader

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pawl/data/columnar"
	"pawl/data/schema"
)

const columns = `
columns:
  - {name: id, type: ignore}
  - {name: age, type: integer, lower: 0, upper: 100}
  - {name: color, type: categorical, categories: [red, blue], other: true}
  - {name: bmi, type: numeric, lower: 0, upper: 50, missing: unknown}
  - {name: sick, type: boolean}
`

func must(t *testing.T, head string) *schema.Schema {
	t.Helper()
	if !strings.Contains(head, "unit:") {
		head += "unit: row"
	}
	s, err := schema.Decode("s.yaml", []byte("version: 1\n"+head+columns))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(text string, s *schema.Schema, o Options) (rows [][]float64, ids []string, err error) {
	err = ReadFrom("f.csv", strings.NewReader(text), s, o, func(cells []float64, found schema.Record) error {
		rows, ids = append(rows, cells), append(ids, found.Unit)
		return nil
	})
	return rows, ids, err
}

var nan = math.NaN()

func TestTableReads(t *testing.T) {
	byRow, byID := must(t, ""), must(t, "unit: id\nrows_per_unit: 2")
	for _, tt := range []struct {
		name, text string
		s          *schema.Schema
		o          Options
		want       [][]float64
		ids        []string // not checked when nil
	}{
		{"in order", "id,age,color,bmi,sick\nx,7,blue,20.5,yes\n", byRow, Options{}, [][]float64{{nan, 7, 1, 20.5, 1}}, nil},
		{"other order", "sick,bmi,color,age\nno,?,green,200\n", byRow, Options{}, [][]float64{{nan, 100, 2, nan, 0}}, nil},
		{"unit column", "sick,bmi,color,age,id\n0,1,red,2,p 7\n1,1,red,3,p 7\n", byID, Options{},
			[][]float64{{nan, 2, 0, 1, 0}, {nan, 3, 0, 1, 1}}, []string{"p 7", "p 7"}},
		{"prediction", "age,color,bmi\n3,red,1\n", byID, Options{Optional: map[string]bool{"sick": true, "id": true}},
			[][]float64{{nan, 3, 0, 1, nan}}, []string{""}},
		{"defaults", "id,age,color,bmi,sick\nx,old,blue,1e,2\nx\nx,1,red,2,1,9,9\nx,1,re\"d,\xff,1\n\nx,,,,\n", byRow, Options{BadRows: Default},
			[][]float64{{nan, nan, 1, nan, nan}, {nan, nan, 2, nan, nan}, {nan, 1, 0, 2, 1}, {nan, 1, 2, nan, 1}, {nan, nan, 2, nan, nan}}, nil},
		{"no identifier by default", "age,color,bmi,sick,id\n1,red,1,1,\n1,red,1,1,NA\n1,red,1,1\n2,red,1,1,a\n", byID, Options{BadRows: Default},
			[][]float64{{nan, 2, 0, 1, 1}}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ids, err := read(tt.text, tt.s, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); d != "" {
				t.Errorf("rows differ (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.ids, ids); tt.ids != nil && d != "" {
				t.Errorf("identifiers differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestTableRefuses(t *testing.T) {
	byRow, byID := must(t, ""), must(t, "unit: id\nrows_per_unit: 2")
	full := "id,age,color,bmi,sick\n"
	for _, tt := range []struct {
		name, text string
		s          *schema.Schema
		o          Options
		want, hint string
	}{
		{"no rows", full, byRow, Options{}, "f.csv: the file has a header and no rows", ""},
		{"no rows by default", full, byRow, Options{BadRows: Default}, "no rows", ""},
		{"column absent", "Age,color,bmi,sick\n", byRow, Options{}, `f.csv:1: the header has no column "age"`, `"Age"`},
		{"column absent by default", "color,bmi,sick\n", byRow, Options{BadRows: Default}, `no column "age"`, ""},
		{"semicolons", "age;color;bmi;sick\n1;red;1;1\n", byRow, Options{}, `no column "age"`, "semicolons"},
		{"unit absent", "age,color,bmi,sick\n", byID, Options{}, `no column "id"`, ""},
		{"column too many", "age,color,bmi,sick,weight\n", byRow, Options{}, `f.csv:1: column "weight": not declared`, "ignore"},
		{"not a number", full + "x,SECRET,red,1,1\n", byRow, Options{}, `f.csv:2: column "age": not a whole number`, "na"},
		{"not whole", full + "x,1.5,red,1,1\n", byRow, Options{}, `column "age": not a whole number`, ""},
		{"spaces", full + "x, 1,red,1,1\n", byRow, Options{}, `no spaces`, ""},
		{"NaN", full + "x,1,red,NaN,1\n", byRow, Options{}, `column "bmi": not a number`, ""},
		{"infinite", full + "x,1,red,1e999,1\n", byRow, Options{}, `column "bmi": not a number`, ""},
		{"missing", full + "x,,red,1,1\n", byRow, Options{}, `column "age": missing value`, "missing: unknown"},
		{"boolean", full + "x,1,red,1,SECRET\n", byRow, Options{}, `column "sick": not a boolean`, ""},
		{"line of the cell", full + "\"x\n\",1,red,1,SECRET\n", byRow, Options{}, `f.csv:3: column "sick"`, ""},
		{"no identifier", full + ",1,red,1,1\n", byID, Options{}, `f.csv:2: column "id": the identifier of the unit is missing`, ""},
		{"never closed by default", full + "x,1,\"red,1,1\n", byRow, Options{BadRows: Default}, "never closed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(tt.text, tt.s, tt.o)
			var p *PositionError
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want a *PositionError", err)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(p.Hint(), tt.hint) {
				t.Errorf("error %q with hint %q does not say %q, %q", err, p.Hint(), tt.want, tt.hint)
			}
			if strings.Contains(err.Error()+p.Hint(), "SECRET") {
				t.Errorf("error %q repeats a cell", err)
			}
		})
	}
}

// Under the rule Default rows without a unit are left out, but a file of nothing else is
// refused: there is nothing that a charge could buy.
func TestNobodyHasAnIdentifier(t *testing.T) {
	s := must(t, "unit: id\nrows_per_unit: 2")
	for name, text := range map[string]string{"f.csv": "id,age,color,bmi,sick\n,1,red,2,yes\n ,1,red,2,no\n", "f.jsonl": "[\n  {\"id\": 1},\n  {\"id\": 2},\n]\n"} {
		err := ReadFrom(name, strings.NewReader(text), s, Options{BadRows: Default}, func([]float64, schema.Record) error { return nil })
		var p *PositionError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "no row has an identifier of its unit") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUndeclaredCategory(t *testing.T) {
	s, err := schema.Decode("s", []byte("version: 1\nunit: row\ncolumns:\n  - {name: a, type: categorical, categories: [x, y]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = read("a\nx\nSECRET\n", s, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), `f.csv:3: column "a": undeclared category`) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("undeclared category: %v", err)
	}
}

func TestStopsWithTheCaller(t *testing.T) {
	stop := errors.New("stop")
	err := ReadFrom("f.csv", strings.NewReader("age,color,bmi,sick\n1,red,1,1\n2,red,1,1\n"), must(t, ""), Options{},
		func([]float64, schema.Record) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the caller's error", err)
	}
	if _, _, err := read("a\n", must(t, ""), Options{BadRows: "skip"}); err == nil {
		t.Error("an unknown rule was accepted")
	}
}

// Under the default rule each record is read as if it were alone: the numbers
// and the identifier of a row do not depend on which other records the file
// holds. Without this, adding one person could change the rows of another.
func TestDefaultRowsDoNotDependOnEachOther(t *testing.T) {
	s := must(t, "")
	record := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9.,\x00"]{0,12}x`).Filter(func(r string) bool {
			// A cell that begins with a quote may swallow the next record: a fault of the file.
			return !strings.HasPrefix(r, `"`) && !strings.Contains(r, `,"`)
		}),
		rapid.Just("x,1,red,2.5,yes"), rapid.Just(`"a"b,1,red,2,no`), rapid.Just("x,-0,red,0,no"))
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(record, 1, 6).Draw(t, "records")
		head := "id,age,color,bmi,sick\n"
		together, ids, err := found(head+strings.Join(records, "\n"), s)
		if err != nil || len(together) != len(records) {
			t.Fatalf("%d rows, error %v", len(together), err)
		}
		for i, r := range records {
			alone, id, err := found(head+r, s)
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(alone[0], together[i], cmpopts.EquateNaNs()) || id[0] != ids[i] {
				t.Fatalf("record %d reads otherwise alone", i)
			}
		}
	})
}

// found reads rows and records under the default rule.
func found(text string, s *schema.Schema) (rows [][]float64, records []string, err error) {
	err = ReadFrom("f.csv", strings.NewReader(text), s, Options{BadRows: Default}, func(cells []float64, found schema.Record) error {
		rows, records = append(rows, cells), append(records, fmt.Sprintf("%v", found.Cells))
		return nil
	})
	return rows, records, err
}

// What tells a row from others is the record as it stands in the file, whatever the
// schema makes of it and in whichever order the columns stand.
func TestRecordsAreAsFound(t *testing.T) {
	records := func(name, text, columns string) (all []string) {
		s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n"+columns))
		if err != nil {
			t.Fatal(err)
		}
		err = ReadFrom(name, strings.NewReader(text), s, Options{}, func(_ []float64, found schema.Record) error {
			all = append(all, fmt.Sprintf("%v %v", found.Columns, found.Cells))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	const (
		table  = "a,b,c\n1.50,x,\n1.5,y,free text\n"
		plain  = "  - {name: a, type: numeric, lower: 0, upper: 9}\n  - {name: b, type: categorical, categories: [x, y]}\n  - {name: c, type: ignore}\n"
		edited = "  - {name: c, type: text, buckets: 9, missing: unknown}\n  - {name: b, type: categorical, categories: [y, x], other: true}\n  - {name: a, type: integer, lower: 1, upper: 2, missing: unknown}\n"
		hidden = "  - {name: b, type: ignore}\n  - {name: a, type: ignore}\n  - {name: c, type: text, buckets: 5, missing: unknown}\n"
	)
	want := []string{"[a b c] [{1.50 false} {x false} { false}]", "[a b c] [{1.5 false} {y false} {free text false}]"}
	for name, got := range map[string][]string{
		"as it is":         records("f.csv", table, plain),
		"other bounds":     records("f.csv", table, strings.Replace(plain, "upper: 9", "upper: 1", 1)),
		"other types":      records("f.csv", table, strings.Replace(edited, "type: integer", "type: numeric", 1)),
		"ignored columns":  records("f.csv", table, hidden),
		"order of columns": records("f.csv", "c,a,b\n,1.50,x\nfree text,1.5,y\n", plain),
		"tabs":             records("f.tsv", strings.ReplaceAll(table, ",", "\t"), plain),
		"JSON lines":       records("f.jsonl", `{"b": "x", "a": 1.50, "c": ""}`+"\n"+`{"a": "1.5", "c": "free text", "b": "y"}`+"\n", plain),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Equal records are equal rows: what is read in two ways within one column is told apart.
func TestEqualRecordsAreEqualRows(t *testing.T) {
	const head = "version: 1\nunit: row\n"
	const number = "columns:\n  - {name: a, type: numeric, lower: 0, upper: 9000}\n"
	b := NewRows([]columnar.Column{{Name: "a", Kind: columnar.Float}})
	b.Text("2.500")
	b.End()
	asRows, err := b.InOrder()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		schema string
		parts  []Part
		kinds  int // of records
	}{
		"a number and a text with marks": {head + `file: {delimiter: ";", decimal: ",", thousands: "."}` + "\n" + number,
			[]Part{part("a.jsonl", `{"a": 1.500}`+"\n"+`{"a": "1.500"}`+"\n"+`{"a": 7}`+"\n"+`{"a": "7"}`+"\n")}, 3},
		"parts with marks and without": {head + `file: {delimiter: ";", decimal: ",", thousands: "."}` + "\n" + number,
			[]Part{part("a.csv", "a\n2.500\n7\n"), part("b.jsonl", `{"a": 2.500}`+"\n"+`{"a": "2.500"}`+"\n"+`{"a": 7}`+"\n"), {Name: "c", Rows: asRows}}, 3},
		"a malformed cell": {head + strings.Replace(number, "upper: 9000", "upper: 9000, missing: unknown", 1), []Part{part("a.csv", "a\n\"7\"8\n78\n7\n")}, 3},
		"what a short record lacks": {head + "columns:\n  - {name: a, type: categorical, categories: [x, z], other: true, missing: unknown}\n  - {name: b, type: ignore}\n",
			[]Part{part("a.csv", "b,a\ny\n"), part("b.jsonl", `{"b": "y", "a": null}`+"\n")}, 2},
	} {
		s, err := schema.Decode("s.yaml", []byte(tt.schema))
		if err != nil {
			t.Fatal(name, err)
		}
		rows, different := map[string]string{}, map[string]bool{}
		c := NewContent("all", tt.parts...)
		if len(tt.parts) == 1 {
			c = NewContent(tt.parts[0].Name, tt.parts...)
		}
		err = ReadFrom(c.Name(), c.Reader(), s, Options{BadRows: Default}, func(cells []float64, found schema.Record) error {
			key, row := fmt.Sprintf("%+q", fmt.Sprint(found.Cells)), fmt.Sprint(cells)
			if was, ok := rows[key]; ok && was != row {
				t.Errorf("%s: the record %s is the row %s and the row %s", name, key, was, row)
			}
			rows[key], different[row] = row, true
			return nil
		})
		if err != nil || len(rows) != tt.kinds || len(different) != tt.kinds {
			t.Errorf("%s: %d kinds of records and %d of rows, want %d: %v, %v", name, len(rows), len(different), tt.kinds, rows, err)
		}
	}
}

// Whoever counts odd cells is told of each of them, of equal ones too.
func TestEachOddCellIsTold(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n  - {name: a, type: numeric, lower: 0, upper: 9}\n"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	s.Told = func(string, schema.Odd) { told++ }
	if _, _, err := readNamed("f.csv", "a\n10\n1\n10\n10\n", s, Options{}); err != nil || told != 3 {
		t.Errorf("told of %d of 3 cells, %v", told, err)
	}
}

func FuzzTable(f *testing.F) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: id\nrows_per_unit: 2"+columns))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("id,age,color,bmi,sick\nx,7,blue,20.5,yes\n"))
	f.Add([]byte("id,age,color,bmi,sick\nx,\"7\"8,blue\n,,,,\n\n\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, rule := range []BadRows{Refuse, Default} {
			rows, ids, _ := read(string(data), s, Options{BadRows: rule})
			for i, r := range rows {
				if len(r) != len(s.Columns) || ids[i] == "" {
					t.Fatalf("row %d has %d numbers and identifier of %d bytes", i, len(r), len(ids[i]))
				}
				if r[1] < 0 || r[1] > 100 || r[3] < 0 || r[3] > 50 || math.IsInf(r[1]+r[3], 0) {
					t.Fatalf("row %d is out of bounds", i)
				}
			}
		}
	})
}

func BenchmarkReadFrom(b *testing.B) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row"+columns))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10, 1000, 100000} {
		text := "id,age,color,bmi,sick\n" + strings.Repeat("17,42,blue,20.25,yes\n", n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := ReadFrom("f.csv", strings.NewReader(text), s, Options{}, func([]float64, schema.Record) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleReadFrom() {
	s, err := schema.Decode("schema.yaml", []byte(`
version: 1
unit: row
columns:
  - {name: age, type: integer, lower: 0, upper: 120}
  - {name: smoker, type: boolean}
`))
	if err != nil {
		panic(err)
	}
	err = ReadFrom("visits.csv", strings.NewReader("age,smoker\n41,yes\nforty,no\n"), s, Options{},
		func(cells []float64, found schema.Record) error {
			fmt.Println(cells)
			return nil
		})
	fmt.Println(err)
	// Output:
	// [41 1]
	// visits.csv:3: column "age": not a whole number (digits with an optional sign, point and exponent, no spaces)
}
