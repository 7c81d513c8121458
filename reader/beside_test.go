package reader

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl/data/schema"
)

// besideIn is ReadBeside with blocks of a size.
func besideIn(name, text string, s *schema.Schema, o Options, size, most int, begin func() Stretch) error {
	in, err := openRecords(name, strings.NewReader(text), keysOf(s, o))
	if err != nil {
		return err
	}
	switch c := in.(type) {
	case *CSV:
		c.blocks = &blocks{in: c.scan, size: size, most: most}
	case *jsonLines:
		c.size = size
	}
	strict, err := o.strict()
	if err != nil {
		return err
	}
	t := newTable(s)
	if err := t.match(in, o); err != nil {
		return err
	}
	return t.whole(t.beside(strict, o, begin))
}

// reading is all that a reading hands out.
type reading struct {
	rows  []string
	notes []string
	err   string
}

func (r *reading) options(bad BadRows, faults bool) Options {
	o := Options{BadRows: bad, Note: func(s string) { r.notes = append(r.notes, s) }}
	if faults {
		o.Faults = NewFaults()
	}
	return o
}

func rowText(cells []float64, found schema.Record) string { return fmt.Sprintf("%v %+v", cells, found) }

// serial reads with the scanner that goes byte by byte.
func serial(name, text string, s *schema.Schema, bad BadRows, faults bool) reading {
	var r reading
	err := ReadFrom(name, strings.NewReader(text), s, r.options(bad, faults), func(cells []float64, found schema.Record) error {
		r.rows = append(r.rows, rowText(cells, found))
		return nil
	})
	r.err = fmt.Sprint(err)
	return r
}

func beside(name, text string, s *schema.Schema, bad BadRows, faults bool, size, most int) reading {
	var r reading
	err := besideIn(name, text, s, r.options(bad, faults), size, most, func() Stretch {
		var rows []string
		return Stretch{
			Row: func(cells []float64, found schema.Record) error {
				rows = append(rows, rowText(cells, found))
				return nil
			},
			End: func() error { r.rows = append(r.rows, rows...); return nil },
		}
	})
	r.err = fmt.Sprint(err)
	return r
}

// Whatever text stands in a file, with whatever faults in whatever places, reading it side by side is
// reading it byte by byte: the same rows and records in the same order, the same remarks, the same first fault
// at the same place, or all of them in the same order.
func TestBesideIsSerial(t *testing.T) {
	plain, byID := must(t, ""), must(t, "unit: id\nrows_per_unit: 2")
	bytes := rapid.OneOf(
		rapid.SampledFrom([]string{"\"", "\n", "\r\n", ",", "\r", "\x00", "é", "\xff", "\n\n", "\r\n\r\n", "\"\"", "a\"b", ",,", "\",\"", "1", "007", "1e9"}),
		rapid.StringMatching(`[0-9a-z]{1,4}`))
	record := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			id := rapid.SampledFrom([]string{"7", "8", "07", "7.0", "x", "", `"a ""b"" c"`, "\"line\nend\"", "9000000000000000"}).Draw(t, "id")
			return fmt.Sprintf("%s,%d,%s,%d,%s", id, rapid.IntRange(0, 99).Draw(t, "age"), rapid.SampledFrom([]string{"red", "blue", `"red"`, "no"}).Draw(t, "color"),
				rapid.IntRange(-5, 60).Draw(t, "bmi"), rapid.SampledFrom([]string{"yes", "no", `"yes"`, "?"}).Draw(t, "sick"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("\"%d\",1,red,2,1", rapid.IntRange(0, 20).Draw(t, "id"))
		}),
		rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(bytes, 0, 8).Draw(t, "bytes"), "") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + "id,age,color,bmi,sick" + end
		weird := rapid.IntRange(0, 3).Draw(t, "weird")
		for range rapid.IntRange(0, 30).Draw(t, "records") {
			r := "3,4,red,5,yes"
			if rapid.IntRange(0, 3).Draw(t, "kind") < weird {
				r = record.Draw(t, "record")
			}
			text += r + end
		}
		text += rapid.SampledFrom([]string{"", "\n", "\n\r\n", "1,2,red,3,no", "\"", "\r"}).Draw(t, "rest")
		name := rapid.SampledFrom([]string{"f.csv", "f.csv", "f.tsv"}).Draw(t, "name")
		if name == "f.tsv" {
			text = strings.ReplaceAll(text, ",", "\t")
		}
		s := rapid.SampledFrom([]*schema.Schema{plain, byID}).Draw(t, "schema")
		bad := rapid.SampledFrom([]BadRows{Refuse, Default}).Draw(t, "bad rows")
		faults := rapid.Bool().Draw(t, "all faults")
		want := serial(name, text, s, bad, faults)
		most := rapid.SampledFrom([]int{1, 30, mostBlock}).Draw(t, "longest block")
		for _, size := range []int{1, rapid.IntRange(2, 200).Draw(t, "size"), blockSize} {
			got := beside(name, text, s, bad, faults, size, most)
			if got.err != want.err {
				t.Fatalf("blocks of %d in %q: %s\nwant %s", size, text, got.err, want.err)
			}
			if want.err == "<nil>" && !slices.Equal(got.rows, want.rows) {
				t.Fatalf("blocks of %d in %q give\n%q, want\n%q", size, text, got.rows, want.rows)
			}
			if want.err == "<nil>" && !slices.Equal(got.notes, want.notes) {
				t.Fatalf("blocks of %d in %q: remarks %q, want %q", size, text, got.notes, want.notes)
			}
		}
	})
}

// So are JSON lines.
func TestJSONLinesBesideAreSerial(t *testing.T) {
	plain, byID := must(t, ""), must(t, "unit: id\nrows_per_unit: 2")
	passing := *plain
	passing.IgnoreOthers = true
	line := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`{"id": %d, "age": %d, "color": %q, "bmi": null, "sick": %v}`, rapid.IntRange(0, 20).Draw(t, "id"), rapid.IntRange(0, 200).Draw(t, "age"),
				rapid.SampledFrom([]string{"red", "no\nline", "é"}).Draw(t, "color"), rapid.Bool().Draw(t, "sick"))
		}),
		rapid.SampledFrom([]string{"", "  ", "\r", "{", "{}", "[1]", `{"hiv": 1}`, `{"age": [1]}`, `{"age": 1, "age": 2}`, "\xff", `{"id": "7"}`, `{"age": 7, "bmi": 1}`}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
		weird := rapid.IntRange(0, 3).Draw(t, "weird")
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			r := `{"id": 3, "age": 4, "color": "red", "bmi": 5, "sick": true}`
			if rapid.IntRange(0, 3).Draw(t, "kind") < weird {
				r = line.Draw(t, "line")
			}
			text += r + "\n"
		}
		text += rapid.SampledFrom([]string{"", "\n", " ", `{"id": 1}`, `{"id"`}).Draw(t, "rest")
		s := rapid.SampledFrom([]*schema.Schema{plain, byID, &passing}).Draw(t, "schema")
		bad := rapid.SampledFrom([]BadRows{Refuse, Default}).Draw(t, "bad rows")
		faults := rapid.Bool().Draw(t, "all faults")
		want := serial("f.jsonl", text, s, bad, faults)
		for _, size := range []int{1, rapid.IntRange(2, 200).Draw(t, "size"), blockSize} {
			got := beside("f.jsonl", text, s, bad, faults, size, 0)
			if got.err != want.err || want.err == "<nil>" && !(slices.Equal(got.rows, want.rows) && slices.Equal(got.notes, want.notes)) {
				t.Fatalf("stretches of %d in %q: %s, %q, remarks %q\nwant %s, %q, %q", size, text, got.err, got.rows, got.notes, want.err, want.rows, want.notes)
			}
		}
	})
}

// A line that is too long is one record, whatever stretch it is in.
func TestLongJSONLinesBeside(t *testing.T) {
	s := must(t, "")
	good := `{"id": 3, "age": 4, "color": "red", "bmi": 5, "sick": true}` + "\n"
	for _, end := range []string{"", "\n", "\n" + good} {
		text := good + strings.Repeat(" ", maxRecord+70_000) + strings.TrimSuffix(good, "\n") + end
		for _, bad := range []BadRows{Refuse, Default} {
			want := serial("f.jsonl", text, s, bad, false)
			if got := beside("f.jsonl", text, s, bad, false, 1000, 0); got.err != want.err || want.err == "<nil>" && !slices.Equal(got.rows, want.rows) {
				t.Errorf("side by side %s, %q\nwant %s, %q", got.err, got.rows, want.err, want.rows)
			}
		}
	}
}

// Other encodings, delimiters and lines before the header are read side by side as they are one by one.
func TestBesideReadsEveryFile(t *testing.T) {
	for _, encoding := range []string{"", "utf-16le", "windows-1252"} {
		for _, more := range []string{"", ", skip: 2", `, delimiter: ";", quote: "'"`, ", header: false"} {
			head := "version: 1\nunit: row\n"
			file := strings.TrimPrefix(more, ", ")
			if encoding != "" {
				file = "encoding: " + encoding + more
			}
			if file != "" {
				head += "file: {" + file + "}\n"
			}
			names := [2]string{"a", "b"}
			if more == ", header: false" {
				names = [2]string{"column_1", "column_2"}
			}
			s, err := schema.Decode("s.yaml", []byte(head+fmt.Sprintf("columns:\n  - {name: %s, type: integer, lower: 0, upper: 99999}\n  - {name: %s, type: categorical, categories: [\"é0\", \"é1\"], other: true}\n", names[0], names[1])))
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			switch more {
			case ", skip: 2":
				b.WriteString("made by hand\n\"\n")
				fallthrough
			case "":
				b.WriteString("a,b\n")
			case `, delimiter: ";", quote: "'"`:
				b.WriteString("a;b\n")
			}
			for i := range 3000 {
				if strings.Contains(more, ";") {
					fmt.Fprintf(&b, "%d;'é;%d\n'\n", i, i%3)
				} else {
					fmt.Fprintf(&b, "%d,\"é%d\"\n", i, i%3)
				}
			}
			text := b.String()
			if encoding != "" {
				text = encoded(text, encoding)
			}
			want, got := serial("f.csv", text, s, Refuse, false), beside("f.csv", text, s, Refuse, false, 500, mostBlock)
			if want.err != "<nil>" || len(want.rows) != 3000 || got.err != want.err || !slices.Equal(got.rows, want.rows) {
				t.Errorf("file {%s}: %d rows side by side and %s, %d one by one and %s", file, len(got.rows), got.err, len(want.rows), want.err)
			}
		}
	}
}

// Parts of a table whose columns have another order, rows of a query and files that are no text are read
// the same way too, and an error of whoever takes the rows ends the reading.
func TestBesideReadsContents(t *testing.T) {
	s := must(t, "unit: id\nrows_per_unit: 2")
	first, second := "id,age,color,bmi,sick\n", "sick,age,id,bmi,color\n"
	for i := range 4000 {
		first += fmt.Sprintf("%d,%d,red,20,yes\n", i, i%90)
		second += fmt.Sprintf("no,%d,%d,21,blue\n", i%90, i)
	}
	var json strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&json, "{\"id\": %d, \"age\": 4, \"color\": \"red\", \"bmi\": null, \"sick\": true}\n", i)
	}
	for name, c := range map[string]*Content{
		"parts": NewContent("t", part("a.csv", first), part("b.csv", second)),
		"mixed": NewContent("t", part("a.csv", first), part("b.jsonl", json.String()), part("c.csv", second)),
		"json":  NewContent("t", part("b.jsonl", json.String())),
	} {
		var want, got []string
		if err := ReadFrom("t", c.Reader(), s, Options{}, func(cells []float64, found schema.Record) error {
			want = append(want, rowText(cells, found))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		collect := func(fail bool) func() Stretch {
			return func() Stretch {
				var rows []string
				return Stretch{Row: func(cells []float64, found schema.Record) error {
					rows = append(rows, rowText(cells, found))
					return nil
				}, End: func() error {
					if got = append(got, rows...); fail {
						return io.ErrShortWrite
					}
					return nil
				}}
			}
		}
		if err := ReadBeside("t", c.Reader(), s, Options{}, collect(false)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d (%v)", name, len(got), len(want), err)
		}
		if err := ReadBeside("t", c.Reader(), s, Options{}, collect(true)); err != io.ErrShortWrite {
			t.Errorf("%s: the error of a stretch became %v", name, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\n"+columns))
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("id,age,color,bmi,sick\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d,%d,red,%d.%d,yes\n", i, i%100, i%50, i%7)
	}
	for _, workers := range []int{1, runtime.NumCPU()} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for range b.N {
				if err := ReadBeside("f.csv", strings.NewReader(text.String()), s, Options{}, func() Stretch {
					return Stretch{Row: func([]float64, schema.Record) error { return nil }}
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
