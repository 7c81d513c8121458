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

// Close implements ledger.Store.
func (u *unborn) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.made == nil {
		return nil
	}
	return u.made.Close()
}
