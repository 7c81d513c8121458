package schema

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"pawl/internal/usage"
)

// FromSmartNoise turns the metadata that SmartNoise SQL reads (YAML: collection, schema,
// table, columns) into a schema template. What both say is carried over: bounds, the
// column that identifies a person with max_ids rows of it, the rough number of rows, what may be
// missing. Lists of categories do not stand in such a file, so its strings stay blanks for
// a person to fill; dates and unknown types are ignored columns. notes say what was not
// carried over. name stands in errors (*Error) and reasons.
func FromSmartNoise(name string, data []byte) (table string, text []byte, notes []string, err error) {
	fail := func(format string, args ...any) (string, []byte, []string, error) {
		return "", nil, nil, &Error{File: name, Msg: fmt.Sprintf(format, args...)}
	}
	file, err := usage.ParseYAML(data)
	if err != nil {
		return "", nil, nil, syntaxError(name, err)
	}
	var root yaml.MapSlice
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		if err := yaml.NodeToValue(file.Docs[0].Body, &root, yaml.UseOrderedMap()); err != nil {
			return "", nil, nil, syntaxError(name, err)
		}
	}
	root = slices.DeleteFunc(root, func(i yaml.MapItem) bool { return i.Key == "engine" })
	tables := tablesOf(root)
	switch {
	case len(tables) == 0:
		return fail("holds no table: SmartNoise metadata has collection, schema, table and columns, each with a type")
	case len(tables) > 1:
		return fail("holds %d tables, and a schema is for one table: keep one of them in a copy of the file", len(tables))
	}
	t := tables[0]
	table = fmt.Sprint(t.Key)
	m := metadata{from: "declared in " + name + " (SmartNoise metadata)", maxRows: 1, rows: "private"}
	for _, i := range t.Value.(yaml.MapSlice) {
		if err := m.entry(fmt.Sprint(i.Key), i.Value); err != nil {
			return fail("table %q: %v", table, err)
		}
	}
	if m.rowPrivacy {
		m.unit = "row"
	}
	unit := ""
	if m.unit == "" {
		m.notes = append(m.notes, fmt.Sprintf("table %q has neither row_privacy: True nor a private_id column, so the unit is blank; fill it in", table))
	} else {
		unit = " " + quoteUnit(m.unit, m.maxRows)
	}
	head := fmt.Sprintf(templateHead, oneLine(table), quote(table), unit, quoteList(DefaultNA))
	head = strings.Replace(head, "\nrows: private\n", "\nrows: "+m.rows+"\n", 1)
	return table, append([]byte(head+templateKeys+"columns:\n"), m.columns.Bytes()...), m.notes, nil
}

// tablesOf finds the mappings that hold columns: mappings with a type.
func tablesOf(m yaml.MapSlice) (found yaml.MapSlice) {
	for _, i := range m {
		inner, ok := i.Value.(yaml.MapSlice)
		switch {
		case !ok:
		case slices.ContainsFunc(inner, func(c yaml.MapItem) bool { _, ok := property(c.Value, "type"); return ok }):
			found = append(found, i)
		default:
			found = append(found, tablesOf(inner)...)
		}
	}
	return found
}

func property(v any, key string) (any, bool) {
	m, _ := v.(yaml.MapSlice)
	for _, i := range m {
		if i.Key == key {
			return i.Value, true
		}
	}
	return nil, false
}

// metadata is what was read of a table.
type metadata struct {
	from       string
	unit, rows string
	rowPrivacy bool
	maxRows    int
	columns    bytes.Buffer
	notes      []string
}

// entry reads a key of a table: a property, or a column.
func (m *metadata) entry(key string, v any) error {
	count := func() (int64, error) {
		f, ok := float(v)
		if !ok || f < 1 || f != math.Trunc(f) || f > 1<<53 {
			return 0, fmt.Errorf("%s must be a whole number from 1", key)
		}
		return int64(f), nil
	}
	switch key {
	case "row_privacy":
		m.rowPrivacy = v == true
	case "max_ids":
		n, err := count()
		m.maxRows = int(n)
		return err
	case "rows", "rows_exact":
		n, err := count()
		switch {
		case err != nil:
			return err
		case key == "rows_exact":
			m.rows = strconv.FormatInt(n, 10)
		case m.rows == "private":
			m.rows = "about " + strconv.FormatInt(n, 10)
		}
	case "sample_max_ids", "clamp_counts", "clamp_columns", "use_dpsu", "censor_dims":
		// How SmartNoise answers queries; rows of a unit and values are always bounded here.
	default:
		return m.column(key, v)
	}
	return nil
}

func (m *metadata) column(name string, v any) error {
	kind, ok := property(v, "type")
	if !ok {
		return fmt.Errorf("%q is neither a property of a table nor a column with a type", name)
	}
	b := &m.columns
	fmt.Fprintf(b, "  - name: %s\n", quote(name))
	if id, _ := property(v, "private_id"); id == true {
		if m.unit != "" {
			return fmt.Errorf("columns %q and %q are both the private_id", m.unit, name)
		}
		m.unit = name
		b.WriteString("    type: ignore\n")
		return nil
	}
	switch kind {
	case "int", "float":
		return m.number(name, kind == "int", v)
	case "boolean":
		b.WriteString("    type: boolean\n")
	case "string":
		m.notes = append(m.notes, fmt.Sprintf("column %q: a string; give its categories, or type: text", name))
		b.WriteString("    type:\n")
	default: // dates, and what SmartNoise does not know
		m.notes = append(m.notes, fmt.Sprintf("column %q: of type %v, ignored", name, kind))
		b.WriteString("    type: ignore\n")
		return nil
	}
	m.missing(v, false)
	return nil
}

func (m *metadata) number(name string, whole bool, v any) error {
	kind := "numeric"
	if whole {
		kind = "integer"
	}
	fmt.Fprintf(&m.columns, "    type: %s\n", kind)
	for _, key := range []string{"lower", "upper"} {
		x, ok := property(v, key)
		f, number := float(x)
		switch {
		case !ok:
			m.notes = append(m.notes, fmt.Sprintf("column %q: has no %s bound", name, key))
			fmt.Fprintf(&m.columns, "    %s:\n", key)
		case !number:
			return fmt.Errorf("column %q: %s is not a finite number", name, key)
		default:
			fmt.Fprintf(&m.columns, "    %s: %s\n", key, formatNumber(f))
		}
	}
	if _, ok := property(v, "sensitivity"); ok {
		m.notes = append(m.notes, fmt.Sprintf("column %q: its sensitivity is left out; here it follows from the bounds", name))
	}
	m.missing(v, true)
	fmt.Fprintf(&m.columns, "    why: %s\n", quote(m.from))
	return nil
}

// missing carries over what an empty cell means. Columns are nullable unless they say
// otherwise.
func (m *metadata) missing(v any, number bool) {
	if x, ok := property(v, "missing_value"); ok {
		if f, isNumber := float(x); number && isNumber {
			fmt.Fprintf(&m.columns, "    missing: %s\n", formatNumber(f))
			return
		}
	}
	if nullable, ok := property(v, "nullable"); !ok || nullable == true {
		m.columns.WriteString("    missing: unknown\n")
	}
}

func float(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case int:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return 0, false
}
