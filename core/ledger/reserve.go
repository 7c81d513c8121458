package ledger

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"pawl/core/dp"
	"pawl/core/identity"
	"pawl/core/internal/sealed"
)

// MaxSelfGrant is the largest epsilon that a first user may grant to himself.
const MaxSelfGrant = "10"

// UsualDelta is the delta of a total (Options.Total) that a job without a delta grants.
const UsualDelta = "1e-6"

// Request is a request for one reservation. Everything in it is public.
type Request struct {
	Dataset string
	// Plan names the plan that the reservation covers as a whole: all events of a plan belong into one
	// Event, so that its smallest bound counts.
	Plan  string
	Event dp.Event
	// Stages are the names of the plan's stages, for display.
	Stages      []string
	Relation    dp.Relation
	Unit        string
	RowsPerUnit int
	// UnitColumn names the column that identifies units; empty if each row is a unit. It is fixed at
	// the first use: the word "patient" alone does not show whether a patient's rows were found.
	UnitColumn string
	// Epsilon and Delta are what the user requested. They become the budget if the data set has none
	// and the store is per-user.
	Epsilon, Delta string
	// Public is the flag of the schema or of a built-in data set. It counts only if the data set is
	// new to the ledger.
	Public bool
	// Rows are the rows that the permit opens. The scopes of Event belong to their assignment. Rows is
	// nil if no row is opened, as in tests of a ledger; the scopes then belong to an assignment of
	// their own.
	Rows *sealed.Rows
	// Digest is the keyed digest of the file's bytes (Ledger.Digest).
	Digest []byte
	// Updated confirms that the file's bytes were changed on purpose.
	Updated bool
	// Prints are prints of the data under PrintKey, in addition to those that Rows bring (intake.Builder.Print): of
	// the table, and of vectors behind its keys. They are stored apart from the chain once the request is charged.
	// Without any, only equal bytes are recognised.
	Prints []*identity.Print
	// Different lists data sets that the data resemble and whose units they are declared not to hold.
	Different []Difference
	// Seed makes a simulation: all noise under the permit follows from it, and the entry is recorded
	// as not private. A second reservation with the seed and Plan of a charged one, and with equal
	// event and bytes, costs nothing.
	Seed *uint64
	// Replay is for a computation that may be repeated at no cost, because it gives the same output.
	// With neither Seed nor Replay the noise is fresh.
	Replay *Replay
}

// Receipt describes a charge.
type Receipt struct {
	ID         string
	Dataset    string
	Plan       string
	Public     bool   // the data set is public in the ledger
	Limited    bool   // a budget limits it
	Grant      Grant  // the grant in force; zero when not Limited
	SelfGrant  bool   // this reservation granted it
	Replayed   bool   // nothing was charged
	NotPrivate bool   // the noise is seeded
	Epsilon    Amount // the budget's, or the requested one if not Limited
	Delta      Amount
	Head       Hash // of the chain, after the charge
	// Different lists the declarations about this data set, and about the test rows of this request.
	Different []Difference
}

// Reserve decides on a request and charges it, within one durable transaction, and returns the
// permit that opens the rows. A refusal wraps ErrRefused (a refusal by the budget also
// ErrExhausted), has a Hint method that returns how to continue, and charges nothing.
func (l *Ledger) Reserve(ctx context.Context, q Request) (*sealed.Permit, Receipt, error) {
	return l.reserve(ctx, q, nil)
}

// reserve is Reserve and Foretell. then, where not nil, sees what was booked within the
// transaction; its error takes all of it back.
func (l *Ledger) reserve(ctx context.Context, q Request, then func(Receipt, *state) error) (*sealed.Permit, Receipt, error) {
	asked, event, err := q.check()
	if err != nil {
		return nil, Receipt{}, err
	}
	q.Prints = slices.Concat(q.Prints, sealed.PrintsOf(q.Rows))
	var permit *sealed.Permit
	var receipt Receipt
	err = l.update(ctx, q.Dataset, func(t *txn, s *state) error {
		if s.frozen != nil {
			return s.refuseFrozen()
		}
		writings := q.writings(s)
		known, err := t.kept(s, q, writings)
		if err != nil {
			return err
		}
		if err := t.registerUse(s, q, known); err != nil {
			return err
		}
		if err := t.differ(s, q); err != nil {
			return err
		}
		if err := t.keep(s, q.Prints); err != nil {
			return err
		}
		if writings != nil && known.writing == "" && !s.Public {
			if err := t.KeepPrint(s.name, writings.Identity(), writings.Marshal()); err != nil {
				return err
			}
		}
		assignment := q.assignment(known.writing)
		key, root, err := q.origin(event)
		if err != nil {
			return err
		}
		old := s.byReplay[key]
		id := newID()
		if old != nil {
			id = old.ID
		}
		if permit, err = sealed.NewPermit(id, q.Dataset, q.Relation, q.RowsPerUnit, q.Event, root); err != nil {
			return invalid("%v", err)
		}
		if q.Rows != nil {
			sealed.Assign(permit, q.Rows.Assignment())
		}
		receipt = Receipt{ID: id, Dataset: q.Dataset, Plan: q.Plan, Public: s.Public, NotPrivate: permit.Seeded(), Replayed: old != nil}
		if old != nil {
			if err := t.replay(s, old, q, event, assignment); err != nil {
				return err
			}
		} else {
			if receipt.SelfGrant, err = t.selfGrant(s, q, asked); err != nil {
				return err
			}
			if _, _, err := l.admit(s, l.user, Assigned{s.assignment(assignment, id, false), q.Event}); err != nil {
				return err
			}
			if err := t.append(s, KindReserve, Reservation{ID: id, Plan: q.Plan, Event: event, Stages: append([]string{}, q.Stages...),
				RowsPerUnit: q.RowsPerUnit, Delta: asked.delta, NotPrivate: permit.Seeded(), ReplayKey: key, Assignment: assignment}); err != nil {
				return err
			}
		}
		receipt.Different = s.said(q)
		receipt.Epsilon, receipt.Delta, receipt.Head = asked.epsilon, asked.delta, s.head.Hash
		if b := s.budget; s.limited() {
			receipt.Limited, receipt.Grant, receipt.Epsilon, receipt.Delta = true, b.Grant, b.epsilon, b.delta
		}
		t.done = func() { l.issued[permit] = old != nil }
		if then != nil {
			return then(receipt, s)
		}
		return nil
	})
	if err != nil {
		return nil, Receipt{}, err
	}
	return permit, receipt, nil
}

// assignment is the name under which the scopes of the event are booked; writing is
// kept's.
func (q *Request) assignment(writing string) string {
	if q.Rows == nil {
		return ""
	}
	a := q.Rows.Assignment()
	if writing != "" {
		a.Rule += " written " + writing
	}
	return a.String()
}

type askedBudget struct{ epsilon, delta Amount }

// check refuses what no ledger could book.
func (q *Request) check() (a askedBudget, event json.RawMessage, err error) {
	switch {
	case q.Event == nil:
		return a, nil, invalid("no event")
	case !q.Relation.Valid():
		return a, nil, invalid("%v is not a neighbouring relation", q.Relation)
	case q.Unit == "":
		return a, nil, invalid("the unit of privacy is not named")
	case q.RowsPerUnit < 1:
		return a, nil, invalid("rows per unit must be at least 1")
	case len(q.Digest) != len(Hash{}):
		return a, nil, invalid("the digest of the data set's bytes is missing")
	case Hash(q.Digest).IsZero():
		// It would stand for a data set that was never used.
		return a, nil, invalid("the digest of the data set's bytes is all zeros: it was not computed")
	case q.Rows != nil && (q.Rows.Dataset() != q.Dataset || q.Rows.Schema().Unit.Column != q.UnitColumn):
		return a, nil, invalid("the rows are of another data set or of other units")
	case q.Replay == nil:
	case q.Seed != nil:
		return a, nil, invalid("a simulation with a seed has no secret")
	case q.Replay.Secret.IsZero():
		return a, nil, invalid("the secret of a computation that may be run again is missing")
	case len(q.Replay.Of) == 0:
		return a, nil, invalid("what a computation that may be run again depends on is not named")
	}
	if event, err = dp.EncodeEvent(q.Event); err != nil {
		return a, nil, invalid("%v", err)
	}
	if a.epsilon, err = named("epsilon", cmp.Or(q.Epsilon, "0")); err == nil {
		a.delta, err = named("delta", cmp.Or(q.Delta, "0"))
	}
	return a, event, err
}

// matches refuses a use under other terms than the budget's.
func (s *state) matches(relation dp.Relation, unit string, rows int) error {
	refuse := func(format string, args ...any) error {
		return &RefusedError{Dataset: s.name, Reason: fmt.Sprintf(format, args...),
			Advice: fmt.Sprintf("change the schema or the flag to the budget's terms (pawl ledger show %s)", quote(s.name))}
	}
	switch {
	case s.Relation.Valid() && relation != s.Relation:
		return refuse("its budget is stated under %v, the job under %v", s.Relation, relation)
	case s.Unit != "" && unit != "" && unit != s.Unit:
		// A budget for patients does not cover rows: one patient may own many.
		return refuse("its budget protects the unit %q, the job the unit %q", s.Unit, unit)
	case s.RowsPerUnit != 0 && rows > s.RowsPerUnit:
		return refuse("its budget covers up to %d rows per unit, the job has up to %d", s.RowsPerUnit, rows)
	}
	return nil
}

func unitsBy(column string) string {
	if column == "" {
		return "rows, each of which is one"
	}
	return fmt.Sprintf("the column %q", column)
}

// registerUse books the first use of a data set and every change of its bytes.
func (t *txn) registerUse(s *state, q Request, known kept) error {
	digest := Hash(q.Digest)
	if s.known() {
		if err := s.matches(q.Relation, q.Unit, q.RowsPerUnit); err != nil {
			return err
		}
		if !s.digest.IsZero() && q.UnitColumn != s.column {
			return &RefusedError{Dataset: s.name, Advice: "use the schema of the first use",
				Reason: fmt.Sprintf("its first use distinguished units by %s, the job by %s", unitsBy(s.column), unitsBy(q.UnitColumn))}
		}
	}
	if err := t.checkPrints(s, q); err != nil {
		return err
	}
	switch changed := known.otherVectors; {
	case changed && !q.Updated:
		return &RefusedError{Dataset: s.name, Reason: "the vectors behind its keys are not those that were used before",
			Advice: "if the change is intended, add --updated (the budget stays the same)"}
	case digest == s.digest && changed:
		return t.append(s, KindUpdateDigest, digestBody{Digest: digest})
	case digest == s.digest:
		return nil
	}
	// A new name must not bring a new budget.
	if other, err := t.holder(s.name, digest); err != nil {
		return err
	} else if other != "" {
		return &RefusedError{Dataset: s.name, Reason: fmt.Sprintf("the same bytes are registered as the sensitive data set %q", other),
			Advice: fmt.Sprintf("use that name (dataset: %s in the schema); its steward can raise the budget: pawl ledger grant %s --epsilon E --reason WHY", other, quote(other))}
	}
	if s.digest.IsZero() {
		return t.append(s, KindRegister, registerBody{Terms{q.Unit, q.RowsPerUnit, q.Relation, q.Public}, digest, q.UnitColumn})
	}
	if !q.Updated && known.sameTable && known.writing != "" {
		return &RefusedError{Dataset: s.name, Reason: fmt.Sprintf("its rows are the same as before, but the identifiers in column %q are written differently, such as 7 and 7.0: each spelling is a separate unit", s.column),
			Advice: "write them as before; or continue with --updated; the costs under both spellings then add up"}
	}
	if !q.Updated && !known.sameTable {
		return &RefusedError{Dataset: s.name, Reason: "the file's bytes are not those that were registered",
			Advice: fmt.Sprintf("if rows were appended or corrected, add --updated (the budget stays the same); different data need another name: pawl ledger create NAME --epsilon E --delta D (registered: pawl ledger show %s)", quote(s.name))}
	}
	return t.append(s, KindUpdateDigest, digestBody{Digest: digest})
}

// holder returns the name of the sensitive data set, other than name, that has these bytes or
// once had them, or "".
func (t *txn) holder(name string, digest Hash) (holder string, err error) {
	err = t.others(name, func(other string) error {
		if holder != "" {
			return nil
		}
		o, err := t.load(other)
		if err == nil && !o.Public && o.digests[digest] {
			holder = other
		}
		return err
	})
	return holder, err
}

// SensitiveUnder returns the name of the sensitive data set that has, or once had, bytes with this
// digest (Ledger.Digest), or "". Such bytes cannot be a public file.
func (l *Ledger) SensitiveUnder(ctx context.Context, digest []byte) (holder string, err error) {
	if len(digest) != len(Hash{}) {
		return "", nil
	}
	err = l.read(ctx, func(t *txn) error { holder, err = t.holder("", Hash(digest)); return err })
	return holder, err
}

// replay books that a charged computation is run again. Other bytes under the
// same noise would show the difference of the two, so they are refused.
func (t *txn) replay(s *state, old *entry, q Request, event []byte, assignment string) error {
	if !bytes.Equal(old.Event, event) || old.digest != s.digest || old.NotPrivate != (q.Seed != nil) || old.RowsPerUnit != q.RowsPerUnit || old.Assignment != assignment {
		return &RefusedError{Dataset: s.name, Reason: "the replay key belongs to another computation",
			Advice: "start a new run: a changed computation gets a new key and a new charge"}
	}
	return t.append(s, KindReplay, idBody{ID: old.ID})
}

// selfGrant fixes the budget of a sensitive data set at its first use.
func (t *txn) selfGrant(s *state, q Request, asked askedBudget) (bool, error) {
	switch total, err := named("budget", cmp.Or(t.l.total, "0")); {
	case s.limited() && err != nil:
		return false, err
	case s.limited() && t.l.total != "" && total.Cmp(s.budget.epsilon) != 0:
		return false, &RefusedError{Dataset: s.name, Reason: fmt.Sprintf("its budget is epsilon %v, granted by %s, not %v", s.budget.epsilon, s.budget.By, total),
			Advice: fmt.Sprintf("leave out --budget; its steward raises it: pawl ledger grant %s --epsilon E --reason WHY", quote(s.name))}
	case s.budget != nil || s.Public:
		return false, nil
	}
	if t.l.total != "" {
		if q.Epsilon = t.l.total; asked.delta.IsZero() {
			// A total at delta 0 would admit nothing but pure jobs.
			q.Delta = UsualDelta
		}
	}
	epsilon, delta, err := parseBudget(q.Epsilon, q.Delta)
	if err != nil && t.l.total != "" {
		err = fmt.Errorf("budget: %w", err)
	}
	create := fmt.Sprintf("ask the data steward to grant one: pawl ledger create %s --epsilon %s --delta %s", quote(s.name), cmp.Or(q.Epsilon, "E"), cmp.Or(q.Delta, "D"))
	refuse := func(advice, format string, args ...any) (bool, error) {
		return false, &RefusedError{Dataset: s.name, Reason: fmt.Sprintf(format, args...), Advice: advice, NoBudget: true}
	}
	most, _ := ParseAmount(MaxSelfGrant)
	switch {
	case len(s.reconciled) > 0:
		// What was spent is not known: the log was lost, and somebody went on without it.
		return refuse(create, "its log was lost and reconciled, so its spending is unknown; users cannot grant themselves a new budget")
	case !t.l.store.PerUser():
		return refuse(create, "it has no budget, and on a team's ledger users cannot grant themselves one")
	case err != nil:
		return false, err
	case epsilon.Cmp(most) > 0:
		return refuse(create, "it has no budget, and epsilon %v is more than the %v that users may grant themselves", epsilon, most)
	case delta.large():
		return refuse(create+" "+allowLargeDelta, "it has no budget, and delta %v is more than the %s that users may grant themselves", delta, MaxDelta)
	}
	return true, t.append(s, KindSelfGrant, grantBody{Epsilon: epsilon, Delta: delta, Filter: filterDoors})
}
