package ledger

import (
	"context"
	"fmt"
	"slices"
)

// Public reports whether the data set is public in the ledger.
func (l *Ledger) Public(ctx context.Context, dataset string) (public bool, err error) {
	err = l.view(ctx, dataset, func(s *state) error {
		if !s.declared { // so far it was only reconciled
			return unknown(dataset)
		}
		public = s.public
		return nil
	})
	return public, err
}

// Names lists the data sets of the ledger.
func (l *Ledger) Names(ctx context.Context) (names []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.transact(ctx, false, func(t *txn) error { names, err = t.Names(); return err })
	return names, err
}

// Tips returns the ends of all logs, by data set, as they stand at one moment. It verifies nothing:
// a log whose end is the one that Show named is the log that Show read.
func (l *Ledger) Tips(ctx context.Context) (tips map[string]Head, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.transact(ctx, false, func(t *txn) error {
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

// Records returns the verified log of a data set.
func (l *Ledger) Records(ctx context.Context, dataset string) ([]Record, error) {
	return l.verified(ctx, dataset)
}

// Verify reads the whole log of a data set again and returns ErrBroken when it
// was cut, edited or reordered, and ErrNewer when it holds what this version does
// not know. Each of the heads, as printed in earlier reports, must be a hash of
// the chain: that convicts a log that was replaced as a whole.
func (l *Ledger) Verify(ctx context.Context, dataset string, heads ...string) error {
	records, err := l.verified(ctx, dataset)
	if err != nil {
		return err
	}
	for _, want := range heads {
		if !slices.ContainsFunc(records, func(r Record) bool { return r.Hash.String() == want }) {
			return fmt.Errorf("%w: data set %q: %.70q is not in its chain", ErrBroken, dataset, want)
		}
	}
	return nil
}

// verified reads a whole log and checks its chain, its code, and what was seen of it.
func (l *Ledger) verified(ctx context.Context, dataset string) (records []Record, err error) {
	if err := checkName(dataset); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.transact(ctx, false, func(t *txn) error {
		head, err := t.Head(dataset)
		if err != nil {
			return err
		}
		if records, err = t.Records(dataset, 0); err != nil {
			return err
		}
		s := newState(dataset)
		for i := range records {
			if err := s.apply(&records[i]); err != nil {
				return err
			}
		}
		if _, seen := l.self.seen.Heads[dataset]; len(records) == 0 && head.Seq == 0 && !seen {
			return unknown(dataset)
		}
		if s.head.Seq != head.Seq || s.known() && s.head.Hash != head.Hash {
			return broken(dataset, s.head.Seq, "the log ends here, but its head is record %d", head.Seq)
		}
		return t.vouch(s)
	})
	return records, err
}
