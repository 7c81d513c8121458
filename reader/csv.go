package reader

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/data/schema"
	"pawl/internal/usage"
)

// Position says where a record stands.
type Position struct {
	Line  int // of its first cell, counted from 1
	cells []cell
}

// At is the line on which cell i begins; a quoted cell may span lines.
func (p Position) At(i int) int {
	if i < 0 || i >= len(p.cells) {
		return p.Line
	}
	return p.cells[i].line
}

// CSV is an open file of delimiter-separated values, by default of commas, or of tabs where
// its name ends in .tsv or .tsv.gz.
type CSV struct {
	file string
	how  schema.File
	scan *scanner
	// blocks are what stretch cuts, and rows one of them, nil where records come from scan.
	blocks *blocks
	rows   *blockScanner
	close  []io.Closer
	header []string
	// written are the names as they stand in the file, nil without a header.
	written []string
	// first is the line of the header, or of the first record where there is none, and
	// pending that record.
	first   int
	pending []cell
	// blankLine is the first of a run of blank lines just passed, or 0: they are
	// allowed at the end of the file and nowhere else.
	blankLine int
}

// New reads CSV from r, compressed by gzip or not (told by its content), up to the
// end of the header; name stands for the file in errors, and how says how it is written.
func New(name string, r io.Reader, how schema.File) (*CSV, error) {
	c := &CSV{file: name, how: how, first: 1 + how.Skip}
	in, start, err := c.open(r)
	switch {
	case err != nil:
		return nil, err
	case len(start) == 0:
		return nil, c.emptyFault()
	case bytes.HasPrefix(start, []byte(`{"`)):
		return nil, c.fault(1, "", "this looks like JSON, not CSV", "files with one object per line must be named .jsonl")
	}
	if err := c.skip(in); err != nil {
		return nil, err
	}
	c.scan = newScanner(in)
	c.scan.line = c.first
	if tabSeparated(name) && how.Delimiter == "" {
		c.scan.separator, c.scan.literal = '\t', how.Quote == ""
	}
	if how.Delimiter != "" {
		c.scan.separator = how.Delimiter[0]
	}
	switch how.Quote {
	case schema.QuoteNone:
		c.scan.literal = true
	case "":
	default:
		c.scan.quote = how.Quote[0]
	}
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	return c, nil
}

// open unpacks r and turns it into UTF-8; start is how the text begins. A mark at the
// beginning says what the encoding is, and nothing may say otherwise.
func (c *CSV) open(r io.Reader) (in *bufio.Reader, start []byte, err error) {
	in = bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, c.fault(0, "", "damaged gzip file", "compress it again, or give the plain text")
		}
		c.close = append(c.close, z)
		in = bufio.NewReader(z)
	}
	start, err = in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, c.readFault(err)
	}
	refuse := func(msg, hint string) (*bufio.Reader, []byte, error) { return nil, nil, c.fault(0, "", msg, hint) }
	encoding, mark := c.how.Encoding, ""
	switch {
	case bytes.HasPrefix(start, []byte{0xef, 0xbb, 0xbf}):
		in.Discard(3)
		mark = "utf-8"
	case bytes.Equal(start, []byte{0xff, 0xfe, 0, 0}), bytes.Equal(start, []byte{0, 0, 0xfe, 0xff}):
		return refuse("the file is UTF-32; UTF-8 is needed", "save it as UTF-8, or: iconv -f UTF-32 -t UTF-8")
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		in.Discard(2)
		mark = "utf-16le"
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		in.Discard(2)
		mark = "utf-16be"
	case bytes.HasPrefix(start, []byte("PAR1")):
		return refuse("this is a Parquet file, not CSV", "name it .parquet, or write it as CSV in UTF-8")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return refuse("this is a ZIP archive or a spreadsheet, not CSV", "save the sheet as CSV in UTF-8")
	}
	switch {
	case mark == "" && encoding == "utf-16":
		return refuse("the schema declares utf-16, but the file does not begin with a byte order mark", "declare encoding: utf-16le or utf-16be")
	case mark == "" || encoding == mark || encoding == "" || encoding == "utf-16" && mark != "utf-8":
	default:
		return refuse(fmt.Sprintf("the file begins with the byte order mark of %s, but the schema declares encoding: %s", mark, encoding), "leave out the encoding: the byte order mark determines it")
	}
	if mark != "" {
		encoding = mark
	}
	switch encoding {
	case "", "utf-8":
	case "utf-16le":
		in = bufio.NewReader(&pairs{in: in, order: binary.LittleEndian})
	case "utf-16be":
		in = bufio.NewReader(&pairs{in: in, order: binary.BigEndian})
	default:
		m, ok := charmaps[encoding]
		if !ok {
			return nil, nil, fmt.Errorf("encoding %q cannot be read", encoding)
		}
		in = bufio.NewReader(newLetters(in, m))
	}
	if c.how.Encoding = encoding; encoding == "utf-8" {
		c.how.Encoding = ""
	}
	if start, err = in.Peek(4); err != nil && err != io.EOF {
		return nil, nil, c.readFault(err)
	}
	return in, start, nil
}

// skip passes over the lines before the header.
func (c *CSV) skip(in *bufio.Reader) error {
	for range c.how.Skip {
		for {
			_, err := in.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF {
				return c.fault(0, "", fmt.Sprintf("the file ends within the %d lines that the schema skips", c.how.Skip), "correct skip: under file: in the schema")
			}
			if err != nil {
				return c.readFault(err)
			}
			break
		}
	}
	return nil
}

// tabSeparated goes by the name alone: what a file holds could be read either way.
func tabSeparated(name string) bool {
	name = strings.ToLower(WithoutPacking(name))
	return strings.HasSuffix(name, ".tsv") || strings.HasSuffix(name, ".tab")
}

// WithoutPacking is a name without the ending of a packed file.
func WithoutPacking(name string) string {
	for _, end := range []string{".gz", ".zst", ".zip"} {
		if at := len(name) - len(end); at > 0 && strings.EqualFold(name[at:], end) {
			return name[:at]
		}
	}
	return name
}

// Close releases the file.
func (c *CSV) Close() error {
	var first error
	for _, cl := range c.close {
		if err := cl.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Header returns the names of the columns.
func (c *CSV) Header() []string { return append([]string(nil), c.header...) }

func (c *CSV) emptyFault() error {
	if c.how.NoHeader {
		return c.fault(0, "", "the file is empty", "")
	}
	return c.fault(0, "", "the file is empty; a header line with the names of the columns is needed", "")
}

// readHeader names the columns. What stands in the first line is never shown here: it may
// be a row.
func (c *CSV) readHeader() error {
	cells, blank, err := c.scan.record(nil)
	switch {
	case err == io.EOF:
		return c.emptyFault()
	case err != nil:
		return c.readFault(err)
	case blank && !c.how.NoHeader:
		return c.fault(c.first, "", "the first line is blank; a header line with the names of the columns is needed", "to skip lines before the header, declare skip: N under file: in the schema")
	case blank:
		return c.fault(c.first, "", "a blank line before the last record", "remove it, or skip it with skip: N under file: in the schema")
	}
	if c.how.NoHeader {
		c.pending = cells
		if n := len(c.how.Names); n > 0 && n != len(cells) {
			return c.fault(c.first, "", widths(len(cells), n, "in the schema"), "correct names: or delimiter: under file: in the schema")
		}
		c.header = c.how.Names
		if len(c.header) == 0 {
			c.header, _ = schema.NumberNames(make([]string, len(cells)))
		}
		return nil
	}
	names := make([]string, len(cells))
	for i, h := range cells {
		if h.bad == tooMany {
			return c.fault(h.line, "", "the header has more than 65,536 names", "split the table, or declare its delimiter if another one separates the cells")
		}
		if h.bad != "" {
			msg, hint := c.malformed(h.bad)
			if h.bad == bareQuote && i == 0 && (strings.HasPrefix(h.text, "{") || strings.HasPrefix(h.text, "[")) {
				hint = "if the file is JSON, write one object a line and call it .jsonl: jq -c '.[]' OLD.json > NEW.jsonl"
			}
			return c.fault(h.line, "", fmt.Sprintf("name %d of the header: %s", i+1, msg), hint)
		}
		names[i] = h.text
	}
	// Excel understands such a line, writes it on request, and shows nothing of it.
	if mark, excel := strings.CutPrefix(strings.ToLower(names[0]), "sep="); excel && c.how.Skip == 0 && len(strings.Join(names, "")) <= len("sep=;") {
		return c.fault(c.first, "", "the first line is not a header: it tells Excel which character separates the cells",
			fmt.Sprintf("declare file: {skip: 1, delimiter: %q} in the schema (pawl init FILE --skip 1), or remove the line", strings.ReplaceAll(cmp.Or(mark, string(c.scan.separator)), "\t", "tab")))
	}
	c.written = names
	c.header, _ = schema.NumberNames(names)
	return nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (c *CSV) readable(int) bool { return true }

// choose keeps every field: a record has to be scanned whole.
func (c *CSV) choose([]int) error { return nil }

func (c *CSV) headFault(column, msg, hint string) error { return c.fault(c.first, column, msg, hint) }

func (c *CSV) rowFault(cells []cell, field int, column, msg, hint string) error {
	return c.fault(cells[field].line, column, msg, hint)
}

func (c *CSV) absent(column, why, otherwise string) error {
	if c.how.NoHeader {
		return c.fault(0, "", fmt.Sprintf("the file has no column %q, %s", column, why), fmt.Sprintf("its columns are named under file: in the schema, and without names: column_1 to column_%d", len(c.header)))
	}
	return c.fault(c.first, "", fmt.Sprintf("the header has no column %q, %s", column, why), separatorHint(c.header, c.scan.separator, otherwise))
}

func (c *CSV) noRows() error {
	if c.how.NoHeader {
		return c.fault(0, "", "the file has no rows", "")
	}
	return c.fault(0, "", "the file has a header and no rows", "append the rows below the header")
}

// Next returns the next record: exactly as many cells as the header has names.
// At the end of the file the error is io.EOF; other errors are *PositionError or
// failures of the file system.
func (c *CSV) Next() ([]string, Position, error) {
	cells, err := c.next(nil, true)
	if err != nil {
		return nil, Position{}, err
	}
	row := make([]string, len(cells))
	for i := range cells {
		row[i] = cells[i].text
	}
	return row, Position{Line: cells[0].line, cells: cells}, nil
}

// next returns the next record that is not blank, in the space of cells. When strict, a malformed cell,
// a ragged record and a blank line before the last record are errors; the record comes with them.
func (c *CSV) next(space []cell, strict bool) ([]cell, error) {
	for {
		cells, blank, err := c.pending, false, error(nil)
		if c.pending = nil; cells == nil {
			cells, blank, err = c.record(space)
		}
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, c.readFault(err)
		}
		if blank {
			if c.blankLine == 0 {
				c.blankLine = cells[0].line
			}
			continue
		}
		if !strict {
			return cells, nil
		}
		if line := c.blankLine; line != 0 {
			c.blankLine = 0
			return cells, ofRecord(c.fault(line, "", "a blank line before the last record",
				`remove it; an empty value in a table of one column is written ""`))
		}
		return cells, c.check(cells)
	}
}

func (c *CSV) record(space []cell) ([]cell, bool, error) {
	if c.rows != nil {
		return c.rows.record(space)
	}
	return c.scan.record(space)
}

// stretch returns the next records as a file of their own; at the end the error is io.EOF.
func (c *CSV) stretch() (records, error) {
	if c.blocks == nil {
		c.blocks = &blocks{in: c.scan, size: blockSize, most: mostBlock}
	}
	part := *c
	part.rows, part.close, c.pending = newBlockScanner(c.scan, block{}), nil, nil
	if part.pending != nil {
		return &part, nil
	}
	b, record, err := c.blocks.next()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, c.readFault(err)
	}
	part.pending, part.blankLine, part.rows.block = record, b.blank, b
	return &part, nil
}

func (c *CSV) check(cells []cell) error {
	for i := range cells {
		if x := &cells[i]; x.bad != "" {
			msg, hint := c.malformed(x.bad)
			return ofRecord(c.fault(x.line, c.name(i), msg, hint))
		}
	}
	if len(cells) == len(c.header) {
		return nil
	}
	mark := delimiterName(c.scan.separator)
	hint := fmt.Sprintf("an empty cell still needs its %s, and every line is separated by the same character", mark)
	if len(cells) > len(c.header) {
		hint = fmt.Sprintf("a cell that holds a %s must be quoted, and every line is separated by the same character", mark)
		if c.scan.literal {
			hint = fmt.Sprintf("without quotes no cell can hold a %s", mark)
		}
	}
	where := "in the header"
	if c.how.NoHeader {
		where = "in the first line"
		if len(c.how.Names) > 0 {
			where = "in the schema"
		}
	}
	return ofRecord(c.fault(cells[0].line, "", widths(len(cells), len(c.header), where), hint))
}

// widths says that a record does not have a cell for each column; how many it has is a fact about
// a row.
func widths(cells, columns int, where string) string {
	if cells > columns {
		return "more cells than columns " + where
	}
	return "fewer cells than columns " + where
}

// malformed puts a fault of a cell's text in the words of the file's encoding.
func (c *CSV) malformed(bad string) (msg, hint string) {
	switch {
	case bad == notText && c.how.Encoding == "":
		return bad, "declare the encoding of the file, such as file: {encoding: windows-1252}, in the schema; if only some lines have another, correct those"
	case bad == notText:
		return "a character that " + c.how.Encoding + " does not have", "correct the encoding under file: in the schema; if only some lines have another, correct those"
	case bad == hasNUL && c.how.Encoding == "" && (c.header == nil || c.how.NoHeader):
		return bad, "if the file is UTF-16, declare file: {encoding: utf-16le} in the schema, or utf-16be where the first byte is NUL"
	case bad == hasNUL:
		return bad, `remove it: tr -d '\000' < OLD > NEW`
	case bad == loneReturn:
		return bad, `if the lines of the file end in carriage returns alone, make line feeds of them: tr '\r' '\n' < OLD > NEW; else correct the cell`
	case bad == tooMany:
		return bad, "correct the record; every record has as many cells as the header"
	case c.scan != nil && c.scan.literal:
		return bad, "correct the cell"
	}
	return bad, "correct the cell; quotes inside a quoted cell are doubled"
}

// delimiterName is the word for a delimiter.
func delimiterName(b byte) string {
	switch b {
	case ',':
		return "comma"
	case ';':
		return "semicolon"
	case '\t':
		return "tab"
	case '|':
		return "bar"
	case ' ':
		return "space"
	}
	return fmt.Sprintf("%q", string(b))
}

func (c *CSV) name(i int) string {
	if i < len(c.header) {
		return c.header[i]
	}
	return ""
}

func (c *CSV) fault(line int, column, msg, hint string) error {
	return &PositionError{File: c.file, Line: line, Column: column, Msg: msg, hint: hint}
}

func (c *CSV) readFault(err error) error {
	var f *fileFault
	switch {
	case errors.As(err, &f):
		return c.fault(f.line, "", f.msg, "close the quote, or double the quotes inside of the cell")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return c.fault(0, "", "damaged gzip file", "compress it again, or give the plain text")
	}
	if usage.Mistake(err) {
		return err
	}
	return fmt.Errorf("%s: %w", c.file, err)
}

// nearestHint names the nearest of among that does not belong to something else already.
func nearestHint(name string, among, taken []string, otherwise string) string {
	known := map[string]bool{}
	for _, n := range taken {
		known[n] = true
	}
	free := slices.DeleteFunc(slices.Clone(among), func(n string) bool { return known[n] })
	if near := schema.Nearest(name, free); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}
