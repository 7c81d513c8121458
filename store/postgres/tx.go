package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pawl/core/ledger"
)

// transaction implements ledger.Tx.
type transaction struct {
	ctx      context.Context
	tx       pgx.Tx
	s        *Store
	readOnly bool
	coded    bool // the table of codes was seen
}

// Names lists what has a head or a record: a log of which either was removed by
// hand is still found, and found broken.
func (t *transaction) Names() ([]string, error) {
	rows, err := t.tx.Query(t.ctx, `SELECT dataset FROM pawl_ledger.heads UNION SELECT dataset FROM pawl_ledger.records ORDER BY 1`)
	if err != nil {
		return nil, t.s.explain(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, t.s.explain(err)
}

func (t *transaction) Head(dataset string) (h ledger.Head, err error) {
	var hash []byte
	err = t.tx.QueryRow(t.ctx, `SELECT seq, hash FROM pawl_ledger.heads WHERE dataset = $1`, dataset).Scan(&h.Seq, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Head{}, nil
	}
	if err != nil {
		return h, t.s.explain(err)
	}
	h.Hash = hashOf(hash)
	return h, nil
}

func (t *transaction) Records(dataset string, after int64) ([]ledger.Record, error) {
	rows, err := t.tx.Query(t.ctx, `SELECT seq, version, kind, time, "user", body, prev, hash
		FROM pawl_ledger.records WHERE dataset = $1 AND seq > $2 ORDER BY seq`, dataset, after)
	if err != nil {
		return nil, t.s.explain(err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ledger.Record, error) {
		r := ledger.Record{Dataset: dataset}
		var body, prev, hash []byte
		err := row.Scan(&r.Seq, &r.Version, (*string)(&r.Kind), &r.Time, &r.User, &body, &prev, &hash)
		r.Body, r.Prev, r.Hash = body, hashOf(prev), hashOf(hash)
		return r, err
	})
	return records, t.s.explain(err)
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
	if _, err := t.tx.Exec(t.ctx, `INSERT INTO pawl_ledger.records (dataset, seq, version, kind, time, "user", body, prev, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, r.Dataset, r.Seq, r.Version, string(r.Kind), r.Time, r.User,
		[]byte(r.Body), r.Prev[:], r.Hash[:]); err != nil {
		return t.s.explain(err)
	}
	move := `UPDATE pawl_ledger.heads SET seq = $2, hash = $3 WHERE dataset = $1`
	if r.Seq == 1 {
		move = `INSERT INTO pawl_ledger.heads (dataset, seq, hash) VALUES ($1, $2, $3)`
	}
	_, err = t.tx.Exec(t.ctx, move, r.Dataset, r.Seq, r.Hash[:])
	return t.s.explain(err)
}

func (t *transaction) Secret() (secret []byte, err error) {
	err = t.tx.QueryRow(t.ctx, `SELECT secret FROM pawl_ledger.secret`).Scan(&secret)
	return secret, t.s.explain(err)
}

// codes reports whether there is a table of codes. It is asked in every transaction: its
// owner may make it while this process runs, and what is booked then needs a code.
func (t *transaction) codes() (bool, error) {
	if !t.coded {
		there, err := hasTable(t.ctx, t.tx, "codes")
		if t.coded = there; err != nil {
			return false, t.s.explain(err)
		}
	}
	return t.coded, nil
}

func (t *transaction) Code(dataset string) (code []byte, err error) {
	if there, err := t.codes(); !there || err != nil {
		return nil, err
	}
	err = t.tx.QueryRow(t.ctx, `SELECT code FROM pawl_ledger.codes WHERE dataset = $1`, dataset).Scan(&code)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return code, t.s.explain(err)
}

// SetCode does nothing where the owner has not made the table yet.
func (t *transaction) SetCode(dataset string, code []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a code in a read-only transaction", ledger.ErrStore)
	}
	if there, err := t.codes(); !there || err != nil {
		return err
	}
	_, err := t.tx.Exec(t.ctx, `INSERT INTO pawl_ledger.codes (dataset, code) VALUES ($1, $2)
		ON CONFLICT (dataset) DO UPDATE SET code = excluded.code`, dataset, code)
	return t.s.explain(err)
}

func (t *transaction) Adopt(secret []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: another secret in a read-only transaction", ledger.ErrStore)
	}
	_, err := t.tx.Exec(t.ctx, `UPDATE pawl_ledger.secret SET secret = $1`, secret)
	return t.s.explain(err)
}

func (t *transaction) KeepPrint(dataset string, identity [32]byte, print []byte) error {
	if t.readOnly {
		return fmt.Errorf("%w: a print in a read-only transaction", ledger.ErrStore)
	}
	// Asked first: an error would end the transaction.
	if there, err := hasTable(t.ctx, t.tx, "prints"); !there || err != nil {
		return t.s.explain(err)
	}
	_, err := t.tx.Exec(t.ctx, `INSERT INTO pawl_ledger.prints (dataset, identity, print) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, dataset, identity[:], print)
	return t.s.explain(err)
}

func (t *transaction) Prints(dataset string) ([][]byte, error) {
	if there, err := hasTable(t.ctx, t.tx, "prints"); !there || err != nil {
		return nil, t.s.explain(err)
	}
	rows, err := t.tx.Query(t.ctx, `SELECT print FROM pawl_ledger.prints WHERE dataset = $1 ORDER BY identity`, dataset)
	if err != nil {
		return nil, t.s.explain(err)
	}
	prints, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	return prints, t.s.explain(err)
}

// hashOf reads a stored hash; one of another length becomes zeros, which no chain
// accepts.
func hashOf(b []byte) (h ledger.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}
