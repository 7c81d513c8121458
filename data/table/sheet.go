package table

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"pawl/data/columnar"
	"pawl/internal/usage"
	"pawl/reader"
)

// sheet reads a sheet of a workbook, the first or the one named inner: a header line and rows
// beneath it. Cells are texts as they would be in CSV: numbers with all of their digits whatever their
// format, dates by ISO 8601, results of formulas.
func sheet(name, inner string, content []byte) (p reader.Part, err error) {
	defer func() {
		if recover() != nil { // the library panics on some damaged files
			err = damaged(name, "Excel")
		}
	}()
	// Nothing may be spilled to a temporary folder in the clear: the limits of memory are the
	// limit of what may be unpacked, and the folder is none.
	most := mostOf(len(content))
	book, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{UnzipSizeLimit: most, UnzipXMLSizeLimit: most, TmpDir: "/dev/null/none"})
	if err != nil {
		if strings.Contains(err.Error(), "unzip size exceeds") {
			return p, tooLarge(name, most)
		}
		return p, damaged(name, "Excel")
	}
	defer book.Close()
	sheets := book.GetSheetList()
	switch {
	case len(sheets) == 0:
		return p, usage.New(name+": the workbook has no sheet", "")
	case inner == "":
		inner = sheets[0]
	case !slices.Contains(sheets, inner):
		return p, usage.New(fmt.Sprintf("%s: the workbook has no sheet %q", name, inner), "it has "+list(sheets))
	default:
		name += "#" + inner
	}
	s := &sheetReader{name: name}
	if err := s.plain(sheetXML(book, inner)); err != nil {
		return p, err
	}
	if err := plainNumbers(book); err != nil {
		return p, damaged(name, "Excel")
	}
	if err := s.read(book, inner); err != nil {
		return p, err
	}
	rows, err := s.rows.InOrder()
	// Said of every workbook: how large this one is, is not public.
	return reader.Part{Name: name, Rows: rows, Note: name + " is a workbook; CSV and Parquet are read many times faster"}, err
}

// sheetXML is the file of a sheet; nil where it is not found.
func sheetXML(book *excelize.File, sheet string) []byte {
	id := ""
	for _, s := range book.WorkBook.Sheets.Sheet {
		if s.Name == sheet {
			id = s.ID
		}
	}
	var rels struct {
		Relationship []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		}
	}
	file := func(path string) []byte {
		content, _ := book.Pkg.Load(path)
		b, _ := content.([]byte)
		return b
	}
	if err := xml.Unmarshal(file("xl/_rels/workbook.xml.rels"), &rels); err != nil {
		return nil
	}
	for _, r := range rels.Relationship {
		if r.ID == id {
			if target, ok := strings.CutPrefix(r.Target, "/"); ok {
				return file(target)
			}
			return file(path.Join("xl", r.Target))
		}
	}
	return nil
}

type sheetReader struct {
	name string
	rows *reader.RowsBuilder
}

func (s *sheetReader) refuse(advice, format string, args ...any) error {
	return usage.New(s.name+": "+fmt.Sprintf(format, args...), advice)
}

// plain refuses what the library passes over in silence: merged cells, of which all but one are
// empty, and formulas that no program has computed.
func (s *sheetReader) plain(content []byte) error {
	if content == nil {
		return damaged(s.name, "Excel")
	}
	if at := bytes.Index(content, []byte("<mergeCell ")); at >= 0 {
		return s.refuse("split them, so that each row has its own cells, and leave one header line", "the cells %s are merged", attribute(content[at:], "ref"))
	}
	for rest := content; ; {
		at := bytes.Index(rest, []byte("<f"))
		if at < 0 || at+2 >= len(rest) {
			return nil
		}
		if c := rest[at+2]; c != '>' && c != ' ' && c != '/' {
			rest = rest[at+2:]
			continue
		}
		end := bytes.Index(rest[at:], []byte("</c>"))
		if end < 0 {
			return damaged(s.name, "Excel")
		}
		_, value, ok := bytes.Cut(rest[at:at+end], []byte("<v>"))
		if !ok || bytes.HasPrefix(value, []byte("</v>")) {
			cell := rest[bytes.LastIndex(rest[:at], []byte("<c ")):]
			return s.refuse("open the workbook in a spreadsheet program and save it, or save the sheet as CSV", "cell %s has a formula without its result", attribute(cell, "r"))
		}
		rest = rest[at+end:]
	}
}

// attribute is the value of an attribute of the element that b begins with.
func attribute(b []byte, name string) string {
	b, _, _ = bytes.Cut(b, []byte(">"))
	_, b, _ = bytes.Cut(b, []byte(" "+name+`="`))
	b, _, _ = bytes.Cut(b, []byte(`"`))
	return string(b)
}

// plainNumbers takes from all numbers their format: dates and times are written by ISO 8601,
// others as they are stored.
func plainNumbers(book *excelize.File) error {
	if book.Styles == nil || book.Styles.CellXfs == nil {
		return nil
	}
	codes := map[int]string{}
	if book.Styles.NumFmts != nil {
		for _, f := range book.Styles.NumFmts.NumFmt {
			codes[f.NumFmtID] = f.FormatCode
		}
	}
	own := len(book.Styles.CellXfs.Xf)         // NewStyle adds to them
	ids := map[timeFormat]int{noTime: 1 << 20} // of no format
	for kind, code := range map[timeFormat]string{dateFormat: "yyyy-mm-dd hh:mm:ss", clockFormat: "hh:mm:ss"} {
		at, err := book.NewStyle(&excelize.Style{CustomNumFmt: &code})
		if err != nil {
			return err
		}
		ids[kind] = *book.Styles.CellXfs.Xf[at].NumFmtID
	}
	for i := range own {
		if f := &book.Styles.CellXfs.Xf[i]; f.NumFmtID != nil {
			id := ids[timeOf(*f.NumFmtID, codes[*f.NumFmtID])]
			f.NumFmtID = &id
		}
	}
	return nil
}

type timeFormat int

const (
	noTime      timeFormat = iota
	dateFormat             // with the time of day or without
	clockFormat            // the time of day alone
)

// timeOf tells formats of dates and times. Durations are numbers.
func timeOf(id int, code string) timeFormat {
	switch {
	case id >= 18 && id <= 21, id == 32, id == 33, id == 45, id == 47, id == 55, id == 56:
		return clockFormat
	case id >= 14 && id <= 17, id == 22, id >= 27 && id <= 36, id >= 50 && id <= 58:
		return dateFormat
	case id < 164: // the program's own
		return noTime
	}
	code, _, _ = strings.Cut(strings.ToLower(code), ";")
	var letters strings.Builder
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\\', '_', '*':
			i++
		case '"', '[':
			closing := map[byte]string{'"': `"`, '[': "]"}[c]
			inside, _, ok := strings.Cut(code[i+1:], closing)
			if !ok || c == '[' && inside != "" && strings.Trim(inside, "hms") == "" {
				return noTime
			}
			i += len(inside) + 1
		default:
			letters.WriteByte(c)
		}
	}
	switch plain := letters.String(); {
	case plain == "general":
		return noTime
	case strings.ContainsAny(plain, "yd"), strings.Contains(plain, "mmm"):
		return dateFormat
	case strings.ContainsAny(plain, "hs"):
		return clockFormat
	}
	return noTime
}

// read reads a header line and the rows beneath it. Blank lines may stand before and after.
func (s *sheetReader) read(book *excelize.File, sheet string) error {
	rows, err := book.Rows(sheet)
	if err != nil {
		return damaged(s.name, "Excel")
	}
	defer rows.Close()
	var columns []columnar.Column
	blank, at := 0, 0
	for rows.Next() {
		at++
		cells, err := rows.Columns()
		if err != nil {
			return damaged(s.name, "Excel")
		}
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) == 0 {
			blank = at
			continue
		}
		if columns == nil {
			if columns, err = s.header(at, cells); err != nil {
				return err
			}
			s.rows, blank = reader.NewRows(columns), 0
			continue
		}
		switch {
		case blank > 0:
			return s.refuse("remove it, and anything below the table", "row %d is blank, and rows follow", blank)
		case len(cells) > len(columns):
			column, _ := excelize.ColumnNumberToName(len(cells))
			return s.refuse("name the column in the header, or empty the cell", "row %d has a cell in column %s, which has no name", at, column)
		}
		for i := range columns {
			switch {
			case i >= len(cells) || cells[i] == "":
				s.rows.Null()
			default:
				s.rows.Text(strings.TrimSuffix(cells[i], " 00:00:00"))
			}
		}
		s.rows.EndNumbered(int64(at))
	}
	switch {
	case rows.Error() != nil:
		return damaged(s.name, "Excel")
	case columns == nil:
		return s.refuse("", "the sheet is empty; a header line with the names of the columns is needed")
	}
	return nil
}

// header takes the first line that is not blank as names.
func (s *sheetReader) header(row int, cells []string) (columns []columnar.Column, err error) {
	const advice = "a table has one header line with a name for every column, and rows below it: remove titles and further header lines"
	seen := map[string]bool{}
	for i, name := range cells {
		column, err := excelize.ColumnNumberToName(i + 1)
		switch {
		case err != nil:
			return nil, err
		case name == "":
			return nil, s.refuse(advice, "row %d is taken as the header, and column %s has no name", row, column)
		case seen[name]:
			return nil, s.refuse(advice, "row %d is taken as the header, and column %s repeats the name of another column", row, column)
		}
		seen[name] = true
		columns = append(columns, columnar.Column{Name: name, Kind: columnar.Text})
	}
	return columns, nil
}
