package sealed

import (
	"errors"
	"testing"

	"pawl/core/dp"
	"pawl/data/packed"
	"pawl/data/schema"
)

// What was read for a rehearsal names its assignment and opens to nobody.
func TestRehearsalsStayClosed(t *testing.T) {
	key := NewKey("d", [32]byte{1}, [32]byte{})
	s := &schema.Schema{Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}
	r := Seal(key, s, Table{Rule: "rows of version 1", Rehearsal: true})
	p := Assign(permit(t, dp.Gaussian{NoiseMultiplier: 2}), r.Assignment())
	if _, err := Open(r, p, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 2}); err == nil || p.Opened() {
		t.Errorf("rows that were not kept opened: %v", err)
	}
	if _, err := OpenPublic(r, dp.WholeScope); err == nil {
		t.Error("public rows that were not kept opened")
	}
	if r.Assignment() != Seal(key, s, Table{Cells: packed.Of([]float64{1}, 1), Hash: []uint64{7}, Rule: "rows of version 1"}).Assignment() {
		t.Error("a rehearsal has another assignment")
	}
}

// A permit opens the rows that it was priced for: sealed under the same key, of the same
// version. A simulation's rows open under any, but only where they are public.
func TestRowsOfAnotherAssignmentStayClosed(t *testing.T) {
	one, two := NewKey("d", [32]byte{1}, [32]byte{}), NewKey("d", [32]byte{2}, [32]byte{})
	at := func(key *Key, rule string, public bool) *Rows {
		s := &schema.Schema{Public: public, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}
		return Seal(key, s, Table{Cells: packed.Of([]float64{1}, 1), Hash: []uint64{7}, Rule: rule})
	}
	for _, tt := range []struct {
		name   string
		priced *Rows
		opened *Rows
		opens  bool
	}{
		{"the same", at(one, "rows of version 1", false), at(one, "rows of version 1", false), true},
		{"another version", at(one, "rows of version 1", false), at(one, "rows of version 2", false), false},
		{"another key", at(one, "rows of version 1", false), at(two, "rows of version 1", false), false},
		{"public rows, another key", at(one, "rows of version 1", true), at(two, "rows of version 1", true), false},
		{"public rows of a simulation", at(one, "rows of version 1", true), at(NewSimulationKey("d", 1), "rows", true), true},
		{"sensitive rows of a simulation", at(one, "rows of version 1", false), at(NewSimulationKey("d", 1), "rows", false), false},
		{"sensitive rows of a simulation, priced so", at(NewSimulationKey("d", 1), "rows", false), at(NewSimulationKey("d", 1), "rows", false), false},
		{"no rows were named", nil, at(one, "rows of version 1", false), false},
	} {
		p := permit(t, dp.Gaussian{NoiseMultiplier: 2})
		if tt.priced != nil {
			Assign(p, tt.priced.Assignment())
		}
		_, err := Open(tt.opened, p, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 2})
		if (err == nil) != tt.opens || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v, want it to open: %v", tt.name, err, tt.opens)
		}
		if err != nil && p.Opened() {
			t.Errorf("%s: the event was used up", tt.name)
		}
	}
}
