package sealed

import (
	"encoding/json"
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/core/entropy"
)

// ErrToken is returned for a token that was made for something else, or is not genuine.
var ErrToken = errors.New("not a permit of this study and trial")

// token is a permit on its way to another process. Everything but the stream is readable
// and authenticated with it.
type token struct {
	ID       string          `json:"id"`
	Dataset  string          `json:"dataset"`
	Relation dp.Relation     `json:"relation"`
	MaxRows  int             `json:"max_rows"`
	Key      string          `json:"key,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Event    json.RawMessage `json:"event"`
	Study    string          `json:"study"`
	Trial    string          `json:"trial"`
	Stream   []byte          `json:"stream,omitempty"`
}

// bound is what the stream is sealed with.
func (t token) bound() ([]byte, error) {
	t.Stream = nil
	return json.Marshal(t)
}

// Travel takes event out of p's unused events, each of its parts once, and returns a token from
// which Arrive makes a permit for exactly these parts in another process, with the streams that p
// would have had. It closes p: its events are used there or nowhere.
//
// The token is bound to study and trial under key, which only the processes of the study know. Two
// arrivals of one token have the same noise and release the same: a token may be redeemed again
// only for the same computation on the same rows, after the first attempt was lost.
func Travel(p *Permit, key [32]byte, event dp.Event, study, trial string) ([]byte, error) {
	if p == nil || p.streams == nil {
		return nil, ErrNotReserved
	}
	if err := event.Validate(); err != nil {
		return nil, err
	}
	encoded, err := dp.EncodeEvent(event)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotReserved, err)
	}
	if err := p.leave(event); err != nil {
		return nil, err
	}
	t := token{ID: p.id, Dataset: p.dataset, Relation: p.relation, MaxRows: p.maxRows, Key: p.assignment.Key, Rule: p.assignment.Rule,
		Event: encoded, Study: study, Trial: trial}
	bound, err := t.bound()
	if err != nil {
		return nil, err
	}
	if t.Stream, err = p.root.Seal(key, bound); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// leave uses up the parts of event, all or none, and closes the permit.
func (p *Permit) leave(event dp.Event) error {
	var wanted pool
	wanted.add(dp.WholeScope, event)
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	switch {
	case p.closed || p.pool.closed:
		return fmt.Errorf("permit %s is closed: %w", p.id, ErrNotReserved)
	case len(p.taken) > 0, len(p.handed) > 0:
		return fmt.Errorf("permit %s was used here, and a part of it elsewhere would have its noise: %w", p.id, ErrNotReserved)
	}
	var parts []int
	for _, w := range wanted.items {
		found := -1
		for i, it := range p.pool.items {
			if !it.used && it.scope == w.scope && equal(it.event, w.event) {
				found = i
				break
			}
		}
		if found < 0 {
			for _, i := range parts {
				p.pool.items[i].used = false
			}
			return fmt.Errorf("%s on %s: %w", dp.KindOf(w.event), w.scope, ErrNotReserved)
		}
		p.pool.items[found].used = true
		parts = append(parts, found)
	}
	p.closed = true
	// Whether rows were opened is known only where the token is redeemed.
	p.pool.opened = p.pool.opened || len(parts) > 0
	return nil
}

// Arrive returns the permit of a token that Travel made under the same key, for the same study and
// trial. Anything else gives ErrToken.
func Arrive(made []byte, key [32]byte, study, trial string) (*Permit, error) {
	var t token
	if err := json.Unmarshal(made, &t); err != nil || t.Study != study || t.Trial != trial {
		return nil, ErrToken
	}
	bound, err := t.bound()
	if err != nil {
		return nil, ErrToken
	}
	src, err := entropy.Unseal(key, bound, t.Stream)
	if err != nil {
		return nil, ErrToken
	}
	event, err := dp.DecodeEvent(t.Event)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	p, err := NewPermit(t.ID, t.Dataset, t.Relation, t.MaxRows, event, src)
	if err != nil {
		return nil, err
	}
	return Assign(p, Assignment{Key: t.Key, Rule: t.Rule}), nil
}
