package reader

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/data/text"
)

const textSchema = `version: 1
unit: row
na: ["", "NA", "?"]
columns:
  - {name: note, type: text, buckets: 64}
  - {name: y, type: boolean}
`

func mustText(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Decode("s.yaml", []byte(textSchema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func texts(name, content string, s *schema.Schema, o Options) (rows [][]float64, err error) {
	err = ReadFrom(name, strings.NewReader(content), s, o, func(cells []float64, _ schema.Record) error {
		rows = append(rows, cells)
		return s.CheckWide(cells)
	})
	return rows, err
}

func TestTextsBecomeEntries(t *testing.T) {
	s := mustText(t)
	const note = "Call 0800 NOW, call!"
	rows, err := texts("t.csv", "note,y\n\""+note+"\",yes\n?,no\nNA,no\n", s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{2, 1}
	entries := text.Hasher{Buckets: 64}.Entries(note)
	want = append(want, float64(len(entries)))
	for _, e := range entries {
		want = append(want, float64(e.Bucket), e.Sum)
	}
	if !slices.Equal(rows[0], want) {
		t.Errorf("got %v, want %v", rows[0], want)
	}
	// What marks missing numbers is a message all the same.
	for _, row := range rows[1:] {
		if len(row) < 5 {
			t.Errorf("a short message has no token: %v", row)
		}
	}
}

func TestTextsAreRefused(t *testing.T) {
	s := mustText(t)
	for _, c := range []struct{ name, file, content, want string }{
		{"empty", "t.csv", "note,y\nhi,yes\n,no\n", `t.csv:3: column "note": a text without a word or symbol`},
		{"blanks", "t.csv", "note,y\nhi,yes\n\"  \t \",no\n", `t.csv:3: column "note": a text without a word or symbol`},
		{"one word of a megabyte", "t.csv", "note,y\nhi,yes\n" + strings.Repeat("a", 1<<20) + ",no\n", `t.csv:3: column "note": a word of more than 1,000 bytes`},
		{"a text above a megabyte", "t.csv", "note,y\nhi,yes\n" + strings.Repeat("a ", 1<<19+1) + ",no\n", `t.csv:3: column "note": longer than 1 MiB`},
		{"tab in TSV", "t.tsv", "note\ty\nhi\tyes\nhi\tthere\tno\n", "t.tsv:3: more cells than columns in the header"},
		{"comma in TSV", "t.tsv", "note,y\nhi,yes\n", "the header has no column"},
		{"tabs in CSV", "t.csv", "note\ty\nhi\tyes\n", "the header has no column"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := texts(c.file, c.content, s, Options{})
			var at *PositionError
			if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.200v, want %s", err, c.want)
			}
			if strings.Contains(err.Error(), "there") || strings.Contains(err.Error(), "aaaa") {
				t.Error("the error repeats a cell")
			}
			if strings.HasPrefix(c.want, "t.csv:3") && len(rows) != 1 {
				t.Errorf("%d rows before the fault", len(rows))
			}
			if strings.HasPrefix(c.want, "t.csv:3") {
				// Under the rule Default no row decides about the others.
				rows, err := texts(c.file, c.content, s, Options{BadRows: Default})
				if err != nil || len(rows) != 2 || !math.IsNaN(rows[1][0]) || len(rows[1]) != 2 {
					t.Errorf("by default: %d rows, %v", len(rows), err)
				}
			}
		})
	}
	s.Columns[0].Missing = schema.MissingUnknown
	rows, err := texts("t.csv", "note,y\n,no\n", s, Options{})
	if err != nil || !math.IsNaN(rows[0][0]) {
		t.Errorf("a missing text: %v, %v", rows, err)
	}
}

// Tab-separated values have no quoting.
func TestTabSeparated(t *testing.T) {
	for _, name := range []string{"t.tsv", "dir/T.TSV", "t.tab", "t.tsv.gz"} {
		c, err := New(name, strings.NewReader("a\tb,c\r\n\"x\ty\"\"z, w\r\n\t\r\n"), schema.File{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Header(); !slices.Equal(got, []string{"a", "b,c"}) {
			t.Errorf("%s: header %q", name, got)
		}
		for _, want := range [][]string{{`"x`, `y""z, w`}, {"", ""}} {
			got, _, err := c.Next()
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
			}
		}
	}
}
