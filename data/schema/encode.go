package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Encode writes a valid schema as YAML that Decode reads back to the same
// declaration (Warnings aside, which Decode makes anew). Texts are always
// quoted, so that a category such as "no" or "1e3" stays the text it is.
func Encode(s *Schema) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "version: %d\n", s.Version)
	if s.Dataset != "" {
		fmt.Fprintf(&b, "dataset: %s\n", quote(s.Dataset))
	}
	switch {
	case s.Unit.Column != "":
		fmt.Fprintf(&b, "unit: {name: %s, column: %s, rows: %d}\n", quote(s.Unit.Name), quote(s.Unit.Column), s.Unit.MaxRows)
	default:
		fmt.Fprintf(&b, "unit: {name: %s}\n", quote(s.Unit.Name))
	}
	if s.Public {
		b.WriteString("public: true\n")
	}
	switch s.Rows.Kind {
	case RowsDeclared:
		fmt.Fprintf(&b, "rows: %d\n", s.Rows.N)
	case RowsAbout:
		fmt.Fprintf(&b, "rows: about %d\n", s.Rows.N)
	default:
		fmt.Fprintf(&b, "rows: %s\n", s.Rows.Kind)
	}
	b.WriteString(s.File.encode())
	fmt.Fprintf(&b, "na: %s\n", quoteList(s.NA))
	if s.IgnoreOthers {
		b.WriteString("others: ignore\n")
	}
	b.WriteString("columns:\n")
	for i := 0; i < len(s.Columns); {
		n := sameDate(s.Columns[i:])
		var entry bytes.Buffer
		if s.Columns[i].Date != nil {
			entry.WriteString(encodeDate(s.Columns[i : i+n]))
		} else {
			s.Columns[i].encode(&entry)
		}
		text := entry.Bytes()
		if s.Columns[i].Match {
			text = bytes.Replace(text, []byte("  - name:"), []byte("  - match:"), 1)
		}
		b.Write(text)
		i += n
	}
	return b.Bytes(), nil
}

func (c *Column) encode(b *bytes.Buffer) {
	fmt.Fprintf(b, "  - name: %s\n    type: %s\n", quote(c.Name), c.Type)
	switch c.Type {
	case Numeric, Integer:
		fmt.Fprintf(b, "    lower: %s\n    upper: %s\n", formatNumber(c.Lower), formatNumber(c.Upper))
		if c.HeavyTailed {
			b.WriteString("    heavy_tailed: true\n")
		}
		if c.Signs != nil {
			fmt.Fprintf(b, "    signs: %s\n", quoteList(c.Signs))
		}
	case Boolean:
		if c.Values != nil {
			fmt.Fprintf(b, "    values: %s\n", quoteList(c.Values))
		}
	case Categorical:
		fmt.Fprintf(b, "    categories: %s\n", quoteList(c.Categories))
		if c.Ordered {
			b.WriteString("    ordered: true\n")
		}
		if c.Other != "" {
			fmt.Fprintf(b, "    other: %s\n", quote(c.Other))
		}
	}
	b.WriteString(map[int]string{1: "    monotone: increasing\n", -1: "    monotone: decreasing\n"}[c.Monotone])
	c.encodeWide(b)
	if c.Type != Ignore {
		switch {
		case c.Missing == MissingUnknown:
			b.WriteString("    missing: unknown\n")
		case c.Missing == MissingValue && numeric(c.Type):
			fmt.Fprintf(b, "    missing: %s\n", formatNumber(c.MissingNumber))
		case c.Missing == MissingValue:
			fmt.Fprintf(b, "    missing: %s\n", quote(c.MissingCategory))
		}
	}
	if c.Why != "" {
		fmt.Fprintf(b, "    why: %s\n", quote(c.Why))
	}
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes a double-quoted YAML scalar. Only escapes that every YAML reader
// knows are used; letters beyond ASCII stand as they are.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
