package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"pawl/core/internal/sealed"
)

// Held is the public part of an entry, enough to charge it again in a ledger that lost it. A held
// release contains it in plain text.
type Held struct {
	Ledger  string `json:"ledger"` // key id of the ledger that charged it
	Dataset string `json:"dataset"`
	Entry   string `json:"entry"`
	By      string `json:"by"`
	At      string `json:"at"` // UTC, RFC 3339
	// Reservation is the body of the record, with the event.
	Reservation json.RawMessage `json:"reservation"`
	Terms
	// Epsilon and Delta are the budget in force, nil if none limited the data set. A new ledger adopts
	// it, so that losing a ledger grants nothing.
	Epsilon     *Amount    `json:"budget_epsilon,omitempty"`
	Delta       *Amount    `json:"budget_delta,omitempty"`
	Filter      filterKind `json:"budget_filter,omitempty"`
	SelfGranted bool       `json:"self_granted,omitempty"`
}

// Held returns the charge of an open permit of this ledger. It uses memory only, so it works even
// if the store is gone.
func (l *Ledger) Held(p *sealed.Permit) (Held, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.states[p.Dataset()]
	if _, ours := l.issued[p]; !ours || s == nil || s.byID[p.ID()] == nil {
		return Held{}, invalid("permit %s is not an open reservation of this ledger", p.ID())
	}
	e := s.byID[p.ID()]
	body, err := json.Marshal(e.Reservation)
	if err != nil {
		return Held{}, err
	}
	h := Held{Ledger: l.self.id, Dataset: s.name, Entry: e.ID, By: e.By, At: e.At, Reservation: body, Terms: s.Terms}
	if s.limited() {
		h.Epsilon, h.Delta, h.Filter, h.SelfGranted = &s.budget.epsilon, &s.budget.delta, s.budget.kind, s.budget.Self
	}
	return h, nil
}

// Reconciliation is the recorded reason for accepting a log that contradicts its stored head.
type Reconciliation struct {
	Act
	// Entry is the entry that was charged again or committed, "" for none.
	Entry string `json:"entry,omitempty"`
	// Seen are the heads that are not in the log.
	Seen []SeenHead `json:"seen"`
	// Codes reports that the authentication code of the head was wrong or missing.
	Codes bool `json:"codes,omitempty"`
}

// SeenHead is a head that the second place held.
type SeenHead struct {
	Ledger string `json:"ledger"`
	Head
}

// reconcileBody is the body of a record. What it says of the data set counts where
// nobody has said it yet.
type reconcileBody struct {
	Reason string     `json:"reason"`
	Seen   []SeenHead `json:"seen"`
	Codes  bool       `json:"codes,omitempty"`
	// Held is the entry that is booked again here, whether or not it fits; Entry one
	// that is in the log and was confirmed.
	Held  *Held  `json:"held,omitempty"`
	Entry string `json:"entry,omitempty"`
}

// Reconcile is a request to accept the ledger that is at the address now.
type Reconcile struct {
	Reason string
	Held   *Held // a release that was held back, or nil
}

// Reconciled describes what Reconcile changed.
type Reconciled struct {
	Datasets []string `json:"datasets"` // the data sets in whose logs it is recorded
	// Booked reports that the held entry was not in the ledger, and is now; Committed that it was
	// there and not yet committed.
	Booked    bool `json:"booked"`
	Committed bool `json:"committed"`
}

// Reconcile accepts the ledger at the address. It writes the reason and the missing heads into the
// log of each data set concerned, charges a held entry that the ledger lost (once, however often it
// is called), and updates the second place. If there is no contradiction it writes nothing. A log
// whose chain is broken is still refused.
func (l *Ledger) Reconcile(ctx context.Context, r Reconcile) (out Reconciled, err error) {
	if err := checkReason("reconciling", r.Reason); err != nil {
		return out, err
	}
	if h := r.Held; h != nil {
		if err := checkName(h.Dataset); err != nil {
			return out, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.self.accepting, l.self.replacing, l.states = true, true, map[string]*state{}
	defer func() { l.self.accepting, l.self.replacing = false, false }()
	before := Seen{}
	known := ""
	if l.heads != nil {
		if known, err = l.heads.Known(); err == nil && known != "" {
			before, _, err = l.heads.Read(known)
		}
		if err != nil {
			return out, fmt.Errorf("%w: this machine's record of the ledger cannot be read: %w", ErrStore, err)
		}
	}
	err = l.transact(ctx, true, func(t *txn) error {
		out = Reconciled{Datasets: []string{}}
		faults, err := t.faults(known, before)
		if err != nil {
			return err
		}
		if h := r.Held; h != nil {
			s, err := t.load(h.Dataset)
			if err != nil {
				return err
			}
			switch e := s.byID[h.Entry]; {
			case e == nil:
				out.Booked, faults.of(h.Dataset).Held = true, h
			case e.State == Cancelled:
				return broken(s.name, s.head.Seq, "entry %s was cancelled, and rows were opened under it", h.Entry)
			case e.State == Reserved:
				out.Committed, faults.of(h.Dataset).Entry = true, h.Entry
			}
		}
		for _, name := range slices.Sorted(maps.Keys(faults)) {
			faults[name].Reason = r.Reason
			if err := t.reconcile(name, faults[name]); err != nil {
				return err
			}
			out.Datasets = append(out.Datasets, name)
		}
		if len(faults) == 0 {
			return nil
		}
		return t.codeAll()
	})
	if err == nil && l.heads != nil && known != l.self.id {
		// Also where nothing is known of what the other ledger held.
		err = l.heads.Replace(l.self.id, Seen{})
	}
	return out, err
}

// faults are what contradicts, by data set.
type faults map[string]*reconcileBody

func (f faults) of(dataset string) *reconcileBody {
	if f[dataset] == nil {
		f[dataset] = &reconcileBody{Seen: []SeenHead{}}
	}
	return f[dataset]
}

// faults collects them. known is the ledger that was seen at the address, "" for none, before what was seen of it.
func (t *txn) faults(known string, before Seen) (faults, error) {
	out, self := faults{}, t.l.self
	seen := map[string]Seen{known: before, self.id: self.seen}
	for _, id := range slices.Compact([]string{self.id, known}) {
		for name, head := range seen[id].Heads {
			s, err := t.load(name)
			if err != nil {
				return nil, err
			}
			if !s.holds(head) {
				out.of(name).Seen = append(out.of(name).Seen, SeenHead{id, head})
			}
		}
	}
	names, err := t.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := t.load(name)
		if err != nil {
			return nil, err
		}
		if err := t.checkCode(s); err != nil || t.uncoded != "" {
			out.of(name).Codes = true
		}
	}
	return out, nil
}

// reconcile writes one record, and takes over the budget of a ledger that was lost.
func (t *txn) reconcile(name string, body *reconcileBody) error {
	s, err := t.load(name)
	if err != nil {
		return err
	}
	if err := t.append(s, KindReconcile, body); err != nil {
		return err
	}
	h := body.Held
	if h == nil || h.Epsilon == nil || h.Delta == nil || s.budget != nil || s.Public || !t.l.store.PerUser() {
		return nil
	}
	// By another filter the budget would need its delta again: a path may have ended in the old one.
	return t.append(s, KindSelfGrant, grantBody{Epsilon: *h.Epsilon, Delta: *h.Delta, Filter: h.Filter})
}

func (s *state) reconcile(r *Record, b reconcileBody) error {
	act := Act{By: r.User, At: r.Time, Reason: b.Reason}
	if h := b.Held; h != nil {
		s.declare(h.Terms)
		e := &entry{Entry: Entry{State: Committed, At: r.Time, By: h.By, Rebooked: &act}, digest: s.digest}
		if err := decode(r, h.Reservation, &e.Reservation); err != nil {
			return err
		}
		if e.ID != h.Entry {
			return broken(s.name, r.Seq, "the entry to be charged again has two names")
		}
		if err := s.charge(r, e); err != nil {
			return err
		}
		b.Entry = h.Entry
	} else if b.Entry != "" {
		e := s.byID[b.Entry]
		if e == nil || e.State == Cancelled {
			return broken(s.name, r.Seq, "%s of a reservation that is not charged", r.Kind)
		}
		e.State, e.cleared = Committed, false // its output is handed out only now
	}
	s.reconciled = append(s.reconciled, Reconciliation{Act: act, Entry: b.Entry, Seen: b.Seen, Codes: b.Codes})
	return nil
}
