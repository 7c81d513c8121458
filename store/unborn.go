package store

import (
	"context"
	"sync"

	"pawl/core/ledger"
)

// unborn is a store that is made when it is first used, so that a request which is refused
// before leaves no empty ledger behind.
type unborn struct {
	create  func(context.Context) (ledger.Store, error)
	perUser bool

	mu   sync.Mutex
	made ledger.Store
}

func (u *unborn) store(ctx context.Context) (_ ledger.Store, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.made == nil {
		var s ledger.Store
		if s, err = u.create(ctx); err == nil {
			u.made = s
		}
	}
	return u.made, err
}

// A ledger that asks whether its store is Located must hear yes: otherwise a file that is
// deleted while a job runs would go unnoticed.
var _ ledger.Located = (*unborn)(nil)

// Update implements ledger.Store.
func (u *unborn) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	s, err := u.store(ctx)
	if err != nil {
		return err
	}
	return s.Update(ctx, fn)
}

// View implements ledger.Store.
func (u *unborn) View(ctx context.Context, fn func(ledger.Tx) error) error {
	s, err := u.store(ctx)
	if err != nil {
		return err
	}
	return s.View(ctx, fn)
}

// PerUser implements ledger.Store.
func (u *unborn) PerUser() bool { return u.perUser }

// Same implements ledger.Located.
func (u *unborn) Same(ctx context.Context) error {
	u.mu.Lock()
	at, ok := u.made.(ledger.Located)
	u.mu.Unlock()
	if !ok {
		return nil
	}
	return at.Same(ctx)
}

// Fresh implements ledger.Located. What was made may have no place of its own; it is then
// its own fresh look.
func (u *unborn) Fresh(ctx context.Context) (ledger.Store, error) {
	s, err := u.store(ctx)
	if err != nil {
		return nil, err
	}
	if at, ok := s.(ledger.Located); ok {
		return at.Fresh(ctx)
	}
	return borrowed{s}, nil
}

// borrowed is a store that somebody else closes.
type borrowed struct{ ledger.Store }

func (borrowed) Close() error { return nil }

// Close implements ledger.Store.
func (u *unborn) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.made == nil {
		return nil
	}
	return u.made.Close()
}
