package schema

import (
	"bytes"
	"fmt"
)

// Filled is what a template may say of a column that was looked at by a mechanism.
type Filled struct {
	Name string
	// Type is "" for a blank that a person fills.
	Type         Type
	Lower, Upper float64
	HeavyTailed  bool
	// From and To bound dates, as YYYY-MM-DD.
	From, To   string
	Categories []string
	// Other gives undeclared categories a level of their own.
	Other bool
	// Unknown says that missing cells carry no information.
	Unknown bool
	// Why says which mechanism, at what cost.
	Why string
	// Remarks stand in lines of their own above the column.
	Remarks []string
}

// FilledTemplate is Template with columns that are filled in, and with the unit that they were released
// for: "row", or a column with its most rows. rows is about how many rows there are, 0 where that is private. remarks stand in the file's head.
func FilledTemplate(name, unit string, rowsPerUnit int, rows int64, na []string, remarks []string, columns []Filled) []byte {
	var b bytes.Buffer
	for _, r := range remarks {
		fmt.Fprintf(&b, "# %s\n", oneLine(r))
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, templateHead, oneLine(name), quote(name), " "+quoteUnit(unit, rowsPerUnit), quoteList(na))
	text := head.Bytes()
	if rows > 0 {
		text = bytes.Replace(text, []byte("\nrows: private\n"), fmt.Appendf(nil, "\nrows: about %d\n", rows), 1)
	}
	b.Write(text)
	b.WriteString(templateKeys + "columns:\n")
	for _, c := range columns {
		for _, r := range c.Remarks {
			fmt.Fprintf(&b, "  # %s\n", oneLine(r))
		}
		fmt.Fprintf(&b, "  - name: %s\n", quote(c.Name))
		if c.Type == "" {
			b.WriteString("    type:\n")
			continue
		}
		fmt.Fprintf(&b, "    type: %s\n", c.Type)
		if c.Type == Numeric {
			fmt.Fprintf(&b, "    lower: %s\n    upper: %s\n", formatNumber(c.Lower), formatNumber(c.Upper))
		}
		if c.Type == DateType {
			fmt.Fprintf(&b, "    lower: %s\n    upper: %s\n", c.From, c.To)
		}
		if c.HeavyTailed {
			b.WriteString("    heavy_tailed: true\n")
		}
		if c.Type == Categorical {
			fmt.Fprintf(&b, "    categories: %s\n", quoteList(c.Categories))
		}
		if c.Other {
			b.WriteString("    other: true\n")
		}
		if c.Unknown {
			b.WriteString("    missing: unknown\n")
		}
		if c.Why != "" {
			fmt.Fprintf(&b, "    why: %s\n", quote(c.Why))
		}
	}
	return b.Bytes()
}

// quoteUnit is the value of the key unit, and the line of rows_per_unit.
func quoteUnit(unit string, rowsPerUnit int) string {
	if unit == "row" {
		return unit
	}
	return fmt.Sprintf("%s\nrows_per_unit: %d", quote(unit), rowsPerUnit)
}

// Unlooked is a schema that ignores every column of a header, for mechanisms that look at the texts
// of cells. unit, rowsPerUnit and rows are those of FilledTemplate. It is no declaration that could be
// written to a file: one that uses no column is refused there.
func Unlooked(name string, header []string, unit string, rowsPerUnit int, rows int64, na []string) *Schema {
	s := &Schema{Version: 1, Dataset: name, Unit: Unit{Name: "row", MaxRows: 1}, Rows: RowCount{Kind: RowsPrivate}, NA: na}
	if rows > 0 {
		s.Rows = RowCount{Kind: RowsAbout, N: rows}
	}
	if unit != "row" {
		s.Unit = Unit{Name: unit, Column: unit, MaxRows: rowsPerUnit}
	}
	for _, h := range header {
		s.Columns = append(s.Columns, Column{Name: h, Type: Ignore, Missing: MissingRefuse})
	}
	return s
}
