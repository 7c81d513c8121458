package lab

import (
	"strconv"
	"testing"

	"pawl/data/schema"
)

// A row stays with its unit through a split: without it all rows of a table with a unit column would be
// those of one unit, which trains with a single row. Units of several rows stay whole.
func TestSplitKeepsUnits(t *testing.T) {
	for _, perUnit := range []int{1, 4} {
		all := &Table{Schema: &schema.Schema{Unit: schema.Unit{Column: "id", MaxRows: perUnit}}}
		for i := range 40 {
			all.Rows, all.Units = append(all.Rows, []float64{float64(i / perUnit)}), append(all.Units, strconv.Itoa(i/perUnit))
		}
		s := all.Split(24, 1)
		if len(s.Rows) != 24 || len(s.Units) != 24 || len(s.Test) != 16 {
			t.Fatalf("%d rows of %d units train, %d test", len(s.Rows), len(s.Units), len(s.Test))
		}
		train := map[float64]bool{}
		for i, r := range s.Rows {
			if train[r[0]] = true; strconv.Itoa(int(r[0])) != s.Units[i] {
				t.Errorf("row of unit %g is given to %s", r[0], s.Units[i])
			}
		}
		for _, r := range s.Test {
			if train[r[0]] {
				t.Errorf("unit %g trains and tests", r[0])
			}
		}
	}
}
