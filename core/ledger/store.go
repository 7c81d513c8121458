package ledger

import "context"

// Store keeps records. It knows nothing of budgets: every decision is made by
// the Ledger inside one Update. Every error that is not the callback's own wraps
// ErrStore and reads as one line.
type Store interface {
	// Update runs fn in one serialised transaction. When it returns nil, what fn
	// appended is durable; when it returns an error of fn, nothing is kept.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn on one consistent snapshot. fn must not append.
	View(ctx context.Context, fn func(Tx) error) error
	// PerUser reports whether the store belongs to one person, who may grant the
	// first budget to himself; a team's ledger asks its steward.
	PerUser() bool
	Close() error
}

// Tx is one transaction of a Store. It must not outlive its callback.
type Tx interface {
	// Names lists the data sets that have a head or a record, sorted.
	Names() ([]string, error)
	// Head returns the sequence number and hash of the newest record, kept apart
	// from the records so that a log cut at its end is noticed. An unknown data
	// set has the zero Head.
	Head(dataset string) (Head, error)
	// Records returns the records of a data set with Seq > after, in order.
	Records(dataset string, after int64) ([]Record, error)
	// Append adds the record with Seq = Head.Seq + 1 and moves the head; any
	// other Seq is an error.
	Append(Record) error
	// Secret returns the ledger's random 32-byte key, drawn from the operating
	// system once, when the store was created.
	Secret() ([]byte, error)
	// Code returns the authentication code that SetCode kept beside the head of a data
	// set, apart from heads and records; nil where there is none. The data set "" has
	// the mark that a ledger has codes.
	Code(dataset string) ([]byte, error)
	SetCode(dataset string, code []byte) error
	// Adopt replaces the key by that of another ledger, whose logs are about to be
	// imported. It is an error once the ledger holds a record.
	Adopt(secret []byte) error
	// KeepPrint keeps a print of a data set apart from the records, under its identity;
	// one that is there stays as it is. A store that cannot keep prints, since its owner
	// has not made room for them, does nothing.
	KeepPrint(dataset string, identity [32]byte, print []byte) error
	// Prints returns the prints that are kept of a data set, sorted by identity.
	Prints(dataset string) ([][]byte, error)
}

// Head is the end of a chain.
type Head struct {
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
}
