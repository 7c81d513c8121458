package reader

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pawl/data/columnar"
)

// Rows are rows that were no file, held in memory: those of a query or a sheet.
type Rows struct {
	columns []columnar.Column
	data    string   // cell after cell
	starts  []uint64 // of every row in data, and the end
	numbers []int64  // of the rows as errors name them; nil for 1, 2, 3 …
	sorted  bool     // numbers tell the order in which the rows came
}

// RowsBuilder collects rows cell by cell.
type RowsBuilder struct {
	rows Rows
	data strings.Builder
	cell int
	err  error
}

// NewRows begins rows of these columns; cells of an Unsupported one are not looked at.
func NewRows(columns []columnar.Column) *RowsBuilder {
	return &RowsBuilder{rows: Rows{columns: columns, starts: []uint64{0}}}
}

// A cell is a code and maybe its text: 0 is a null, others below firstText are faults, and the
// rest are lengths.
var cellFaults = []string{"", "longer than 1 MiB", "a NUL byte", "not UTF-8 text", "binary data, which has no text"}

const firstText = 8

func (b *RowsBuilder) code(n uint64) {
	for ; n >= 0x80; n >>= 7 {
		b.data.WriteByte(byte(n) | 0x80)
	}
	b.data.WriteByte(byte(n))
	b.cell++
}

// Null adds a missing cell.
func (b *RowsBuilder) Null() { b.code(0) }

// Binary adds a cell that has no text: a fault where its column is used.
func (b *RowsBuilder) Binary() { b.code(4) }

// Text adds a cell.
func (b *RowsBuilder) Text(text string) {
	if bad := faultOf(text); bad != "" {
		b.code(uint64(slices.Index(cellFaults, bad)))
		return
	}
	b.code(uint64(len(text)) + firstText)
	b.data.WriteString(text)
}

// Bytes is Text for a slice that is used again.
func (b *RowsBuilder) Bytes(text []byte) {
	if len(text) > maxCell || !plainText(text) {
		b.Text(string(text))
		return
	}
	b.code(uint64(len(text)) + firstText)
	b.data.Write(text)
}

// Int adds a whole number.
func (b *RowsBuilder) Int(v int64) { b.Text(strconv.FormatInt(v, 10)) }

// Float adds a number by its shortest digits, a whole one without an exponent.
func (b *RowsBuilder) Float(v float64) {
	if math.Trunc(v) == v && math.Abs(v) < 1<<53 {
		b.Text(strconv.FormatFloat(v, 'f', -1, 64))
		return
	}
	b.Text(strconv.FormatFloat(v, 'g', -1, 64))
}

// End ends a row.
func (b *RowsBuilder) End() {
	if b.cell != len(b.rows.columns) {
		b.err = errors.New("reader: a row with too few or too many cells")
	}
	b.cell = 0
	b.rows.starts = append(b.rows.starts, uint64(b.data.Len()))
}

// EndNumbered ends a row that errors name by a number of its own.
func (b *RowsBuilder) EndNumbered(n int64) {
	b.End()
	b.rows.numbers = append(b.rows.numbers, n)
}

// InOrder ends the collection of rows whose order is part of the table, as in a sheet.
func (b *RowsBuilder) InOrder() (*Rows, error) {
	b.rows.data = b.data.String()
	return &b.rows, b.err
}

// Unordered ends the collection of rows that come in any order, as those of a table in a
// database do: it changes from one query to the next. They are visited, and digested, in an order
// that follows from their cells alone, so that the same rows are the same table; random
// choices of rows by their place repeat.
func (b *RowsBuilder) Unordered() (*Rows, error) {
	r, err := b.InOrder()
	if err != nil || len(r.starts) > math.MaxUint32 {
		return nil, cmp.Or(err, errors.New("more than 4,294,967,294 rows"))
	}
	type row struct {
		hash uint64
		at   uint32
	}
	rows := make([]row, len(r.starts)-1)
	for i := range rows {
		rows[i] = row{fnv(r.row(i)), uint32(i)}
	}
	slices.SortFunc(rows, func(x, y row) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		return cmp.Or(strings.Compare(r.row(int(x.at)), r.row(int(y.at))), cmp.Compare(x.at, y.at))
	})
	// They lie in that order too: reading here and there in memory takes as long as parsing.
	var data strings.Builder
	data.Grow(len(r.data))
	sorted := &Rows{columns: r.columns, starts: make([]uint64, 1, len(r.starts)), numbers: make([]int64, len(rows)), sorted: true}
	for i := range rows {
		data.WriteString(r.row(int(rows[i].at)))
		sorted.starts = append(sorted.starts, uint64(data.Len()))
		sorted.numbers[i] = int64(rows[i].at) + 1
	}
	sorted.data = data.String()
	return sorted, nil
}

// given is the order in which the rows came.
func (r *Rows) given() []int {
	order := make([]int, len(r.numbers))
	for i, n := range r.numbers {
		order[n-1] = i
	}
	return order
}

// fnv is FNV-1a of 64 bits. It scatters rows whose first cells are alike, which would be slow to
// compare; equal hashes are told apart by their rows.
func fnv(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (r *Rows) row(i int) string { return r.data[r.starts[i]:r.starts[i+1]] }

// head describes the columns in the digested bytes.
func (r *Rows) head() []byte {
	b := []byte("pawl rows 1\n")
	b = binary.AppendUvarint(b, uint64(len(r.columns)))
	for _, c := range r.columns {
		b = binary.AppendUvarint(b, uint64(len(c.Name)))
		b = append(b, c.Name...)
	}
	return b
}

func (r *Rows) size() uint64 { return uint64(len(r.head()) + len(r.data)) }

// reader gives the head and the rows in the order in which they are visited.
func (r *Rows) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(r.head()), strings.NewReader(r.data))
}

// heldRows are open Rows.
type heldRows struct {
	name  string
	rows  *Rows
	order []int // nil for that in which they lie
	used  []bool
	at    int // next row
	row   int // that was read last
	left  int // out at the end, of the rows of a stretch
}

func (h *heldRows) Header() []string {
	names := make([]string, len(h.rows.columns))
	for i, c := range h.rows.columns {
		names[i] = c.Name
	}
	return names
}

func (h *heldRows) Close() error { return nil }

func (h *heldRows) readable(field int) bool {
	return h.rows.columns[field].Kind != columnar.Unsupported
}

func (h *heldRows) floats(field int) (single, ok bool) {
	c := h.rows.columns[field]
	return c.Type == "real", c.Kind == columnar.Float
}

func (h *heldRows) choose(fields []int) error {
	h.used = make([]bool, len(h.rows.columns))
	for _, f := range fields {
		if c := h.rows.columns[f]; c.Kind == columnar.Unsupported {
			refused := columnar.Refused(c)
			return h.headFault(c.Name, refused.Msg, refused.Hint+" (a query may convert it), or declare the column type: ignore")
		}
		h.used[f] = true
	}
	return nil
}

func (h *heldRows) next(space []cell, strict bool) ([]cell, error) {
	if h.at == len(h.rows.starts)-1-h.left {
		return nil, io.EOF
	}
	h.row = h.at
	if h.order != nil {
		h.row = h.order[h.at]
	}
	h.at++
	if len(space) != len(h.rows.columns) {
		space = make([]cell, len(h.rows.columns))
	}
	s := h.rows.row(h.row)
	for f := range space {
		n, k := uvarint(s)
		s = s[k:]
		switch {
		case n == 0:
			space[f] = cell{null: true, line: h.row}
		case n < firstText:
			space[f] = cell{bad: cellFaults[n], line: h.row}
			if strict && h.used[f] {
				return nil, h.rowFault(nil, f, h.rows.columns[f].Name, cellFaults[n], "correct the cell")
			}
		default:
			space[f] = cell{text: s[:n-firstText], line: h.row, typed: h.rows.columns[f].Kind != columnar.Text}
			s = s[n-firstText:]
		}
	}
	return space, nil
}

// stretch returns the next rows; at the end the error is io.EOF.
func (h *heldRows) stretch() (records, error) {
	const most = 8192
	left := len(h.rows.starts) - 1 - h.at
	if left == 0 {
		return nil, io.EOF
	}
	part := *h
	h.at += min(most, left)
	part.left = max(left-most, 0)
	return &part, nil
}

// uvarint is binary.Uvarint for what RowsBuilder wrote.
func uvarint(s string) (n uint64, k int) {
	for shift := 0; ; shift += 7 {
		b := s[k]
		k++
		if n |= uint64(b&0x7f) << shift; b < 0x80 {
			return n, k
		}
	}
}

func (h *heldRows) headFault(column, msg, hint string) error {
	return &PositionError{File: h.name, Column: column, Msg: msg, hint: hint}
}

func (h *heldRows) rowFault(cells []cell, field int, column, msg, hint string) error {
	row := h.row
	if cells != nil {
		row = cells[field].line
	}
	number := int64(row) + 1
	if h.rows.numbers != nil {
		number = h.rows.numbers[row]
	}
	return &PositionError{File: h.name, Row: number, Column: column, Msg: msg, hint: hint}
}

func (h *heldRows) absent(column, why, otherwise string) error {
	return h.headFault("", fmt.Sprintf("there is no column %q, %s", column, why), otherwise)
}

func (h *heldRows) noRows() error { return h.headFault("", "there are no rows", "") }
