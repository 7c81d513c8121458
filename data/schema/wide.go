package schema

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Words is the one rule of Tokens: lower-cased words, runs of digits told by their
// length, and every other sign alone (package text). It knows no vocabulary, so no
// token is unknown: each has its bucket, in texts to come too.
const Words = "words"

const (
	// MaxBuckets bounds the buckets of one text column, and MaxDimension a vector.
	MaxBuckets   = 1 << 16
	MaxDimension = 1 << 16

	// maxText is more than the tokens of any text, so that sums of signs and of their
	// squares are exact.
	maxText = 1 << 21
)

// Wide reports whether a cell of the column stands for many numbers. They follow
// the cells of a row, which is then longer than the list of columns:
//
//   - the cell of a text is the position p at which they begin in the row: the
//     number n of buckets in use, then n pairs of a bucket, ascending, and the sum of
//     the signs hashed to it;
//   - the cell of a vector is the position of its Dimension numbers.
//
// NaN stands for an unknown one. A sparse row so costs what its text is long, whatever
// the number of buckets.
func (c *Column) Wide() bool { return c.Type == Text || c.Type == Vector }

// Wide reports whether rows are longer than the list of columns.
func (s *Schema) Wide() bool {
	for i := range s.Columns {
		if s.Columns[i].Wide() {
			return true
		}
	}
	return false
}

// SetBuckets gives texts without a number of buckets this one.
func (s *Schema) SetBuckets(n int) {
	for i := range s.Columns {
		if c := &s.Columns[i]; c.Type == Text && c.Buckets == 0 {
			c.Buckets = n
		}
	}
}

var errWide = errors.New("a text or vector does not match the schema's declaration")

// CheckWide holds what follows the cells of a row to the declaration, so that the
// bound on a row's norm does not depend on who parsed it. The error says nothing of
// the row.
func (s *Schema) CheckWide(row []float64) error {
	end := len(s.Columns)
	if len(row) < end {
		return fmt.Errorf("%d cells for %d columns", len(row), end)
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		if !c.Wide() || row[i] != row[i] {
			continue
		}
		if row[i] != float64(end) {
			return errWide
		}
		n, ok := c.wide(row[end:])
		if !ok {
			return errWide
		}
		end += n
	}
	if end != len(row) {
		return errWide
	}
	return nil
}

// wide is how many numbers at the beginning of tail belong to a cell.
func (c *Column) wide(tail []float64) (n int, ok bool) {
	if c.Type == Vector {
		if len(tail) < c.Dimension {
			return 0, false
		}
		for _, v := range tail[:c.Dimension] {
			if v-v != 0 {
				return 0, false
			}
		}
		return c.Dimension, true
	}
	if c.Buckets < 1 || len(tail) == 0 || !(tail[0] >= 0 && tail[0] <= float64(c.Buckets)) || tail[0] != math.Trunc(tail[0]) {
		return 0, false
	}
	n = 1 + 2*int(tail[0])
	if len(tail) < n {
		return 0, false
	}
	before := -1.0
	for k := 1; k < n; k += 2 {
		b, v := tail[k], tail[k+1]
		if !(b > before && b < float64(c.Buckets)) || b != math.Trunc(b) || v == 0 || v != math.Trunc(v) || math.Abs(v) > maxText {
			return 0, false
		}
		before = b
	}
	return n, true
}

// wide reads the keys of texts and vectors.
func (d *decoder) wide(c *Column, by map[string]field) {
	get(d, by, "buckets", &c.Buckets, func(f field) (int, error) { return d.whole(f, "buckets", MaxBuckets) })
	get(d, by, "tokens", &c.Tokens, d.text)
	get(d, by, "dimension", &c.Dimension, func(f field) (int, error) { return d.whole(f, "dimension", MaxDimension) })
	get(d, by, "key", &c.Key, d.text)
}

func (d *decoder) whole(f field, what string, most int) (int, error) {
	s, err := d.text(f)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, d.fault(position(f.value), d.column, fmt.Sprintf("%s must be a whole number from 1 to %d", what, most), "")
	}
	return n, nil
}

func (c *Column) encodeWide(b *bytes.Buffer) {
	switch c.Type {
	case Text:
		if c.Buckets > 0 {
			fmt.Fprintf(b, "    buckets: %d\n", c.Buckets)
		}
		if c.Tokens != "" {
			fmt.Fprintf(b, "    tokens: %s\n", quote(c.Tokens))
		}
	case Vector:
		fmt.Fprintf(b, "    dimension: %d\n    key: %s\n", c.Dimension, quote(c.Key))
	}
}

func (c *Column) validateText(i int) error {
	switch {
	case c.Buckets < 0 || c.Buckets > MaxBuckets:
		return newFault(i, "buckets", c.Name, fmt.Sprintf("buckets must be from 1 to %d", MaxBuckets), "leave the key out: a rule on public facts chooses")
	case c.Tokens != "" && c.Tokens != Words:
		return newFault(i, "tokens", c.Name, fmt.Sprintf("unknown rule %q for tokens", c.Tokens), "tokens: words")
	}
	return c.validateWideMissing(i)
}

func (c *Column) validateVector(i int) error {
	switch {
	case c.Dimension < 1 || c.Dimension > MaxDimension:
		return newFault(i, "dimension", c.Name, fmt.Sprintf("dimension must be from 1 to %d", MaxDimension), "")
	case c.Key == "" || !printable(c.Key):
		return newFault(i, "key", c.Name, "key must name the column by which vectors are joined", "")
	}
	return c.validateWideMissing(i)
}

func (c *Column) validateWideMissing(i int) error {
	if c.Missing == MissingValue {
		return newFault(i, "missing", c.Name, fmt.Sprintf("missing must be refuse or unknown for type %s", c.Type), "")
	}
	return c.validateMissing(i)
}
