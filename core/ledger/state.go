package ledger

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"pawl/core/dp"
)

// EntryState is the state of a reservation.
type EntryState string

// A reservation is charged while it is reserved and once it is committed.
const (
	Reserved  EntryState = "reserved"
	Committed EntryState = "committed"
	Cancelled EntryState = "cancelled"
)

// Grant records who granted the current budget, and when.
type Grant struct {
	By     string `json:"by"`
	At     string `json:"at"`
	Self   bool   `json:"self"` // granted by the first user to himself
	Reason string `json:"reason"`
}

// Act records who did something, when and why.
type Act struct {
	By     string `json:"by"`
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// entry is an Entry with what only the ledger asks of it; Charged is filled where it is shown.
type entry struct {
	Entry
	seq      int64 // of the record that charged it
	event    dp.Event
	digest   Hash     // the bytes it was booked for
	replayed bool     // another permit for it was handed out
	againBy  []string // users whose replays made its output again
	cleared  bool     // a steward answered for its output, which was seeded
	admitted bool     // a budget decided on it
}

// assigned is the event of an entry with the assignment that its scopes belong to.
func (s *state) assigned(e *entry) Assigned {
	// What is booked again may have been assigned by the key of another ledger.
	return Assigned{s.assignment(e.Assignment, e.ID, e.Foreign != nil || e.Rebooked != nil), e.event}
}

// assignment is the name under which the scopes of an entry add up with those of others.
//
// Before assignments were booked, units of a column were assigned as they are now, by
// the one key of the data set, so these entries are of that assignment. Rows were
// assigned by their numbers, which followed from a schema that nobody kept: such an
// entry, like a run outside of pawl, has an assignment of its own, and its costs add to
// those of all others.
func (s *state) assignment(booked, id string, foreign bool) string {
	column := "column " + s.column
	switch {
	case foreign, booked == "" && s.column == "":
		return "entry " + id
	case booked == "":
		return column
	}
	if key, ok := strings.CutPrefix(booked, column+" under "); ok && s.column != "" && (s.columnKey == "" || s.columnKey == key) {
		return column
	}
	return booked
}

// state is what the log of one data set says, up to head.
type state struct {
	name    string
	head    Head
	hashes  []Hash // of the records, in order
	created string // time of the first record
	Terms          // each zero until somebody declares it
	column  string // that tells units apart, fixed at the first use
	// columnKey names the key of the first entry that says by which one units of the
	// column were assigned.
	columnKey string
	declared  bool    // a first use or a steward said what the data set is
	budget    *budget // nil: nothing was granted
	digest    Hash    // zero until the first use
	digests   map[Hash]bool
	entries   []*entry
	byID      map[string]*entry
	byReplay  map[string]*entry
	last      time.Time // of the last booking
	now       time.Time // at which requests are decided, never before last
	frozen    *Act      // nil: it is not
	shares    map[string]*share
	cleared   []Clearing
	// different holds what was said to be of other units than a data set which it resembles.
	different  []Difference
	reconciled []Reconciliation
}

func newState(name string) *state {
	return &state{name: name, head: Head{Hash: genesis(name)}, digests: map[Hash]bool{},
		byID: map[string]*entry{}, byReplay: map[string]*entry{}, shares: map[string]*share{}}
}

func (s *state) known() bool { return s.head.Seq > 0 }

// limited reports whether the budget limits anything. What the first user granted
// to himself does not once the data set is declared public.
func (s *state) limited() bool { return s.budget != nil && !(s.Public && s.budget.Self) }

// apply checks that r continues the chain and changes the state by it. After an
// error the state must be thrown away.
func (s *state) apply(r *Record) error {
	if err := r.check(s.name, s.head); err != nil {
		return err
	}
	do, known := kinds[r.Kind]
	if !known {
		// Skipping a record could forget a charge.
		return newer(r.Dataset, r.Seq, "its kind %q is not known here", r.Kind)
	}
	if err := do(s, r); err != nil {
		return err
	}
	if s.created == "" {
		s.created = r.Time
	}
	s.head, s.hashes = Head{Seq: r.Seq, Hash: r.Hash}, append(s.hashes, r.Hash)
	return nil
}

// kinds are what the records of each kind do to a state.
var kinds = map[Kind]func(*state, *Record) error{
	KindCreate:        on((*state).create),
	KindRegister:      on((*state).register),
	KindSelfGrant:     on((*state).grant),
	KindGrant:         on((*state).grant),
	KindUpdateDigest:  on((*state).rebind),
	KindReserve:       on((*state).reserve),
	KindReplay:        on((*state).settle),
	KindCommit:        on((*state).settle),
	KindCancel:        on((*state).settle),
	KindDeclarePublic: on((*state).declarePublic),
	KindShare:         on((*state).divide),
	KindFreeze:        on((*state).freeze),
	KindUnfreeze:      on((*state).freeze),
	KindApprove:       on((*state).approve),
	KindBook:          on((*state).book),
	KindReconcile:     on((*state).reconcile),
	KindClearSeeded:   on((*state).clearSeeded),
	KindDifferent:     on((*state).sayDifferent),
}

// on decodes the body of a record for a function.
func on[T any](do func(*state, *Record, T) error) func(*state, *Record) error {
	return func(s *state, r *Record) error {
		var body T
		if err := decode(r, r.Body, &body); err != nil {
			return err
		}
		return do(s, r, body)
	}
}

func (s *state) declarePublic(*Record, reasonBody) error {
	s.Public = true
	return nil
}

func (s *state) freeze(r *Record, b reasonBody) error {
	if s.frozen = nil; r.Kind == KindFreeze {
		s.frozen = &Act{By: r.User, At: r.Time, Reason: b.Reason}
	}
	return nil
}

func (s *state) create(r *Record, b createBody) error {
	if s.budget != nil {
		return broken(s.name, r.Seq, "the data set has a budget already")
	}
	s.declare(b.Terms)
	s.budget = &budget{Grant: Grant{By: r.User, At: r.Time}, purse: purse{epsilon: b.Epsilon, delta: b.Delta, kind: b.Filter}, per: b.Per}
	return checkTerms(r, b.Filter, b.Per)
}

func (s *state) register(_ *Record, b registerBody) error {
	s.declare(b.Terms)
	s.column = b.UnitColumn
	s.bind(b.Digest)
	return nil
}

// declare fills in what nobody has declared yet; what stands is never replaced.
func (s *state) declare(t Terms) {
	if !s.declared {
		s.Public, s.declared = t.Public, true
	}
	s.Unit, s.RowsPerUnit = cmp.Or(s.Unit, t.Unit), cmp.Or(s.RowsPerUnit, t.RowsPerUnit)
	if !s.Relation.Valid() {
		s.Relation = t.Relation
	}
}

func (s *state) bind(digest Hash) { s.digest, s.digests[digest] = digest, true }

func (s *state) rebind(_ *Record, b digestBody) error {
	s.bind(b.Digest)
	return nil
}

func (s *state) grant(r *Record, b grantBody) error {
	if old := s.budget; old != nil && (b.Epsilon.Cmp(old.epsilon) < 0 || b.Delta.Cmp(old.delta) < 0) {
		return broken(s.name, r.Seq, "a grant lowers the budget")
	}
	if old := s.budget; old != nil && old.per != Once && old.per != b.Per {
		return broken(s.name, r.Seq, "a grant changes the period of the budget")
	}
	// A new purse: every event is read again under the larger cap.
	s.budget = &budget{Grant: Grant{By: r.User, At: r.Time, Self: r.Kind == KindSelfGrant, Reason: b.Reason},
		purse: purse{epsilon: b.Epsilon, delta: b.Delta, kind: b.Filter}, per: b.Per}
	for _, share := range s.shares {
		share.account = nil
	}
	return checkTerms(r, b.Filter, b.Per)
}

func (s *state) reserve(r *Record, b Reservation) error {
	e := &entry{Entry: Entry{Reservation: b, State: Reserved, At: r.Time, By: r.User}, digest: s.digest, admitted: s.limited()}
	if err := s.charge(r, e); err != nil {
		return err
	}
	if key, ok := strings.CutPrefix(e.Assignment, "column "+s.column+" under "); ok && s.column != "" && s.columnKey == "" {
		s.columnKey = key
	}
	if e.ReplayKey != "" {
		s.byReplay[e.ReplayKey] = e
	}
	return nil
}

// charge adds an entry that counts from here on.
func (s *state) charge(r *Record, e *entry) (err error) {
	// Entries of one kind follow each other, and an event of the same text is the same event.
	if n := len(s.entries); n > 0 && bytes.Equal(s.entries[n-1].Event, e.Event) {
		e.event = s.entries[n-1].event
	} else if e.event, err = dp.DecodeEvent(e.Event); err != nil {
		return newer(s.name, r.Seq, "cannot read its event: %v", err)
	}
	if e.When, err = s.bookedAt(r); err != nil {
		return err
	}
	if s.byID[e.ID] != nil {
		return broken(s.name, r.Seq, "reservation %s is charged twice", e.ID)
	}
	e.seq = r.Seq
	s.entries = append(s.entries, e)
	s.byID[e.ID] = e
	return nil
}

func (s *state) settle(r *Record, b idBody) error {
	e := s.byID[b.ID]
	if e == nil || e.State == Cancelled {
		return broken(s.name, r.Seq, "%s of a reservation that is not charged", r.Kind)
	}
	switch r.Kind {
	case KindReplay:
		e.replayed, e.cleared = true, false // its output is made again
		e.againBy = append(e.againBy, r.User)
	case KindCommit:
		e.State, e.cleared = Committed, false // its output is made only now
	case KindCancel:
		if e.State == Committed || e.replayed {
			return broken(s.name, r.Seq, "cancel of a reservation that was used")
		}
		e.State = Cancelled
		if s.byReplay[e.ReplayKey] == e {
			delete(s.byReplay, e.ReplayKey)
		}
		s.reopen()
	}
	return nil
}

func (s *state) approve(r *Record, b approveBody) error {
	e := s.byID[b.ID]
	if e == nil || e.State != Committed {
		return broken(s.name, r.Seq, "approval of an entry that is not committed")
	}
	e.Approvals = append(e.Approvals, Act{By: r.User, At: r.Time, Reason: b.Reason})
	return nil
}
