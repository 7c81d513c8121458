package schema

import (
	"errors"
	"strings"
	"testing"

	"pawl/internal/usage"
)

// Nesting is refused before it is parsed: the parser's memory grows with its square.
func TestDeepNestingIsRefused(t *testing.T) {
	for _, open := range []string{"[", "{", "- ["} {
		text := "version: 1\ncolumns: " + strings.Repeat(open, 100_000)
		_, err := Decode("deep.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "deep.yaml:2:") || !strings.Contains(err.Error(), "nested") {
			t.Errorf("%q: %.200v", open, err)
		}
	}
}

// All faults of a schema are found in one look, and what is sound can be read.
func TestAllFaultsOfASchema(t *testing.T) {
	_, err := Decode("s.yaml", []byte(`version: 1
dataset: x
unit:
rows: many
columns:
  - name: age
    type:
  - {name: ward, type: categorical, categories: [a], lower: 3}
  - {name: stay, type: numeric}
  - {name: sick, type: boolean}
  - {name: sick, type: boolean}
  - {type: boolean}
`))
	var p *PartlyError
	var all *usage.Faults
	if !errors.As(err, &p) || !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, err := range all.List {
		got = append(got, err.Error())
	}
	want := []string{
		`s.yaml:3:1: unit is blank: whose data are to be protected?`,
		`s.yaml:7:5: column "age": type is blank`,
		`s.yaml:8:54: column "ward": lower cannot be used with type categorical`,
		`s.yaml:9:5: column "stay": lower bound is missing`,
		`s.yaml:9:5: column "stay": upper bound is missing`,
		`s.yaml:12:5: entry 6 of columns has no name`,
		`s.yaml:4:7: rows must be public, private, a whole number, or "about" and a number`,
		`s.yaml:11:6: column "sick": declared twice`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := p.Sound; len(s.Columns) != 5 || s.Columns[0].Type != Ignore || !p.Faulty["age"] || !p.Faulty["ward"] || !p.Faulty["stay"] {
		t.Errorf("sound: %+v, faulty %v", s.Columns, p.Faulty)
	}
}

// Hints name what is wrong with these values, in the words of the schema.
func TestHintsOfASchema(t *testing.T) {
	for _, tt := range []struct{ text, msg, hint string }{
		{"version: 1\n\tdataset: x\n", "a tab", "spaces"},
		{"version: 1\nunit: row\nrows: 0\ncolumns:\n  - {name: sick, type: boolean}\n", "rows must be", "at least 1"},
		{"version: 1\nunit: patient\nrows_per_unit: 3\ncolumns:\n  - {name: sick, type: boolean}\n", "3 rows per unit, but no column", "the column that identifies the patient"},
	} {
		_, err := Decode("s.yaml", []byte(tt.text))
		var hinted interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), tt.msg) || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), tt.hint) {
			t.Errorf("%q: %v, want %q with the hint %q", tt.text, err, tt.msg, tt.hint)
		}
	}
}
