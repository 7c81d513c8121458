package reader

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/internal/usage"
)

// The list of faults is as long as there are kinds and columns, whatever the rows hold, and
// says nothing of the rows but where each kind first stands in each column.
func TestAllFaults(t *testing.T) {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "id", Column: "id", MaxRows: 2}, Rows: schema.RowCount{Kind: schema.RowsPrivate}, NA: []string{""},
		Columns: []schema.Column{{Name: "id", Type: schema.Ignore}, {Name: "age", Type: schema.Integer, Upper: 120, Missing: schema.MissingRefuse},
			{Name: "sick", Type: schema.Categorical, Categories: []string{"no", "yes"}}, {Name: "lost", Type: schema.Boolean}}}
	var rows strings.Builder
	rows.WriteString("id,age,sick,more\n1,40,yes,\n")
	for i := range 500 {
		fmt.Fprintf(&rows, "%d,CANARY%d,CANARY%d,\n,,maybe,\n%d,3,no\n%d,3,no,,,%s\n", i, i, i, i, i, strings.Repeat(",", i))
	}
	handed := 0
	read := func(o Options) error {
		handed = 0
		return ReadFrom("t.csv", strings.NewReader(rows.String()), s, o, func([]float64, schema.Record) error { handed++; return nil })
	}
	var all *usage.Faults
	if err := read(Options{Faults: NewFaults(), Target: "sick"}); !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, err := range all.List {
		got = append(got, err.Error())
	}
	want := []string{
		`t.csv:1: the header has no column "lost", which the schema declares`,
		`t.csv:1: column "more": not declared in the schema`,
		`t.csv:3: column "age": not a whole number (digits with an optional sign, point and exponent, no spaces)`,
		`t.csv:3: column "sick": undeclared category: the schema lists 2 categories and no "other"`,
		`t.csv:4: column "id": the identifier of the unit is missing`,
		`t.csv:4: column "age": missing value, but the schema declares no missing rule for this column`,
		`t.csv:5: fewer cells than columns in the header`,
		`t.csv:6: more cells than columns in the header`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if handed != 1 {
		t.Errorf("%d rows were handed on, want the one without fault", handed)
	}
	// A fault of the whole file ends the list.
	rows.WriteString("7,\"4")
	if err := read(Options{Faults: NewFaults()}); !errors.As(err, &all) || len(all.List) != len(want)+1 || !strings.Contains(all.List[len(want)].Error(), "never closed") {
		t.Errorf("with an open quote: %v", err)
	}
	// Without a collection the header ends the reading, and both names are said.
	if err := read(Options{}); !errors.As(err, &all) || len(all.List) != 2 || handed != 0 {
		t.Errorf("without a collection: %v", err)
	}
}
