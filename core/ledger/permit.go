package ledger

import "pawl/core/internal/sealed"

// Permit is the right to run what one reservation paid for. It is opaque outside core: only
// mechanisms can use it.
type Permit = sealed.Permit

// PerUser reports whether the ledger belongs to one person, who may grant the
// first budget to himself, rather than to a team.
func (l *Ledger) PerUser() bool { return l.store.PerUser() }
