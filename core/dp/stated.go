package dp

import (
	"bytes"
	"encoding/json"
)

// Stated is an event with the relation and unit for which its numbers hold. Noise multipliers are
// relative to a sensitivity, which depends on both: without them the event could be priced for a
// guarantee that nobody gave.
type Stated struct {
	Event Event
	// Relation is 0 if the file does not state it.
	Relation Relation
	// Unit describes what one neighbouring change adds, removes or replaces; "" if the file does not
	// state it.
	Unit string
	// Group is the number of successive changes that the guarantee covers; the event is that of one
	// change. 0 and 1 mean the same.
	Group int64
}

// MaxGroup bounds Group, MaxUnitBytes the length of Unit.
const (
	MaxGroup     = 1 << 40
	MaxUnitBytes = 1 << 10
)

// Encode writes what EncodeEvent writes, with "relation", "unit" and "group" after the version if
// they are known.
func (s Stated) Encode() ([]byte, error) {
	group := s.Group
	if group <= 1 {
		group = 0
	}
	head, err := json.Marshal(struct {
		Version  int      `json:"version"`
		Relation Relation `json:"relation,omitzero"`
		Unit     string   `json:"unit,omitempty"`
		Group    int64    `json:"group,omitempty"`
	}{EventVersion, s.Relation, s.Unit, group})
	if err != nil {
		return nil, invalid("event", "%v", err)
	}
	// Depth before Validate, which recurses without a bound of its own.
	var b bytes.Buffer
	if err := write(&b, "event", "event", s.Event, 0); err != nil {
		return nil, err
	}
	if len(head)+b.Len() > MaxEventBytes {
		return nil, invalid(s.Event.kind(), "longer than %d bytes", MaxEventBytes)
	}
	if err := s.Event.Validate(); err != nil {
		return nil, err
	}
	head[len(head)-1] = ','
	return append(head, b.Bytes()[1:]...), nil
}

// DecodeStated reads the output of Encode and of EncodeEvent, and refuses what DecodeEvent refuses.
func DecodeStated(data []byte) (s Stated, err error) {
	e, err := decode(data, []member{{"relation", &s.Relation}, {"unit", &s.Unit}, {"group", &s.Group}})
	switch {
	case err != nil:
		return Stated{}, err
	case s.Group < 0 || s.Group > MaxGroup:
		return Stated{}, invalid("event", "group must lie in [1, 2^40]")
	case len(s.Unit) > MaxUnitBytes:
		return Stated{}, invalid("event", "unit is longer than %d bytes", MaxUnitBytes)
	}
	s.Event = e
	return s, nil
}
