package reader

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pawl/data/schema"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// all reads a whole file strictly: the header first, then the records.
func all(text string) ([][]string, []Position, error) {
	c, err := New("f.csv", strings.NewReader(text), schema.File{})
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	rows := [][]string{c.Header()}
	var at []Position
	for {
		row, p, err := c.Next()
		if err == io.EOF {
			return rows, at, nil
		}
		if err != nil {
			return rows, at, err
		}
		rows, at = append(rows, row), append(at, p)
	}
}

func TestReads(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       [][]string
	}{
		{"lf", "a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"crlf", "a,b\r\n1,2\r\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"no last line end", "a,b\n1,2", [][]string{{"a", "b"}, {"1", "2"}}},
		{"blank lines at the end", "a,b\n1,2\n\n\r\n\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"byte order mark", "\xef\xbb\xbfage,income\n1,2\n", [][]string{{"age", "income"}, {"1", "2"}}},
		{"byte order mark before quotes", "\xef\xbb\xbf\"age\",\"a \"\"b\"\" c\"\r\n\"x\r\ny\",\"\"\"\"\r\n",
			[][]string{{"age", `a "b" c`}, {"x\r\ny", `"`}}},
		{"quoted comma and newline", "a,b\n\"1,\n2\",3\n", [][]string{{"a", "b"}, {"1,\n2", "3"}}},
		{"spaces kept", "a,b\n 1 ,\t2\n", [][]string{{"a", "b"}, {" 1 ", "\t2"}}},
		{"empty cells", "a,b\n,\n\"\",\n", [][]string{{"a", "b"}, {"", ""}, {"", ""}}},
		{"one column with empty", "a\n\"\"\nx\n", [][]string{{"a"}, {""}, {"x"}}},
		{"header only", "a,b\n", [][]string{{"a", "b"}}},
		{"empty last cell at the end", "a,b\n1,", [][]string{{"a", "b"}, {"1", ""}}},
		{"gzip", zipped("a,b\n1,2\n"), [][]string{{"a", "b"}, {"1", "2"}}},
		{"gzip with byte order mark", zipped("\xef\xbb\xbfa\n1\n"), [][]string{{"a"}, {"1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := all(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("records differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty file", "", "f.csv: the file is empty"},
		{"only a mark", "\xef\xbb\xbf", "f.csv: the file is empty"},
		{"empty gzip", zipped(""), "f.csv: the file is empty"},
		{"blank first line", "\na,b\n", "f.csv:1: the first line is blank"},
		{"utf-16 cut short", "\xff\xfea\x00\n\x001\x00\n", "not have"},
		{"utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"},
		{"parquet", "PAR1....", "Parquet"},
		{"zip", "PK\x03\x04....", "ZIP"},
		{"bare quote in header", "a\"b,c\n", "name 1 of the header: a quote inside"},
		{"short row", "a,b\n1,2\n1\n", "f.csv:3: fewer cells than columns in the header"},
		{"long row", "a,b\n1,2,3\n", "f.csv:2: more cells than columns in the header"},
		{"bare quote", "a,b\n1,SECRET\"x\n", `f.csv:2: column "b": a quote inside an unquoted cell`},
		{"after closing quote", "a,b\n\"SECRET\"x,2\n", `f.csv:2: column "a": text after a closing quote`},
		{"space after closing quote", "a,b\n\"SECRET\" ,2\n", `f.csv:2: column "a": text after a closing quote`},
		{"never closed", "a,b\n1,\"SECRET\n2,3\n", "f.csv:2: a quoted cell that begins here is never closed"},
		{"never closed at the end", "a,b\n1,\"", "f.csv:2: a quoted cell that begins here is never closed"},
		{"lone cr", "a,b\r1,2\r", "carriage return without line feed"},
		{"lone cr in row", "a,b\n1,SECRET\r3\n", `f.csv:2: column "b": carriage return`},
		{"nul", "a,b\n1,SECRET\x00\n", `f.csv:2: column "b": a NUL byte`},
		{"invalid utf-8", "a,b\n\xe9SECRET,2\n", `f.csv:2: column "a": not UTF-8`},
		{"invalid utf-8 in quotes", "a,b\n1,2\n\"x\ny\",\"\xff\"\n", `f.csv:4: column "b": not UTF-8`},
		{"blank line inside", "a,b\n1,2\n\n\n3,4\n", "f.csv:3: a blank line before the last record"},
		{"too long", "a\n" + strings.Repeat("x", maxCell+1) + "\n", `column "a": longer than 1 MiB`},
		{"too many cells", "a\n" + strings.Repeat(",", maxCells+1) + "\n", `the record has more than`},
		{"too many names", strings.Repeat(",", maxCells) + "\n1\n", `f.csv:1: the header has more than 65,536 names`},
		{"record too long", "a\n" + strings.Repeat(strings.Repeat("x", maxCell)+",", maxRecord/maxCell+2) + "\n", `the record is longer than`},
		{"half a letter in each cell", "a,b\n\xc3,\xa9\n", `f.csv:2: column "a": not UTF-8`},
		{"damaged gzip", zipped(strings.Repeat("a,b\n", 9))[:20], "damaged gzip"},
		{"gzip head only", "\x1f\x8b\x08", "damaged gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := all(tt.text)
			var p *PositionError
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want a *PositionError", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if strings.Contains(err.Error()+p.Hint(), "SECRET") {
				t.Errorf("error %q repeats a cell", err)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	_, at, err := all("a,b\r\n\"1\n2\",\"x\r\ny\"\r\n3,4\n")
	if err != nil {
		t.Fatal(err)
	}
	got := []int{at[0].Line, at[0].At(0), at[0].At(1), at[1].Line, at[1].At(5)}
	if d := cmp.Diff([]int{2, 2, 3, 5, 5}, got); d != "" {
		t.Errorf("lines differ (-want +got):\n%s", d)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv.gz")
	if err := os.WriteFile(path, []byte(zipped("a\n1\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fileRecords(t, path)
	if row, err := c.Next(); err != nil || row[0] != "1" {
		t.Errorf("row %v, error %v", row, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Whatever records are written, with quotes where the RFC asks for them, come
// back; the standard library's writer is the other side.
func TestRoundTrip(t *testing.T) {
	cellText := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("\",\n\r ab1")), rapid.Rune()), 0, 6, -1).
		Filter(func(s string) bool { return !strings.ContainsRune(s, 0) })
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 5).Draw(t, "width")
		want := [][]string{rapid.SliceOfNDistinct(cellText.Filter(func(s string) bool { return s != "" && !strings.HasPrefix(s, "\ufeff") }),
			width, width, rapid.ID[string]).Draw(t, "header")}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			want = append(want, rapid.SliceOfN(cellText, width, width).Draw(t, "row"))
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if rapid.Bool().Draw(t, "compressed") {
			text = zipped(text)
		}
		got, _, err := all(text)
		if err != nil {
			t.Fatalf("%v in %q", err, b.String())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("records differ (-want +got):\n%s", d)
		}
	})
}

// Whatever is accepted has rectangular shape and, quoted again, reads the same;
// whatever is refused is refused with the name of the file.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\xef\xbb\xbf\"a\",\"b\"\"\"\r\n\"x\r\ny\",\n", "a\n\n\n", "a,b\r1,2", "\"a", "a,b\n1,\"2\" \n", zipped("a\n1\n"), "\xff\xfea\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, _, err := all(string(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.csv") {
				t.Fatalf("error without the file's name: %v", err)
			}
			return
		}
		var b strings.Builder
		for _, row := range rows {
			for i, cell := range row {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
			}
			b.WriteByte('\n')
		}
		again, _, err := all(b.String())
		if err != nil {
			t.Fatalf("quoted again: %v", err)
		}
		if d := cmp.Diff(rows, again); d != "" {
			t.Fatalf("quoted again it differs:\n%s", d)
		}
	})
}

// Text that is taken for plain has no cell at fault.
func TestPlainText(t *testing.T) {
	for n := range 20 {
		b := []byte(strings.Repeat("a", n))
		if !plainText(b) {
			t.Errorf("%d letters are not plain", n)
		}
		for i := range b {
			for _, c := range []byte{0, 1, 0x7f, 0x80, 0xc3, 0xff} {
				b[i] = c
				if want := c > 0 && c < 0x80; plainText(b) != want {
					t.Errorf("byte %#x at %d of %d: plain %v", c, i, n, !want)
				}
			}
			b[i] = 'a'
		}
	}
}
