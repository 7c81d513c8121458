package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// File says how a table is written as text, so that nobody has to edit it. The zero value is
// what most files are: UTF-8, commas (tabs where the name ends in .tsv), double quotes, a
// header line, points in numbers. It concerns files of text only, and of JSON lines the
// encoding and the texts; the numbers of typed files have no marks.
type File struct {
	// Delimiter is the character between cells; "" for a comma, or a tab where the name of
	// the file ends in .tsv.
	Delimiter string
	// Quote encloses cells: one character, QuoteNone, or "" for the double quote (none
	// where the name ends in .tsv).
	Quote string
	// Encoding is one of Encodings; "" for UTF-8, and for UTF-16 where the file begins
	// with its mark.
	Encoding string
	// Skip is the number of lines before the header.
	Skip int
	// NoHeader says that the first line is a row. Names are those of the columns in order;
	// without them they are column_1, column_2 and so on.
	NoHeader bool
	Names    []string
	// Decimal is the mark before the fraction of a number, "" for a point. Thousands stands
	// between groups of three digits before it, "" for nothing; a blank stands for any.
	Decimal, Thousands string
	// Trim takes off the blanks around every cell before it is read.
	Trim bool
}

// QuoteNone says that quotes are letters like others: a cell holds neither delimiter nor line end.
const QuoteNone = "none"

// Encodings are the names of Encoding, UTF-8 first. The single-byte ones cannot be told
// apart by the bytes.
var Encodings = []string{"utf-8", "utf-16", "utf-16le", "utf-16be", "latin-1", "latin-2", "latin-9", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257"}

var encodingAliases = map[string]string{
	"utf8": "utf-8", "utf-8-sig": "utf-8", "utf16": "utf-16", "utf-16-le": "utf-16le", "utf-16-be": "utf-16be",
	"latin1": "latin-1", "iso-8859-1": "latin-1", "latin2": "latin-2", "iso-8859-2": "latin-2", "latin9": "latin-9", "iso-8859-15": "latin-9",
	"cp1250": "windows-1250", "cp1251": "windows-1251", "cp1252": "windows-1252", "cp1253": "windows-1253", "cp1254": "windows-1254", "cp1257": "windows-1257",
}

var fileKeys = []string{"delimiter", "quote", "encoding", "skip", "header", "names", "decimal", "thousands", "trim"}

var delimiterWords = map[string]string{"comma": ",", "semicolon": ";", "tab": "\t", `\t`: "\t", "bar": "|", "pipe": "|", "space": " ", "colon": ":"}

// fileSection reads `file:`.
func (d *decoder) fileSection(f field) error {
	fields, err := d.mapping(f.value, "file", fileKeys)
	if err != nil {
		return err
	}
	file := &d.schema.File
	for _, g := range fields {
		d.places[faultKey{-1, "file." + g.key}] = g.where
		switch g.key {
		case "header":
			var header bool
			header, err = d.boolean(g)
			file.NoHeader = !header
		case "names":
			file.Names, err = d.list(g)
		case "trim":
			file.Trim, err = d.boolean(g)
		case "skip":
			file.Skip, err = d.skip(g)
		default:
			err = d.mark(file, g)
		}
		if err != nil {
			return err
		}
	}
	file.normalise()
	return nil
}

// Declared is the section as a schema file would have it: words such as tab, and other names
// of an encoding, become what they stand for. The error is that of a schema with this section.
func (f File) Declared() (File, error) {
	f.normalise()
	return f, f.validate()
}

func (f *File) normalise() {
	if word, ok := delimiterWords[strings.ToLower(f.Delimiter)]; ok {
		f.Delimiter = word
	}
	f.Encoding = strings.ToLower(strings.ReplaceAll(f.Encoding, "_", "-"))
	if full, ok := encodingAliases[f.Encoding]; ok {
		f.Encoding = full
	}
	if f.Encoding == Encodings[0] {
		f.Encoding = ""
	}
	if f.Decimal == "." {
		f.Decimal = ""
	}
}

func (d *decoder) skip(f field) (int, error) {
	s, err := d.text(f)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, d.fault(position(f.value), "", "skip must be a whole number, the lines before the header", "")
	}
	return n, nil
}

// mark reads a key whose value is one text. A blank text is a mark too.
func (d *decoder) mark(file *File, f field) error {
	s, err := d.text(f)
	if err != nil {
		return err
	}
	if _, quoted := f.value.(*ast.StringNode); !quoted {
		return d.fault(position(f.value), "", f.key+" must be a text in quotes", "")
	}
	switch f.key {
	case "delimiter":
		file.Delimiter = s
	case "quote":
		file.Quote = s
	case "encoding":
		file.Encoding = s
	case "decimal":
		file.Decimal = s
	case "thousands":
		file.Thousands = s
	}
	return nil
}

// validate holds the section to what can be read in one way only.
func (f *File) validate() error {
	bad := func(key, msg, hint string) error { return newFault(-1, "file."+key, "", "file: "+msg, hint) }
	switch {
	case f.Delimiter != "" && !separates(f.Delimiter):
		return bad("delimiter", "delimiter must be one character other than a letter, a digit, a quote or the sign of a number", `such as ";", tab or "|"`)
	case f.Quote != "" && f.Quote != QuoteNone && f.Quote != `"` && f.Quote != "'":
		return bad("quote", `quote must be '"', "'" or none`, "")
	case f.Encoding != "" && !slices.Contains(Encodings, f.Encoding):
		hint := "one of " + strings.Join(Encodings, ", ")
		if near := Nearest(f.Encoding, Encodings); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return bad("encoding", fmt.Sprintf("unknown encoding %q", f.Encoding), hint)
	case f.Skip < 0 || f.Skip > 1000:
		return bad("skip", "skip must be a whole number from 0 to 1000, the lines before the header", "")
	case f.Decimal != "" && f.Decimal != "," && f.Decimal != ".":
		return bad("decimal", `decimal must be "." or ","`, "")
	case f.Decimal != "" && f.Decimal == f.Delimiter, f.Decimal == "," && f.Delimiter == "":
		return bad("decimal", "the decimal mark and the delimiter are the same character: a number looks like two cells",
			`declare the delimiter of the file, such as delimiter: ";"`)
	case f.Thousands != "" && !groups(f.Thousands):
		return bad("thousands", `thousands must be one of ".", ",", "'", "_" and " "`, "")
	case f.Thousands != "" && (f.Thousands == f.Decimal || f.Decimal == "" && f.Thousands == "."):
		return bad("thousands", "the decimal mark and the thousands separator are the same character", "")
	case len(f.Names) > 0 && !f.NoHeader:
		return bad("names", "names are for files without a header line", "add header: false, with skip: 1 to replace a header")
	}
	seen := map[string]bool{}
	for _, n := range f.Names {
		switch {
		case n == "" || !printable(n):
			return bad("names", "every name must be printable text of 1 to 200 letters", "")
		case seen[n]:
			return bad("names", fmt.Sprintf("%q is listed twice", n), "")
		}
		seen[n] = true
	}
	return nil
}

func separates(s string) bool {
	return len(s) == 1 && (s == "\t" || s[0] >= ' ' && s[0] < 0x7f) && !strings.ContainsAny(s, `"'.+-_`) &&
		!unicode.IsLetter(rune(s[0])) && !unicode.IsDigit(rune(s[0]))
}

func groups(s string) bool { return len(s) == 1 && strings.Contains(".,'_ ", s) }

// encode writes the section, nothing where it says nothing.
func (f *File) encode() string {
	var parts []string
	add := func(key, text string) {
		if text != "" {
			parts = append(parts, key+": "+quote(text))
		}
	}
	add("delimiter", f.Delimiter)
	add("quote", f.Quote)
	add("encoding", f.Encoding)
	if f.Skip > 0 {
		parts = append(parts, fmt.Sprintf("skip: %d", f.Skip))
	}
	if f.NoHeader {
		parts = append(parts, "header: false")
	}
	if len(f.Names) > 0 {
		parts = append(parts, "names: "+quoteList(f.Names))
	}
	add("decimal", f.Decimal)
	add("thousands", f.Thousands)
	if f.Trim {
		parts = append(parts, "trim: true")
	}
	if parts == nil {
		return ""
	}
	return "file: {" + strings.Join(parts, ", ") + "}\n"
}

// FoundName is the name of a column as the file has it: where it has no header, the number
// of the column, whatever the schema calls it.
func (f *File) FoundName(name string) string {
	if i := slices.Index(f.Names, name); f.NoHeader && i >= 0 {
		return NumberedName(i)
	}
	return name
}

// NumberedName is that of the column at position i, counted from 0, which has none.
func NumberedName(i int) string { return fmt.Sprintf("column_%d", i+1) }

// NumberNames gives each column a name of its own: one without gets that of its position
// (column_1), and one whose name stood to its left gets the next number that is free (age,
// age_2, age_3). It is a function of the header alone, and returns how many names were made.
func NumberNames(header []string) (names []string, made int) {
	taken := map[string]bool{}
	for _, h := range header {
		taken[h] = true
	}
	names = make([]string, len(header))
	seen := map[string]bool{"": true}
	next := map[string]int{} // by name; so that a line of equal names takes no longer than others
	for i, h := range header {
		names[i] = h
		if !seen[h] {
			seen[h] = true
			continue
		}
		made++
		if h == "" {
			h = NumberedName(i)
			names[i] = h
		}
		for ; taken[names[i]]; next[h]++ {
			names[i] = fmt.Sprintf("%s_%d", h, next[h]+2)
		}
		taken[names[i]] = true
	}
	return names, made
}

// Identifier says which text of a file names the unit: the column as found, and what the
// schema declares about the reading of the file that can change the text or which column
// has that name. Two readings of the same bytes that give a person two identifiers have two
// Identifiers.
func (s *Schema) Identifier() string {
	f := &s.File
	name := f.FoundName(s.Unit.Column)
	how := File{Delimiter: f.Delimiter, Quote: f.Quote, Encoding: f.Encoding, Skip: f.Skip, NoHeader: f.NoHeader}
	if text := how.encode(); text != "" {
		return name + " of " + strings.TrimSuffix(text, "\n")
	}
	return name
}

// plain writes a number with a point and without thousands separators. A cell that does not
// keep to the marks of the file comes back as "", which is no number.
func (f *File) plain(cell string) string {
	if f.Decimal == "" && f.Thousands == "" {
		return cell
	}
	decimal := f.Decimal
	if decimal == "" {
		decimal = "."
	}
	whole, fraction, point := strings.Cut(cell, decimal)
	exponent := ""
	if at := strings.IndexAny(whole, "eE"); !point && at >= 0 {
		whole, exponent = whole[:at], whole[at:]
	}
	if strings.ContainsAny(fraction+exponent, ".,") {
		return ""
	}
	whole, ok := f.ungrouped(whole)
	if !ok {
		return ""
	}
	if point {
		return whole + "." + fraction
	}
	return whole + exponent
}

// ungrouped takes the separators out of the whole part of a number.
func (f *File) ungrouped(whole string) (string, bool) {
	parts := []string{whole}
	switch f.Thousands {
	case "":
	case " ":
		parts = strings.FieldsFunc(whole, unicode.IsSpace)
		if len(parts) == 0 || strings.IndexFunc(whole, unicode.IsSpace) == 0 || strings.TrimRightFunc(whole, unicode.IsSpace) != whole {
			return whole, len(parts) == 0 && whole == ""
		}
	default:
		parts = strings.Split(whole, f.Thousands)
	}
	if len(parts) > 1 {
		if n := len(strings.TrimLeft(parts[0], "+-")); n < 1 || n > 3 {
			return "", false
		}
		for _, p := range parts[1:] {
			if len(p) != 3 {
				return "", false
			}
		}
	}
	joined := strings.Join(parts, "")
	return joined, !strings.ContainsAny(joined, ".,")
}

// Plain is a cell in the writing that tables of points, plain digits and ISO dates have, where
// it is such a number or date as declared, and the cell itself elsewhere; col is -1 for a
// column that is not declared. By it copies of a table are recognised.
func (s *Schema) Plain(col int, cell string) string {
	var c *Column
	if col >= 0 {
		c = &s.Columns[col]
	}
	switch {
	case s.AsWritten(col):
		return cell
	case c != nil && c.Date != nil:
		if t, ok := c.Date.read(strings.TrimFunc(cell, unicode.IsSpace), false); ok {
			if t.Equal(t.Truncate(24 * time.Hour)) {
				return t.Format(time.DateOnly)
			}
			return t.Format(time.DateTime)
		}
		return cell
	}
	plain := strings.TrimFunc(cell, unicode.IsSpace)
	if c != nil {
		plain = c.unsigned(plain)
	}
	if plain = s.File.plain(plain); plainNumber(plain) {
		return plain
	}
	return cell
}

// AsWritten reports whether Plain leaves every cell of a column as it is.
func (s *Schema) AsWritten(col int) bool {
	return s.File.Decimal == "" && s.File.Thousands == "" && (col < 0 || s.Columns[col].Date == nil && s.Columns[col].Signs == nil)
}

// trimmed is a cell as it is read.
func (f *File) trimmed(cell string) string {
	if !f.Trim || cell == "" || cell[0] > ' ' && cell[0] < utf8.RuneSelf && cell[len(cell)-1] > ' ' && cell[len(cell)-1] < utf8.RuneSelf {
		return cell
	}
	return strings.TrimFunc(cell, unicode.IsSpace)
}

// numbers describes a number by the marks of the file.
func (f *File) numbers() string {
	point, spaces := "point", ", no spaces"
	if f.Decimal == "," {
		point = "decimal comma"
	}
	if f.Thousands == " " || f.Trim {
		spaces = ""
	}
	if f.Thousands != "" {
		return fmt.Sprintf("digits with an optional sign, %s and exponent, and %q between groups of three%s", point, f.Thousands, spaces)
	}
	return fmt.Sprintf("digits with an optional sign, %s and exponent%s", point, spaces)
}
