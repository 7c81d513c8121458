package reader

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"pawl/data/columnar"
	"pawl/data/schema"
)

// Proposal is what the first line of a table shows. It holds the names of the columns and
// no other text of the file.
type Proposal struct {
	// File is how the table seems to be written; what was declared stands as it was.
	File schema.File
	// Columns are the names, numbered where the file has none.
	Columns []string
	// Saw says in words what File is founded on.
	Saw []string
}

// ErrRow is what Propose reports of a first line that looks like a row; test with errors.Is.
var ErrRow = errors.New("the first line may be a row")

// firstLine is as much of a file as Propose reads.
const firstLine = 1 << 20

// Propose looks at the beginning of a table, up to the end of its first line, and no further.
// how is what is known already: where it says something, that holds. Typed files and JSON
// lines have nothing to propose.
//
// Names are public, a row is not, and without a header the first line is a row. Unless sure,
// a line is therefore refused (ErrRow) that has a number or a date for a name, or many names
// that are blank or stand there twice. A headerless file of words all different cannot be
// told from a header: that has to be declared.
func Propose(name string, r io.Reader, keys Keys, sure bool) (*Proposal, error) {
	in := bufio.NewReader(r)
	prefix := make([]byte, firstLine)
	n, err := io.ReadFull(in, prefix)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	prefix = prefix[:n]
	p := &Proposal{File: keys.File}
	if JSONNamed(name) {
		j, err := openJSONLines(name, bytes.NewReader(prefix), keys)
		if err != nil {
			return nil, err
		}
		p.Columns = j.Header()
		return p, nil
	}
	if columnar.Is(prefix) {
		return p.typed(name, r, io.MultiReader(bytes.NewReader(prefix), in))
	}
	text, err := p.decode(name, prefix)
	if err != nil {
		return nil, err
	}
	p.separate(name, text)
	c, err := New(name, bytes.NewReader(prefix), p.File)
	if err != nil {
		return nil, err
	}
	p.Columns = c.Header()
	if p.File.NoHeader {
		p.Saw = append(p.Saw, fmt.Sprintf("no header line: the columns are column_1 to column_%d, or those of names:", len(p.Columns)))
		return p, nil
	}
	names := c.written
	if like := rowLike(names); like != "" && !sure {
		return nil, &rowError{PositionError{File: name, Line: c.first, Msg: "the first line may be a row and not a header: " + like,
			hint: "nothing was written. If it is a row: --no-header; if these are names: --header"}}
	}
	if _, made := schema.NumberNames(names); made > 0 {
		p.Saw = append(p.Saw, counted(made, "column")+" without a unique name: numbered, as in column_1 or age_2")
	}
	return p, nil
}

// typed names the columns of a file that is stored by columns: in place where r allows it.
func (p *Proposal) typed(name string, r, again io.Reader) (*Proposal, error) {
	src, ok := r.(columnar.Source)
	if !ok {
		content, err := io.ReadAll(again)
		if err != nil {
			return nil, err
		}
		src = bytes.NewReader(content)
	}
	c, err := openColumns(name, src)
	if err != nil {
		return nil, err
	}
	p.Columns = c.Header()
	return p, nil
}

// Propose looks at the first part, and compares the columns of the others with it.
func (c *Content) Propose(keys Keys, sure bool) (*Proposal, error) {
	first := &c.parts[0]
	p := &Proposal{File: keys.File}
	if first.Rows == nil {
		var err error
		if p, err = Propose(first.Name, first.text(), keys, sure); err != nil {
			return nil, err
		}
	}
	keys.File = p.File
	in, err := c.records(keys)
	if err != nil {
		return nil, err
	}
	p.Columns = in.Header()
	return p, in.Close()
}

type rowError struct{ PositionError }

func (e *rowError) Is(target error) bool { return target == ErrRow }
func (e *rowError) Unwrap() error        { return &e.PositionError }

// decode settles the encoding and returns the text from the first line on.
func (p *Proposal) decode(name string, prefix []byte) ([]byte, error) {
	for {
		c := &CSV{file: name, how: p.File, first: 1 + p.File.Skip}
		in, start, err := c.open(bytes.NewReader(prefix))
		switch {
		case err != nil:
			return nil, err
		case len(start) == 0:
			return nil, c.emptyFault()
		}
		if err := c.skip(in); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(in, firstLine))
		if err != nil && len(prefix) < firstLine {
			return nil, c.readFault(err)
		}
		line, _, whole := bytes.Cut(text, []byte("\n"))
		if !whole && (len(text) == firstLine || len(prefix) == firstLine) {
			return nil, c.fault(c.first, "", "the first line is longer than 1 MiB", "")
		}
		switch {
		case c.how.Encoding != "" && p.File.Encoding == "":
			p.Saw = append(p.Saw, c.how.Encoding+", by its byte order mark")
			return text, nil
		case c.how.Encoding != "":
			return text, nil
		case bytes.IndexByte(line, 0) >= 0:
			p.File.Encoding = "utf-16le"
			if start[0] == 0 {
				p.File.Encoding = "utf-16be"
			}
			p.Saw = append(p.Saw, p.File.Encoding+", by the NUL bytes in the first line")
		case !utf8.Valid(line):
			p.File.Encoding = "windows-1252"
			p.Saw = append(p.Saw, "the first line is not UTF-8: windows-1252 is proposed, the most common other encoding; correct it if it is another")
		default:
			return text, nil
		}
	}
}

// separate finds the delimiter by which the first record has most cells.
func (p *Proposal) separate(name string, text []byte) {
	if p.File.Delimiter != "" {
		return
	}
	usual, most, best := byte(','), 1, byte(0)
	if tabSeparated(name) {
		usual = '\t'
	}
	for _, mark := range []byte{usual, ',', ';', '\t', '|'} {
		s := newScanner(bytes.NewReader(text))
		s.separator, s.literal = mark, mark == '\t' && usual == '\t'
		if cells, _, err := s.record(nil); err == nil && len(cells) > most {
			most, best = len(cells), mark
		}
	}
	if best == 0 || best == usual {
		return
	}
	p.File.Delimiter = string(best)
	p.Saw = append(p.Saw, fmt.Sprintf("%ss between %s", delimiterName(best), counted(most, "column")))
}

// rowLike says what makes a line look like a row, in words that are true of many.
func rowLike(names []string) string {
	seen, repeated := map[string]bool{"": true}, 0
	for i, n := range names {
		if seen[n] && (n != "" || i > 0) { // the first may be the index of a data frame
			repeated++
		}
		seen[n] = true
		if looksMeasured(n) {
			return "some of its cells are numbers or dates"
		}
	}
	if repeated > 1 && 4*repeated > len(names) {
		return "many of its cells are blank or equal"
	}
	return ""
}

// looksMeasured recognises a number or a date: it begins with a digit, a sign or a point,
// and has digits and the marks of numbers, dates and times only.
func looksMeasured(s string) bool {
	s = strings.TrimSpace(s)
	s = strings.Trim(s, "$€£%\u00a0 ")
	if s == "" || !strings.ContainsAny(s, "0123456789") || !strings.Contains("0123456789+-.,", s[:1]) {
		return false
	}
	return strings.Trim(s, "0123456789+-.,:/eETZ ") == ""
}
