package cli

import (
	"pawl/core/ledger"
	"pawl/internal/request"
)

// desk handles requests for what the library does not offer: checks, price lists and
// comparisons.
func (a *app) desk(l *ledger.Ledger) *request.Desk { return &request.Desk{Ledger: l, Note: a.note} }
