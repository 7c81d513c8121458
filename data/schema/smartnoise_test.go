package schema

import (
	"errors"
	"strings"
	"testing"
)

const pums = `engine: pandas
"":
  PUMS:
    people:
      max_ids: 3
      rows: 1000
      censor_dims: False
      pid: {type: int, private_id: True}
      age: {type: int, lower: 0, upper: 100, nullable: False}
      income: {type: float, lower: -5.5, upper: 500000, missing_value: 0}
      height: {type: float, upper: 3, sensitivity: 3}
      married: {type: boolean}
      educ: {type: string, card: 5}
      born: {type: datetime}
`

func TestFromSmartNoise(t *testing.T) {
	table, text, notes, err := FromSmartNoise("meta.yaml", []byte(pums))
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.Replace(string(text), "    type:\n", "    type: categorical\n    categories: [a, b]\n", 1)
	filled = strings.Replace(filled, "    lower:\n", "    lower: 1\n", 1)
	if _, err := Decode("s", text); err == nil {
		t.Error("blanks are taken")
	}
	s, err := Decode("s", []byte(filled))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if table != "people" || s.Dataset != "people" || s.Unit.Column != "pid" || s.Unit.MaxRows != 3 || s.Rows != (RowCount{RowsAbout, 1000}) || len(s.Columns) != 7 {
		t.Errorf("table %q: %+v", table, s)
	}
	age, income := s.Columns[1], s.Columns[2]
	if age.Type != Integer || age.Upper != 100 || age.Missing != MissingRefuse || !strings.Contains(age.Why, "meta.yaml") {
		t.Errorf("age %+v", age)
	}
	if income.Type != Numeric || income.Lower != -5.5 || income.Missing != MissingValue || income.MissingNumber != 0 {
		t.Errorf("income %+v", income)
	}
	if s.Columns[0].Type != Ignore || s.Columns[4].Type != Boolean || s.Columns[4].Missing != MissingUnknown || s.Columns[6].Type != Ignore {
		t.Errorf("columns %+v", s.Columns)
	}
	if all := strings.Join(notes, "\n"); len(notes) != 4 || !strings.Contains(all, `"educ": a string`) || !strings.Contains(all, `"height": has no lower bound`) || !strings.Contains(all, "sensitivity") || !strings.Contains(all, "datetime, ignored") {
		t.Errorf("notes %q", notes)
	}
}

func TestFromSmartNoiseOfRows(t *testing.T) {
	_, text, notes, err := FromSmartNoise("m", []byte("d:\n  s:\n    t:\n      row_privacy: True\n      rows_exact: 7\n      rows: 10\n      x: {type: int, lower: 0, upper: 1}\n"))
	if err != nil || len(notes) != 0 {
		t.Fatal(err, notes)
	}
	s, err := Decode("s", text)
	if err != nil || s.Unit.Column != "" || s.Rows != (RowCount{RowsDeclared, 7}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// Metadata that say of nobody that he is protected leave the question open.
func TestFromSmartNoiseWithoutUnit(t *testing.T) {
	_, text, notes, err := FromSmartNoise("m", []byte("d:\n  s:\n    t: {x: {type: int, lower: 0, upper: 1}}\n"))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "the unit is blank") {
		t.Fatal(err, notes)
	}
	if _, err := Decode("s", text); err == nil || !strings.Contains(err.Error(), "unit is blank") {
		t.Errorf("a unit from nowhere: %v", err)
	}
}

func TestFromSmartNoiseRefusals(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no YAML", "a: [", "1:4: YAML: sequence end"}, {"empty", "", "no table"}, {"a list", "- a\n", "1:1: YAML: sequence was used"}, {"a schema of ours", "version: 1\n", "no table"},
		{"two tables", "d:\n  s:\n    t: {x: {type: int}}\n    u: {x: {type: int}}\n", "2 tables"},
		{"two persons", "d:\n  s:\n    t: {x: {type: int, private_id: True}, y: {type: int, private_id: True}}\n", "both the private_id"},
		{"no type", "d:\n  s:\n    t: {row_privacy: True, x: {type: int}, y: 3}\n", `"y" is neither`},
		{"bound in words", "d:\n  s:\n    t: {row_privacy: True, x: {type: int, lower: low}}\n", "not a finite number"},
		{"max_ids", "d:\n  s:\n    t: {max_ids: 0, x: {type: int, private_id: True}}\n", "max_ids must be"},
	} {
		_, text, _, err := FromSmartNoise("m.yaml", []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || text != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whatever the bytes are, there is a template or an error.
func FuzzFromSmartNoise(f *testing.F) {
	f.Add([]byte(pums))
	f.Add([]byte("d:\n  s:\n    t: {x: {type: [int]}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, text, _, err := FromSmartNoise("m", b)
		if (err == nil) != (text != nil) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
