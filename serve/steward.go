package serve

import (
	"errors"

	"pawl"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// field is what a form says, which was read when its number was checked.
func (v *visit) field(name string) string { return v.r.PostForm.Get(name) }

// change makes one change of a data set and shows it.
func (v *visit) change(what string, do func(l *ledger.Ledger, name string) error) error {
	name := v.field("name")
	if err := do(v.ledger(), name); err != nil {
		return err
	}
	return v.goTo("/budget", "name", name, "done", what)
}

func (v *visit) grant() error {
	return v.change("grant", func(l *ledger.Ledger, name string) error {
		return l.Grant(v.r.Context(), name, v.field("epsilon"), v.field("delta"), v.field("reason"))
	})
}

func (v *visit) share() error {
	return v.change("share", func(l *ledger.Ledger, name string) error {
		return l.GrantShare(v.r.Context(), ledger.Share{Dataset: name, Analyst: v.field("analyst"), Epsilon: v.field("epsilon"), Delta: v.field("delta"), Reason: v.field("reason")})
	})
}

func (v *visit) freeze() error {
	return v.change("freeze", func(l *ledger.Ledger, name string) error { return l.Freeze(v.r.Context(), name, v.field("reason")) })
}

func (v *visit) unfreeze() error {
	return v.change("unfreeze", func(l *ledger.Ledger, name string) error { return l.Unfreeze(v.r.Context(), name, v.field("reason")) })
}

func (v *visit) approve() error {
	return v.change("approve", func(l *ledger.Ledger, name string) error {
		return l.Approve(v.r.Context(), name, v.field("entry"), v.field("reason"))
	})
}

// verify reads a whole log again, and says what was found on the page of the data set.
func (v *visit) verify() error {
	name := v.field("name")
	return v.compute(func() error {
		checked, err := figures.Check(v.r.Context(), v.ledger(), name)
		switch {
		case err == nil:
			return v.showBudget(name, &checked, "")
		case errors.Is(err, ledger.ErrBroken), errors.Is(err, ledger.ErrContradicted), errors.Is(err, ledger.ErrNewer):
			return &problem{409, "The log failed verification", pawl.AsError(err).Error(), pawl.AsError(err).Hint()}
		}
		return err
	})
}
