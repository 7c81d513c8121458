package schema

import (
	"bytes"
	"fmt"
)

// ReleasedBounds are bounds of a numeric column that a mechanism has released.
type ReleasedBounds struct {
	Lower, Upper float64
	HeavyTailed  bool
	// Why says which mechanism, at what cost.
	Why string
}

// BoundsTemplate is Template with the bounds of some columns, by name, filled in, and
// with the unit that they were released for: "row", or a column with its most rows.
// remark stands in the file's head.
func BoundsTemplate(name string, header []string, unit string, rowsPerUnit int, remark string, bounds map[string]ReleasedBounds) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", oneLine(remark))
	fmt.Fprintf(&b, templateHead, oneLine(name), quote(name), " "+quoteUnit(unit, rowsPerUnit), quoteList(DefaultNA))
	b.WriteString(templateKeys + "columns:\n")
	for _, h := range header {
		fmt.Fprintf(&b, "  - name: %s\n", quote(h))
		r, ok := bounds[h]
		switch {
		case ok:
			fmt.Fprintf(&b, "    type: numeric\n    lower: %s\n    upper: %s\n", formatNumber(r.Lower), formatNumber(r.Upper))
			if r.HeavyTailed {
				b.WriteString("    heavy_tailed: true\n")
			}
			fmt.Fprintf(&b, "    why: %s\n", quote(r.Why))
		case h == unit:
			b.WriteString("    type: ignore\n")
		default:
			b.WriteString("    type:\n")
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

// WideOpen is a schema under which the named columns are numbers without bounds, for
// mechanisms that release them: other cells are unknown, and all other columns
// ignored. unit and rowsPerUnit are those of BoundsTemplate.
func WideOpen(name string, header []string, unit string, rowsPerUnit int, numeric map[string]bool) (*Schema, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "version: 1\ndataset: %s\nunit: %s\nrows: private\ncolumns:\n", quote(name), quoteUnit(unit, rowsPerUnit))
	for _, h := range header {
		if !numeric[h] {
			fmt.Fprintf(&b, "  - {name: %s, type: ignore}\n", quote(h))
			continue
		}
		fmt.Fprintf(&b, "  - {name: %s, type: numeric, lower: %s, upper: %s, missing: unknown}\n", quote(h), formatNumber(-largestBound), formatNumber(largestBound))
	}
	return Decode("columns of the file", b.Bytes())
}
