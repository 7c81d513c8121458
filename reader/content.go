package reader

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
)

// Content is a table that was read whole, and that can be visited any number of times: a file,
// several files of the same columns, or the rows of a query or a sheet. It does not change.
type Content struct {
	name  string
	parts []Part
	given bool
	// first is what is parsed in place of the only part, once.
	first *handing
}

// Part is a file, or rows that were no file.
type Part struct {
	// Name stands for the part in errors, and tells the formats of text from each other.
	Name string
	// Bytes are those of a file, unpacked; nil where there are Rows, or where text is Stored.
	Bytes  []byte
	Stored Stored
	Rows   *Rows
	// Note is what the operator should know of it, or "".
	Note string
}

// Stored is text that does not lie in memory. Its readers give the same bytes, or an error at their end.
type Stored interface {
	Size() int64
	Reader() io.Reader
}

// NewContent makes one table of one or more parts, in their order. name stands for the whole.
func NewContent(name string, parts ...Part) *Content { return &Content{name: name, parts: parts} }

// Name stands for the table in errors; it holds no password.
func (c *Content) Name() string { return c.name }

// Notes are what the operator should know of the parts.
func (c *Content) Notes() (notes []string) {
	for _, p := range c.parts {
		if p.Note != "" {
			notes = append(notes, p.Note)
		}
	}
	return notes
}

// AsGiven is the same table with the rows of a query in the order in which they came, for
// answers row by row.
func (c *Content) AsGiven() *Content { return &Content{name: c.name, parts: c.parts, given: true} }

// Handed is Reader for one reading, whose bytes are also handed to take while they are read: of a file that lies on
// disk, what is parsed and what take gets are then one look at it. take runs in a goroutine of its own, and done ends it
// and returns its error, or the reading's; it must be called once the reading has ended. whole is false where take did not
// get all bytes, of a table that does not lie on disk as one file, or that was not read to its end.
func (c *Content) Handed(take func(io.Reader) error) (r io.Reader, done func() (whole bool, err error)) {
	if len(c.parts) != 1 || c.parts[0].Stored == nil {
		return c.Reader(), func() (bool, error) { return false, nil }
	}
	out, in := io.Pipe()
	t := &handing{from: c.parts[0].text(), to: in}
	taken := make(chan error, 1)
	go func() {
		err := take(out)
		out.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
		taken <- err
	}()
	handed := *c
	handed.first = t
	return handed.Reader(), func() (bool, error) {
		in.CloseWithError(cmp.Or(t.err, errUnread))
		err := <-taken
		if !t.whole {
			return false, nil // the reading's own error is said by who reads
		}
		return true, err
	}
}

// errUnread ends what is handed on of a reading that stopped before the end.
var errUnread = errors.New("the table was not read to its end")

// handing reads and hands on.
type handing struct {
	from  io.Reader
	to    *io.PipeWriter
	whole bool
	err   error
}

func (h *handing) Read(b []byte) (n int, err error) {
	n, err = h.from.Read(b)
	if n > 0 {
		h.to.Write(b[:n]) // who takes and fails says so itself
	}
	switch {
	case err == io.EOF:
		h.whole = true
		h.to.Close()
	case err != nil:
		h.err = err
	}
	return n, err
}

// Reader gives the bytes by which the table is told from others: those of a file as they are, of
// several files each after its length, of rows their cells. Functions of this package that
// take a reader find the table itself in it.
func (c *Content) Reader() io.Reader {
	if len(c.parts) == 1 {
		return &contentReader{c, c.parts[0].digested()}
	}
	all := []io.Reader{bytes.NewReader([]byte("pawl parts 1\n"))}
	for _, p := range c.parts {
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], p.size())
		all = append(all, bytes.NewReader(length[:]), p.digested())
	}
	return &contentReader{c, io.MultiReader(all...)}
}

func (p *Part) digested() io.Reader {
	if p.Rows != nil {
		return p.Rows.reader()
	}
	return p.text()
}

// text reads the bytes of a file.
func (p *Part) text() io.Reader {
	if p.Stored != nil {
		return p.Stored.Reader()
	}
	return bytes.NewReader(p.Bytes)
}

func (p *Part) size() uint64 {
	if p.Rows != nil {
		return p.Rows.size()
	}
	if p.Stored != nil {
		return uint64(p.Stored.Size())
	}
	return uint64(len(p.Bytes))
}

type contentReader struct {
	of *Content
	io.Reader
}

// records opens the table behind a Reader of it.
func (c *Content) records(keys Keys) (records, error) {
	if len(c.parts) == 1 {
		return c.open(0, keys)
	}
	return openParts(c, keys)
}

// open opens one part.
func (c *Content) open(i int, keys Keys) (records, error) {
	p := &c.parts[i]
	if p.Rows != nil {
		h := &heldRows{name: p.Name, rows: p.Rows}
		if c.given && p.Rows.sorted {
			h.order = p.Rows.given()
		}
		return h, nil
	}
	if first := c.first; first != nil {
		c.first = nil
		return openRecords(p.Name, first, keys)
	}
	return openRecords(p.Name, p.text(), keys)
}
