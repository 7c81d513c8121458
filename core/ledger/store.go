package ledger

import "context"

// Store stores records. It does not handle budgets: the Ledger makes every decision inside one
// Update. Every error that is not the callback's own wraps ErrStore and is one line.
type Store interface {
	// Update runs fn in one serialised transaction. If it returns nil, what fn appended is durable; if
	// it returns an error of fn, nothing is stored.
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
	// Head returns the sequence number and hash of the newest record, stored apart from the records so
	// that a log cut at its end is detected. An unknown data set has the zero Head.
	Head(dataset string) (Head, error)
	// Records returns the records of a data set with Seq > after, in order.
	Records(dataset string, after int64) ([]Record, error)
	// Append adds the record with Seq = Head.Seq + 1 and moves the head; any
	// other Seq is an error.
	Append(Record) error
	// Secret returns the ledger's random 32-byte key, drawn from the operating system once, when the
	// store was created.
	Secret() ([]byte, error)
	// Code returns the authentication code that SetCode stored beside the head of a data set, apart
	// from heads and records; nil if there is none. The data set "" holds the mark that a ledger has
	// codes.
	Code(dataset string) ([]byte, error)
	SetCode(dataset string, code []byte) error
	// Adopt replaces the key by that of another ledger whose logs are about to be imported. It returns
	// an error once the ledger holds a record.
	Adopt(secret []byte) error
	// KeepPrint stores a print of a data set apart from the records, under its identity; an existing
	// print stays as it is. A store without room for prints does nothing.
	KeepPrint(dataset string, identity [32]byte, print []byte) error
	// Prints returns the stored prints of a data set, sorted by identity.
	Prints(dataset string) ([][]byte, error)
}

// Head is the end of a chain.
type Head struct {
	Seq  int64 `json:"seq"`
	Hash Hash  `json:"hash"`
}
