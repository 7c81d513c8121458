package ledger_test

import (
	"context"
	"errors"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

// located is a store whose address holds something else than what is open.
type located struct {
	*memory.Store
	fresh ledger.Store
	gone  error
}

func (s *located) Same(context.Context) error                  { return s.gone }
func (s *located) Fresh(context.Context) (ledger.Store, error) { return s.fresh, nil }

// twin copies the first n records of data set d into a store with the same secret.
func twin(t *testing.T, from *memory.Store, n int) *memory.Store {
	t.Helper()
	ctx := context.Background()
	to := memory.New()
	err := from.View(ctx, func(src ledger.Tx) error {
		records, err := src.Records("d", 0)
		if err != nil {
			return err
		}
		secret, err := src.Secret()
		if err != nil {
			return err
		}
		return to.Update(ctx, func(dst ledger.Tx) error {
			err := dst.Adopt(secret)
			for _, r := range records[:n] {
				err = errors.Join(err, dst.Append(r))
			}
			return err
		})
	})
	if err == nil { // makes its codes
		_, err = ledgertest.New(to).Reconcile(ctx, ledger.Reconcile{Reason: "codes"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// Without any second place a run knows what it has seen itself, and asks the address.
func TestConfirmReadsThroughTheAddress(t *testing.T) {
	ctx := context.Background()
	s := &located{Store: memory.New()}
	s.fresh = s.Store
	l := ledgertest.New(s)
	p, receipt, err := l.Reserve(ctx, ledgertest.Spend("d", 0.25))
	if err == nil {
		err = l.Commit(ctx, p)
	}
	if err == nil {
		err = l.Confirm(ctx, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := l.ConfirmEntry(ctx, "d", receipt.ID); err != nil {
		t.Error(err)
	}
	if err := l.ConfirmEntry(ctx, "d", "none"); !errors.Is(err, ledger.ErrContradicted) {
		t.Errorf("an entry that is not there: %v", err)
	}
	// register, self_grant, reserve, commit: an older copy has the entry, open, and not
	// the commit that this run has seen.
	for n := range 4 {
		s.fresh = twin(t, s.Store, n)
		if err := l.Confirm(ctx, p); !errors.Is(err, ledger.ErrContradicted) || !errors.Is(err, ledger.ErrRefused) {
			t.Errorf("the first %d records: %v", n, err)
		}
	}
	s.fresh = twin(t, s.Store, 4)
	if err := l.Confirm(ctx, p); err != nil {
		t.Errorf("a copy of all: %v", err)
	}
	s.fresh = memory.New()
	if err := l.Confirm(ctx, p); !errors.Is(err, ledger.ErrContradicted) {
		t.Errorf("another ledger: %v", err)
	}
	s.fresh, s.gone = s.Store, errors.New("gone")
	for name, err := range map[string]error{
		"confirm": l.Confirm(ctx, p), "verify": l.Verify(ctx, "d"), "grant": l.Grant(ctx, "d", "2", "", "more"),
	} {
		if !errors.Is(err, ledger.ErrContradicted) {
			t.Errorf("%s at an address that holds something else: %v", name, err)
		}
	}
	if err := l.Confirm(ctx, nil); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("no permit: %v", err)
	}
}
