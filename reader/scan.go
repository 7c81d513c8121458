package reader

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of one cell in bytes and of one record in cells, so that a small
// compressed file cannot fill memory. What is beyond is read and forgotten.
const (
	maxCell  = 1 << 20
	maxCells = 1 << 16
)

// cell is one field of a record.
type cell struct {
	text string
	line int    // where it begins
	bad  string // why it is malformed; empty when it is not
}

// scanner splits RFC 4180 text into records. Beyond the RFC it accepts LF as a
// line end, and nothing else: a bare quote, text after a closing quote, a lone
// CR, a NUL byte and invalid UTF-8 each mark their cell as malformed.
//
// Faults inside a cell are kept with the cell instead of ending the scan,
// because under the rule "malformed cells become the declared default" one
// record must not decide whether the others are read.
type scanner struct {
	in   *bufio.Reader
	line int
	buf  []byte
}

func newScanner(r io.Reader) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, 64<<10), line: 1}
}

// fileFault is a fault after which no further record can be told apart.
type fileFault struct {
	line int
	msg  string
	hint string
}

func (f *fileFault) Error() string { return f.msg }

// record returns the next record and whether its line was blank. At the end of
// the input err is io.EOF.
func (s *scanner) record() (cells []cell, blank bool, err error) {
	if _, err := s.in.Peek(1); err != nil {
		return nil, false, err
	}
	for {
		c, last, err := s.cell()
		if err != nil {
			return nil, false, err
		}
		if len(cells) < maxCells {
			cells = append(cells, c.cell)
		} else {
			cells[0].bad = "the record has more than 65,536 cells"
		}
		if last {
			return cells, len(cells) == 1 && c.text == "" && c.bad == "" && !c.quoted, nil
		}
	}
}

type scanned struct {
	cell
	quoted bool
}

// cell reads one field; last says that it ended the record.
func (s *scanner) cell() (c scanned, last bool, err error) {
	s.buf = s.buf[:0]
	c.line = s.line
	if b, err := s.in.Peek(1); err == nil && b[0] == '"' {
		s.in.Discard(1)
		c.quoted = true
		if err := s.quoted(c.line); err != nil {
			return c, false, err
		}
	}
	plain := 0 // bytes outside the quotes
	for {
		b, err := s.in.ReadByte()
		if err == io.EOF {
			last = true
			break
		}
		if err != nil {
			return c, false, err
		}
		if b == ',' {
			break
		}
		if b == '\n' {
			s.line++
			last = true
			break
		}
		if b == '\r' {
			if next, err := s.in.Peek(1); err == nil && next[0] == '\n' {
				continue // the LF ends the record in the next round
			}
			c.bad = "carriage return without line feed"
		}
		if b == '"' && !c.quoted && c.bad == "" {
			c.bad = `a quote inside an unquoted cell (write the cell in quotes and double those inside)`
		}
		plain++
		s.keep(b)
	}
	if c.quoted && plain > 0 && c.bad == "" {
		c.bad = "text after a closing quote (double the quotes inside a quoted cell)"
	}
	c.text = string(s.buf)
	switch {
	case c.bad != "":
	case len(c.text) > maxCell:
		c.bad = "longer than 1 MiB"
	case strings.IndexByte(c.text, 0) >= 0:
		c.bad = "a NUL byte"
	case !utf8.ValidString(c.text):
		c.bad = "not UTF-8 text"
	}
	return c, last, nil
}

// quoted reads up to the closing quote. Line ends inside are kept as they are.
func (s *scanner) quoted(start int) error {
	for {
		b, err := s.in.ReadByte()
		if err == io.EOF {
			return &fileFault{start, "a quoted cell that begins here is never closed", ""}
		}
		if err != nil {
			return err
		}
		if b == '\n' {
			s.line++
		}
		if b == '"' {
			next, err := s.in.Peek(1)
			if err != nil || next[0] != '"' {
				return nil
			}
			s.in.Discard(1)
		}
		s.keep(b)
	}
}

// keep appends a byte of the cell, up to one more than a cell may have.
func (s *scanner) keep(b byte) {
	if len(s.buf) <= maxCell {
		s.buf = append(s.buf, b)
	}
}
