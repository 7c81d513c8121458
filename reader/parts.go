package reader

import (
	"fmt"
	"io"
	"slices"
)

// manyParts reads parts of the same columns one after the other as one table. Their headers
// are compared before the first row is read; the order of columns may differ.
type manyParts struct {
	of     *Content
	keys   Keys
	header []string // of the first part
	chosen []int

	in    records // the part that is read, nil before the first
	at    int     // the next one
	order []int   // by column of the header the field of this part; nil where they are the same
	raw   []cell  // a record of this part where they are not
}

func openParts(c *Content, keys Keys) (*manyParts, error) {
	m := &manyParts{of: c, keys: keys}
	for i := range c.parts {
		in, err := c.open(i, keys)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			m.in, m.at, m.header = in, 1, in.Header()
			continue
		}
		_, err = m.compare(in)
		if in.Close(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// compare finds the columns of the header in another part.
func (m *manyParts) compare(in records) (order []int, err error) {
	header, other := in.Header(), m.of.parts[0].Name
	same := slices.Equal(header, m.header)
	shared := 0
	for _, name := range m.header {
		if slices.Contains(header, name) {
			shared++
		}
	}
	for f, name := range m.header {
		at := f
		if !same {
			at = slices.Index(header, name)
		}
		switch {
		case at < 0 && 2*shared < len(m.header):
			// Without a header the first line is a row, and is not shown.
			return nil, in.headFault("", "its columns are not those of "+other+": parts of one table have the same columns",
				"leave the part out, or give it the columns of the others; if the files have no header line, declare file: {header: false}")
		case at < 0:
			return nil, in.headFault("", fmt.Sprintf("the column %q of %s is missing here: parts of one table have the same columns", name, other),
				nearestHint(name, header, m.header, "leave the part out, or give it the columns of the others"))
		}
		if m.readable(f) != in.readable(at) {
			return nil, in.headFault(name, "its type is not that of the column in "+other, "write both files with the same types")
		}
		order = append(order, at)
	}
	for i, name := range header {
		switch {
		case !slices.Contains(m.header, name) && 2*shared < len(header):
			return nil, in.headFault("", fmt.Sprintf("column %d is not in %s: parts of one table have the same columns", i+1, other), "leave the part out, or give it the columns of the others")
		case !slices.Contains(m.header, name):
			return nil, in.headFault(name, "there is no such column in "+other+": parts of one table have the same columns",
				"leave the part out, or give it the columns of the others")
		}
	}
	if same {
		return nil, nil
	}
	return order, nil
}

func (m *manyParts) Header() []string { return slices.Clone(m.header) }

func (m *manyParts) Close() error { return m.in.Close() }

func (m *manyParts) readable(field int) bool { return m.in.readable(m.field(field)) }

// field is that of the part at a column of the header.
func (m *manyParts) field(column int) int {
	if m.order == nil {
		return column
	}
	return m.order[column]
}

func (m *manyParts) choose(fields []int) error {
	m.chosen = fields
	own := make([]int, len(fields))
	for i, f := range fields {
		own[i] = m.field(f)
	}
	return m.in.choose(own)
}

// advance opens the next part.
func (m *manyParts) advance() error {
	in, err := m.of.open(m.at, m.keys)
	if err != nil {
		return err
	}
	order, err := m.compare(in)
	if err != nil {
		in.Close()
		return err
	}
	m.in.Close()
	m.in, m.order = in, order
	m.at++
	return m.choose(m.chosen)
}

func (m *manyParts) next(space []cell, strict bool) ([]cell, error) {
	for {
		into := space
		if m.order != nil {
			into = m.raw
		}
		cells, err := m.in.next(into, strict)
		if err == io.EOF && m.at < len(m.of.parts) {
			if err = m.advance(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil || m.order == nil {
			return cells, err
		}
		m.raw = cells
		if len(space) != len(m.header) {
			space = make([]cell, len(m.header))
		}
		for i, f := range m.order {
			space[i] = cell{line: cells[0].line, bad: "the record is too short"}
			if f < len(cells) {
				space[i] = cells[f]
			}
		}
		return space, nil
	}
}

// stretch returns the next records of a part; at the end the error is io.EOF.
func (m *manyParts) stretch() (records, error) {
	for {
		in, err := stretch(&m.in)
		if err == io.EOF && m.at < len(m.of.parts) {
			if err = m.advance(); err == nil {
				continue
			}
		}
		if err != nil || m.order == nil {
			return in, err
		}
		part := *m
		part.in, part.at, part.raw = in, len(m.of.parts), nil
		return &part, nil
	}
}

func (m *manyParts) atEnd() error {
	if e, ok := m.in.(ending); ok {
		return e.atEnd()
	}
	return nil
}

func (m *manyParts) floats(field int) (single, ok bool) {
	if in, typed := m.in.(floating); typed {
		return in.floats(m.field(field))
	}
	return false, false
}

func (m *manyParts) headFault(column, msg, hint string) error {
	return m.in.headFault(column, msg, hint)
}

func (m *manyParts) rowFault(cells []cell, field int, column, msg, hint string) error {
	return m.in.rowFault(cells, field, column, msg, hint)
}

func (m *manyParts) absent(column, why, otherwise string) error {
	return m.in.absent(column, why, otherwise)
}

func (m *manyParts) noRows() error {
	return &PositionError{File: m.of.name, Msg: "the files have headers and no rows", hint: "append the rows below a header"}
}
