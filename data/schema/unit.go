package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// unitWords are names of a unit that need no column: each row is then taken as
// one of them, and Warnings says so.
var unitWords = []string{"record", "person", "individual", "patient", "customer", "user", "household", "employee", "student", "case"}

// unitQuestion is what a schema without a unit leaves open, and unitHint the answers.
const (
	unitQuestion = "whose data are to be protected?"
	unitHint     = "unit: row if every row is about a different person; if a person can have several, unit: the column that identifies the person, and rows_per_unit: N, the most rows of one person that count"
)

// NoUnit is the fault of an assumed unit where somebody is to be protected after all; why
// says who holds the data as sensitive.
func NoUnit(why string) error {
	return &Error{Msg: why + ", and its schema declares no unit: " + unitQuestion, hint: unitHint}
}

// unitGiven refuses sensitive data without a unit: a guarantee for rows that was meant
// for persons must be nobody's default. Public data protect nobody.
func (d *decoder) unitGiven(by map[string]field) error {
	f, ok := by["unit"]
	switch {
	case ok && !blank(f.value):
		return nil
	case d.schema.Public:
		d.schema.Unit.Assumed = true
		return nil
	case ok:
		return d.fault(f.where, "", "unit is blank: "+unitQuestion, unitHint)
	}
	return d.fault(place{1, 1}, "", "no unit is declared: "+unitQuestion, unitHint)
}

// unit reads `unit:` with `rows_per_unit:`. It errs on the side of refusal: a
// guarantee for persons that in truth protects rows is the worst misreading.
func (d *decoder) unit(by map[string]field) error {
	perUnit, hasPer := by["rows_per_unit"]
	f := by["unit"]
	if d.schema.Unit.Assumed {
		if hasPer && !blank(perUnit.value) {
			return d.rowsOfRow(perUnit)
		}
		return nil
	}
	switch f.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return d.unitMapping(f, perUnit, hasPer)
	}
	word, err := d.text(f)
	if err != nil {
		return err
	}
	s := d.schema
	at := position(f.value)
	if s.Column(word) >= 0 {
		if word == "row" {
			return d.fault(at, "", `unit "row" is both a keyword and a column`, "write {name: row} or {column: row, rows: N}")
		}
		return d.unitColumn(f, word, word, perUnit, hasPer)
	}
	label := strings.ToLower(word)
	if label == "row" || label == "rows" {
		if hasPer {
			return d.rowsOfRow(perUnit)
		}
		return nil
	}
	if c := d.identifierOf(label); c != "" {
		return d.fault(at, "", fmt.Sprintf("unit %q is not a column, but column %q looks like its identifier", word, c),
			fmt.Sprintf("write unit: %s with rows_per_unit: N, or unit: {name: %s} when each row is one %s", c, label, label))
	}
	for _, w := range unitWords {
		if w == label {
			s.Unit.Name = label
			s.Warnings = append(s.Warnings, "each row is taken as one "+label)
			if hasPer {
				return d.rowsOfRow(perUnit)
			}
			return nil
		}
	}
	hint := "write row, the name of a declared column, or {name: " + label + "} when each row is one " + label
	if near := Nearest(word, d.names()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return d.fault(at, "", fmt.Sprintf("unit %q is neither a declared column nor a word for one row", word), hint)
}

func (d *decoder) unitMapping(f field, perUnit field, hasPer bool) error {
	fields, err := d.mapping(f.value, "unit", []string{"name", "column", "rows"})
	if err != nil {
		return err
	}
	var name, column string
	for _, g := range fields {
		switch g.key {
		case "name":
			name, err = d.text(g)
		case "column":
			column, err = d.text(g)
		case "rows":
			if hasPer {
				return d.fault(g.where, "", "rows per unit are given twice (unit.rows and rows_per_unit)", "keep one of them")
			}
			perUnit, hasPer = g, true
		}
		if err != nil {
			return err
		}
	}
	if column == "" {
		if name == "" {
			return d.fault(f.where, "", "unit needs a name or a column", "")
		}
		d.schema.Unit.Name = name
		if hasPer {
			return d.rowsOfRow(perUnit)
		}
		if name != "row" {
			d.schema.Warnings = append(d.schema.Warnings, "each row is taken as one "+name)
		}
		return nil
	}
	if d.schema.Column(column) < 0 {
		hint := "declare it under columns with type: ignore"
		if near := Nearest(column, d.names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return d.fault(f.where, "", fmt.Sprintf("unit column %q is not declared", column), hint)
	}
	if name == "" {
		name = column
	}
	return d.unitColumn(f, name, column, perUnit, hasPer)
}

func (d *decoder) unitColumn(f field, name, column string, perUnit field, hasPer bool) error {
	if !hasPer {
		return d.fault(f.where, "", fmt.Sprintf("unit column %q needs the largest number of rows of one unit", column),
			"add rows_per_unit: N; further rows of a unit are dropped")
	}
	n, err := d.rowsPerUnit(perUnit)
	if err != nil {
		return err
	}
	s := d.schema
	s.Unit = Unit{Name: name, Column: column, MaxRows: n}
	if s.Columns[s.Column(column)].Type != Ignore {
		s.Warnings = append(s.Warnings, fmt.Sprintf("column %q identifies the unit and is also used as data; type: ignore keeps it out", column))
	}
	return nil
}

// rowsOfRow accepts rows_per_unit: 1 where each row is a unit.
func (d *decoder) rowsOfRow(f field) error {
	n, err := d.rowsPerUnit(f)
	if err == nil && n != 1 {
		err = d.fault(f.where, "", fmt.Sprintf("%d rows per unit, but no column says which rows belong together", n),
			"unit: names the column that identifies the "+d.schema.Unit.Name+", as columns: declares it")
	}
	return err
}

func (d *decoder) rowsPerUnit(f field) (int, error) {
	s, err := d.text(f)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxRowsPerUnit {
		return 0, d.fault(position(f.value), "", fmt.Sprintf("rows per unit must be a whole number from 1 to %d", maxRowsPerUnit), "")
	}
	return n, nil
}

func (d *decoder) names() []string {
	var out []string
	for _, c := range d.schema.Columns {
		out = append(out, c.Name)
	}
	return out
}

// identifierOf finds a column named like the identifier of a unit: patient_id,
// PatientID, id_patient, or the word itself in other letters.
func (d *decoder) identifierOf(word string) string {
	squeeze := strings.NewReplacer("_", "", "-", "", " ", "", ".", "")
	for _, name := range d.names() {
		switch squeeze.Replace(strings.ToLower(name)) {
		case word, word + "id", "id" + word, word + "no", word + "number", word + "key":
			return name
		}
	}
	return ""
}
