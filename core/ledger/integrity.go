package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"pawl/core/internal/sealed"
)

// self is what a Ledger knows about the ledger it stands on. Ledger.mu guards it.
type self struct {
	secret    []byte
	id        string // public name of the secret; "" before the first transaction
	at        string // the id that the second place has for the address
	seen      Seen   // what the second place held before the transaction that runs
	warned    bool
	accepting bool // contradictions are not refused: Reconcile collects them, Import mends them
	replacing bool // Reconcile: what was seen may go back
}

// transact runs one transaction on the ledger that this process opened, or none. l.mu
// is held. Whoever runs one goes through here: the path still holds what was opened, the
// secret is the one it had, and load compares with what the second place has seen.
func (l *Ledger) transact(ctx context.Context, write bool, fn func(*txn) error) error {
	t := &txn{l: l, heads: map[string]Head{}}
	if err := l.look(ctx); err != nil {
		return err
	}
	run := l.store.View
	if write {
		run = l.store.Update
	}
	ended := false
	defer func() {
		if !ended { // by a panic, which took the records back: what is cached may run ahead of the store
			clear(l.states)
		}
	}()
	err := run(ctx, func(tx Tx) error {
		t.Tx, t.now = tx, l.clock().UTC()
		if err := t.same(); err != nil {
			return err
		}
		if write && !t.coded {
			if err := t.codeAll(); err != nil {
				return err
			}
		}
		return fn(t)
	})
	ended = true
	if err != nil {
		for _, name := range t.appended {
			delete(l.states, name)
		}
		return err
	}
	if t.done != nil {
		t.done()
	}
	l.remember(t)
	return nil
}

// look asks the path and the second place, before the transaction begins: what the
// second place holds then was durable before, so the transaction's snapshot has it.
func (l *Ledger) look(ctx context.Context) error {
	if at, ok := l.store.(Located); ok {
		if err := at.Same(ctx); err != nil {
			return contradicted("", "%v", err)
		}
	}
	if l.self.id == "" {
		if err := l.store.View(ctx, l.meet); err != nil {
			return err
		}
	}
	if l.heads == nil {
		return nil
	}
	known, err := l.heads.Known()
	if err == nil && known != "" && known != l.self.id && !l.self.accepting {
		return contradicted("", "another ledger (%s) is at the address of ledger %s", l.self.id, known)
	}
	seen, ok, readErr := l.heads.Read(l.self.id)
	if err = errors.Join(err, readErr); err != nil {
		l.warnOnce("this machine's record of the ledger cannot be read, so a replaced or rolled-back ledger would not be detected: %v", err)
		return nil
	}
	if !ok && !l.self.warned {
		var names []string
		if err := l.store.View(ctx, func(tx Tx) (err error) { names, err = tx.Names(); return err }); err != nil {
			return err
		}
		if len(names) > 0 {
			l.warnOnce("this machine has not seen the ledger before, or its record of it was deleted: missing records cannot be detected this time")
		}
	}
	l.self.seen, l.self.at = seen, known
	return nil
}

// meet reads the secret of the ledger for the first time.
func (l *Ledger) meet(tx Tx) error {
	secret, err := tx.Secret()
	if err != nil {
		return err
	}
	if len(secret) != 32 {
		return fmt.Errorf("%w: its secret key is damaged", ErrStore)
	}
	l.self.secret, l.self.id = secret, keyID(secret)
	return nil
}

func (l *Ledger) warnOnce(format string, args ...any) {
	if l.warn != nil && !l.self.warned {
		l.warn(fmt.Sprintf(format, args...))
	}
	l.self.warned = true
}

// remember tells the second place what this transaction has seen. What fails here is no
// reason to fail a charge that is durable.
func (l *Ledger) remember(t *txn) {
	if l.heads == nil || l.self.id == "" {
		return
	}
	seen, had := Seen{Codes: t.coded, Heads: map[string]Head{}}, l.self.seen
	for name, head := range t.heads {
		// Before the second place has the address, it is told all.
		if head.Seq > 0 && (l.self.at != l.self.id || had.Heads[name] != head) {
			seen.Heads[name] = head
		}
	}
	if len(seen.Heads) == 0 && (!seen.Codes || had.Codes || len(had.Heads) == 0) {
		return
	}
	keep := l.heads.Keep
	if l.self.replacing {
		keep = l.heads.Replace
	}
	if err := keep(l.self.id, seen); err != nil {
		l.warnOnce("the head of the ledger cannot be stored on this machine, so a replaced or rolled-back ledger will not be detected: %v", err)
	}
}

// same refuses a store whose secret is not the one that this process met, and finds out
// whether its heads have codes.
func (t *txn) same() error {
	secret, err := t.Secret()
	if err != nil {
		return err
	}
	if !hmac.Equal(secret, t.l.self.secret) {
		return contradicted("", "another ledger replaced it while it was open")
	}
	mark, err := t.Code("")
	if err != nil {
		return err
	}
	t.coded = mark != nil
	switch {
	case t.coded && !hmac.Equal(mark, code(secret, "", Head{})):
		t.uncoded = "the mark of its authentication codes is wrong"
	case !t.coded && t.l.self.seen.Codes:
		t.uncoded = "its authentication codes were removed"
	}
	if t.uncoded != "" && !t.l.self.accepting {
		return miscoded("", t.uncoded)
	}
	return nil
}

// code authenticates the end of a log under the ledger's secret, and so, as records
// chain and are numbered, all of it. It lies beside the chain, which outsiders check
// without the secret. The data set "" is the mark that a ledger has codes.
func code(secret []byte, dataset string, head Head) []byte {
	key := derive(secret, "pawl ledger head", dataset)
	m := hmac.New(sha256.New, key[:])
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(head.Seq)))
	m.Write(head.Hash[:])
	return m.Sum(nil)
}

// codeAll gives every head its code: in a ledger that an earlier version wrote, one that
// is new, and one that was reconciled.
func (t *txn) codeAll() error {
	names, err := t.Names()
	if err != nil {
		return err
	}
	secret := t.l.self.secret
	for _, name := range names {
		head, err := t.Head(name)
		if err != nil {
			return err
		}
		if err := t.SetCode(name, code(secret, name, head)); err != nil {
			return err
		}
	}
	if err := t.SetCode("", code(secret, "", Head{})); err != nil {
		return err
	}
	// A store that cannot keep codes yet (its owner has not made the table) says so here.
	mark, err := t.Code("")
	t.coded = mark != nil
	return err
}

// vouch compares a log whose chain holds with its code and with what was seen of it.
func (t *txn) vouch(s *state) error {
	t.heads[s.name] = s.head
	if t.l.self.accepting {
		return nil
	}
	if err := t.checkCode(s); err != nil {
		return err
	}
	if seen, ok := t.l.self.seen.Heads[s.name]; ok && !s.holds(seen) {
		return contradicted(s.name, "record %d, which was here, is missing or different: it was deleted, or an older ledger was restored", seen.Seq)
	}
	return nil
}

func (t *txn) checkCode(s *state) error {
	if !t.coded || !s.known() {
		return nil
	}
	mac, err := t.Code(s.name)
	switch {
	case err != nil:
		return err
	case mac == nil:
		return miscoded(s.name, "the authentication code of its head is missing")
	case !hmac.Equal(mac, code(t.l.self.secret, s.name, s.head)):
		return miscoded(s.name, fmt.Sprintf("the authentication code of its head, record %d, is wrong", s.head.Seq))
	}
	return nil
}

// holds reports whether the chain contains a head.
func (s *state) holds(h Head) bool {
	return h.Seq >= 1 && h.Seq <= int64(len(s.hashes)) && s.hashes[h.Seq-1] == h.Hash
}

// Confirm reads the ledger again through its address and returns nil if it is still the one that
// this process opened, its log continues what this process and this machine have seen, and the
// entry of the permit is in it and charged. It is called last, before anything computed under the
// permit is released. Any error means that nothing may be released.
func (l *Ledger) Confirm(ctx context.Context, p *sealed.Permit) error {
	if p == nil {
		return invalid("no permit")
	}
	return l.ConfirmEntry(ctx, p.Dataset(), p.ID())
}

// ConfirmEntry is Confirm for an entry made by Book.
func (l *Ledger) ConfirmEntry(ctx context.Context, dataset, id string) error {
	if err := checkName(dataset); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.look(ctx); err != nil {
		return err
	}
	store := l.store
	if at, ok := l.store.(Located); ok {
		fresh, err := at.Fresh(ctx)
		if err != nil {
			return err
		}
		defer fresh.Close()
		store = fresh
	}
	return store.View(ctx, func(tx Tx) error {
		t := &txn{Tx: tx, l: l, heads: map[string]Head{}}
		if err := t.same(); err != nil {
			return err
		}
		s, err := t.extend(newState(dataset))
		if err != nil {
			return err
		}
		if err := t.vouch(s); err != nil {
			return err
		}
		if ours := l.states[dataset]; ours != nil && ours.known() && !s.holds(ours.head) {
			return contradicted(s.name, "record %d, which this run has seen, is missing or different", ours.head.Seq)
		}
		if e := s.byID[id]; e == nil || e.State == Cancelled {
			return contradicted(s.name, "entry %s, which paid for this run, is not in it", id)
		}
		return nil
	})
}

// KeyID returns a public name of the ledger's secret, which is the same in all copies of a ledger
// and different in every other ledger.
func (l *Ledger) KeyID(ctx context.Context) (string, error) {
	secret, err := l.secret(ctx)
	if err != nil {
		return "", err
	}
	return keyID(secret), nil
}

// Remembered lists the data sets that this machine has seen in the ledger, including those that are
// gone.
func (l *Ledger) Remembered(ctx context.Context) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.look(ctx)
	return slices.Sorted(maps.Keys(l.self.seen.Heads)), err
}
