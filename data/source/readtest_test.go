package source

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pawl/data/schema"
	"pawl/reader"
)

// Rows of a test file say whose they are, by numbers and in order of appearance, so that
// intervals can go by units; a file without the unit column does not know.
func TestTestRowsTellTheirUnits(t *testing.T) {
	s := &schema.Schema{Version: schema.Version, Unit: schema.Unit{Name: "person", Column: "who", MaxRows: 3}, Columns: []schema.Column{
		{Name: "who", Type: schema.Ignore}, {Name: "x", Type: schema.Numeric, Lower: 0, Upper: 9}}}
	src := &Table{Schema: s}
	rows, err := src.ReadTest("t.csv", strings.NewReader("x,who\n1,ann\n2,bob\n3,ann\n"), reader.Refuse, false)
	if err != nil {
		t.Fatal(err)
	}
	var units []float64
	for _, cells := range rows {
		units = append(units, cells[0])
	}
	if !slices.Equal(units, []float64{0, 1, 0}) {
		t.Errorf("units %v", units)
	}
	rows, err = src.ReadTest("t.csv", strings.NewReader("x\n1\n2\n"), reader.Refuse, false)
	if err != nil || len(rows) != 2 || !math.IsNaN(rows[0][0]) || !math.IsNaN(rows[1][0]) {
		t.Errorf("without the column: %v, %v", rows, err)
	}
}
