package ledger

import (
	"context"
	"fmt"
	"slices"
)

// User returns the user of this Ledger, by the name of the operating system.
func (l *Ledger) User() string { return l.user }

// FirstTotal returns the epsilon that the first use of a sensitive data set grants to itself, "" if
// that is the cost of the job.
func (l *Ledger) FirstTotal() string { return l.total }

// Public reports whether the data set is public in the ledger.
func (l *Ledger) Public(ctx context.Context, dataset string) (public bool, err error) {
	err = l.view(ctx, dataset, func(s *state) error {
		if !s.declared { // so far it was only reconciled
			return unknown(dataset)
		}
		public = s.Public
		return nil
	})
	return public, err
}

// Names lists the data sets of the ledger.
func (l *Ledger) Names(ctx context.Context) (names []string, err error) {
	err = l.read(ctx, func(t *txn) error { names, err = t.Names(); return err })
	return names, err
}

// Tips returns the heads of all logs, by data set, at one moment. It verifies nothing: if the head
// of a log is the one in a View, the log is that of the View.
func (l *Ledger) Tips(ctx context.Context) (tips map[string]Head, err error) {
	err = l.read(ctx, func(t *txn) error {
		names, err := t.Names()
		tips = make(map[string]Head, len(names))
		for _, name := range names {
			if err == nil {
				tips[name], err = t.Head(name)
			}
		}
		return err
	})
	return tips, err
}

// Checked is the result of Check.
type Checked struct {
	Name    string
	Records int
	Head    Hash
	Coded   bool // the head has an authentication code
	Heads   bool // there is a second place
	Seen    Head // the head that it held before the check, zero for none
}

// Verify reads the whole log of a data set again and returns ErrBroken if it was cut, edited or
// reordered, and ErrNewer if it contains something that this version does not know. Each of the
// heads, as printed in earlier reports, must be a hash of the chain: this reveals a log that was
// replaced as a whole.
func (l *Ledger) Verify(ctx context.Context, dataset string, heads ...string) error {
	_, err := l.Check(ctx, dataset, heads...)
	return err
}

// Check does what Verify does, and returns what was checked.
func (l *Ledger) Check(ctx context.Context, dataset string, heads ...string) (c Checked, err error) {
	err = l.verified(ctx, dataset, func(t *txn, s *state) error {
		for _, want := range heads {
			if !slices.ContainsFunc(s.hashes, func(h Hash) bool { return h.String() == want }) {
				return fmt.Errorf("%w: data set %q: %.70q is not in its chain", ErrBroken, dataset, want)
			}
		}
		c = Checked{Name: dataset, Records: len(s.hashes), Head: s.head.Hash, Coded: t.coded, Heads: l.heads != nil, Seen: l.self.seen.Heads[dataset]}
		return nil
	})
	return c, err
}

// Records returns the verified log of a data set.
func (l *Ledger) Records(ctx context.Context, dataset string) (records []Record, err error) {
	err = l.verified(ctx, dataset, func(t *txn, _ *state) (err error) { records, err = t.Records(dataset, 0); return err })
	return records, err
}

// verified reads a whole log and checks its chain, its code, and what was seen of it.
func (l *Ledger) verified(ctx context.Context, dataset string, fn func(*txn, *state) error) error {
	if err := checkName(dataset); err != nil {
		return err
	}
	return l.read(ctx, func(t *txn) error {
		s, err := t.extend(newState(dataset))
		if err != nil {
			return err
		}
		if _, seen := l.self.seen.Heads[dataset]; !s.known() && !seen {
			return unknown(dataset)
		}
		if err := t.vouch(s); err != nil {
			return err
		}
		return fn(t, s)
	})
}
