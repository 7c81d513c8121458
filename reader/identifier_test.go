package reader

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/data/schema"
)

func personSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: id\nrows_per_unit: 2\ncolumns:\n  - {name: id, type: ignore}\n  - {name: y, type: boolean}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// people reads a file of the identifiers, one a row.
func people(t testing.TB, o Options, ids ...string) (got, notes []string, err error) {
	t.Helper()
	o.Note = func(n string) { notes = append(notes, n) }
	text := "id\ty\n"
	for _, id := range ids {
		text += id + "\tyes\n"
	}
	err = ReadFrom("f.tsv", strings.NewReader(text), personSchema(t), o, func(_ []float64, found schema.Record) error {
		got = append(got, found.Unit)
		return nil
	})
	return got, notes, err
}

func TestIdentifiersThatLackDigits(t *testing.T) {
	for _, id := range []string{"1.23457E+18", "1.23457e+18", "-1.23457E+18", "1.23457E18", "1,23457E+18", "1E+18", "1e18", "1E5", "1.2e+3", "123.5E+15", "12E+3", "1.23E-05", "1.5E+99999999999999999999", " 1.23457E+18 "} {
		for _, rule := range []BadRows{Refuse, Default} {
			if id[0] == ' ' && rule == Refuse {
				continue // refused for its blanks
			}
			got, _, err := people(t, Options{BadRows: rule}, "7", id, "8")
			var p *PositionError
			if !errors.As(err, &p) || p.Line != 3 || p.Column != "id" || !strings.Contains(p.Msg, "scientific notation") || !strings.Contains(p.Hint(), "as text") || len(got) != 1 {
				t.Errorf("%s under %s: %v", id, rule, err)
			}
			if err != nil && strings.Contains(err.Error()+p.Hint(), strings.TrimSpace(id)) {
				t.Errorf("%s: the message repeats it", id)
			}
		}
	}
	for _, id := range []string{"7213e486", "12E4", "1.5E1", "1.50e+01", "0E+00", "E5", "2E-14", "e", "1e", "1E+", "1E+-5", "1.2.3E+9", "+", ".", "1.2", "A1E+18", "1E+18B", "12345678901234567890123"} {
		if got, _, err := people(t, Options{}, id); err != nil || !cmp.Equal(got, []string{id}) {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
}

func TestIdentifiersWithBlanks(t *testing.T) {
	for _, id := range []string{" 7", "7 ", "\u00a07", "7\u200b", "\ufeff7"} {
		if _, _, err := people(t, Options{}, "6", id); err == nil || err.Error() != `f.tsv:3: column "id": the identifier begins or ends with a blank` {
			t.Errorf("%q: %v", id, err)
		}
		if got, _, err := people(t, Options{BadRows: Default}, id); err != nil || !cmp.Equal(got, []string{"7"}) {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	for _, id := range []string{"", " ", "  ", "\u00a0", "NA", " NA", "nan", "NULL", "None", "#N/A", "#REF!"} {
		if _, _, err := people(t, Options{}, "6", id); err == nil || err.Error() != `f.tsv:3: column "id": the identifier of the unit is missing` {
			t.Errorf("%q: %v", id, err)
		}
		if got, _, err := people(t, Options{BadRows: Default}, "6", id); err != nil || len(got) != 1 {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
}

// A number that is written in two ways is pointed out once, at the second writing.
func TestIdentifiersWrittenInTwoWays(t *testing.T) {
	const says = `f.tsv:%d: column "id": an identifier writes a number differently from a line above, such as 7, 07 and 7.0: each spelling is a separate unit`
	for _, c := range []struct {
		line int
		ids  []string
	}{
		{0, []string{"7", "8", "7", "9"}}, {0, []string{"07", "08", "07", "8a", "x", "x"}}, {0, []string{"a7", "a07", "7x", "07x"}},
		{4, []string{"7", "8", "07", "7.0", "08"}}, {3, []string{"07", "7"}}, {3, []string{"7.0", "7"}}, {5, []string{"1", "2", "2", "+2"}},
		{4, []string{"x", "0.50", ".5"}}, {3, []string{"15", "1.5E1"}}, {0, []string{"-7", "7"}}, {3, []string{"-7", "-07"}}, {3, []string{"0", "-0.0"}},
		{3, []string{"12345678901234567890", "012345678901234567890"}}, {0, []string{"12345678901234567890", "12345678901234567891"}},
	} {
		var want []string
		if c.line > 0 {
			want = []string{fmt.Sprintf(says, c.line)}
		}
		for _, rule := range []BadRows{Refuse, Default} {
			got, notes, err := people(t, Options{BadRows: rule}, c.ids...)
			if err != nil || !cmp.Equal(notes, want) || !cmp.Equal(got, c.ids) {
				t.Errorf("%q: %q, %v", c.ids, notes, err)
			}
		}
	}
}

// What a spreadsheet made of long numbers: zeros from the sixteenth digit on.
func TestIdentifiersRounded(t *testing.T) {
	rounded := []string{"7", "123456789012345000", "123456789012346000"}
	if _, notes, err := people(t, Options{}, rounded...); err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], `f.tsv:3: column "id": the identifiers of more than 15 digits all end in zeros`) {
		t.Errorf("%q, %v", notes, err)
	}
	for _, ids := range [][]string{append(rounded, "123456789012347001"), rounded[:2], {"123456789012345000", "123456789012345000", "123456789012345000"}, {"100000000000000", "200000000000000", "300000000000000"}} {
		if _, notes, err := people(t, Options{}, ids...); err != nil || len(notes) != 0 {
			t.Errorf("%q: %q, %v", ids, notes, err)
		}
	}
}

func TestTypedIdentifiers(t *testing.T) {
	s := personSchema(t)
	for _, c := range []struct {
		name string
		id   any
		want string // of the error, else ""
	}{
		{"whole", 7.0, ""}, {"whole and large", float64(1<<53 - 1), ""}, {"an integer", int64(1234567890123456789), ""}, {"a text", "1234567890123456789", ""},
		{"a fraction", 7.5, "a fraction"}, {"too large", float64(1 << 53), "too large"}, {"far too large", 1.2345678901234568e18, "too large"}, {"infinite", math.Inf(-1), "too large"},
		{"none", math.NaN(), "identifier of the unit is missing"}, {"null", nil, "identifier of the unit is missing"},
	} {
		first := c.id
		if v, ok := first.(float64); first == nil || ok && v != v {
			first = 1.0 // a file in which nobody has one is refused
		}
		files := map[string][]byte{"parquet": asParquet(t, 1, typed{"id", []any{first, c.id}}, typed{"y", []any{true, true}}), "arrow": asArrow(t, typed{"id", []any{first, c.id}}, typed{"y", []any{true, true}})}
		for format, data := range files {
			for _, rule := range []BadRows{Refuse, Default} {
				err := ReadFrom("f", bytes.NewReader(data), s, Options{BadRows: rule}, func([]float64, schema.Record) error { return nil })
				want := c.want
				if rule == Default && strings.Contains(want, "missing") {
					want = "" // such rows are left out
				}
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s under %s: %v", c.name, format, rule, err)
				}
			}
		}
	}
}

// An optional unit is that of rows which nobody counts.
func TestOptionalIdentifiers(t *testing.T) {
	got, _, err := people(t, Options{Optional: map[string]bool{"id": true}}, "1.23457E+18", "")
	if err != nil || !cmp.Equal(got, []string{"", ""}) {
		t.Errorf("%q, %v", got, err)
	}
}

func BenchmarkIdentifiers(b *testing.B) {
	s := personSchema(b)
	for _, c := range []struct{ name, form string }{{"plain", "%d"}, {"padded", "%09d"}} {
		var text strings.Builder
		text.WriteString("id,y\n")
		for i := range 200_000 {
			fmt.Fprintf(&text, c.form+",yes\n", i*7919%10_000_000)
		}
		for _, noted := range []bool{false, true} {
			b.Run(fmt.Sprint(c.name, "/", noted), func(b *testing.B) {
				var o Options
				if noted {
					o.Note = func(string) {}
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := ReadFrom("f.csv", strings.NewReader(text.String()), s, o, func([]float64, schema.Record) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
