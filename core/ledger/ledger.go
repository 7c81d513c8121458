package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os/user"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"pawl/core/internal/sealed"
)

// Options are the options of New. The zero value takes the operating system's user and clock.
type Options struct {
	User  string
	Clock func() time.Time
	// Heads is the second place that remembers what this machine has seen of the ledger. Without one
	// (nil) a ledger that was replaced between runs is not detected.
	Heads Heads
	// Warn, if not nil, receives one line, once, if the second place has nothing to compare with or
	// cannot be used.
	Warn func(string)
	// Total is the epsilon that the first use of a sensitive data set grants to itself, a decimal; ""
	// means what that job requests. If a budget exists, Total must equal it.
	Total string
}

// Ledger decides on requests and records them in a Store. It is safe for concurrent use, and any
// number of Ledgers, in one process or many, may share a store.
type Ledger struct {
	store      Store
	accountant Accountant
	user       string
	clock      func() time.Time
	heads      Heads
	warn       func(string)
	total      string

	mu     sync.Mutex // serialises transactions of this process; guards the rest
	states map[string]*state
	issued map[*sealed.Permit]bool // permits of Reserve that are not settled; true: a replay
	self   self
}

// New returns the ledger in store. The caller closes the store.
func New(store Store, accountant Accountant, o Options) *Ledger {
	if o.User == "" {
		o.User = "unknown"
		if u, err := user.Current(); err == nil && u.Username != "" {
			o.User = u.Username
		}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	// An export is JSON and a database takes text only.
	o.User = strings.ToValidUTF8(strings.ReplaceAll(o.User, "\x00", ""), "?")
	return &Ledger{store: store, accountant: accountant, user: o.User, clock: o.Clock, heads: o.Heads, warn: o.Warn, total: o.Total,
		states: map[string]*state{}, issued: map[*sealed.Permit]bool{}}
}

// As returns the same ledger for another user, whom the caller has identified: its records carry
// that name.
func (l *Ledger) As(user string) *Ledger {
	return New(l.store, l.accountant, Options{User: user, Clock: l.clock, Heads: l.heads, Warn: l.warn, Total: l.total})
}

// Commit closes a reservation whose output was produced. A computation that was run again may be committed by each of
// its permits.
func (l *Ledger) Commit(ctx context.Context, p *sealed.Permit) error {
	return l.settle(ctx, p, KindCommit)
}

// Cancel cancels a reservation. This is possible only if no rows were opened under it and no second
// permit was issued for it; otherwise Cancel returns ErrOpened and the charge stays. It closes the
// permit in either case.
func (l *Ledger) Cancel(ctx context.Context, p *sealed.Permit) error {
	return l.settle(ctx, p, KindCancel)
}

func (l *Ledger) settle(ctx context.Context, p *sealed.Permit, kind Kind) error {
	if p == nil {
		return invalid("no permit")
	}
	// Closed first: rows cannot be opened between the question and the booking.
	p.Close()
	return l.update(ctx, p.Dataset(), func(t *txn, s *state) error {
		// A permit made from this one for a run of a selection carries the same id
		// and knows nothing of its siblings.
		replay, ours := l.issued[p]
		e := s.byID[p.ID()]
		if !ours || e == nil {
			return invalid("permit %s is not an open reservation of this ledger", p.ID())
		}
		t.done = func() { delete(l.issued, p) }
		if kind == KindCancel {
			if p.Opened() || replay || e.replayed || e.State == Committed {
				return ErrOpened
			}
		} else if e.State == Committed {
			return nil
		}
		return t.append(s, kind, idBody{ID: e.ID})
	})
}

// Digest returns the keyed digest of a file's bytes. Only the ledger has the key, so nobody who
// sees the digest of a small table can guess the table.
func (l *Ledger) Digest(ctx context.Context, r io.Reader) ([]byte, error) {
	key, err := l.key(ctx, "pawl file digest")
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, key[:])
	if _, err := io.Copy(m, r); err != nil {
		return nil, err
	}
	return m.Sum(nil), nil
}

// Key returns the right to seal the rows of a data set, with the key of its unit hash. The key
// never changes, and exists before the first reservation, since rows are hashed while they are
// sealed.
func (l *Ledger) Key(ctx context.Context, dataset string) (*sealed.Key, error) {
	if err := checkName(dataset); err != nil {
		return nil, err
	}
	secret, err := l.secret(ctx)
	if err != nil {
		return nil, err
	}
	return sealed.NewKey(dataset, derive(secret, "pawl scope key", dataset), derive(secret, "pawl prints of data", "")), nil
}

func (l *Ledger) secret(ctx context.Context) (secret []byte, err error) {
	err = l.read(ctx, func(*txn) error { secret = l.self.secret; return nil })
	return secret, err
}

// key is the key for one purpose.
func (l *Ledger) key(ctx context.Context, purpose string) (key [32]byte, err error) {
	secret, err := l.secret(ctx)
	if err == nil {
		key = derive(secret, purpose, "")
	}
	return key, err
}

// txn is one transaction of a Ledger.
type txn struct {
	Tx
	l        *Ledger
	now      time.Time       // of all that it decides and books
	appended []string        // data sets whose cached state runs ahead of the store
	done     func()          // runs after a durable commit
	coded    bool            // the heads have authentication codes
	uncoded  string          // what was wrong with all of them when the transaction began; "": nothing
	heads    map[string]Head // of what was loaded or appended to
}

// update runs fn on the state of a data set within one transaction.
func (l *Ledger) update(ctx context.Context, dataset string, fn func(*txn, *state) error) error {
	if err := checkName(dataset); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.transact(ctx, true, func(t *txn) error {
		s, err := t.load(dataset)
		if err != nil {
			return err
		}
		return fn(t, s)
	})
}

// read runs fn in a transaction that appends nothing.
func (l *Ledger) read(ctx context.Context, fn func(*txn) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.transact(ctx, false, fn)
}

// view runs fn on the state of a known data set.
func (l *Ledger) view(ctx context.Context, dataset string, fn func(*state) error) error {
	if err := checkName(dataset); err != nil {
		return err
	}
	return l.read(ctx, func(t *txn) error {
		s, err := t.load(dataset)
		if err != nil {
			return err
		}
		if !s.known() {
			return unknown(dataset)
		}
		return fn(s)
	})
}

// load returns the state of a data set. Only records newer than the cached state
// are read, so a decision does not grow with the log. A log that lost what this
// process has seen (an old copy was put in its place) is broken to it.
func (t *txn) load(dataset string) (*state, error) {
	s := t.l.states[dataset]
	if s == nil {
		s = newState(dataset)
	}
	s, err := t.extend(s)
	if err != nil {
		return nil, err
	}
	t.l.states[dataset] = s
	s.turnTo(t.now)
	return s, t.vouch(s)
}

// extend applies the records that follow a state to it.
func (t *txn) extend(s *state) (*state, error) {
	head, err := t.Head(s.name)
	if err != nil {
		return nil, err
	}
	records, err := t.Records(s.name, s.head.Seq)
	if err != nil {
		return nil, err
	}
	for i := range records {
		if err := s.apply(&records[i]); err != nil {
			delete(t.l.states, s.name)
			return nil, err
		}
	}
	if s.head.Seq != head.Seq || s.known() && s.head.Hash != head.Hash {
		return nil, broken(s.name, s.head.Seq, "the log ends here, but its head is record %d", head.Seq)
	}
	return s, nil
}

// append books one record and applies it.
func (t *txn) append(s *state, kind Kind, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r := Record{Version: Version, Seq: s.head.Seq + 1, Dataset: s.name, Kind: kind,
		Time: t.now.Format(time.RFC3339Nano), User: t.l.user, Body: b, Prev: s.head.Hash}
	r.Hash = r.Sum()
	t.appended = append(t.appended, s.name)
	if err := t.Append(r); err != nil {
		return err
	}
	if t.coded {
		if err := t.SetCode(s.name, code(t.l.self.secret, s.name, Head{r.Seq, r.Hash})); err != nil {
			return err
		}
	}
	t.heads[s.name] = Head{r.Seq, r.Hash}
	return s.apply(&r)
}

func unknown(dataset string) error { return fmt.Errorf("%w: %q", ErrUnknownDataset, dataset) }

const maxNameLength = 200

func checkName(name string) error {
	if name == "" || len(name) > maxNameLength || !utf8.ValidString(name) {
		return invalid("a data set's name is 1 to %d bytes of UTF-8", maxNameLength)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return invalid("a data set's name holds printable characters only")
		}
	}
	return nil
}

func newID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: it aborts the program instead
	return hex.EncodeToString(b[:])
}
