package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pawl/core/ledger"
)

// transaction implements ledger.Tx.
type transaction struct {
	ctx      context.Context
	tx       *sql.Tx
	s        *Store
	readOnly bool
	head     *sql.Stmt // of Head, nil before the first; it ends with tx
}

// Names lists what has a head or a record: a log of which either was removed by
// hand is still found, and found broken.
func (t *transaction) Names() ([]string, error) {
	rows, err := t.tx.QueryContext(t.ctx, allNames)
	if err != nil {
		return nil, t.s.explain(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, t.s.explain(err)
		}
		names = append(names, name)
	}
	return names, t.s.explain(rows.Err())
}

// allNames jumps from one name of the records to the next: SELECT DISTINCT would read every record.
const allNames = `WITH RECURSIVE recorded(name) AS (
		SELECT min(dataset) FROM ledger_records
		UNION ALL SELECT (SELECT min(dataset) FROM ledger_records WHERE dataset > name) FROM recorded WHERE name IS NOT NULL)
	SELECT dataset FROM ledger_heads UNION SELECT name FROM recorded WHERE name IS NOT NULL ORDER BY 1`

func (t *transaction) Head(dataset string) (h ledger.Head, err error) {
	if t.head == nil { // compiled once for a ledger of many logs
		if t.head, err = t.tx.PrepareContext(t.ctx, `SELECT seq, hash FROM ledger_heads WHERE dataset = ?`); err != nil {
			return h, t.s.explain(err)
		}
	}
	var hash []byte
	err = t.head.QueryRowContext(t.ctx, dataset).Scan(&h.Seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.Head{}, nil
	}
	if err != nil {
		return h, t.s.explain(err)
	}
	h.Hash = hashOf(hash)
	return h, nil
}

func (t *transaction) Records(dataset string, after int64) ([]ledger.Record, error) {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT seq, version, kind, time, user, body, prev, hash
		FROM ledger_records WHERE dataset = ? AND seq > ? ORDER BY seq`, dataset, after)
	if err != nil {
		return nil, t.s.explain(err)
	}
	defer rows.Close()
	var records []ledger.Record
	for rows.Next() {
		r := ledger.Record{Dataset: dataset}
		var body, prev, hash []byte
		if err := rows.Scan(&r.Seq, &r.Version, &r.Kind, &r.Time, &r.User, &body, &prev, &hash); err != nil {
			return nil, t.s.explain(err)
		}
		r.Body, r.Prev, r.Hash = body, hashOf(prev), hashOf(hash)
		records = append(records, r)
	}
	return records, t.s.explain(rows.Err())
}

func (t *transaction) Append(r ledger.Record) error {
	if t.readOnly {
		return fmt.Errorf("%w: append in a read-only transaction", ledger.ErrStore)
	}
	head, err := t.Head(r.Dataset)
	if err != nil {
		return err
	}
	if r.Seq != head.Seq+1 {
		return fmt.Errorf("%w: record %d cannot be appended after record %d", ledger.ErrStore, r.Seq, head.Seq)
	}
	if _, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_records (dataset, seq, version, kind, time, user, body, prev, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.Dataset, r.Seq, r.Version, string(r.Kind), r.Time, r.User,
		[]byte(r.Body), r.Prev[:], r.Hash[:]); err != nil {
		return t.s.explain(err)
	}
	move := `UPDATE ledger_heads SET seq = ?, hash = ? WHERE dataset = ?`
	if r.Seq == 1 {
		move = `INSERT INTO ledger_heads (seq, hash, dataset) VALUES (?, ?, ?)`
	}
	_, err = t.tx.ExecContext(t.ctx, move, r.Seq, r.Hash[:], r.Dataset)
	return t.s.explain(err)
}

func (t *transaction) Secret() (secret []byte, err error) {
	err = t.tx.QueryRowContext(t.ctx, `SELECT secret FROM ledger_secret`).Scan(&secret)
	return secret, t.s.explain(err)
}

// Code finds none in a file that an earlier version made and this one has not written to.
func (t *transaction) Code(dataset string) (code []byte, err error) {
	err = t.tx.QueryRowContext(t.ctx, `SELECT code FROM ledger_codes WHERE dataset = ?`, dataset).Scan(&code)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return code, t.s.explain(err)
}

func (t *transaction) SetCode(dataset string, code []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a code in a read-only transaction", ledger.ErrStore)
	}
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_codes (dataset, code) VALUES (?, ?)
		ON CONFLICT (dataset) DO UPDATE SET code = excluded.code`, dataset, code)
	return t.s.explain(err)
}

func (t *transaction) Adopt(secret []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: another secret in a read-only transaction", ledger.ErrStore)
	}
	_, err := t.tx.ExecContext(t.ctx, `UPDATE ledger_secret SET secret = ?`, secret)
	return t.s.explain(err)
}

func (t *transaction) KeepPrint(dataset string, identity [32]byte, print []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a print in a read-only transaction", ledger.ErrStore)
	}
	_, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_prints (dataset, identity, print) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, dataset, identity[:], print)
	return t.s.explain(err)
}

func (t *transaction) Prints(dataset string) ([][]byte, error) {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT print FROM ledger_prints WHERE dataset = ? ORDER BY identity`, dataset)
	if err != nil {
		return nil, t.s.explain(err)
	}
	defer rows.Close()
	var prints [][]byte
	for rows.Next() {
		var print []byte
		if err := rows.Scan(&print); err != nil {
			return nil, t.s.explain(err)
		}
		prints = append(prints, print)
	}
	return prints, t.s.explain(rows.Err())
}

// hashOf reads a stored hash; one of another length becomes zeros, which no chain
// accepts.
func hashOf(b []byte) (h ledger.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}
