package reader

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pawl/data/schema"
)

func jsonSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: id\nrows_per_unit: 2"+columns))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readNamed reads a text as a file of the name.
func readNamed(name, text string, s *schema.Schema, o Options) (rows [][]float64, ids []string, err error) {
	err = ReadFrom(name, strings.NewReader(text), s, o, func(c []float64, found schema.Record) error {
		rows, ids = append(rows, c), append(ids, found.Unit)
		return nil
	})
	return rows, ids, err
}

// A table is the same in JSON lines as in CSV, in any order of names.
func TestJSONLinesAreTheTable(t *testing.T) {
	s := jsonSchema(t)
	want, wantIDs, err := readNamed("f.csv", "id,age,color,bmi,sick\nx,7,blue,20.5,yes\ny,10,red,,false\n", s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"plain":       "{\"id\": \"x\", \"age\": 7, \"color\": \"blue\", \"bmi\": 20.5, \"sick\": \"yes\"}\n{\"sick\": false, \"bmi\": null, \"color\": \"red\", \"id\": \"y\", \"age\": 1e1}\n",
		"absent":      "\n{\"id\": \"x\", \"age\": \"7\", \"color\": \"bl\\u0075e\", \"bmi\": 20.5, \"sick\": true}\r\n\r\n{\"sick\": false, \"age\": 10.0, \"color\": \"red\", \"id\": \"y\"}",
		"byte marked": "\xef\xbb\xbf{\"id\": \"x\", \"age\": 7, \"color\": \"blue\", \"bmi\": 20.5, \"sick\": \"yes\"}\n{\"sick\": false, \"bmi\": null, \"color\": \"red\", \"id\": \"y\", \"age\": 1e1}\n",
	} {
		for _, form := range []func(string) string{func(s string) string { return s }, zipped} {
			got, ids, err := readNamed("f.jsonl", form(text), s, Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || !cmp.Equal(ids, wantIDs) {
				t.Errorf("%s: %s, units %q", name, d, ids)
			}
		}
	}
}

func TestJSONLinesFaults(t *testing.T) {
	s := jsonSchema(t)
	const first = `{"id": "x", "age": 7, "color": "blue", "bmi": 20.5, "sick": "yes"}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f.jsonl: the file is empty; one JSON object"},
		{"blank", "\n \n", "f.jsonl: the file has no rows"},
		{"a list", "[1, 2]\n", "f.jsonl:1: not one JSON object"},
		{"no names", "{}\n", `f.jsonl:1: column "id": the identifier of the unit is missing`},
		{"CSV", "id,age\n1,2\n", "f.jsonl:1: not one JSON object"},
		{"absent name", `{"id": "x", "color": "blue", "bmi": 1, "sick": "yes"}`, `f.jsonl:1: column "age": missing value`},
		{"undeclared name", `{"id": "x", "age": 7, "color": "blue", "bmi": 1, "sick": "yes", "SECRET": 1}`, "f.jsonl:1: the row has an undeclared name"},
		{"new name", first + `{"id": "y", "SECRET": 7, "color": "blue"}`, "f.jsonl:2: the row has an undeclared name"},
		{"name like another", first + `{"id": "y", "agee": 7, "color": "blue"}`, "f.jsonl:2: the row has an undeclared name"},
		{"name twice", first + `{"id": "y", "id": "z"}`, "f.jsonl:2: an object has a name twice"},
		{"two objects", first + `{"id": "y"} {"id": "z"}`, "f.jsonl:2: not one JSON object"},
		{"cut short", first + "\n" + `{"id": "y", "age": 7`, "f.jsonl:3: not one JSON object"},
		{"nested", first + `{"id": "y", "age": [7, {"a": [1]}], "color": "blue", "bmi": 1, "sick": "no"}`, `f.jsonl:2: column "age": a list or an object`},
		{"not UTF-8", first + "{\"id\": \"\xff\"}", "f.jsonl:2: not UTF-8"},
		{"a NUL", first + `{"id": "a\u0000"}`, `f.jsonl:2: column "id": a NUL byte`},
		{"a value", first + `{"id": "y", "age": "SECRET", "color": "blue", "bmi": 1, "sick": "no"}`, `f.jsonl:2: column "age"`},
		{"a long text", first + `{"id": "` + strings.Repeat("a", maxCell+1) + `"}`, `f.jsonl:2: column "id": longer than 1 MiB`},
		{"a long line", first + `{"id": "` + strings.Repeat("a", maxRecord) + `"}`, "f.jsonl:2: the record is longer than 16 MiB"},
		{"UTF-16", "\xff\xfe{\x00", "f.jsonl:1: not one JSON object"},
		{"damaged", zipped(first)[:30], "damaged gzip"},
	} {
		_, _, err := readNamed("f.jsonl", c.text, s, Options{})
		var p *PositionError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
			continue
		}
		if said := err.Error() + p.Hint(); strings.Contains(said, "SECRET") || strings.Contains(said, "agee") || strings.Contains(c.name, "name like") && strings.Contains(said, "age") {
			t.Errorf("%s: the message repeats a cell", c.name)
		}
	}
	if _, _, err := readNamed("f.csv", first, s, Options{}); err == nil || !strings.Contains(err.Error(), "JSON, not CSV") {
		t.Errorf("JSON under the name of CSV: %v", err)
	}
}

// Under the rule default no line decides whether the others are read.
func TestJSONLinesWithBadRows(t *testing.T) {
	s := jsonSchema(t)
	text := `{"id": "x", "age": 7, "color": "blue", "bmi": 20.5, "sick": "yes"}
not JSON
{"id": "y", "age": [], "color": "blue", "bmi": 20.5, "sick": "yes", "more": {}}
{"id": "z", "age": 8
{"id": "u", "age": 9, "color": "blue", "bmi": 20.5, "sick": "yes"}
`
	rows, ids, err := readNamed("f.jsonl", text, s, Options{BadRows: Default})
	if err != nil {
		t.Fatal(err)
	}
	// Lines without a unit are left out, a bad cell has its default.
	if !cmp.Equal(ids, []string{"x", "y", "u"}) || len(rows) != 3 {
		t.Fatalf("units %q", ids)
	}
}

func TestReadTexts(t *testing.T) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n  - {name: note, type: text}\n  - {name: kind, type: categorical, categories: [a, b], why: levels}\n"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name, content string) (texts []string, kinds []float64, err error) {
		err = ReadTexts(name, strings.NewReader(content), s, Options{}, "note", func(cells []float64, _ schema.Record, text string) error {
			texts, kinds = append(texts, text), append(kinds, cells[1])
			return nil
		})
		return texts, kinds, err
	}
	for name, content := range map[string]string{
		"f.csv": "note,kind\nHello you,a\n\"so, so\",b\n", "f.tsv": "kind\tnote\na\tHello you\nb\tso, so\n",
		"f.jsonl": "{\"note\": \"Hello you\", \"kind\": \"a\"}\n{\"kind\": \"b\", \"note\": \"so, so\"}\n",
	} {
		texts, kinds, err := read(name, content)
		if err != nil || !cmp.Equal(texts, []string{"Hello you", "so, so"}) || !cmp.Equal(kinds, []float64{0, 1}) {
			t.Errorf("%s: %q, %v, %v", name, texts, kinds, err)
		}
	}
	for content, want := range map[string]string{
		"note,kind\nHello,a\n,b\n":                                     `f.csv:3: column "note": a text without a word`,
		"note,kind\nHello,a\n" + strings.Repeat("a", 1<<20) + ",b\n":   `f.csv:3: column "note": a word of more than 1,000 bytes`,
		"note,kind\nHello,a\n" + strings.Repeat("a", 1<<20+1) + ",b\n": `f.csv:3: column "note": longer than 1 MiB`,
		"note,kind\nHello,a\n" + strings.Repeat("a ", 1<<18) + ",c\n":  `f.csv:3: column "kind"`,
	} {
		if _, _, err := read("f.csv", content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzJSONLines(f *testing.F) {
	s := jsonSchema(f)
	f.Add([]byte(`{"id": "x", "age": 7, "color": "blue", "bmi": 20.5, "sick": "yes"}` + "\n{}\n"))
	f.Add([]byte("{\"id\": [1, {\"a\": 2}], \"age\": null}\n\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, rule := range []BadRows{Refuse, Default} {
			rows, ids, err := readNamed("f.jsonl", string(data), s, Options{BadRows: rule})
			if err != nil && !strings.HasPrefix(err.Error(), "f.jsonl") {
				t.Fatalf("error without the file's name: %v", err)
			}
			for i, r := range rows {
				if len(r) != len(s.Columns) || ids[i] == "" || r[1] < 0 || r[1] > 100 || math.IsInf(r[3], 0) {
					t.Fatalf("row %d is not of the schema", i)
				}
			}
		}
	})
}

// A declared name that no row has is missing in all of them; other names are passed over
// where that is asked for, and then a slip in a name that is used must not pass as missing.
func TestJSONLinesNames(t *testing.T) {
	s := jsonSchema(t)
	rows, _, err := readNamed("f.jsonl", `{"id": "x", "age": 7, "color": "red", "sick": true}`+"\n", s, Options{})
	if err != nil || !math.IsNaN(rows[0][3]) {
		t.Errorf("a name that no row has: %v, %v", rows, err)
	}
	const more = `{"id": "x", "age": 7, "color": "red", "bmi": 1, "sick": true, "SECRET": [1]}` + "\n"
	if _, _, err := readNamed("f.jsonl", more, s, Options{PassOver: true}); err != nil {
		t.Errorf("a name to pass over: %v", err)
	}
	_, _, err = readNamed("f.jsonl", `{"id": "x", "age": 7, "color": "red", "BMI": 1, "sick": true}`, s, Options{PassOver: true})
	if err == nil || err.Error() != `f.jsonl: no row has the name "bmi"` {
		t.Errorf("a slip in a name: %v", err)
	}
	if _, err := NewRecords("f.jsonl", strings.NewReader(more), Keys{}); err == nil || !strings.Contains(err.Error(), "JSON lines have no header") {
		t.Errorf("JSON lines without names: %v", err)
	}
	r, err := NewRecords("f.jsonl", strings.NewReader(more), Keys{Names: []string{"age", "gone"}, PassOver: true})
	if err != nil || !cmp.Equal(r.Header(), []string{"age", "gone"}) {
		t.Fatal(r, err)
	}
	if row, err := r.Next(); err != nil || !cmp.Equal(row, []string{"7", ""}) {
		t.Errorf("%q, %v", row, err)
	}
}

// A null is a missing cell, as a text that na lists is: unknown by rule, though the column has
// a level for other texts.
func TestNullIsMissingBesideOther(t *testing.T) {
	s, err := schema.Decode("s", []byte("version: 1\nunit: row\nna: [NA]\ncolumns:\n  - {name: c, type: categorical, categories: [a, b], other: true, missing: unknown}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"f.jsonl": "{\"c\": null}\n", "f.csv": "c\nNA\n"} {
		var got []float64
		var told []schema.Odd
		s.Told = func(_ string, why schema.Odd) { told = append(told, why) }
		if err := ReadFrom(name, strings.NewReader(text), s, Options{}, func(c []float64, _ schema.Record) error { got = append(got, c[0]); return nil }); err != nil {
			t.Fatal(name, err)
		}
		if len(got) != 1 || got[0] == got[0] || len(told) != 1 || told[0] != schema.Unknown {
			t.Errorf("%s: %v, told %v; want one NaN that is unknown", name, got, told)
		}
	}
}
