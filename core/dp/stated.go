package dp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Stated is an event with what its numbers were taken for. Noise multipliers are
// relative to a sensitivity, which depends on the relation and the unit: without them
// the same event may be priced for a promise that nobody made.
type Stated struct {
	Event Event
	// Relation is 0 where the file does not say.
	Relation Relation
	// Unit is what one neighbouring change adds, removes or replaces, in words; "" where
	// the file does not say.
	Unit string
	// Group is how many such changes, one after the other, the promise covers: the event
	// is that of one. 0 and 1 are the same.
	Group int64
}

// MaxGroup bounds Group, MaxUnitBytes the length of Unit.
const (
	MaxGroup     = 1 << 40
	MaxUnitBytes = 1 << 10
)

// Encode writes what EncodeEvent writes, with "relation", "unit" and "group" after the
// version where they are known.
func (s Stated) Encode() ([]byte, error) {
	raw, err := EncodeEvent(s.Event)
	if err != nil {
		return nil, err
	}
	var more bytes.Buffer
	if s.Relation != 0 {
		text, err := s.Relation.MarshalText()
		if err != nil {
			return nil, invalid("event", "relation: %v", err)
		}
		fmt.Fprintf(&more, `"relation":%q,`, text)
	}
	if s.Unit != "" {
		text, err := json.Marshal(s.Unit)
		if err != nil {
			return nil, invalid("event", "unit: %v", err)
		}
		fmt.Fprintf(&more, `"unit":%s,`, text)
	}
	if s.Group > 1 {
		fmt.Fprintf(&more, `"group":%d,`, s.Group)
	}
	head := fmt.Sprintf(`{"version":%d,`, EventVersion)
	return append(append([]byte(head), more.Bytes()...), raw[len(head):]...), nil
}

// DecodeStated reads what Encode and EncodeEvent write, and refuses what DecodeEvent
// refuses.
func DecodeStated(data []byte) (Stated, error) {
	var s Stated
	o, err := readEvent(data)
	if err != nil {
		return s, err
	}
	for _, field := range []struct {
		name string
		into any
	}{{"relation", &s.Relation}, {"unit", &s.Unit}, {"group", &s.Group}} {
		if err := o.optional(field.name, field.into); err != nil {
			return Stated{}, err
		}
	}
	switch {
	case s.Group < 0 || s.Group > MaxGroup:
		return Stated{}, invalid("event", "group must lie in [1, 2^40]")
	case len(s.Unit) > MaxUnitBytes:
		return Stated{}, invalid("event", "unit is longer than %d bytes", MaxUnitBytes)
	}
	s.Event, err = o.versioned()
	return s, err
}
