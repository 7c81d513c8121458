package cli

import (
	"pawl/core/ledger"
	"pawl/internal/request"
)

// desk handles requests for what the library does not offer: checks, price lists and
// comparisons.
func (a *app) desk(l *ledger.Ledger) *request.Desk { return &request.Desk{Ledger: l, Note: a.note} }

// writable refuses an output directory before anything is planned; a run checks it again.
func writable(dir string, replace bool) error { return request.CheckDir(dir, replace) }

// frontEnds are the forms of --front-end, for its help.
func frontEnds() string { return request.FrontEnds() }

// seedOf reads --seed.
func (f *jobFlags) seedOf() (*uint64, error) { return request.ParseSeed(f.seed) }
