package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func decoded(t *testing.T, text string) *Schema {
	t.Helper()
	s, err := Decode("s.yaml", []byte("version: 1\nunit: row\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is declared is written and read back as it was.
func TestSectionsComeBack(t *testing.T) {
	s := decoded(t, `
file: {delimiter: tab, quote: none, encoding: CP1252, skip: 3, header: false, names: [a, "b;c", d, e, f, x_1], decimal: ",", thousands: " ", trim: true}
others: ignore
columns:
  - {name: a, type: numeric, lower: 0, upper: 1, signs: ["$", "%"]}
  - {name: "b;c", type: boolean, values: ["No", "Yes"], missing: "No"}
  - {name: d, type: date, lower: 1900-01-01, upper: 2020-12-31}
  - {name: e, type: date, format: "D.M.YYYY hh:mm", lower: 1900-01-01, upper: 2020-12-31, origin: 2000-01-01, parts: [days, hour, weekday], missing: 1970-05-04, why: known}
  - {match: "x_*", type: integer, lower: 0, upper: 9}
  - {match: "*_on", type: date, format: [YYYY-MM-DD, DD/MM/YY], lower: 1900-01-01, upper: 2020-12-31, parts: [year, month], missing: unknown}
`)
	if want := (File{Delimiter: "\t", Quote: "none", Encoding: "windows-1252", Skip: 3, NoHeader: true, Names: s.File.Names, Decimal: ",", Thousands: " ", Trim: true}); fmt.Sprint(s.File) != fmt.Sprint(want) {
		t.Errorf("the section is %+v, want %+v", s.File, want)
	}
	text, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode("again", text)
	if err != nil {
		t.Fatalf("%v of\n%s", err, text)
	}
	shown := func(s *Schema) (out string) {
		out = fmt.Sprintf("%+v %v", s.File, s.IgnoreOthers)
		for _, c := range s.Columns {
			d := c.Date
			if c.Date = nil; d != nil {
				out += fmt.Sprintf("%+v", *d)
			}
			out += fmt.Sprintf("%+v\n", c)
		}
		return out
	}
	if shown(s) != shown(again) {
		t.Errorf("%s\nbecame\n%s", shown(s), shown(again))
	}
}

func TestFileFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{delimiter: "ab"}`, "1:8: file: delimiter must be one character"},
		{`{delimiter: "x"}`, "delimiter must be one character"},
		{`{delimiter: "."}`, "delimiter must be one character"},
		{`{delimiter: 5}`, "delimiter must be a text in quotes"},
		{`{decimal: ","}`, "the decimal mark and the delimiter are the same"},
		{`{delimiter: ";", decimal: ";"}`, `decimal must be`},
		{`{thousands: "."}`, "the decimal mark and the thousands separator are the same"},
		{`{delimiter: ";", decimal: ",", thousands: ","}`, "the decimal mark and the thousands separator are the same"},
		{`{thousands: "x"}`, "thousands must be one of"},
		{`{encoding: windows-1522}`, `unknown encoding "windows-1522"`},
		{`{quote: "|"}`, "quote must be"},
		{`{skip: -1}`, "skip must be"},
		{`{skip: x}`, "skip must be"},
		{`{names: [a]}`, "names are for files without a header"},
		{`{header: false, names: [a, a]}`, `"a" is listed twice`},
		{`{header: no}`, "header must be true or false"},
		{`{delimeter: ";"}`, `unknown key "delimeter" in file`},
	} {
		_, err := Decode("s.yaml", []byte("file: "+c.text+"\nversion: 1\nunit: row\ncolumns: [{name: a, type: numeric, lower: 0, upper: 1}]\n"))
		var e *Error
		if !errors.As(err, &e) || e.Line != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s in line 1", c.text, err, c.want)
		}
	}
}

func TestMarksOfNumbers(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		file, signs string
		want        map[string]float64
	}{
		{`{delimiter: ";", decimal: ","}`, "[]", map[string]float64{"1,5": 1.5, "-,5": -0.5, "7": 7, "1,5e2": 150, "1e2": 100, "1.5": nan, "1,5,": nan, " 1": nan, "": nan, ",": nan}},
		{`{delimiter: ";", decimal: ",", thousands: "."}`, "[]", map[string]float64{"1.234,5": 1234.5, "1.234.567": 1234567, "1234,5": 1234.5, "12.34": nan, "1234.567": nan, ".234": nan, "1,234.5": nan, "-1.000": -1000, "1.2345": nan}},
		{`{thousands: ","}`, "[]", map[string]float64{"1,234.5": 1234.5, "1,23": nan, "1.5": 1.5, "1,234,": nan, ",": nan}},
		{`{thousands: " "}`, "[]", map[string]float64{"1 234": 1234, "1\u00a0234.5": 1234.5, " 234": nan, "1 23": nan, "234 ": nan}},
		{`{trim: true}`, "[]", map[string]float64{" 1.5\t": 1.5, "\u00a01": 1, "1 5": nan}},
		{`{}`, `["$", "%", "EUR"]`, map[string]float64{"$5": 5, "-$5": -5, "$-5": -5, "5%": 5, "5 %": 5, "$ 5 %": 5, "5 EUR": 5, "5": 5, "%%5": nan, "$": nan, "5$5": nan, " 5%": nan}},
		{`{thousands: ","}`, `["$"]`, map[string]float64{"$1,234": 1234, "$1,23": nan}},
	} {
		s := decoded(t, "file: "+c.file+"\ncolumns: [{name: a, type: numeric, lower: -1e7, upper: 1e7, signs: "+c.signs+"}]")
		s.NA = nil
		for cell, want := range c.want {
			got, err := s.Parse(0, cell)
			if (err != nil) != (want != want) || err == nil && got != want {
				t.Errorf("%s %s: %q is %v, %v, want %v", c.file, c.signs, cell, got, err, want)
			}
			if err != nil && strings.Contains(err.Error(), cell) && len(cell) > 2 {
				t.Errorf("%q: the message shows it", cell)
			}
			// The writing by which copies are recognised is that of a plain table.
			if err == nil {
				plain, _ := decoded(t, "columns: [{name: a, type: numeric, lower: -1e7, upper: 1e7}]").Parse(0, s.Plain(0, cell))
				if plain != want {
					t.Errorf("%s: %q is written %q", c.file, cell, s.Plain(0, cell))
				}
			}
		}
	}
}

func TestBooleanValues(t *testing.T) {
	s := decoded(t, `columns: [{name: a, type: boolean, values: ["Ja", "?"], missing: unknown}]`)
	for cell, want := range map[string]float64{"Ja": 0, "?": 1} {
		if got, err := s.Parse(0, cell); err != nil || got != want {
			t.Errorf("%q is %v, %v", cell, got, err)
		}
	}
	if _, err := s.Parse(0, "true"); err == nil {
		t.Error("true is not one of the values")
	}
	if !slices.Equal(s.Columns[0].Levels(), []string{"Ja", "?"}) {
		t.Errorf("levels %q", s.Columns[0].Levels())
	}
	for _, bad := range []string{`["a"]`, `["a", "a"]`, `["", "a"]`, `["a", "b", "c"]`} {
		if _, err := Decode("s", []byte("version: 1\nunit: row\ncolumns: [{name: a, type: boolean, values: "+bad+"}]")); err == nil {
			t.Errorf("values %s are taken", bad)
		}
	}
}

func TestDates(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		declared string
		cell     string
		want     []float64
	}{
		{"", "1900-01-11", []float64{10}},
		{"", "1900-01-01 12:00:00", []float64{0.5}},
		{"", "1800-01-01", []float64{0}},
		{"", "3000-01-01", []float64{44194}},
		{"", "NA", []float64{nan}},
		{", origin: 1900-01-11", "1900-01-01", []float64{-10}},
		{", parts: [year, month, day, weekday, days]", "2013-08-14", []float64{2013, 8, 14, 3, 41498}},
		{", parts: [weekday]", "2013-08-18", []float64{7}},
		{`, parts: [hour], format: "D/M/YYYY hh:mm"`, "4/12/2013 23:59", []float64{23}},
		{`, format: YYYYMMDDThhmmss`, "19000103T000000", []float64{2}},
		{`, format: "DD MMM YY"`, "03 Jan 69", []float64{25204}},
		{`, format: "D. MMMM YYYY"`, "3. January 1900", []float64{2}},
		{`, format: [DD.MM.YYYY, MM/DD/YYYY]`, "01/03/1900", []float64{2}},
		{`, format: [DD.MM.YYYY, MM/DD/YYYY]`, "03.01.1900", []float64{2}},
	} {
		s := decoded(t, "columns: [{name: d, type: date, lower: 1900-01-01, upper: 2020-12-31, missing: unknown"+c.declared+"}]")
		for i := range s.Columns {
			got, err := s.Parse(i, c.cell)
			if err != nil || got != c.want[i] && c.want[i] == c.want[i] {
				t.Errorf("%s: %q is %v, %v, want %v", c.declared, c.cell, got, err, c.want[i])
			}
			if typed, err := s.ParseTyped(i, c.cell); err != nil || typed != got && got == got {
				t.Errorf("%s: %q is %v, %v in a typed file", c.declared, c.cell, typed, err)
			}
		}
		if want := max(1, len(c.want)); len(s.Columns) != want || s.Columns[0].Source() != "d" || s.Declared()["d"] != 1 {
			t.Errorf("%s: %d columns", c.declared, len(s.Columns))
		}
	}
	s := decoded(t, "columns: [{name: d, type: date, lower: 1900-01-01, upper: 2020-12-31, format: DD.MM.YYYY}]")
	for _, cell := range []string{"2013-08-14", "31.02.2013", "1.1.13", "SECRET", "01.01.2013 12:00", "01.01.2013Z"} {
		if v, err := s.Parse(0, cell); err == nil {
			t.Errorf("%q is %v", cell, v)
		} else if strings.Contains(err.Error(), cell) {
			t.Errorf("the message shows %q", cell)
		}
	}
	for _, c := range []struct{ declared, want string }{
		{"lower: 1900-01-01", "upper bound is missing"},
		{"lower: 1900, upper: 2000-01-01", "lower is not a date"},
		{"lower: 2000-01-01, upper: 2000-01-01", "the lower date is not before"},
		{"lower: 1999-01-01, upper: 2000-01-01, format: DD.QQ.YYYY", `"Q" is neither`},
		{"lower: 1999-01-01, upper: 2000-01-01, format: DD.MM", "it has no year"},
		{"lower: 1999-01-01, upper: 2000-01-01, format: DD.MM.YYYY MM", "M occurs twice"},
		{"lower: 1999-01-01, upper: 2000-01-01, parts: [week]", "parts must be different ones of"},
		{"lower: 1999-01-01, upper: 2000-01-01, parts: [year, year]", "parts must be different ones of"},
		{"lower: 1999-01-01, upper: 2000-01-01, parts: [hour], format: DD.MM.YYYY", "no format has an hour"},
		{"lower: 1999-01-01, upper: 1999-02-01, parts: [year]", "lower and upper bound are equal"},
		{"lower: 1999-01-01, upper: 2000-01-01, missing: never", "missing must be refuse, unknown or a date"},
		{"lower: 1999-01-01, upper: 2000-01-01, categories: [a]", "categories cannot be used with type date"},
	} {
		_, err := Decode("s.yaml", []byte("version: 1\nunit: row\ncolumns:\n  - {name: d, type: date, "+c.declared+"}\n"))
		var e *Error
		if !errors.As(err, &e) || e.Line != 4 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s in line 4", c.declared, err, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	const text = `columns:
  - {match: "x_*", type: integer, lower: 0, upper: 9}
  - {name: x_2, type: boolean}
  - {match: "*_on", type: date, lower: 1900-01-01, upper: 2020-12-31, parts: [year, month]}
  - {match: "*", type: ignore}
  - {name: y, type: boolean}
`
	s := decoded(t, text)
	if !s.Patterns() {
		t.Fatal("there are patterns")
	}
	if err := s.Expand([]string{"y", "x_1", "z", "born_on", "x_2", "x_", "x_on"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Columns {
		got = append(got, c.Name+" "+string(c.Type))
	}
	want := []string{"x_1 integer", "x_ integer", "x_on integer", "x_2 boolean", "born_on.year integer", "born_on.month integer", "z ignore", "y boolean"}
	if !slices.Equal(got, want) || s.Patterns() {
		t.Errorf("%q, want %q", got, want)
	}
	if v, err := s.Parse(4, "1999-05-01"); err != nil || v != 1999 {
		t.Errorf("the year is %v, %v", v, err)
	}
	if err := decoded(t, text).Expand([]string{"y", "z"}); err == nil || !strings.Contains(err.Error(), `no column of the file matches "x_*"`) {
		t.Errorf("a pattern that matches nothing: %v", err)
	}
	for _, bad := range []string{`{match: x, type: boolean}`, `{match: "x*", name: x, type: boolean}`, `{match: "x*", type: numeric}`} {
		if _, err := Decode("s", []byte("version: 1\nunit: row\ncolumns: ["+bad+"]")); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"*", "", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"*a*b", "xxayyb", true}, {"*ab", "abab", true}, {"a*", "ba", false}, {"ä?", "äö", true}} {
		if matches(c.pattern, c.name) != c.want {
			t.Errorf("%q and %q", c.pattern, c.name)
		}
	}
}
