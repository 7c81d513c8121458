package reader

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Sizes of blocks of text, which are scanned side by side.
const (
	blockSize = 1 << 20
	// mostBlock bounds a block. A record beyond it is scanned byte by byte and most of it forgotten.
	mostBlock = 2 * maxRecord
)

// blocks cuts text into blocks that begin and end with a record. It tells where a quoted cell
// begins and ends as scanner does: it begins behind a separator or a line end and nowhere else, so
// that a quote inside of an unquoted cell, which is a fault, moves no boundary.
type blocks struct {
	in    *scanner
	size  int    // of a block, unless a record is longer
	most  int    // of a block; of a longer record most is forgotten
	buf   []byte // read and not cut yet
	blank int    // the first of the blank lines that were passed over last, or 0
	end   bool   // of the input
}

// block is a run of whole records.
type block struct {
	text  string
	line  int  // of its first record
	blank int  // the first of the blank lines before it, or 0
	plain bool // plainText
	// simple says that nothing in it is quoted and that lines end with \n alone.
	simple bool
}

// next returns the next block; record is one that is too long for a block, in its place. At the end
// the error is io.EOF.
func (b *blocks) next() (_ block, record []cell, err error) {
	want := b.size
	for {
		if err := b.fill(want); err != nil {
			return block{}, nil, err
		}
		b.skip()
		cut := len(b.buf)
		if !b.end {
			cut = b.cut()
		}
		switch {
		case cut > 0:
			out := block{text: string(b.buf[:cut]), line: b.in.line, blank: b.blank, plain: plainText(b.buf[:cut]), simple: b.simple(b.buf[:cut])}
			b.in.line += bytes.Count(b.buf[:cut], []byte{'\n'})
			b.buf, b.blank = b.buf[:copy(b.buf, b.buf[cut:])], 0
			return out, nil, nil
		case b.end:
			return block{}, nil, io.EOF
		case len(b.buf) > b.most:
			out := block{line: b.in.line, blank: b.blank}
			b.blank = 0
			record, err := b.long()
			return out, record, err
		case len(b.buf) >= want:
			want = 2 * len(b.buf)
		}
	}
}

func (b *blocks) simple(text []byte) bool {
	return (b.in.literal || bytes.IndexByte(text, b.in.quote) < 0) && bytes.IndexByte(text, '\r') < 0
}

// skip passes over blank lines; whether they are a fault is seen by what follows.
func (b *blocks) skip() {
	at := 0
	for at < len(b.buf) {
		rest := bytes.TrimPrefix(b.buf[at:], []byte{'\r'})
		if len(rest) == 0 || rest[0] != '\n' {
			break
		}
		if b.blank == 0 {
			b.blank = b.in.line
		}
		b.in.line++
		at = len(b.buf) - len(rest) + 1
	}
	b.buf = b.buf[:copy(b.buf, b.buf[at:])]
}

// fill reads until the buffer holds want bytes.
func (b *blocks) fill(want int) error {
	if cap(b.buf) < want {
		b.buf = append(make([]byte, 0, want), b.buf...)
	}
	for len(b.buf) < want && !b.end {
		n, err := b.in.in.Read(b.buf[len(b.buf):want])
		b.buf = b.buf[:len(b.buf)+n]
		if err == io.EOF {
			b.end = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// cut is the end of the last record in the buffer that another one may follow: behind blank lines none
// ends, since they are a fault or not by what comes next. 0 where there is none.
func (b *blocks) cut() int {
	last := len(b.buf)
	if !b.in.literal && bytes.IndexByte(b.buf, b.in.quote) >= 0 {
		last = b.outside()
	}
	for {
		last = bytes.LastIndexByte(b.buf[:last], '\n') + 1
		before := bytes.TrimSuffix(b.buf[:max(last-1, 0)], []byte{'\r'})
		if last == 0 || len(before) > 0 && before[len(before)-1] != '\n' {
			return last
		}
		last-- // a blank line
	}
}

// outside is the end of the last line that surely ends outside of quotes, or 0.
func (b *blocks) outside() (end int) {
	for from, at := 0, 0; ; {
		next := bytes.IndexByte(b.buf[at:], b.in.quote)
		begin := at + next
		if next < 0 {
			begin = len(b.buf)
		}
		if at = begin + 1; begin > 0 && next >= 0 && b.buf[begin-1] != '\n' && b.buf[begin-1] != b.in.separator {
			continue
		}
		if line := bytes.LastIndexByte(b.buf[from:begin], '\n'); line >= 0 {
			end = from + line + 1
		}
		if next < 0 {
			return end
		}
		for {
			next := bytes.IndexByte(b.buf[at:], b.in.quote)
			if next < 0 || at+next+1 == len(b.buf) {
				return end // it may be closed in what follows
			}
			if at += next + 1; b.buf[at] != b.in.quote {
				break
			}
			at++
		}
		from = at
	}
}

// long scans the record that the buffer begins with, however long it is.
func (b *blocks) long() ([]cell, error) {
	s := *b.in
	s.in = newScanner(io.MultiReader(bytes.NewReader(bytes.Clone(b.buf)), b.in.in)).in
	cells, _, err := s.record(nil)
	if err != nil {
		return nil, err
	}
	b.buf, b.in.in, b.in.line = b.buf[:0], s.in, s.line
	return cells, nil
}

// blockScanner is a scanner of a block.
type blockScanner struct {
	block
	separator, quote byte
	literal          bool
	ends             [256]bool // what does not simply belong to an unquoted cell
	at               int
	space            []byte
}

func newBlockScanner(s *scanner, b block) *blockScanner {
	out := &blockScanner{block: b, separator: s.separator, quote: s.quote, literal: s.literal}
	out.ends[s.separator], out.ends['\n'], out.ends['\r'] = true, true, true
	out.ends[s.quote] = out.ends[s.quote] || !s.literal
	return out
}

// record is that of scanner.
func (s *blockScanner) record(cells []cell) (_ []cell, blank bool, err error) {
	if s.at == len(s.text) {
		return nil, false, io.EOF
	}
	cells = cells[:0]
	begin, size := s.at, 0
	if s.simple {
		cells, size = s.cells(cells)
	}
	for last := s.simple; !last; {
		var c cell
		if c.line = s.line; s.at < len(s.text) && s.text[s.at] == s.quote && !s.literal {
			last, err = s.quoted(&c)
		} else {
			last = s.unquoted(&c)
		}
		if err != nil {
			return nil, false, err
		}
		if len(cells) == maxCells {
			cells[0].bad = tooMany
			continue
		}
		size += min(len(c.text), maxCell+1)
		cells = append(cells, c)
	}
	if s.at-begin > maxCell || !s.plain {
		for i := range cells {
			switch c := &cells[i]; {
			case size > maxRecord:
				c.bad = "the record is longer than 16 MiB"
			case c.bad == "":
				c.bad = faultOf(c.text)
			}
		}
	}
	return cells, len(cells) == 1 && cells[0].text == "" && cells[0].bad == "" && !cells[0].quoted, nil
}

// cells reads a record of a simple block; size is that of its texts, as far as they count.
func (s *blockScanner) cells(cells []cell) (_ []cell, size int) {
	text, at, separator := s.text, s.at, s.separator
	for last := false; !last; at++ {
		begin := at
		for at < len(text) && text[at] != separator && text[at] != '\n' {
			at++
		}
		last = at == len(text) || text[at] == '\n'
		if len(cells) == maxCells {
			cells[0].bad = tooMany
			continue
		}
		size += min(at-begin, maxCell+1)
		// Field by field: a cell that is made elsewhere is copied in wider pieces than it was written in, which waits for them.
		cells = slices.Grow(cells, 1)[:len(cells)+1]
		c := &cells[len(cells)-1]
		c.text, c.line, c.bad, c.quoted, c.null, c.typed = text[begin:at], s.line, "", false, false, false
	}
	if s.at = min(at, len(text)); text[s.at-1] == '\n' {
		s.line++
	}
	return cells, size
}

// unquoted reads a cell up to its separator or line end; last says that it ended the record.
func (s *blockScanner) unquoted(c *cell) (last bool) {
	text, begin, at := s.text, s.at, s.at
	for {
		for at < len(text) && !s.ends[text[at]] {
			at++
		}
		if at == len(text) {
			c.text, s.at = text[begin:], at
			return true
		}
		switch b := text[at]; {
		case b == s.separator:
			c.text, s.at = text[begin:at], at+1
			return false
		case b == '\n':
			c.text, s.at = text[begin:at], at+1
			s.line++
			return true
		case b == '\r':
			if at+1 < len(text) && text[at+1] == '\n' {
				c.text, s.at = text[begin:at], at+2
				s.line++
				return true
			}
			c.bad = loneReturn
		case c.bad == "":
			c.bad = bareQuote
		}
		at++
	}
}

// quoted reads a cell that begins with a quote.
func (s *blockScanner) quoted(c *cell) (last bool, err error) {
	c.quoted = true
	s.at++
	s.space = s.space[:0]
	for {
		n := strings.IndexByte(s.text[s.at:], s.quote)
		if n < 0 {
			return false, &fileFault{c.line, "a quoted cell that begins here is never closed"}
		}
		part := s.text[s.at : s.at+n]
		s.line += strings.Count(part, "\n")
		s.at += n + 1
		doubled := s.at < len(s.text) && s.text[s.at] == s.quote
		if len(s.space) == 0 && !doubled {
			c.text = part
			break
		}
		if s.space = append(s.space, part...); !doubled {
			c.text = string(s.space)
			break
		}
		s.space = append(s.space, s.quote)
		s.at++
	}
	// Mostly a separator or a line end follows; what else does is a fault of the cell.
	var rest cell
	if last = s.unquoted(&rest); rest.text != "" {
		c.text += rest.text
		if c.bad = rest.bad; c.bad != loneReturn {
			c.bad = "text after a closing quote (double the quotes inside a quoted cell)"
		}
	}
	return last, nil
}
