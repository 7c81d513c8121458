package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pawl/core/dp"
)

// Version is the version of the record format that this package writes. A record of another version
// gives ErrNewer.
const Version = 1

// Kind is what a record does.
type Kind string

// The kinds of records. The meaning of a kind never changes.
const (
	KindCreate        Kind = "create"         // a steward registers a data set with its budget
	KindRegister      Kind = "register"       // the first use binds unit, relation, publicness and digest
	KindSelfGrant     Kind = "self_grant"     // the first use without a grant fixes the budget at what it requested
	KindGrant         Kind = "grant"          // a steward raises the budget
	KindUpdateDigest  Kind = "update_digest"  // the file's bytes changed and the user confirmed it
	KindReserve       Kind = "reserve"        // an event is charged
	KindReplay        Kind = "replay"         // a permit for an already charged computation
	KindCommit        Kind = "commit"         // the reservation's output was produced
	KindCancel        Kind = "cancel"         // the reservation's rows were never opened
	KindDeclarePublic Kind = "declare_public" // a steward declares that the data set is not sensitive
	KindShare         Kind = "share"          // a steward caps what one analyst may use of the budget
	KindFreeze        Kind = "freeze"         // every reservation is refused from here on
	KindUnfreeze      Kind = "unfreeze"       // reservations are decided again
	KindApprove       Kind = "approve"        // somebody agrees to the release of an entry's output
	KindBook          Kind = "book"           // a run made outside pawl is charged and committed
	KindReconcile     Kind = "reconcile"      // a log that contradicts what was seen of it is accepted; an entry that it lost is charged again
	KindClearSeeded   Kind = "clear_seeded"   // a steward answers for the outputs of seeded runs
	KindDifferent     Kind = "different"      // data that resemble a sensitive data set are declared to hold other units
)

// Record is one entry of a data set's log.
type Record struct {
	Version int             `json:"version"`
	Seq     int64           `json:"seq"` // 1, 2, ...
	Dataset string          `json:"dataset"`
	Kind    Kind            `json:"kind"`
	Time    string          `json:"time"` // UTC, RFC 3339 with nanoseconds
	User    string          `json:"user"`
	Body    json.RawMessage `json:"body"` // hashed as stored
	Prev    Hash            `json:"prev"`
	Hash    Hash            `json:"hash"`
}

// Terms are what a budget of a data set is stated for: whose data one neighbouring change moves, and up to how many rows of them.
type Terms struct {
	Unit        string      `json:"unit"`
	RowsPerUnit int         `json:"rows_per_unit"`
	Relation    dp.Relation `json:"relation"`
	Public      bool        `json:"public"` // the data set is not sensitive
}

// Reservation is the body of a record that charges an event.
type Reservation struct {
	ID          string          `json:"id"`
	Plan        string          `json:"plan"`
	Event       json.RawMessage `json:"event"`
	Stages      []string        `json:"stages"`
	RowsPerUnit int             `json:"rows_per_unit"`
	Delta       Amount          `json:"delta"` // as requested; the budget's own decides
	NotPrivate  bool            `json:"not_private"`
	ReplayKey   string          `json:"replay_key"`
	// Assignment of units to scopes that the event's scopes belong to; see
	// state.assignment for entries of versions that did not name it.
	Assignment string `json:"assignment,omitempty"`
}

// The bodies. Field names are part of the format.
type (
	createBody struct {
		Epsilon Amount `json:"epsilon"`
		Delta   Amount `json:"delta"`
		Terms
		Filter filterKind `json:"filter,omitempty"`
		Per    Period     `json:"per,omitempty"`
	}
	registerBody struct {
		Terms
		Digest Hash `json:"digest"`
		// UnitColumn tells units apart; empty where each row is one.
		UnitColumn string `json:"unit_column,omitempty"`
	}
	grantBody struct { // self_grant leaves the reason empty
		Epsilon Amount     `json:"epsilon"`
		Delta   Amount     `json:"delta"`
		Reason  string     `json:"reason"`
		Filter  filterKind `json:"filter,omitempty"`
		Per     Period     `json:"per,omitempty"` // as it was before, or new
	}
	digestBody struct {
		Digest Hash `json:"digest"`
	}
	idBody struct { // replay, commit, cancel
		ID string `json:"id"`
	}
	reasonBody struct { // declare_public, freeze, unfreeze, clear_seeded
		Reason string `json:"reason"`
	}
	shareBody struct {
		Analyst string     `json:"analyst"`
		Epsilon Amount     `json:"epsilon"`
		Delta   Amount     `json:"delta"`
		Reason  string     `json:"reason"`
		Filter  filterKind `json:"filter,omitempty"`
	}
	differentBody struct {
		Other  string `json:"other"`
		Reason string `json:"reason"`
		Of     string `json:"of,omitempty"` // "test": the rows of a test file, and not the data set's
	}
	approveBody struct {
		ID     string `json:"id"`
		Reason string `json:"reason"`
	}
	bookBody struct {
		ID           string          `json:"id"`
		By           string          `json:"by"` // who ran it; the record's user booked it
		Event        json.RawMessage `json:"event"`
		Reason       string          `json:"reason"`
		AfterTheFact bool            `json:"after_the_fact"` // booked whether or not it fits
	}
)

// decode reads a body strictly: a field that this version does not know may
// change the meaning of the record, so it fails closed.
func decode(r *Record, text []byte, body any) error {
	if err := strictly(text, body); err != nil {
		return newer(r.Dataset, r.Seq, "cannot read the body of %q: %v", r.Kind, err)
	}
	return nil
}

// versioned reads JSON strictly that names the version of its format under key: another version may have other fields.
func versioned(text []byte, key string, version int, article, what string, into any) error {
	var probe map[string]json.RawMessage
	var found int
	if json.Unmarshal(text, &probe) != nil || json.Unmarshal(probe[key], &found) != nil || found == 0 {
		return invalid("it is not %s %s of a ledger", article, what)
	}
	if found != version {
		return fmt.Errorf("%w: the %s has format %d, this is format %d", ErrNewer, what, found, version)
	}
	if strictly(text, into) != nil {
		return fmt.Errorf("%w: the %s is damaged", ErrBroken, what)
	}
	return nil
}

func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the value")
	}
	return nil
}

// filterKind is how what is charged to a budget adds up.
type filterKind string

const (
	// filterOrder is one Rényi order at the full delta (accountant.Filter), which budgets of
	// earlier versions have.
	filterOrder filterKind = ""
	// filterDoors is accountant.Doors, which every new budget has.
	filterDoors filterKind = "doors"
)

// checkTerms fails closed: another filter would add up otherwise, and another period renew at other times.
func checkTerms(r *Record, f filterKind, p Period) error {
	if f != filterOrder && f != filterDoors {
		return newer(r.Dataset, r.Seq, "its filter %q is not known here", f)
	}
	if p.check() != nil {
		return newer(r.Dataset, r.Seq, "its period %q is not known here", p)
	}
	return nil
}
