// Package records keeps the logs of a ledger in the tables of a database: the statements that
// stores of SQL have in common. A store brings the tables, transactions, and errors of its own.
package records

import (
	"fmt"

	"pawl/core/ledger"
)

// Conn runs statements within one transaction of a database. @ in a statement stands for what the names of the
// tables begin with, $1, $2, … are the arguments. Errors wrap ledger.ErrStore.
type Conn interface {
	Exec(statement string, args ...any) error
	// Each calls row for every row of the answer, in order, with a function that reads its columns.
	Each(statement string, row func(scan func(into ...any) error) error, args ...any) error
	// Has reports whether there is a table of this name: databases of earlier versions lack some.
	Has(table string) (bool, error)
}

// Tx implements ledger.Tx.
type Tx struct {
	Conn
	ReadOnly bool
	// AllNames selects the names that have a head or a record, sorted: a log of which either was removed by hand
	// is still found, and found broken.
	AllNames string
}

// Names implements ledger.Tx.
func (t *Tx) Names() (names []string, err error) {
	err = t.Each(t.AllNames, func(scan func(...any) error) error {
		names = append(names, "")
		return scan(&names[len(names)-1])
	})
	return names, err
}

// Head implements ledger.Tx.
func (t *Tx) Head(dataset string) (h ledger.Head, err error) {
	err = t.Each(`SELECT seq, hash FROM @heads WHERE dataset = $1`, func(scan func(...any) error) error {
		var hash []byte
		err := scan(&h.Seq, &hash)
		h.Hash = hashOf(hash)
		return err
	}, dataset)
	return h, err
}

// Records implements ledger.Tx.
func (t *Tx) Records(dataset string, after int64) (records []ledger.Record, err error) {
	err = t.Each(`SELECT seq, version, kind, time, "user", body, prev, hash
		FROM @records WHERE dataset = $1 AND seq > $2 ORDER BY seq`, func(scan func(...any) error) error {
		r := ledger.Record{Dataset: dataset}
		var body, prev, hash []byte
		err := scan(&r.Seq, &r.Version, (*string)(&r.Kind), &r.Time, &r.User, &body, &prev, &hash)
		r.Body, r.Prev, r.Hash = body, hashOf(prev), hashOf(hash)
		records = append(records, r)
		return err
	}, dataset, after)
	return records, err
}

// Append implements ledger.Tx.
func (t *Tx) Append(r ledger.Record) error {
	head, err := t.Head(r.Dataset)
	if err != nil {
		return err
	}
	if r.Seq != head.Seq+1 {
		return fmt.Errorf("%w: record %d cannot be appended after record %d", ledger.ErrStore, r.Seq, head.Seq)
	}
	if err := t.write(`INSERT INTO @records (dataset, seq, version, kind, time, "user", body, prev, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, r.Dataset, r.Seq, r.Version, string(r.Kind), r.Time, r.User,
		[]byte(r.Body), r.Prev[:], r.Hash[:]); err != nil {
		return err
	}
	move := `UPDATE @heads SET seq = $2, hash = $3 WHERE dataset = $1`
	if r.Seq == 1 {
		move = `INSERT INTO @heads (dataset, seq, hash) VALUES ($1, $2, $3)`
	}
	return t.write(move, r.Dataset, r.Seq, r.Hash[:])
}

// write is Exec in a transaction that may write.
func (t *Tx) write(statement string, args ...any) error {
	if t.ReadOnly {
		return fmt.Errorf("%w: a read-only transaction cannot write", ledger.ErrStore)
	}
	return t.Exec(statement, args...)
}

// Secret implements ledger.Tx.
func (t *Tx) Secret() ([]byte, error) { return t.bytes(`SELECT secret FROM @secret`) }

// bytes is the one value of an answer, nil where it is empty.
func (t *Tx) bytes(statement string, args ...any) (value []byte, err error) {
	err = t.Each(statement, func(scan func(...any) error) error { return scan(&value) }, args...)
	return value, err
}

// Code finds none in a database of an earlier version whose owner has not made the table yet.
func (t *Tx) Code(dataset string) ([]byte, error) {
	if there, err := t.Has("codes"); !there || err != nil {
		return nil, err
	}
	return t.bytes(`SELECT code FROM @codes WHERE dataset = $1`, dataset)
}

// SetCode does nothing where the owner has not made the table yet.
func (t *Tx) SetCode(dataset string, code []byte) error {
	if there, err := t.Has("codes"); !there || err != nil {
		return err
	}
	return t.write(`INSERT INTO @codes (dataset, code) VALUES ($1, $2)
		ON CONFLICT (dataset) DO UPDATE SET code = excluded.code`, dataset, code)
}

// Adopt implements ledger.Tx.
func (t *Tx) Adopt(secret []byte) error {
	return t.write(`UPDATE @secret SET secret = $1`, secret)
}

// KeepPrint implements ledger.Tx.
func (t *Tx) KeepPrint(dataset string, identity [32]byte, print []byte) error {
	if there, err := t.Has("prints"); !there || err != nil {
		return err
	}
	return t.write(`INSERT INTO @prints (dataset, identity, print) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, dataset, identity[:], print)
}

// Prints implements ledger.Tx.
func (t *Tx) Prints(dataset string) (prints [][]byte, err error) {
	if there, err := t.Has("prints"); !there || err != nil {
		return nil, err
	}
	err = t.Each(`SELECT print FROM @prints WHERE dataset = $1 ORDER BY identity`, func(scan func(...any) error) error {
		prints = append(prints, nil)
		return scan(&prints[len(prints)-1])
	}, dataset)
	return prints, err
}

// hashOf reads a stored hash; one of another length becomes zeros, which no chain
// accepts.
func hashOf(b []byte) (h ledger.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}
