package sealed

import (
	"slices"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/data/packed"
	"pawl/data/schema"
)

// Rows of one unit share a number where a unit may own several; where it owns one,
// equal rows stay apart.
func TestUnits(t *testing.T) {
	hash := []uint64{9, 1 << 63, 9, 7, 1 << 63, 9}
	for _, tt := range []struct {
		name    string
		maxRows int
		scope   dp.Scope
		of      []int32
		n       int
	}{
		{"several rows", 3, dp.WholeScope, []int32{0, 1, 0, 2, 1, 0}, 3},
		{"in a scope", 3, dp.Scope{Lower: 0, Upper: 0.5}, []int32{0, 0, 1, 0}, 2},
		{"one row", 1, dp.WholeScope, nil, 6},
		{"no row", 3, dp.Scope{Lower: 0.25, Upper: 0.5}, []int32{}, 0},
	} {
		s := &schema.Schema{Unit: schema.Unit{Name: "person", MaxRows: tt.maxRows}, Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}
		of, n := New("d", s, make([]float64, len(hash)), hash).view(tt.scope).Units()
		if n != tt.n || !slices.Equal(of, tt.of) || (of == nil) != (tt.of == nil) {
			t.Errorf("%s: %v of %d, want %v of %d", tt.name, of, n, tt.of, tt.n)
		}
	}
}

// Two units of one hash are two: neither has the other's place among the rows.
func TestUnitsOfOneHashAreTwo(t *testing.T) {
	s := &schema.Schema{Unit: schema.Unit{Name: "person", MaxRows: 2}, Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}
	view := func(hash []uint64, unit []int32) *View {
		return Seal(NewSimulationKey("d", 1), s, Table{Cells: packed.Of(make([]float64, len(hash)), 1), Hash: hash, Unit: unit}).view(dp.WholeScope)
	}
	both := view([]uint64{9, 9, 9, 4}, []int32{5, 6, 5, 7})
	if of, n := both.Units(); n != 3 || !slices.Equal(of, []int32{0, 1, 0, 2}) {
		t.Errorf("units %v of %d", of, n)
	}
	if got, all := view([]uint64{9, 9, 4}, []int32{5, 5, 7}).Seeds(), both.Seeds(); !slices.Equal(got, []uint64{all[0], all[2], all[3]}) {
		t.Errorf("without unit 6 the seeds are %v, with it %v", got, all)
	}
}

// The seed of a row is that of its unit and its place in it: other units that come
// or go do not move it, rows of a unit differ.
func TestSeedsBelongToTheUnit(t *testing.T) {
	seeds := func(maxRows int, hash ...uint64) []uint64 {
		s := &schema.Schema{Unit: schema.Unit{Name: "person", MaxRows: maxRows}, Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}
		return New("d", s, make([]float64, len(hash)), hash).view(dp.WholeScope).Seeds()
	}
	all := seeds(3, 9, 4, 9, 7, 4, 9)
	if got, want := seeds(3, 4, 9, 9, 4, 9), []uint64{all[1], all[0], all[2], all[4], all[5]}; !slices.Equal(got, want) {
		t.Errorf("without unit 7 the seeds are %v, want %v", got, want)
	}
	if got := seeds(3, 7); got[0] != all[3] {
		t.Errorf("unit 7 alone has seed %d, among others %d", got[0], all[3])
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Error("two rows share a seed")
	}
	if got := seeds(1, 5, 8, 5); !slices.Equal(got, []uint64{5, 8, 5}) {
		t.Errorf("where rows are units the seeds are %v, want the hashes", got)
	}
}

func TestRowsApart(t *testing.T) {
	for rel, want := range map[dp.Relation]int{dp.AddOrRemoveOne: 3, dp.ZeroOut: 3, dp.ReplaceOne: 6} {
		p, err := NewPermit("id", "d", rel, 3, dp.NoOp{}, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.RowsApart(); got != want {
			t.Errorf("%v, 3 rows per unit: %d rows apart, want %d", rel, got, want)
		}
	}
}

// A composition of no steps, or of fewer, is not a cheaper one.
func TestPermitRefusesCountsWithoutMeaning(t *testing.T) {
	for _, count := range []int64{0, -5} {
		p := permit(t, dp.Gaussian{NoiseMultiplier: 2})
		if _, err := Open(rows(t), p, dp.WholeScope, dp.Repeat{Count: count, Event: dp.Gaussian{NoiseMultiplier: 0.1}}); err == nil {
			t.Errorf("%d steps opened the rows", count)
		}
	}
}
