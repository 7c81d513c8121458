package reader

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of one cell in bytes and of one record in bytes and cells, so that a
// small compressed file cannot fill memory. What is beyond is read and forgotten.
const (
	maxCell   = 1 << 20
	maxRecord = 16 << 20
	maxCells  = 1 << 16
)

// tooMany is the fault of the first cell of a record that has more than maxCells.
const tooMany = "the record has more than 65,536 cells"

// cell is one field of a record.
type cell struct {
	text   string
	line   int    // where it begins; of a typed file the number of the row
	bad    string // why it is malformed; empty when it is not
	quoted bool
	null   bool // of a typed file; CSV has none
	typed  bool // a number, a truth value or a time of a typed file, not a text
	end    int  // of its text in the scanner's buffer, while the record is read
}

// scanner splits RFC 4180 text into records. Beyond the RFC it accepts LF as a
// line end, and nothing else: a bare quote, text after a closing quote, a lone
// CR, a NUL byte and invalid UTF-8 each mark their cell as malformed. Tab-separated
// values have no quoting (as IANA registers them): a cell holds neither tab nor line
// end, and a quote is a quote.
//
// Faults inside a cell are kept with the cell instead of ending the scan,
// because under the rule "malformed cells become the declared default" one
// record must not decide whether the others are read.
type scanner struct {
	in    *bufio.Reader
	line  int
	buf   []byte // texts of the record's cells, one after the other
	start int    // of the present cell in buf
	// separator ends a cell; literal says that quotes are letters like others.
	separator byte
	quote     byte
	literal   bool
}

func newScanner(r io.Reader) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, 64<<10), line: 1, separator: ',', quote: '"'}
}

// fileFault is a fault after which no further record can be told apart.
type fileFault struct {
	line int
	msg  string
}

func (f *fileFault) Error() string { return f.msg }

// record returns the next record, in the space of cells, and whether its line
// was blank. At the end of the input err is io.EOF.
func (s *scanner) record(cells []cell) (_ []cell, blank bool, err error) {
	if _, err := s.in.Peek(1); err != nil {
		return nil, false, err
	}
	cells, s.buf = cells[:0], s.buf[:0]
	for last := false; !last; {
		var c cell
		if c, last, err = s.cell(); err != nil {
			return nil, false, err
		}
		if len(cells) == maxCells {
			s.buf = s.buf[:s.start]
			cells[0].bad = tooMany
			continue
		}
		cells = append(cells, c)
	}
	// One string for the whole record: a string a cell doubles the time of reading.
	all, begin, plain := string(s.buf), 0, plainText(s.buf)
	for i := range cells {
		c := &cells[i]
		c.text, begin = all[begin:c.end], c.end
		switch {
		case len(all) > maxRecord:
			c.bad = "the record is longer than 16 MiB"
		case c.bad == "" && !(plain && len(c.text) <= maxCell):
			c.bad = faultOf(c.text)
		}
	}
	return cells, len(cells) == 1 && cells[0].text == "" && cells[0].bad == "" && !cells[0].quoted, nil
}

// plainText reports whether b is ASCII without a NUL: no cell in it can be at fault for its
// bytes.
func plainText(b []byte) bool {
	const high, low = 0x8080808080808080, 0x0101010101010101
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		// A byte of x is 0 where x - low borrows into its high bit.
		if (x|(x-low))&high != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c == 0 || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Faults of a text that a wrong encoding explains.
const (
	hasNUL  = "a NUL byte"
	notText = "not UTF-8 text"
)

// Faults of a cell that a wrong format explains.
const (
	loneReturn = "carriage return without line feed"
	bareQuote  = "a quote inside an unquoted cell (write the cell in quotes and double those inside)"
)

func faultOf(text string) string {
	switch {
	case len(text) > maxCell:
		return "longer than 1 MiB"
	case strings.IndexByte(text, 0) >= 0:
		return hasNUL
	case !utf8.ValidString(text):
		return notText
	}
	return ""
}

// cell reads one field; last says that it ended the record.
func (s *scanner) cell() (c cell, last bool, err error) {
	s.start = len(s.buf)
	c.line = s.line
	if b, err := s.in.Peek(1); err == nil && b[0] == s.quote && !s.literal {
		s.in.Discard(1)
		c.quoted = true
		if err := s.quoted(c.line); err != nil {
			return c, false, err
		}
	}
	outside := false // text beside the quotes
	for {
		b, err := s.in.ReadByte()
		if err == io.EOF {
			last = true
			break
		}
		if err != nil {
			return c, false, err
		}
		if b == s.separator {
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
			c.bad = loneReturn
		}
		if b == s.quote && !c.quoted && !s.literal && c.bad == "" {
			c.bad = bareQuote
		}
		outside = true
		s.keep(b)
	}
	if c.quoted && outside && c.bad == "" {
		c.bad = "text after a closing quote (double the quotes inside a quoted cell)"
	}
	c.end = len(s.buf)
	return c, last, nil
}

// quoted reads up to the closing quote. Line ends inside are kept as they are.
func (s *scanner) quoted(line int) error {
	for {
		b, err := s.in.ReadByte()
		if err == io.EOF {
			return &fileFault{line, "a quoted cell that begins here is never closed"}
		}
		if err != nil {
			return err
		}
		if b == '\n' {
			s.line++
		}
		if b == s.quote {
			next, err := s.in.Peek(1)
			if err != nil || next[0] != s.quote {
				return nil
			}
			s.in.Discard(1)
		}
		s.keep(b)
	}
}

// keep appends a byte of the cell, up to one more than a cell or a record may have.
func (s *scanner) keep(b byte) {
	if len(s.buf)-s.start <= maxCell && len(s.buf) <= maxRecord {
		s.buf = append(s.buf, b)
	}
}
