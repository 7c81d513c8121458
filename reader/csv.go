package reader

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"pawl/data/schema"
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

// CSV is an open file of comma-separated values, or tab-separated ones where its name
// ends in .tsv or .tsv.gz, with a header line.
type CSV struct {
	file   string
	tabs   bool
	scan   *scanner
	close  []io.Closer
	header []string
	// blankLine is the first of a run of blank lines just passed, or 0: they are
	// allowed at the end of the file and nowhere else.
	blankLine int
}

// New reads CSV from r, compressed by gzip or not (told by its content), up to the
// end of the header; name stands for the file in errors.
func New(name string, r io.Reader) (*CSV, error) {
	c := &CSV{file: name}
	in, start, err := c.open(r)
	switch {
	case err != nil:
		return nil, err
	case len(start) == 0:
		return nil, c.fault(0, "", "the file is empty; a header line with the names of the columns is needed", "")
	case bytes.HasPrefix(start, []byte(`{"`)):
		return nil, c.fault(1, "", "this looks like JSON, not CSV", "one object a line is read from a file that is named .jsonl")
	}
	c.scan = newScanner(in)
	if c.tabs = tabSeparated(name); c.tabs {
		c.scan.separator, c.scan.literal = '\t', true
	}
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	return c, nil
}

// open unpacks r and refuses what is no text in UTF-8; start is how it begins.
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
	switch {
	case bytes.HasPrefix(start, []byte{0xef, 0xbb, 0xbf}):
		in.Discard(3)
		start, _ = in.Peek(4)
	case bytes.Equal(start, []byte{0xff, 0xfe, 0, 0}), bytes.Equal(start, []byte{0, 0, 0xfe, 0xff}):
		return refuse("the file is UTF-32; UTF-8 is needed", "save it as UTF-8, or: iconv -f UTF-32 -t UTF-8")
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		return refuse("the file is UTF-16 (little endian); UTF-8 is needed", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return refuse("the file is UTF-16 (big endian); UTF-8 is needed", "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(start, []byte("PAR1")):
		return refuse("this is a Parquet file, not CSV", "open it as what it is, or write it as CSV in UTF-8")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return refuse("this is a ZIP archive or a spreadsheet, not CSV", "save the sheet as CSV in UTF-8")
	}
	return in, start, nil
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

func (c *CSV) readHeader() error {
	cells, blank, err := c.scan.record(nil)
	switch {
	case err == io.EOF:
		return c.fault(0, "", "the file is empty; a header line with the names of the columns is needed", "")
	case err != nil:
		return c.readFault(err)
	case blank:
		return c.fault(1, "", "the first line is blank; a header line with the names of the columns is needed", "")
	}
	seen := map[string]bool{}
	for i, h := range cells {
		switch {
		case h.bad != "":
			return c.fault(h.line, "", fmt.Sprintf("name %d of the header: %s", i+1, h.bad), "")
		case h.text == "":
			return c.fault(h.line, "", fmt.Sprintf("name %d of the header is empty", i+1), "give every column a name")
		case seen[h.text]:
			return c.fault(h.line, h.text, "the header names this column twice", "rename or remove one of the two columns")
		}
		seen[h.text] = true
		c.header = append(c.header, h.text)
	}
	return nil
}

func (c *CSV) readable(int) bool { return true }

// choose keeps every field: a record has to be scanned whole.
func (c *CSV) choose([]int) error { return nil }

func (c *CSV) headFault(column, msg, hint string) error { return c.fault(1, column, msg, hint) }

func (c *CSV) rowFault(cells []cell, field int, column, msg, hint string) error {
	return c.fault(cells[field].line, column, msg, hint)
}

func (c *CSV) absent(column, why string) error {
	return c.fault(1, "", fmt.Sprintf("the header has no column %q, %s", column, why),
		nearestHint(column, c.header, separatorHint(c.header)))
}

func (c *CSV) noRows() error {
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
// a ragged record and a blank line before the last record are errors.
func (c *CSV) next(space []cell, strict bool) ([]cell, error) {
	for {
		cells, blank, err := c.scan.record(space)
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
		if c.blankLine != 0 {
			return nil, c.fault(c.blankLine, "", "a blank line before the last record",
				`remove it; an empty value in a table of one column is written ""`)
		}
		return cells, c.check(cells)
	}
}

func (c *CSV) check(cells []cell) error {
	for i, x := range cells {
		if x.bad != "" {
			hint := "correct the cell in UTF-8; quotes inside a quoted cell are doubled"
			if c.tabs {
				hint = "correct the cell in UTF-8"
			}
			return c.fault(x.line, c.name(i), x.bad, hint)
		}
	}
	if len(cells) == len(c.header) {
		return nil
	}
	hint := "an empty cell still needs its comma"
	switch {
	case len(cells) > len(c.header) && c.tabs:
		hint = "a cell cannot hold a tab; CSV can"
	case len(cells) > len(c.header):
		hint = "a cell that holds a comma must be quoted"
	case c.tabs:
		hint = "an empty cell still needs its tab"
	}
	return c.fault(cells[0].line, "", fmt.Sprintf("%d cells, but the header names %d columns", len(cells), len(c.header)), hint)
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
	return fmt.Errorf("%s: %w", c.file, err)
}

func nearestHint(name string, among []string, otherwise string) string {
	if near := schema.Nearest(name, among); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}
