package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pawl/data/columnar"
	"pawl/internal/usage"
)

// byColumns gives the rows of a file that is stored by columns as records. Every cell
// becomes the text that it would have in CSV, and passes the same parser: a table
// gives the same numbers in either format, and there is one set of rules to review.
type byColumns struct {
	name   string
	in     *columnar.File
	types  []columnar.Column
	fields []int // by chunk of the batch
	used   []bool
	scan   *columnar.Scan
	batch  *columnar.Batch
	at     int // next row of the batch
}

func openColumns(name string, src columnar.Source) (*byColumns, error) {
	c := &byColumns{name: name}
	in, err := columnar.Open(src)
	if err != nil {
		return nil, columnarFault(c.name, err)
	}
	c.in, c.types = in, in.Columns()
	return c, nil
}

// columnarFault names the file.
func columnarFault(name string, err error) error {
	var f *columnar.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return &PositionError{File: name, Column: f.Column, Group: f.Group, Msg: f.Msg, hint: f.Hint}
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (c *byColumns) Header() []string {
	names := make([]string, len(c.types))
	for i := range c.types {
		names[i] = c.types[i].Name
	}
	return names
}

// Close has nothing to release: the file belongs to who opened it.
func (c *byColumns) Close() error { return nil }

func (c *byColumns) readable(field int) bool {
	kind := c.types[field].Kind
	return kind != columnar.Unsupported && kind != columnar.Vector
}

// choose refuses types that no schema can declare. Columns that are not chosen may hold
// anything: they are read where they have texts, since those belong to the record.
func (c *byColumns) choose(fields []int) error {
	var faults []error
	for _, f := range fields {
		if t := c.types[f]; t.Kind == columnar.Unsupported || t.Kind == columnar.Vector {
			refused := columnar.Refused(t)
			faults = append(faults, c.headFault(t.Name, refused.Msg, refused.Hint+", or declare the column type: ignore"))
		}
	}
	if len(faults) > 0 {
		return usage.All(faults...)
	}
	c.used = make([]bool, len(c.types))
	for _, f := range fields {
		c.used[f] = true
	}
	c.fields = nil
	for f := range c.types {
		if c.readable(f) {
			c.fields = append(c.fields, f)
		}
	}
	scan, err := c.in.Scan(c.fields)
	c.scan = scan
	return columnarFault(c.name, err)
}

func (c *byColumns) next(space []cell, strict bool) ([]cell, error) {
	for c.batch == nil || c.at == c.batch.Rows {
		b, err := c.scan.Next()
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, columnarFault(c.name, err)
		}
		c.batch, c.at = b, 0
	}
	if len(space) != len(c.types) {
		space = make([]cell, len(c.types))
	}
	for f := range space {
		space[f] = cell{line: c.place()}
	}
	for i, f := range c.fields {
		x := &c.batch.Chunks[i]
		space[f] = cell{text: x.Text(c.at), null: x.Null(c.at), line: c.place(), typed: !asText(c.types[f])}
		if space[f].bad = faultOf(space[f].text); space[f].bad != "" && strict && c.used[f] {
			c.at++
			return nil, ofRecord(c.rowFault(space, f, c.types[f].Name, space[f].bad, "correct the cell"))
		}
	}
	c.at++
	return space, nil
}

// stretch returns the next rows; at the end the error is io.EOF.
func (c *byColumns) stretch() (records, error) {
	scan, err := c.scan.Piece()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, columnarFault(c.name, err)
	}
	part := *c
	part.scan, part.batch = scan, nil
	return &part, nil
}

// asText reports that a column holds texts, and not the digits of exact decimals or a
// dictionary of numbers.
func asText(c columnar.Column) bool {
	name := strings.ToLower(c.Type)
	return c.Kind == columnar.Text && !strings.HasPrefix(name, "decimal") &&
		(!strings.HasPrefix(name, "dictionary") || strings.Contains(name, "utf8") || strings.Contains(name, "string"))
}

func (c *byColumns) floats(field int) (single, ok bool) {
	if c.types[field].Kind != columnar.Float {
		return false, false
	}
	return c.batch.Chunks[slices.Index(c.fields, field)].Single(), true
}

func (c *byColumns) headFault(column, msg, hint string) error {
	return &PositionError{File: c.name, Column: column, Msg: msg, hint: hint}
}

// place is that of the next row of the batch: its group and its number in the file.
func (c *byColumns) place() int { return c.batch.Group<<placeBits | (int(c.batch.First) + c.at) }

const placeBits = 40

func (c *byColumns) rowFault(cells []cell, field int, column, msg, hint string) error {
	at := cells[field].line
	return &PositionError{File: c.name, Row: int64(at & (1<<placeBits - 1)), Group: at >> placeBits, Column: column, Msg: msg, hint: hint}
}

func (c *byColumns) absent(column, why, otherwise string) error {
	return c.headFault("", fmt.Sprintf("the file has no column %q, %s", column, why), otherwise)
}

func (c *byColumns) noRows() error { return c.headFault("", "the file has no rows", "") }
