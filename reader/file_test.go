package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pawl/data/schema"
)

// encoded writes a text in another encoding.
func encoded(text, encoding string) string {
	var b []byte
	switch encoding {
	case "utf-16le", "utf-16be":
		var order binary.AppendByteOrder = binary.LittleEndian
		if encoding == "utf-16be" {
			order = binary.BigEndian
		}
		for _, u := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, u)
		}
	default:
		m := charmaps[encoding]
		for _, r := range text {
			c, ok := m.EncodeRune(r)
			if !ok {
				panic(r)
			}
			b = append(b, c)
		}
	}
	return string(b)
}

// rowsOf reads every row of a text under a schema.
func rowsOf(t *testing.T, name, text, declared string) (rows [][]float64, found []schema.Record, err error) {
	t.Helper()
	s, err := schema.Decode("s.yaml", []byte("version: 1\nunit: row\n"+declared))
	if err != nil {
		t.Fatal(err)
	}
	err = ReadFrom(name, strings.NewReader(text), s, Options{}, func(cells []float64, r schema.Record) error {
		rows = append(rows, cells)
		r.Cells = slices.Clone(r.Cells)
		found = append(found, r)
		return nil
	})
	return rows, found, err
}

const twoColumns = "columns:\n  - {name: née, type: numeric, lower: -2e6, upper: 2e6}\n  - {name: ort, type: categorical, categories: [Köln, Łódź€, x]}\n"

// One table in every way to write it gives the same numbers, and in every encoding the same
// record.
func TestOneTableManyFiles(t *testing.T) {
	const text = "née,ort\n-1234.5,Köln\n0.25,x\n"
	semicolons := strings.ReplaceAll(strings.ReplaceAll(text, ",", ";"), ".", ",")
	want, records, err := rowsOf(t, "f.csv", text, twoColumns)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, file string }{
		{"f.csv", "\xef\xbb\xbf" + text, ""},
		{"f.csv", encoded(text, "latin-1"), "{encoding: ISO-8859-1}"},
		{"f.csv", encoded(text, "windows-1252"), "{encoding: cp1252}"},
		{"f.csv", encoded("\ufeff"+text, "utf-16le"), ""},
		{"f.csv", encoded("\ufeff"+text, "utf-16be"), "{encoding: utf-16}"},
		{"f.csv", encoded(text, "utf-16be"), "{encoding: utf-16be}"},
		{"f.csv", encoded("\ufeff"+text, "utf-16le") + "\n\x00", ""},
		{"f.csv", zipped(encoded(text, "latin-2")), "{encoding: latin2}"},
		{"f.csv", semicolons, `{delimiter: ";", decimal: ","}`},
		{"f.csv", encoded(strings.ReplaceAll(semicolons, "1234", "1.234"), "latin-9"), `{delimiter: semicolon, decimal: ",", thousands: ".", encoding: latin-9}`},
		{"f.csv", strings.ReplaceAll(text, "-1234.5", `"-1,234.5"`), `{thousands: ","}`},
		{"f.csv", strings.ReplaceAll(semicolons, "1234", "1 234"), `{delimiter: ";", decimal: ",", thousands: " "}`},
		{"f.csv", strings.ReplaceAll(semicolons, "1234", "1\u202f234"), `{delimiter: ";", decimal: ",", thousands: " "}`},
		{"f.csv", strings.ReplaceAll(text, ",", "\t"), `{delimiter: tab}`},
		{"f.tsv", strings.ReplaceAll(text, ",", "|"), `{delimiter: "|"}`},
		{"f.csv", "exported 1.1.\n\n" + text, "{skip: 2}"},
		{"f.csv", strings.SplitN(text, "\n", 2)[1], "{header: false, names: [née, ort]}"},
		{"f.csv", "a\"b,'née'\n" + text, "{skip: 1}"},
		{"f.csv", strings.ReplaceAll(text, "x", "'x'"), `{quote: "'"}`},
		{"f.csv", strings.ReplaceAll(text, ",", " , "), "{trim: true}"},
	} {
		declared := twoColumns
		if c.file != "" {
			declared = "file: " + c.file + "\n" + twoColumns
		}
		if strings.Contains(c.file, "trim") {
			c.text = strings.Replace(c.text, "née , ort", "née,ort", 1)
		}
		got, found, err := rowsOf(t, c.name, c.text, declared)
		if err != nil {
			t.Errorf("%s %s: %v", c.name, c.file, err)
			continue
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %s: %v, want %v", c.name, c.file, got, want)
		}
		if !strings.ContainsAny(c.file, "dtn") || strings.HasPrefix(c.file, "{encoding") {
			if fmt.Sprint(found) != fmt.Sprint(records) {
				t.Errorf("%s %s: the record is %v, want %v", c.name, c.file, found, records)
			}
		}
	}
}

// What cannot be read in one way only is refused with its line, and no cell is shown.
func TestFileFaults(t *testing.T) {
	const semi = `{delimiter: ";", decimal: ","}`
	for _, c := range []struct{ name, text, file, want, hint string }{
		{"undeclared delimiter", "née;ort\n1;x\n", "", `f.csv:1: the header has no column "née"`, `declare file: {delimiter: ";"}`},
		{"mixed delimiters", "née;ort\n1;x\n2,SECRET\n", semi, "f.csv:3: fewer cells than columns in the header", "semicolon"},
		{"another encoding in one line", "née,ort\n1,x\n2,SECRET\xe9\n", "", `f.csv:3: column "ort": not UTF-8 text`, "encoding"},
		{"undeclared encoding", encoded("née,ort\n", "latin-1"), "", "f.csv:1: name 1 of the header: not UTF-8 text", "encoding"},
		{"no letter of the encoding", "a,ort\n1,SECRET\x81\n", "{encoding: windows-1252}", `f.csv:2: column "ort": a character that windows-1252 does not have`, "encoding"},
		{"windows letters", "a,ort\n1,SECRET\x80\n", "{encoding: latin-1}", `f.csv:2: column "ort": a character that latin-1 does not have`, "encoding"},
		{"half a pair", encoded("\ufeffa,ort\n1,x\n", "utf-16le") + "\x00\xd8", "", `f.csv:3: column "a": a character that utf-16le does not have`, ""},
		{"undeclared utf-16", encoded("née,ort\n1,x\n", "utf-16le"), "", "a NUL byte", "utf-16le"},
		{"undeclared utf-16 without a header", encoded("1,x\n", "utf-16be"), "{header: false, names: [née, ort]}", "a NUL byte", "utf-16be"},
		{"padded with zeros", "née,ort\n1,x\n\x00\x00", "", `f.csv:3: column "née": a NUL byte`, `tr -d '\000'`},
		{"a mark that says otherwise", "\xef\xbb\xbfnée,ort\n1,x\n", "{encoding: latin-1}", "the file begins with the byte order mark of utf-8", ""},
		{"no mark", "née,ort\n1,x\n", "{encoding: utf-16}", "does not begin with a byte order mark", "utf-16le"},
		{"point under a decimal comma", "née;ort\n1.5;x\n", semi, `f.csv:2: column "née": not a number (digits with an optional sign, decimal comma`, ""},
		{"groups of two", "née;ort\n12.34,5;x\n", `{delimiter: ";", decimal: ",", thousands: "."}`, `f.csv:2: column "née": not a number`, ""},
		{"a group behind the mark", "née;ort\n1,234.5;x\n", `{delimiter: ";", decimal: ",", thousands: "."}`, `f.csv:2: column "née": not a number`, ""},
		{"no header, other width", "1,x\n2,x,SECRET\n", "{header: false, names: [née, ort]}", "f.csv:2: more cells than columns in the schema", ""},
		{"too few names", "1,x,SECRET\n", "{header: false, names: [née, ort]}", "f.csv:1: more cells than columns in the schema", ""},
		{"skipped away", "née,ort\n1,x\n", "{skip: 7}", "the file ends within the 7 lines", ""},
		{"a row for a header", "SECRET,x\n2,x\n", "", `f.csv:1: the header has no column "née"`, ""},
		{"a row like a name", "né,SECRET,7\n2,x,8\n", "", `f.csv:1: the header has no column "née"`, ""},
		{"half of the names", "née,ort,SECRET,x,y\n2,x,8,9,1\n", "", "f.csv:1: name 3 of the header is not declared", "header: false"},
		{"blank first row", "\n1,x\n", "{header: false, names: [née, ort]}", "f.csv:1: a blank line", ""},
		{"empty", "", "{header: false}", "f.csv: the file is empty", ""},
		{"open quote", "née;ort\n1;'x\n2;SECRET\n", `{delimiter: ";", quote: "'"}`, "f.csv:2: a quoted cell that begins here is never closed", ""},
	} {
		declared := twoColumns
		if c.file != "" {
			declared = "file: " + c.file + "\n" + twoColumns
		}
		if !strings.Contains(c.text, "née") && strings.Contains(c.text, "a,ort") || c.name == "half a pair" {
			declared = strings.ReplaceAll(declared, "née", "a")
		}
		_, _, err := rowsOf(t, "f.csv", c.text, declared)
		var p *PositionError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || !strings.Contains(p.Hint(), c.hint) {
			t.Errorf("%s: %v, want %q with a hint of %q", c.name, err, c.want, c.hint)
			continue
		}
		if said := err.Error() + p.Hint(); strings.Contains(said, "SECRET") || strings.Contains(said, `"né"`) {
			t.Errorf("%s: the message shows a cell: %s", c.name, said)
		}
	}
}

// The record of a file without a header does not change with what the schema calls the columns.
func TestNamesAreNoPartOfARecord(t *testing.T) {
	const text = "1,x\n2,x\n"
	_, first, err := rowsOf(t, "f.csv", text, "file: {header: false, names: [née, ort]}\n"+twoColumns)
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := rowsOf(t, "f.csv", text, "file: {header: false}\n"+strings.NewReplacer("née", "column_1", "ort", "column_2").Replace(twoColumns))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(first) != fmt.Sprint(second) || first[0].Columns[0] != "column_1" {
		t.Errorf("the record is %v and then %v", first, second)
	}
}

func TestNamesAreNumbered(t *testing.T) {
	c, err := New("f.csv", strings.NewReader(",age,,age,age_2,age,column_1\n"), schema.File{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"column_1_2", "age", "column_3", "age_3", "age_2", "age_4", "column_1"}; !slices.Equal(c.Header(), want) {
		t.Errorf("header %q, want %q", c.Header(), want)
	}
}

// A typed file has no marks: a point is a point.
func TestMarksDoNotConcernTypedCells(t *testing.T) {
	declared := "file: {delimiter: \";\", decimal: \",\", thousands: \".\"}\n" + twoColumns
	got, _, err := rowsOf(t, "f.jsonl", `{"née": 1.500, "ort": "x"}`+"\n"+`{"née": "1.500", "ort": "x"}`+"\n", declared)
	if err != nil {
		t.Fatal(err)
	}
	if got[0][0] != 1.5 || got[1][0] != 1500 {
		t.Errorf("%v, want 1.5 and 1500", got)
	}
}

func TestPropose(t *testing.T) {
	for _, c := range []struct {
		name, text string
		columns    int
		file       schema.File
	}{
		{"f.csv", "a,b,c\n1,2,3\n", 3, schema.File{}},
		{"f.csv", "a;\"b;c\";d\n1;2\n", 3, schema.File{Delimiter: ";"}},
		{"f.csv", "a\tb\n", 2, schema.File{Delimiter: "\t"}},
		{"f.tsv", "a\tb\n", 2, schema.File{}},
		{"f.tsv", "a;b\n", 2, schema.File{Delimiter: ";"}},
		{"f.csv", "a|b|c\n", 3, schema.File{Delimiter: "|"}},
		{"f.csv", "only\n", 1, schema.File{}},
		{"f.csv", encoded("né;ort\n", "latin-1"), 2, schema.File{Delimiter: ";", Encoding: "windows-1252"}},
		{"f.csv", encoded("né;ort\n1;2\n", "utf-16le"), 2, schema.File{Delimiter: ";", Encoding: "utf-16le"}},
		{"f.csv", encoded("né;ort\n1;2\n", "utf-16be"), 2, schema.File{Delimiter: ";", Encoding: "utf-16be"}},
		{"f.csv", encoded("\ufeffné;ort\n", "utf-16be"), 2, schema.File{Delimiter: ";"}},
		{"f.csv", zipped("\"a\nx\";b\n1;2\n" + strings.Repeat("1;2\n", 1<<20)), 2, schema.File{Delimiter: ";"}},
		{"f.csv", ",age,age\n0,1,2\n", 3, schema.File{}},
	} {
		p, err := Propose(c.name, strings.NewReader(c.text), Keys{}, false)
		if err != nil {
			t.Errorf("%.20q: %v", c.text, err)
			continue
		}
		if len(p.Columns) != c.columns || fmt.Sprint(p.File) != fmt.Sprint(c.file) {
			t.Errorf("%.20q: %d columns, %+v, want %d, %+v", c.text, len(p.Columns), p.File, c.columns, c.file)
		}
		if len(p.Saw) == 0 && (fmt.Sprint(c.file) != fmt.Sprint(schema.File{})) {
			t.Errorf("%.20q: nothing was said", c.text)
		}
	}
}

// A first line that may be a row is refused, and shown by nobody, until somebody says what it is.
func TestProposeRefusesRows(t *testing.T) {
	for _, text := range []string{"SECRET,0.455,0.365\n", "SECRET;7;0,455\n", "SECRET\t-7\n", "SECRET,2013-08-14\n", "SECRET,$ 1,200\n", "SECRET,x,x,y,x\n", "SECRET,03.05.2011 12:30\n", "SECRET,,,,\n", "SECRET,12%\n"} {
		p, err := Propose("f.csv", strings.NewReader(text), Keys{}, false)
		var at *PositionError
		if !errors.Is(err, ErrRow) || !errors.As(err, &at) || at.Line != 1 || !strings.Contains(at.Hint(), "--no-header") {
			t.Errorf("%q: %v, %v", text, p, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: the message shows it", text)
		}
		if p, err = Propose("f.csv", strings.NewReader(text), Keys{File: schema.File{NoHeader: true}}, false); err != nil || p.Columns[0] != "column_1" || strings.Contains(fmt.Sprint(p), "SECRET") {
			t.Errorf("%q: %v, %v", text, p, err)
		}
		if p, err = Propose("f.csv", strings.NewReader(text), Keys{}, true); err != nil || p.Columns[0] != "SECRET" {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

// Every file as it was found names its columns, and none is edited.
func TestWildFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "wild")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the files are not here")
	}
	for name, columns := range map[string]int{"bankfull.csv": 17, "germancredit.csv": 21, "mushrooms.csv": 23, "parkinsons.csv.gz": 22,
		"kc_house.csv.gz": 19, "telco.csv.gz": 21, "stroke.csv": 12, "compas.csv.gz": 53, "abalone.csv": 9} {
		in, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		headless := name == "abalone.csv"
		p, err := Propose(name, in, Keys{File: schema.File{NoHeader: headless}}, false)
		if err != nil || len(p.Columns) != columns {
			t.Errorf("%s: %+v, %v, want %d columns", name, p, err, columns)
			continue
		}
		in.Seek(0, 0)
		c, err := NewRecords(name, in, Keys{File: p.File})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = c.Next()
		}
		if err.Error() != "EOF" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Columns that nobody declared are passed over where the schema says so, and are part of the
// record all the same.
func TestOthersAreIgnored(t *testing.T) {
	declared := "others: ignore\ncolumns:\n  - {name: b, type: date, lower: 1900-01-01, upper: 2020-12-31, parts: [year, month]}\n"
	for _, c := range []struct {
		name, text string
		columns    int
	}{
		{"f.csv", "a,b,c\nx,1999-05-01,CELL\n", 3},
		{"f.jsonl", `{"a": "x", "b": "1999-05-01", "c": "CELL"}` + "\n", 1},
	} {
		rows, found, err := rowsOf(t, c.name, c.text, declared)
		if err != nil || len(rows) != 1 || !slices.Equal(rows[0], []float64{1999, 5}) || len(found[0].Cells) != c.columns {
			t.Errorf("%s: %v, %v, %v", c.name, rows, found, err)
		}
	}
	_, _, err := rowsOf(t, "f.csv", "a,b,c\nx,1999-05-01,CELL\n", strings.TrimPrefix(declared, "others: ignore\n"))
	if err == nil || strings.Contains(err.Error(), "CELL") {
		t.Errorf("undeclared columns: %v", err)
	}
	// A cell that is no date is named by the column of the file.
	_, _, err = rowsOf(t, "f.csv", "b\nSECRET\n", declared)
	if err == nil || !strings.Contains(err.Error(), `f.csv:2: column "b": not a date`) || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("no date: %v", err)
	}
}
