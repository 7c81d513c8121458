package identity

import "testing"

// The closest of what is kept decides, wherever it stands; what cannot be read is an error.
func TestTheClosestOfKeptPrintsDecides(t *testing.T) {
	names, rows := wide(2000)
	print := func(rows [][]string) *Print {
		b := New(testKey, names)
		for _, row := range rows {
			b.Add(row)
		}
		return b.Print()
	}
	same, none := print(rows), print(rows[:3])
	for _, kept := range []Kept{{same.Marshal(), none.Marshal()}, {none.Marshal(), same.Marshal()}} {
		for _, found := range [][]*Print{{same, none}, {none, same}, {same}} {
			if got, err := kept.Alike(found); err != nil || got != Equal {
				t.Errorf("%v, %v", got, err)
			}
		}
		if is, others, err := kept.Recorded([]*Print{same}, Table); err != nil || !is || others {
			t.Errorf("recorded: %v, others %v, %v", is, others, err)
		}
	}
	if got, err := (Kept{none.Marshal()}).Alike([]*Print{same}); err != nil || got == Equal {
		t.Errorf("three rows of 2000 are %v, %v", got, err)
	}
	if is, others, err := (Kept{none.Marshal()}).Recorded([]*Print{same}, Table); err != nil || is || !others {
		t.Errorf("not recorded: %v, others %v, %v", is, others, err)
	}
	broken := Kept{same.Marshal(), {1, 2, 3}}
	if _, err := broken.Alike([]*Print{same}); err == nil {
		t.Error("a print that cannot be read passes")
	}
	if _, _, err := broken.Recorded([]*Print{same}, Table); err == nil {
		t.Error("a print that cannot be read passes")
	}
}
