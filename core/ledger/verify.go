package ledger

import (
	"context"
	"fmt"
	"slices"
)

// Public reports whether the data set is public in the ledger.
func (l *Ledger) Public(ctx context.Context, dataset string) (public bool, err error) {
	err = l.view(ctx, dataset, func(s *state) error { public = s.public; return nil })
	return public, err
}

// Names lists the data sets of the ledger.
func (l *Ledger) Names(ctx context.Context) (names []string, err error) {
	err = l.store.View(ctx, func(tx Tx) error { names, err = tx.Names(); return err })
	return names, err
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

// verified reads a whole log and checks its chain.
func (l *Ledger) verified(ctx context.Context, dataset string) ([]Record, error) {
	records, head, err := l.read(ctx, dataset)
	if err != nil {
		return nil, err
	}
	s := newState(dataset)
	for i := range records {
		if err := s.apply(&records[i]); err != nil {
			return nil, err
		}
	}
	if s.head != head {
		return nil, broken(dataset, s.head.Seq, "the log ends here, its head says record %d", head.Seq)
	}
	return records, nil
}

func (l *Ledger) read(ctx context.Context, dataset string) (records []Record, head Head, err error) {
	if err := checkName(dataset); err != nil {
		return nil, head, err
	}
	err = l.store.View(ctx, func(tx Tx) error {
		if head, err = tx.Head(dataset); err != nil {
			return err
		}
		records, err = tx.Records(dataset, 0)
		return err
	})
	if err == nil && len(records) == 0 && head.Seq == 0 {
		err = unknown(dataset)
	}
	return records, head, err
}
