package schema

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

const wideSchema = `version: 1
unit: row
rows: about 100
columns:
  - {name: note, type: text, buckets: 8, tokens: words, missing: unknown}
  - {name: id, type: ignore}
  - {name: picture, type: vector, dimension: 2, key: id}
  - {name: y, type: boolean}
`

func TestWideColumnsComeBack(t *testing.T) {
	s, err := Decode("s.yaml", []byte(wideSchema))
	if err != nil {
		t.Fatal(err)
	}
	once, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode("again.yaml", once)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Encode(again)
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("encoded twice: %v\n%s\n%s", err, once, twice)
	}
	if c := again.Columns[0]; c.Type != Text || c.Buckets != 8 || c.Tokens != Words || c.Missing != MissingUnknown {
		t.Errorf("text came back as %+v", c)
	}
	if c := again.Columns[2]; c.Type != Vector || c.Dimension != 2 || c.Key != "id" {
		t.Errorf("vector came back as %+v", c)
	}
	if !again.Wide() {
		t.Error("a schema with a text is not wide")
	}
}

func TestWideColumnsAreRefused(t *testing.T) {
	for _, c := range []struct{ name, column, want string }{
		{"no buckets", "{name: a, type: text, buckets: 0}", "buckets must be a whole number from 1"},
		{"too many buckets", "{name: a, type: text, buckets: 70000}", "buckets must be a whole number from 1 to 65536"},
		{"unknown rule", "{name: a, type: text, tokens: letters}", `unknown rule "letters" for tokens`},
		{"bounds of a text", "{name: a, type: text, lower: 0}", "lower cannot be used with type text"},
		{"constant for a text", "{name: a, type: text, missing: none}", "missing must be refuse or unknown"},
		{"buckets of a number", "{name: a, type: numeric, lower: 0, upper: 1, buckets: 3}", "buckets cannot be used with type numeric"},
		{"vector without key", "{name: a, type: vector, dimension: 3}", "key must name the column"},
		{"vector without dimension", "{name: a, type: vector, key: b}", "dimension must be from 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n  - "+c.column+"\n  - {name: b, type: boolean}\n"))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Errorf("got %v, want s.yaml:LINE ... %s", err, c.want)
			}
		})
	}
}

func TestCheckWide(t *testing.T) {
	s, err := Decode("s.yaml", []byte(wideSchema))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		name string
		row  []float64
		ok   bool
	}{
		{"both", []float64{4, nan, 9, 1, 2, 0, 1, 7, -1, 0.5, 0.5}, true},
		{"no text", []float64{nan, nan, 4, 1, 0.5, 0.5}, true},
		{"neither", []float64{nan, nan, nan, 1}, true},
		{"empty text", []float64{4, nan, nan, 1, 0}, true},
		{"too short", []float64{4, nan, nan}, false},
		{"text elsewhere", []float64{5, nan, nan, 1, 0, 0}, false},
		{"text beyond the row", []float64{4, nan, nan, 1, 2, 0, 1}, false},
		{"bucket beyond the last", []float64{4, nan, nan, 1, 1, 8, 1}, false},
		{"bucket twice", []float64{4, nan, nan, 1, 2, 3, 1, 3, 1}, false},
		{"no whole sum", []float64{4, nan, nan, 1, 1, 3, 0.5}, false},
		{"sum of nothing", []float64{4, nan, nan, 1, 1, 3, 0}, false},
		{"huge sum", []float64{4, nan, nan, 1, 1, 3, 1e9}, false},
		{"infinite vector", []float64{nan, nan, 4, 1, math.Inf(1), 0}, false},
		{"vector of NaN", []float64{nan, nan, 4, 1, nan, 0}, false},
		{"more than declared", []float64{nan, nan, 4, 1, 0, 0, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := s.CheckWide(c.row); (err == nil) != c.ok {
				t.Errorf("got %v, want ok %v", err, c.ok)
			}
		})
	}
	s.Columns[0].Buckets = 0
	if s.CheckWide([]float64{4, nan, nan, 1, 0}) == nil {
		t.Error("a text without a number of buckets passes")
	}
	if s.SetBuckets(16); s.Columns[0].Buckets != 16 {
		t.Error("SetBuckets did not")
	}
}

func TestFilledTemplate(t *testing.T) {
	columns := []Filled{
		{Name: "who", Type: Ignore, Remarks: []string{"the\nunit"}},
		{Name: "age", Type: Numeric, Lower: 0, Upper: 100, HeavyTailed: true, Unknown: true, Why: "entry 1"},
		{Name: "ward", Type: Categorical, Categories: []string{"a: b", "#"}, Other: true, Unknown: true},
		{Name: "ill", Type: Boolean},
		{Name: "came", Type: DateType, From: "2011-01-01", To: "2016-12-31", Unknown: true},
	}
	na := []string{"", " "}
	got := FilledTemplate("d", "who", 3, 40, na, []string{"released\nby a mechanism"}, columns)
	for _, want := range []string{"# released by a mechanism\n", "unit: \"who\"\nrows_per_unit: 3\n", "\nrows: about 40\n", "  # the unit\n  - name: \"who\"\n    type: ignore\n",
		"    lower: 0\n    upper: 100\n    heavy_tailed: true\n    missing: unknown\n    why: \"entry 1\"\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	s, err := Decode("s.yaml", got)
	if err != nil {
		t.Fatal(err)
	}
	if came := s.Columns[4]; came.Missing != MissingUnknown || came.Date == nil || came.Upper < 2190 || came.Upper > 2192 {
		t.Errorf("dates are read as %+v", came)
	}
	if s.Rows.N != 40 || s.Unit.MaxRows != 3 || !slices.Equal(s.NA, na) || !slices.Equal(s.Columns[2].Categories, columns[2].Categories) || s.Columns[2].Other != "other" || s.Columns[1].Missing != MissingUnknown {
		t.Errorf("read as %+v", s)
	}
	if _, err := Decode("s.yaml", FilledTemplate("d", "row", 0, 0, na, nil, append(columns, Filled{Name: "name"}))); err == nil {
		t.Error("a schema with blanks was read")
	}
	u := Unlooked("d", []string{"who", "age"}, "who", 3, 0, na)
	if u.Unit.Column != "who" || u.Unit.MaxRows != 3 || u.Columns[1].Type != Ignore || u.Rows.Kind != RowsPrivate {
		t.Errorf("unlooked: %+v", u)
	}
}
