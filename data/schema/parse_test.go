package schema

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parseSchema(t interface{ Fatal(...any) }) *Schema {
	s, err := Decode("s.yaml", []byte(`version: 1
unit: row
columns:
  - {name: n, type: numeric, lower: -2, upper: 3, missing: unknown}
  - {name: i, type: integer, lower: 0, upper: 9, missing: 4}
  - {name: b, type: boolean, missing: true}
  - {name: c, type: categorical, categories: ["NA", x, y]}
  - {name: o, type: categorical, categories: [x, y], other: true, missing: y}
  - {name: d, type: categorical, categories: [x, y], other: x, missing: unknown}
  - {name: g, type: ignore}
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	s := parseSchema(t)
	nan := math.NaN()
	for _, tt := range []struct {
		column, cell string
		want         float64
		err          error // errors.Is; nil when the cell is accepted
	}{
		{"n", "1.5", 1.5, nil}, {"n", "-1e9", -2, nil}, {"n", "+1e9", 3, nil}, {"n", "?", nan, nil}, {"n", ".5", 0.5, nil},
		{"n", " 1", 0, errAny}, {"n", "1 ", 0, errAny}, {"n", "0x1", 0, errAny}, {"n", "1_0", 0, errAny}, {"n", "inf", 0, errAny},
		{"n", "NaN", 0, errAny}, {"n", "1e999", 0, errAny}, {"n", "1,5", 0, errAny}, {"n", "-", 0, errAny}, {"n", "e", 0, errAny},
		{"n", "\u0661", 0, errAny},
		{"i", "7", 7, nil}, {"i", "7.0", 7, nil}, {"i", "7.5", 0, errAny}, {"i", "", 4, nil}, {"i", "-3", 0, nil},
		{"b", "Yes", 1, nil}, {"b", "0", 0, nil}, {"b", "NA", 1, nil}, {"b", "2", 0, errAny},
		{"c", "x", 1, nil}, {"c", "NA", 0, nil}, {"c", "z", 0, ErrUndeclared}, {"c", "", 0, ErrMissing}, {"c", "X", 0, ErrUndeclared},
		{"o", "z", 2, nil}, {"o", "?", 1, nil}, {"o", "other", 2, nil},
		{"d", "z", 0, nil}, {"d", "", nan, nil},
		{"g", "anything", nan, nil},
	} {
		t.Run(tt.column+"="+tt.cell, func(t *testing.T) {
			got, err := s.Parse(s.Column(tt.column), tt.cell)
			switch {
			case tt.err == nil && err != nil:
				t.Fatalf("refused: %v", err)
			case tt.err == errAny && err == nil, tt.err != nil && tt.err != errAny && !errors.Is(err, tt.err):
				t.Fatalf("got %v and error %v", got, err)
			case err == nil && got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)):
				t.Fatalf("got %v, want %v", got, tt.want)
			}
		})
	}
}

var errAny = errors.New("any error")

func TestDefault(t *testing.T) {
	s := parseSchema(t)
	for column, want := range map[string]float64{"n": math.NaN(), "i": 4, "b": 1, "c": math.NaN(), "o": 1, "d": 0} {
		got := s.Columns[s.Column(column)].Default()
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("default of %s is %v, want %v", column, got, want)
		}
	}
}

// Whatever the cell, the number is within the declaration or unknown, and the
// error does not repeat the cell.
func TestParseStaysWithinTheDeclaration(t *testing.T) {
	s := parseSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(s.Columns)-1).Draw(t, "column")
		cell := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+]?[0-9.]{1,20}(e[-+]?[0-9]{1,4})?`)).Draw(t, "cell")
		got, err := s.Parse(i, cell)
		if err != nil {
			if len(cell) > 12 && strings.Contains(err.Error(), cell) {
				t.Fatalf("error %q repeats the cell", err)
			}
			return
		}
		c := &s.Columns[i]
		lower, upper := c.Lower, c.Upper
		if c.Levels() != nil {
			lower, upper = 0, float64(len(c.Levels())-1)
		}
		if !math.IsNaN(got) && (got < lower || got > upper) {
			t.Fatalf("%v lies outside [%v, %v]", got, lower, upper)
		}
		if math.IsNaN(got) && c.Missing != MissingUnknown && c.Type != Ignore {
			t.Fatal("unknown without a rule that says so")
		}
	})
}

// Every cell that is not taken as it stands is told, with its column; others are not, and the number
// is the one that an untold reading gives.
func TestOddCellsAreTold(t *testing.T) {
	for _, tt := range []struct {
		column, cell string
		want         Odd
	}{
		{"n", "1.5", ""}, {"n", "-2", ""}, {"n", "3", ""}, {"n", "3.1", Clipped}, {"n", "-9", Clipped}, {"n", "?", Unknown},
		{"i", "", Defaulted}, {"i", "10", Clipped}, {"b", "NA", Defaulted}, {"b", "1", ""}, {"c", "z", Unseen}, {"c", "x", ""},
		{"o", "z", ""}, {"o", "?", Defaulted}, {"d", "", Unknown}, {"g", "anything", ""},
	} {
		s, plain := parseSchema(t), parseSchema(t)
		var told []string
		s.Lenient, s.Told = true, func(column string, why Odd) { told = append(told, column+" "+string(why)) }
		got, err := s.Parse(s.Column(tt.column), tt.cell)
		if err != nil {
			t.Fatalf("%s=%s: %v", tt.column, tt.cell, err)
		}
		if want, err := plain.Parse(plain.Column(tt.column), tt.cell); err == nil && got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s=%s: told %g, untold %g", tt.column, tt.cell, got, want)
		}
		want := tt.column + " " + string(tt.want)
		if tt.want == "" && len(told) > 0 || tt.want != "" && (len(told) != 1 || told[0] != want) {
			t.Errorf("%s=%s: told %q, want %q", tt.column, tt.cell, told, tt.want)
		}
	}
}
