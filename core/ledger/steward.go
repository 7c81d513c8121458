package ledger

import (
	"context"
	"fmt"
	"slices"

	"pawl/core/dp"
)

// Budget is what a steward declares with Create. Unit and RowsPerUnit may be empty; the first use
// then fixes them. Public is for built-in benchmarks.
type Budget struct {
	Dataset     string
	Epsilon     string // > 0
	Delta       string // 0 <= Delta < 1
	Unit        string
	RowsPerUnit int
	Relation    dp.Relation
	Public      bool
	// AllowLargeDelta lets Delta exceed MaxDelta.
	AllowLargeDelta bool
	// Per renews the budget: each period has one of its own.
	Per Period
}

// Create registers a data set with its budget. A public data set that was used without a budget
// gets its limit now; a data set that has a budget is refused.
func (l *Ledger) Create(ctx context.Context, b Budget) error {
	epsilon, delta, err := parseBudget(b.Epsilon, b.Delta)
	if err != nil {
		return err
	}
	if !b.Relation.Valid() {
		return invalid("%v is not a neighbouring relation", b.Relation)
	}
	if b.RowsPerUnit < 0 {
		return invalid("rows per unit must be at least 1")
	}
	if delta.large() && !b.AllowLargeDelta {
		return refuseLargeDelta(b.Dataset, delta, "if this is intended: "+allowLargeDelta)
	}
	if err := b.Per.check(); err != nil {
		return err
	}
	return l.update(ctx, b.Dataset, func(t *txn, s *state) error {
		if s.budget != nil {
			return &RefusedError{Dataset: b.Dataset, Reason: fmt.Sprintf("it has a budget already (epsilon %v, delta %v)", s.budget.epsilon, s.budget.delta),
				Advice: fmt.Sprintf("to raise it: pawl ledger grant %s --epsilon E --reason WHY", quote(b.Dataset))}
		}
		if s.known() {
			if err := s.matches(b.Relation, b.Unit, b.RowsPerUnit); err != nil {
				return err
			}
		}
		return t.append(s, KindCreate, createBody{Epsilon: epsilon, Delta: delta, Terms: Terms{b.Unit, b.RowsPerUnit, b.Relation, b.Public}, Filter: filterDoors, Per: b.Per})
	})
}

// Grant raises a budget; "" keeps the old delta. The whole log is priced again under the larger
// cap. A budget is never lowered: to lose less privacy, do not spend it.
//
// The kind of filter stays if it admitted something at a delta above 0: each kind uses all of
// delta, and both together would need delta twice (core/README.md, Filters). Pure sums are a door
// without delta.
func (l *Ledger) Grant(ctx context.Context, dataset, epsilon, delta, reason string) error {
	return l.Renew(ctx, dataset, epsilon, delta, reason, Once)
}

// Renew is Grant for a budget that renews from now on: existing entries count in the period in
// which they were charged. Once leaves the period as it is; an existing period cannot be changed.
func (l *Ledger) Renew(ctx context.Context, dataset, epsilon, delta, reason string, per Period) error {
	if err := per.check(); err != nil {
		return err
	}
	return l.act(ctx, dataset, "a grant", reason, func(t *txn, s *state) error {
		if s.budget == nil {
			return s.refuseNone("raise")
		}
		if delta == "" {
			delta = s.budget.delta.String()
		}
		e, d, err := parseBudget(epsilon, delta)
		if err != nil {
			return err
		}
		if d.large() && !s.budget.delta.large() {
			return refuseLargeDelta(dataset, d, "to keep the present delta, leave out --delta")
		}
		becomes := s.budget.per
		switch {
		case per != Once && becomes != Once && per != becomes:
			return &RefusedError{Dataset: dataset, Reason: fmt.Sprintf("it renews each %s already, and its period cannot change", becomes), Advice: "leave out --per"}
		case per != Once:
			becomes = per
		}
		de, dd := e.Cmp(s.budget.epsilon), d.Cmp(s.budget.delta)
		if de < 0 || dd < 0 || de == 0 && dd == 0 && becomes == s.budget.per {
			return &RefusedError{Dataset: dataset,
				Reason: fmt.Sprintf("a grant can only raise a budget; it is at epsilon %v, delta %v", s.budget.epsilon, s.budget.delta)}
		}
		kind := s.budget.kind
		if len(s.entries) == 0 || s.budget.delta.IsZero() {
			kind = filterDoors
		}
		return t.append(s, KindGrant, grantBody{Epsilon: e, Delta: d, Reason: reason, Filter: kind, Per: becomes})
	})
}

// DeclarePublic makes a sensitive data set public. There is no other way.
func (l *Ledger) DeclarePublic(ctx context.Context, dataset, reason string) error {
	return l.act(ctx, dataset, "declaring a data set public", reason, func(t *txn, s *state) error {
		return t.append(s, KindDeclarePublic, reasonBody{Reason: reason})
	})
}

// Share is what one analyst may use of a data set's budget.
type Share struct {
	Dataset string
	Analyst string // as the operating system names the user
	Epsilon string // > 0, at most the budget's
	Delta   string // at most the budget's; "" is the budget's
	Reason  string
}

// GrantShare caps what one analyst may reserve, within the budget of the data set. Once one share
// is granted, users without a share are refused. A share may be lowered, since it divides a budget
// and promises nothing to the people in the data.
func (l *Ledger) GrantShare(ctx context.Context, g Share) error {
	if err := checkUser(g.Analyst); err != nil {
		return err
	}
	return l.act(ctx, g.Dataset, "a grant", g.Reason, func(t *txn, s *state) error {
		if s.budget == nil {
			return s.refuseNone("divide")
		}
		if g.Delta == "" {
			g.Delta = s.budget.delta.String()
		}
		e, d, err := parseBudget(g.Epsilon, g.Delta)
		if err != nil {
			return err
		}
		if e.Cmp(s.budget.epsilon) > 0 || d.Cmp(s.budget.delta) > 0 {
			return &RefusedError{Dataset: g.Dataset,
				Reason: fmt.Sprintf("a share must be within the budget, epsilon %v and delta %v", s.budget.epsilon, s.budget.delta),
				Advice: fmt.Sprintf("raise the budget first: pawl ledger grant %s --epsilon E --reason WHY", quote(g.Dataset))}
		}
		kind := s.budget.kind
		if old := s.shares[g.Analyst]; old != nil && slices.ContainsFunc(s.entries, func(e *entry) bool { return e.By == g.Analyst && e.State != Cancelled }) {
			kind = old.kind // a path may end in either filter, and then delta counts twice
		}
		return t.append(s, KindShare, shareBody{Analyst: g.Analyst, Epsilon: e, Delta: d, Reason: g.Reason, Filter: kind})
	})
}

// Freeze refuses every reservation on a data set until Unfreeze. Existing reservations can still be
// committed or cancelled.
func (l *Ledger) Freeze(ctx context.Context, dataset, reason string) error {
	return l.setFrozen(ctx, dataset, reason, KindFreeze)
}

// Unfreeze ends a Freeze.
func (l *Ledger) Unfreeze(ctx context.Context, dataset, reason string) error {
	return l.setFrozen(ctx, dataset, reason, KindUnfreeze)
}

func (l *Ledger) setFrozen(ctx context.Context, dataset, reason string, kind Kind) error {
	return l.act(ctx, dataset, "freezing or unfreezing a data set", reason, func(t *txn, s *state) error {
		switch {
		case kind == KindFreeze && s.frozen != nil:
			return s.refuseFrozen()
		case kind == KindUnfreeze && s.frozen == nil:
			return &RefusedError{Dataset: dataset, Reason: "it is not frozen"}
		}
		return t.append(s, kind, reasonBody{Reason: reason})
	})
}

func (s *state) refuseFrozen() error {
	return &RefusedError{Dataset: s.name, Reason: fmt.Sprintf("it is frozen by %s since %s: %s", s.frozen.By, s.frozen.At, s.frozen.Reason),
		Advice: fmt.Sprintf("its steward can unfreeze it: pawl ledger unfreeze %s --reason WHY", quote(s.name))}
}

// Approve records that the user agrees to the release of what a committed entry produced. On a
// team's ledger nobody approves his own entries.
func (l *Ledger) Approve(ctx context.Context, dataset, id, reason string) error {
	return l.act(ctx, dataset, "an approval", reason, func(t *txn, s *state) error {
		e := s.byID[id]
		if e == nil {
			return invalid("data set %q has no entry %.70q; pawl ledger show %s lists them", dataset, id, quote(dataset))
		}
		refuse := func(format string, args ...any) error {
			return &RefusedError{Dataset: dataset, Reason: "entry " + id + " " + fmt.Sprintf(format, args...)}
		}
		if e.State != Committed {
			return refuse("is %s: only the results of a committed entry can be released", e.State)
		}
		for _, a := range e.Approvals {
			if a.By == t.l.user {
				return refuse("was approved by %s at %s", a.By, a.At)
			}
		}
		if !t.l.store.PerUser() && e.By == t.l.user {
			return &RefusedError{Dataset: dataset, Reason: fmt.Sprintf("entry %s is of %s, and on a team's ledger nobody can approve his own", id, e.By),
				Advice: "ask the data steward or a colleague"}
		}
		return t.append(s, KindApprove, approveBody{ID: id, Reason: reason})
	})
}

// act runs fn on a data set that is known, for a reason of what.
func (l *Ledger) act(ctx context.Context, dataset, what, reason string, fn func(*txn, *state) error) error {
	if err := checkReason(what, reason); err != nil {
		return err
	}
	return l.update(ctx, dataset, func(t *txn, s *state) error {
		if !s.known() {
			return unknown(dataset)
		}
		return fn(t, s)
	})
}

func (s *state) refuseNone(what string) error {
	return &RefusedError{Dataset: s.name, Reason: "it has no budget to " + what,
		Advice: fmt.Sprintf("to give it one: pawl ledger create %s --epsilon E --delta D", quote(s.name))}
}

func parseBudget(epsilon, delta string) (e, d Amount, err error) {
	if e, err = named("epsilon", epsilon); err == nil {
		d, err = named("delta", delta)
	}
	switch one, _ := ParseAmount("1"); {
	case err != nil:
	case e.IsZero():
		err = invalid("epsilon must be greater than 0")
	case d.Cmp(one) >= 0:
		err = invalid("delta must be less than 1")
	}
	return e, d, err
}

func named(name, text string) (Amount, error) {
	a, err := ParseAmount(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return a, err
}

func checkUser(name string) error {
	if checkName(name) != nil {
		return invalid("a user's name is 1 to %d printable characters", maxNameLength)
	}
	return nil
}
