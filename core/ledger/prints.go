package ledger

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"pawl/core/identity"
	"pawl/core/internal/sealed"
)

// Match is a sensitive data set that a print resembles.
type Match struct {
	Dataset  string
	Likeness identity.Likeness // Similar or Equal
	// Accepted reports that a record of either data set declares that they differ.
	Accepted bool
}

// Difference is a declaration that data which resemble a sensitive data set hold other units.
type Difference struct {
	Other  string `json:"other"`
	Reason string `json:"reason"`
	// Of names what resembles Other if it is not the data set itself: "test" for a file of test rows.
	Of string `json:"of,omitempty"`
	By string `json:"by"`
	At string `json:"at"`
}

func (d Difference) same(k Difference) bool {
	return k.Other == d.Other && k.Reason == d.Reason && k.Of == d.Of
}

// about reports whether it says of the data set itself that it is not of the other's units.
func about(other string) func(Difference) bool {
	return func(d Difference) bool { return d.Other == other && d.Of == "" }
}

// PrintKey returns the key of prints, derived from the ledger's secret. It must stay secret.
func (l *Ledger) PrintKey(ctx context.Context) ([32]byte, error) {
	return l.key(ctx, "pawl print key")
}

// Keep stores prints of a data set beside the chain, as Reserve does with the prints of its Request. Prints are
// never exported, and none are stored for a public data set.
func (l *Ledger) Keep(ctx context.Context, dataset string, prints ...*identity.Print) error {
	return l.update(ctx, dataset, func(t *txn, s *state) error {
		if !s.known() {
			return unknown(dataset)
		}
		return t.keep(s, prints)
	})
}

// Recognise returns, sorted, the sensitive data sets other than name whose stored prints resemble the found ones.
// name may be empty or unknown to the ledger. It records nothing.
func (l *Ledger) Recognise(ctx context.Context, name string, found ...*identity.Print) (matches []Match, err error) {
	err = l.read(ctx, func(t *txn) (err error) {
		s := newState(name)
		if name != "" {
			if s, err = t.load(name); err != nil {
				return err
			}
		}
		matches, err = t.recognise(s, found)
		return err
	})
	return matches, err
}

func (t *txn) recognise(s *state, found []*identity.Print) (matches []Match, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	err = t.others(s.name, func(other string) error {
		kept, err := t.Prints(other)
		if err != nil || len(kept) == 0 {
			return err
		}
		o, err := t.load(other)
		if err != nil || o.Public {
			return err
		}
		m := Match{Dataset: other, Accepted: slices.ContainsFunc(s.different, about(other)) || s.name != "" && slices.ContainsFunc(o.different, about(s.name))}
		if m.Likeness, err = identity.Kept(kept).Alike(found); err != nil {
			return unreadable(other, err)
		}
		if m.Likeness != identity.Different {
			matches = append(matches, m)
		}
		return nil
	})
	return matches, err
}

// others calls fn for each data set but one, until it returns an error.
func (t *txn) others(name string, fn func(other string) error) error {
	names, err := t.Names()
	for _, other := range names {
		if err == nil && other != name {
			err = fn(other)
		}
	}
	return err
}

func unreadable(dataset string, err error) error {
	return fmt.Errorf("%w: what is kept to recognise data set %q: %w", ErrStore, dataset, err)
}

// keep adds the prints that are new.
func (t *txn) keep(s *state, prints []*identity.Print) error {
	if s.Public {
		return nil
	}
	for _, p := range prints {
		if p.Rows == 0 {
			continue
		}
		if err := t.KeepPrint(s.name, p.Identity, p.Marshal()); err != nil {
			return err
		}
	}
	return nil
}

// checkPrints refuses data that a sensitive data set of another name has or had, and data that are mostly the same
// unless somebody has said that they are not. A new name must not bring a new budget, nor a public one exact numbers.
func (t *txn) checkPrints(s *state, q Request) error {
	matches, err := t.recognise(s, q.Prints)
	if err != nil {
		return err
	}
	for _, m := range matches {
		if m.Likeness == identity.Similar && (m.Accepted || slices.ContainsFunc(q.Different, about(m.Dataset))) {
			continue
		}
		return RefuseMatch(s.name, m)
	}
	return nil
}

// RefuseMatch returns the refusal of data under a name that does not own them.
func RefuseMatch(name string, m Match) error {
	if m.Likeness == identity.Equal {
		return &RefusedError{Dataset: name, Reason: fmt.Sprintf("its rows are those of the sensitive data set %q, in whatever format and order", m.Dataset),
			Advice: fmt.Sprintf("use that name and its budget: --same-as %s, or dataset: %s in the schema; its steward can raise the budget: pawl ledger grant %s --epsilon E --reason WHY", quote(m.Dataset), m.Dataset, quote(m.Dataset))}
	}
	return &RefusedError{Dataset: name, Reason: fmt.Sprintf("it resembles the sensitive data set %q so closely that both seem to contain the same units", m.Dataset),
		Advice: fmt.Sprintf("if they are the same: --same-as %s, which charges that budget; if not: --different --reason WHY, which is recorded in the ledger and every statement", quote(m.Dataset))}
}

// kept is how the data of a request compare with what is kept of their data set.
type kept struct {
	sameTable    bool // the rows of the table are those of an earlier use
	otherVectors bool // vectors are kept, and these are others
	// writing is a name for the assignment that a new way of writing the identifiers of units is, "" where nobody is
	// written in another way than before. What was charged to either writing adds up.
	writing string
}

func (t *txn) kept(s *state, q Request, writings *identity.Writings) (k kept, err error) {
	prints, err := t.Prints(s.name)
	if err != nil {
		return k, err
	}
	known, rewritten := identity.Kept(prints), false
	if k.sameTable, _, err = known.Recorded(q.Prints, identity.Table); err == nil {
		_, k.otherVectors, err = known.Recorded(q.Prints, identity.Vectors)
	}
	if err == nil && writings != nil {
		rewritten, err = known.Rewritten(writings)
	}
	if err != nil {
		return k, unreadable(s.name, err)
	}
	if rewritten {
		own := writings.Identity()
		k.writing = hex.EncodeToString(own[:8])
	}
	return k, nil
}

// writings are how the rows of a request write the identifiers of their units, nil where nobody tells by them.
func (q *Request) writings(s *state) *identity.Writings {
	if q.Rows == nil || s.Public {
		return nil
	}
	return sealed.WritingsOf(q.Rows)
}

// differ books what the request says to be different and is not booked yet.
func (t *txn) differ(s *state, q Request) error {
	for _, d := range q.Different {
		if d.Other == "" {
			return invalid("--different needs the name of the other data set")
		}
		if err := checkReason("what is said to be different", d.Reason); err != nil {
			return err
		}
		if slices.ContainsFunc(s.different, d.same) {
			continue
		}
		if err := t.append(s, KindDifferent, differentBody{Other: d.Other, Reason: d.Reason, Of: d.Of}); err != nil {
			return err
		}
	}
	return nil
}

// said lists what a statement shows: what holds for the data set, and what was said of test rows in this request.
func (s *state) said(q Request) (out []Difference) {
	for _, d := range s.different {
		if d.Of == "" || slices.ContainsFunc(q.Different, d.same) {
			out = append(out, d)
		}
	}
	return out
}

func (s *state) sayDifferent(r *Record, b differentBody) error {
	if b.Other == "" || b.Reason == "" {
		return broken(s.name, r.Seq, "it says what is different without a name or a reason")
	}
	s.different = append(s.different, Difference{Other: b.Other, Reason: b.Reason, Of: b.Of, By: r.User, At: r.Time})
	return nil
}
