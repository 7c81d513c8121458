package dp

import "fmt"

// Relation is the neighbouring relation under which a guarantee holds. A plan,
// a budget and a candidate space hold one Relation; the zero value is not a
// relation and every constructor refuses it.
type Relation int

const (
	// AddOrRemoveOne relates data sets that differ by the presence of one unit. The number of rows is
	// then private itself, unless it is declared.
	AddOrRemoveOne Relation = iota + 1
	// ReplaceOne relates data sets of equal size that differ in one unit's value.
	ReplaceOne
	// ZeroOut relates a data set to the same data set with one unit replaced by a fixed null value: as
	// many rows, in which every cell is unknown and the dense input is zeros. Its mechanisms cost what
	// they cost under AddOrRemoveOne, which holds where a null row adds nothing (core refuses the
	// others), and the number of rows is public.
	ZeroOut
)

var relationNames = map[Relation]string{
	AddOrRemoveOne: "add_or_remove_one",
	ReplaceOne:     "replace_one",
	ZeroOut:        "zero_out",
}

// String returns the field's snake_case name, for example "add_or_remove_one".
func (r Relation) String() string {
	if s, ok := relationNames[r]; ok {
		return s
	}
	return fmt.Sprintf("relation(%d)", int(r))
}

// Valid reports whether r is one of the named relations.
func (r Relation) Valid() bool { _, ok := relationNames[r]; return ok }

// ParseRelation reads the name written by String. "replace_special" is accepted
// as another name of zero_out.
func ParseRelation(s string) (Relation, error) {
	for r, name := range relationNames {
		if s == name {
			return r, nil
		}
	}
	if s == "replace_special" {
		return ZeroOut, nil
	}
	return 0, fmt.Errorf("unknown neighbouring relation %q (want add_or_remove_one, replace_one or zero_out)", s)
}

// MarshalText implements encoding.TextMarshaler.
func (r Relation) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, fmt.Errorf("relation(%d) is not a neighbouring relation", int(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Relation) UnmarshalText(b []byte) error {
	v, err := ParseRelation(string(b))
	if err != nil {
		return err
	}
	*r = v
	return nil
}
