package schema

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const whole = `version: 1
dataset: clinic
unit: {name: patient, column: pid, rows: 5}
public: false
rows: about 1000
na: ["", "?", -999]
columns:
  - {name: pid, type: ignore}
  - name: age
    type: integer
    lower: 0
    upper: 120
    missing: 40
    why: a human life
  - {name: income, type: numeric, lower: 0, upper: 1e6, log: true, missing: unknown}
  - {name: smoker, type: boolean, missing: false}
  - name: grade
    type: categorical
    categories: [1, 2.50, yes, true, "<=50K"]
    ordered: true
    other: true
    missing: other
`

func TestDecodeWhole(t *testing.T) {
	s, err := Decode("s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &Schema{
		Version: 1, Dataset: "clinic",
		Unit: Unit{Name: "patient", Column: "pid", MaxRows: 5},
		Rows: RowCount{Kind: RowsAbout, N: 1000},
		NA:   []string{"", "?", "-999"},
		Columns: []Column{
			{Name: "pid", Type: Ignore},
			{Name: "age", Type: Integer, Upper: 120, Missing: MissingValue, MissingNumber: 40, Why: "a human life"},
			{Name: "income", Type: Numeric, Upper: 1e6, HeavyTailed: true, Missing: MissingUnknown},
			{Name: "smoker", Type: Boolean, Missing: MissingValue, MissingCategory: "false"},
			{Name: "grade", Type: Categorical, Categories: []string{"1", "2.50", "yes", "true", "<=50K"}, Ordered: true,
				Other: "other", Missing: MissingValue, MissingCategory: "other"},
		},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Fatalf("schema differs (-want +got):\n%s", d)
	}
}

// of is a schema without a unit; its columns begin on line 2.
func of(columns ...string) string {
	return "version: 1\ncolumns:\n  - " + strings.Join(columns, "\n  - ") + "\n"
}

// with is one whose rows are units.
func with(columns ...string) string { return of(columns...) + "unit: row\n" }

func TestDecodeRefuses(t *testing.T) {
	age := "{name: age, type: integer, lower: 0, upper: 120}"
	for _, tt := range []struct{ name, text, want, hint string }{
		{"empty", "", "s.yaml:1:1: the schema is empty", "pawl init"},
		{"list", "- 1\n", "must be a mapping", ""},
		{"syntax", "version: [1\n", "s.yaml:1:", ""},
		{"two documents", with(age) + "---\nversion: 1\n", "second YAML document", ""},
		{"not utf-8", "version: 1\n\xff", "not UTF-8", ""},
		{"no version", "columns:\n  - " + age + "\n", "version is missing", "version: 1"},
		{"newer version", "version: 2\nnew: 3\n", `unknown key "new"`, ""},
		{"newer version alone", "version: 2\ncolumns: []\n", "s.yaml:1:10: schema version 2 is newer", "newer pawl"},
		{"bad version", "version: one\ncolumns: []\n", "version must be", ""},
		{"unknown key", "version: 1\ncolums: []\n", `s.yaml:2:1: unknown key "colums"`, `"columns"`},
		{"unknown column key", with("{name: age, type: integer, lowr: 0}"), `s.yaml:3:32: unknown key "lowr"`, `"lower"`},
		{"duplicate key", "version: 1\nversion: 1\n", "s.yaml:2:1:", ""},
		{"duplicate by alias", with("{name: a, type: numeric, lower: 0, upper: 1, log: true, heavy_tailed: true}"), "given twice", ""},
		{"alias", "version: &v 1\nrows: *v\ncolumns: []\n", "s.yaml:1:10: version must be one plain value", ""},
		{"merge key", "version: 1\n<<: {rows: 2}\n", "a key must be a plain word", ""},
		{"no columns", "version: 1\nunit: row\n", "no columns", ""},
		{"empty columns", "version: 1\nunit: row\ncolumns: []\n", "at least one must be used", ""},
		{"all ignored", with("{name: a, type: ignore}"), "at least one must be used", ""},
		{"no name", with("{type: boolean}"), "entry 1 of columns has no name", ""},
		{"same name", with(age, age), `s.yaml:4:6: column "age": declared twice`, ""},
		{"no type", with("{name: age}"), `column "age": type is missing`, "numeric"},
		{"unknown type", with("{name: age, type: numerc}"), `unknown type "numerc"`, `"numeric"`},
		{"missing lower", with("{name: age, type: numeric, upper: 1}"), `s.yaml:3:5: column "age": lower bound is missing`, "round number"},
		{"missing upper", with("{name: age, type: numeric, lower: 1}"), `column "age": upper bound is missing`, "round number"},
		{"blank bound", with("{name: age, type: numeric, lower: , upper: 3}"), `column "age": lower is blank`, "fill it in"},
		{"reversed", with("{name: age, type: numeric, lower: 3, upper: 1}"), `s.yaml:3:32: column "age": lower bound is above`, ""},
		{"equal", with("{name: age, type: numeric, lower: 1, upper: 1}"), "equal", ""},
		{"nan", with("{name: age, type: numeric, lower: .nan, upper: 1}"), `column "age": lower is NaN`, ""},
		{"inf", with("{name: age, type: numeric, lower: 0, upper: .inf}"), `column "age": upper is infinite`, ""},
		{"negative inf", with("{name: age, type: numeric, lower: -.inf, upper: 0}"), `lower is infinite`, ""},
		{"huge", with("{name: age, type: numeric, lower: 0, upper: 1e16}"), "beyond", ""},
		{"overflow", with("{name: age, type: numeric, lower: 0, upper: 1e999}"), "64-bit", ""},
		{"hex", with("{name: age, type: numeric, lower: 0, upper: 0x10}"), "not a number", ""},
		{"part of a whole", with("{name: age, type: integer, lower: 0, upper: 1.5}"), "whole number", ""},
		{"heavy negative", with("{name: a, type: numeric, lower: -1, upper: 1, heavy_tailed: true}"), "at least 0", ""},
		{"heavy and narrow", with("{name: a, type: numeric, lower: 999999999999999, upper: 1e15, heavy_tailed: true}"), "logarithms are equal", "leave heavy_tailed out"},
		{"monotone category", with("{name: a, type: categorical, categories: [a, b], monotone: increasing}"), `s.yaml:3:54: column "a": monotone needs a number or ordered categories`, "ordered: true"},
		{"monotone word", with("{name: a, type: numeric, lower: 0, upper: 1, monotone: up}"), `s.yaml:3:60: column "a": monotone must be increasing or decreasing`, ""},
		{"monotone boolean", with("{name: a, type: boolean, monotone: increasing}"), "monotone cannot be used", ""},
		{"bounds of text", with("{name: a, type: categorical, categories: [a, b], lower: 0}"), "lower cannot be used", ""},
		{"categories of boolean", with("{name: a, type: boolean, categories: [a, b]}"), "categories cannot be used", ""},
		{"no categories", with("{name: a, type: categorical}"), "at least two", ""},
		{"one category", with("{name: a, type: categorical, categories: [a]}"), "at least two", ""},
		{"blank categories", with("{name: a, type: categorical, categories: }"), "categories is blank", ""},
		{"empty category", with(`{name: a, type: categorical, categories: [a, ""]}`), "a category is empty", ""},
		{"null category", with(`{name: a, type: categorical, categories: [a, ~]}`), "plain values", ""},
		{"same category", with(`{name: a, type: categorical, categories: [1, "1"]}`), "listed twice", ""},
		{"fill NaN", with("{name: a, type: numeric, lower: 0, upper: 1, missing: .nan}"), "fill value is NaN", "unknown"},
		{"fill nan", with("{name: a, type: numeric, lower: 0, upper: 1, missing: nan}"), "fill value is NaN", ""},
		{"fill outside", with("{name: a, type: numeric, lower: 0, upper: 1, missing: 2}"), "outside the bounds", ""},
		{"fill mean", with("{name: a, type: numeric, lower: 0, upper: 1, missing: mean}"), "fill value is not a number", ""},
		{"fill level", with("{name: a, type: categorical, categories: [red, blue], missing: blu}"), "missing must be", `"blue"`},
		{"fill boolean", with("{name: a, type: boolean, missing: yes}"), "missing must be", ""},
		{"rows zero", "rows: 0\n" + with(age), "rows must be", ""},
		{"rows word", "rows: many\n" + with(age), "s.yaml:1:7: rows must be", ""},
		{"public word", "public: yes\n" + with(age), "true or false", ""},
		{"not reviewed", "reviewed: false\n" + with("{name: a, type: }"), "s.yaml:1:1: this schema was guessed from rows", "reviewed: true"},
		{"unit word", "unit: hospital\n" + of(age), `s.yaml:1:7: unit "hospital" is neither`, "row"},
		{"unit slip", "unit: aeg\n" + of(age), "neither", `"age"`},
		{"unit column without rows", "unit: age\n" + of(age), "largest number of rows", "rows_per_unit"},
		{"unit rows zero", "unit: age\nrows_per_unit: 0\n" + of(age), "from 1 to 1000000", ""},
		{"unit rows huge", "unit: age\nrows_per_unit: 9223372036854775807\n" + of(age), "from 1 to 1000000", ""},
		{"unit rows without column", "unit: person\nrows_per_unit: 3\n" + of(age), "no column says", "column"},
		{"row with rows per unit", "unit: row\nrows_per_unit: 3\n" + of(age), "no column says", ""},
		{"unit rows twice", "unit: {column: age, rows: 2}\nmax_contributions: 2\n" + of(age), "given twice", ""},
		{"unit column unknown", "unit: {column: aeg, rows: 2}\n" + of(age), "not declared", `"age"`},
		{"unit blank", "unit:\n" + of(age), "s.yaml:1:1: unit is blank: whose data are to be protected?", "unit: row if every row"},
		{"unit null", "unit: ~\nrows_per_unit: 1\n" + of(age), "unit is blank", "rows_per_unit: N"},
		{"unit empty", "unit: ''\n" + of(age), "neither a declared column", "row"},
		{"unit absent", of(age), "s.yaml:1:1: no unit is declared: whose data are to be protected?", "unit: row if every row"},
		{"unit absent, not public", "public: false\n" + of(age), "no unit is declared", ""},
		{"unit beside its identifier", "unit: patient\n" + of(age, "{name: Patient_ID, type: ignore}"), "looks like its identifier", "Patient_ID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode("s.yaml", []byte(tt.text))
			if err == nil {
				t.Fatal("accepted")
			}
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
				t.Fatalf("error has no position: %v", err)
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q in one line", err, tt.want)
			}
			if !strings.Contains(e.Hint(), tt.hint) {
				t.Errorf("hint %q does not say %q", e.Hint(), tt.hint)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	cols := of("{name: age, type: integer, lower: 0, upper: 9}", "{name: id, type: ignore}", "{name: k, type: boolean}")
	for _, tt := range []struct {
		name, text string
		want       Unit
		warnings   int
	}{
		{"absent, public", "public: true\n", Unit{Name: "row", MaxRows: 1, Assumed: true}, 0},
		{"blank, public", "public: true\nunit:\nrows_per_unit:\n", Unit{Name: "row", MaxRows: 1, Assumed: true}, 0},
		{"row", "unit: row\n", Unit{Name: "row", MaxRows: 1}, 0},
		{"row once", "unit: row\nrows_per_unit: 1\n", Unit{Name: "row", MaxRows: 1}, 0},
		{"label", "unit: Person\n", Unit{Name: "person", MaxRows: 1}, 1},
		{"label mapping", "unit: {name: bed}\n", Unit{Name: "bed", MaxRows: 1}, 1},
		{"column", "unit: id\nmax_contributions: 4\n", Unit{Name: "id", Column: "id", MaxRows: 4}, 0},
		{"column as data", "unit: k\nrows_per_unit: 4\n", Unit{Name: "k", Column: "k", MaxRows: 4}, 1},
		{"mapping", "unit:\n  name: patient\n  column: id\n  rows: 2\n", Unit{Name: "patient", Column: "id", MaxRows: 2}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Decode("s.yaml", []byte(tt.text+cols))
			if err != nil {
				t.Fatal(err)
			}
			if s.Unit != tt.want || len(s.Warnings) != tt.warnings {
				t.Errorf("unit %+v with warnings %q, want %+v with %d", s.Unit, s.Warnings, tt.want, tt.warnings)
			}
		})
	}
}

func TestDefaultsAreTheCautiousOnes(t *testing.T) {
	s, err := Decode("s.yaml", []byte(with("{name: k, type: boolean}")))
	if err != nil {
		t.Fatal(err)
	}
	if s.Public || s.Rows.Kind != RowsPrivate || s.Columns[0].Missing != MissingRefuse {
		t.Errorf("defaults are %+v", s)
	}
	if _, err := s.Parse(0, "?"); err == nil {
		t.Error("a missing cell passed without a rule")
	}
}

func TestTemplateMustBeFilledIn(t *testing.T) {
	header := []string{"age", "a \"b\" c", "no", "x: y", "# z"}
	text := Template("visits\n2024.csv", header)
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	var e *Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Msg, "unit is blank: ") || e.Hint() == "" {
		t.Fatalf("blank template: %v", err)
	}
	filled := strings.Replace(string(text), "\nunit:\n", "\nunit: row\n", 1)
	_, err = Decode("s.yaml", []byte(filled))
	if !errors.As(err, &e) || e.Column != "age" || e.Msg != "type is blank" || e.Hint() == "" {
		t.Fatalf("template with a unit: %v", err)
	}
	filled = strings.ReplaceAll(filled, "type:\n", "type: boolean\n")
	s, err := Decode("s.yaml", []byte(strings.ReplaceAll(filled, `visits\n2024.csv`, "visits")))
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range header {
		if s.Columns[i].Name != h {
			t.Errorf("column %d is %q, want %q", i, s.Columns[i].Name, h)
		}
	}
}

func TestGuesser(t *testing.T) {
	g := NewGuesser([]string{"age", "bmi", "smoker", "town", "empty"})
	g.Observe([]string{"41", "20.5", "yes", "Ulm", ""})
	g.Observe([]string{"", "?", "no", "Bonn", "NA"})
	g.Observe([]string{"9"})
	text := string(g.Schema("d.csv", false))
	if strings.Contains(text, "Ulm") || strings.Contains(text, "41") {
		t.Errorf("cells were copied without asking:\n%s", text)
	}
	for _, want := range []string{"reviewed: false", "\nunit:\n", "\"age\"\n    type: integer", "\"bmi\"\n    type: numeric", "\"smoker\"\n    type: boolean",
		"\"town\"\n    type: categorical\n    categories:\n", "\"empty\"\n    type:\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if _, err := Decode("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "not public until reviewed") {
		t.Errorf("unreviewed guess: %v", err)
	}
	if text = string(g.Schema("d.csv", true)); !strings.Contains(text, `["Bonn", "Ulm"]`) {
		t.Errorf("asked for categories, got:\n%s", text)
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{{"Age", "age"}, {"aeg", "age"}, {"xyz", ""}, {"incme", "income"}, {" AGE ", "age"}, {"", ""}} {
		if got := Nearest(tt.word, []string{"age", "income"}); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

// text draws any printable text, with the characters that YAML gives a meaning.
var text = rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("\"'\\#:-?&*!|>%@`{}[], ~ab1.\u00e9\u4e2d\U0001f600")), rapid.Rune()), 1, 12, -1).
	Filter(printable)

func drawColumn(t *rapid.T, name string) Column {
	c := Column{Name: name, Type: rapid.SampledFrom([]Type{Numeric, Integer, Boolean, Categorical, Ignore}).Draw(t, "type"),
		Why: rapid.OneOf(rapid.Just(""), text).Draw(t, "why")}
	if c.Type == Ignore {
		return c
	}
	c.Missing = rapid.SampledFrom([]MissingRule{MissingRefuse, MissingUnknown, MissingValue}).Draw(t, "missing")
	switch c.Type {
	case Numeric:
		c.Lower = rapid.Float64Range(-1e14, 1e14).Draw(t, "lower")
		c.Upper = c.Lower + rapid.Float64Range(0.5, 1e14).Draw(t, "width")
		c.HeavyTailed = c.Lower >= 0
	case Integer:
		c.Lower = float64(rapid.IntRange(-1000, 1000).Draw(t, "lower"))
		c.Upper = c.Lower + float64(rapid.IntRange(1, 1000000).Draw(t, "width"))
	case Boolean:
		if c.Missing == MissingValue {
			c.MissingCategory = "true"
		}
	case Categorical:
		c.Categories = rapid.SliceOfNDistinct(text, 2, 5, rapid.ID[string]).Draw(t, "categories")
		c.Ordered = rapid.Bool().Draw(t, "ordered")
		if rapid.Bool().Draw(t, "has other") {
			c.Other = text.Draw(t, "other")
		}
		if c.Missing == MissingValue {
			c.MissingCategory = rapid.SampledFrom(c.Levels()).Draw(t, "constant")
		}
	}
	if numeric(c.Type) || c.Ordered {
		c.Monotone = rapid.IntRange(-1, 1).Draw(t, "monotone")
	}
	if c.Missing == MissingValue && numeric(c.Type) {
		c.MissingNumber = c.Lower
	}
	return c
}

func drawSchema(t *rapid.T) *Schema {
	s := &Schema{Version: 1, Unit: Unit{Name: "row", MaxRows: 1}, Public: rapid.Bool().Draw(t, "public"),
		NA: rapid.SliceOfN(text, 0, 3).Draw(t, "na")}
	s.Dataset = rapid.OneOf(rapid.Just(""), text).Draw(t, "dataset")
	s.Rows.Kind = rapid.SampledFrom([]RowsKind{RowsPublic, RowsPrivate, RowsDeclared, RowsAbout}).Draw(t, "rows")
	if s.Rows.Kind == RowsDeclared || s.Rows.Kind == RowsAbout {
		s.Rows.N = rapid.Int64Range(1, math.MaxInt64).Draw(t, "N")
	}
	for _, name := range rapid.SliceOfNDistinct(text, 1, 4, rapid.ID[string]).Draw(t, "names") {
		s.Columns = append(s.Columns, drawColumn(t, name))
	}
	if rapid.Bool().Draw(t, "unit column") {
		s.Unit = Unit{Name: text.Draw(t, "unit name"), Column: s.Columns[0].Name, MaxRows: rapid.IntRange(1, 99).Draw(t, "max rows")}
	}
	return s
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		if s.Validate() != nil {
			t.Skip("all ignored")
		}
		b, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode("s.yaml", b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		got.Warnings = nil
		if d := cmp.Diff(s, got); d != "" {
			t.Fatalf("round trip differs (-want +got):\n%s\n%s", d, b)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add(Template("d", []string{"a", "b"}))
	f.Add([]byte("version: 1\nunit: [a\ncolumns: {{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode("s.yaml", data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		b, err := Encode(s)
		if err != nil {
			t.Fatalf("accepted by Decode, refused by Encode: %v", err)
		}
		again, err := Decode("s.yaml", b)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		s.Warnings, again.Warnings = nil, nil
		if d := cmp.Diff(s, again); d != "" {
			t.Fatalf("round trip differs:\n%s", d)
		}
	})
}
