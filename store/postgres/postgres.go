// Package postgres keeps the ledger of a team in a PostgreSQL database: one ledger
// a database, in the schema pawl_ledger. Transactions of any number of machines are
// serialised, and what was acknowledged is durable (synchronous_commit on; a server
// that runs with fsync off is refused).
//
// The role that creates the ledger owns its tables. Others need USAGE on the schema,
// SELECT on its tables, INSERT on records, heads, prints and codes, and UPDATE on heads and codes.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"pawl/core/ledger"
	"pawl/store/records"
)

// ErrNoLedger: the database holds no ledger. OpenExisting returns it.
var ErrNoLedger = errors.New("the database holds no ledger yet")

// LockTimeout is how long a transaction waits for those of others.
const LockTimeout = 30 * time.Second

// advisoryKey is the lock under which writers queue: "pawlledg" in ASCII. An
// advisory lock needs no right to change a table, as LOCK TABLE would, and unlike
// SERIALIZABLE it makes writers wait in line instead of failing at their commit.
const advisoryKey = 0x7061776c6c656467

// Store is a ledger.Store in a database.
type Store struct {
	name string // the URL without its password
	pool *pgxpool.Pool
}

// Open opens the ledger of the database at a postgres:// URL and creates it where
// there is none. Errors wrap ledger.ErrStore, are one line and never hold a password.
func Open(ctx context.Context, url string) (*Store, error) {
	s, ready, err := connect(ctx, url)
	if err == nil && !ready {
		err = s.migrate(ctx)
	}
	if err != nil {
		s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// OpenExisting is Open for those who only read: it creates nothing, and returns
// ErrNoLedger.
func OpenExisting(ctx context.Context, url string) (*Store, error) {
	s, ready, err := connect(ctx, url)
	if err == nil && !ready {
		err = fmt.Errorf("%w: %s: %w", ledger.ErrStore, s.name, ErrNoLedger)
	}
	if err != nil {
		s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

func connect(ctx context.Context, url string) (s *Store, ready bool, err error) {
	s = &Store{name: "postgres"}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// What the parser says may quote the URL, and that holds the password.
		return s, false, fmt.Errorf("%w: not a database's address; want postgres://USER@HOST:PORT/DATABASE", ledger.ErrStore)
	}
	c := config.ConnConfig
	s.name = Redacted(url)
	if err := encrypt(&c.Config, s.name); err != nil {
		return s, false, err
	}
	config.MaxConns = 4 // writers wait in line anyway
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	// A role's or a database's own settings must not make commits forgetful, nor a
	// stopped process hold the lock for ever.
	c.RuntimeParams["synchronous_commit"] = "on"
	c.RuntimeParams["lock_timeout"] = fmt.Sprint(LockTimeout.Milliseconds())
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "120000"
	c.RuntimeParams["application_name"] = "pawl"
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return s, false, err
	}
	if ready, err = inspect(ctx, s.pool, s.name); ready && err == nil {
		err = errors.Join(s.addTable(ctx, "prints", prints), s.addTable(ctx, "codes", codes))
	}
	return s, ready, err
}

// addTable adds a table that ledgers of before lack. Who may not leaves it to the owner;
// until then copies are recognised by their bytes alone, and nobody has codes.
func (s *Store) addTable(ctx context.Context, name, table string) error {
	there, err := hasTable(ctx, s.pool, name)
	if there || err != nil {
		return err
	}
	err = s.run(ctx, writing, func(tx pgx.Tx) error {
		if there, err := hasTable(ctx, tx, name); there || err != nil { // another process was first
			return err
		}
		_, err := tx.Exec(ctx, table)
		return err
	})
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) && e.Code == "42501" { // insufficient_privilege
		return nil
	}
	return err
}

func hasTable(ctx context.Context, q querier, name string) (there bool, err error) {
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'pawl_ledger' AND tablename = $1)`, name).Scan(&there)
	return there, err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// inspect reports whether the tables are there.
func inspect(ctx context.Context, q querier, name string) (ready bool, err error) {
	var fsync string
	// Not to_regclass: within a transaction it may answer from before the lock.
	if err := q.QueryRow(ctx, `SELECT current_setting('fsync'), EXISTS (SELECT FROM pg_catalog.pg_tables
		WHERE schemaname = 'pawl_ledger' AND tablename = 'version')`).Scan(&fsync, &ready); err != nil {
		return false, err
	}
	if fsync != "on" {
		return false, fmt.Errorf("%w: %s: the server runs with fsync = %s and could lose charges in a power failure", ledger.ErrStore, name, fsync)
	}
	if !ready {
		return false, nil
	}
	var version int
	if err := q.QueryRow(ctx, `SELECT version FROM pawl_ledger.version`).Scan(&version); err != nil {
		return false, err
	}
	if version != schemaVersion {
		return false, fmt.Errorf("%w: %w: %s has tables of version %d, this is version %d", ledger.ErrStore, ledger.ErrNewer, name, version, schemaVersion)
	}
	return true, nil
}

// migrate creates the tables and draws the secret, once however many ask.
func (s *Store) migrate(ctx context.Context) error {
	secret := make([]byte, 32)
	rand.Read(secret)
	return s.run(ctx, writing, func(tx pgx.Tx) error {
		if ready, err := inspect(ctx, tx, s.name); ready || err != nil { // another process was first
			return err
		}
		if _, err := tx.Exec(ctx, tables+prints+codes); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO pawl_ledger.version (version) VALUES ($1)`, schemaVersion); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO pawl_ledger.secret (secret) VALUES ($1)`, secret)
		return err
	})
}

// PerUser implements ledger.Store: a database belongs to a team, whose steward
// grants the budgets.
func (s *Store) PerUser() bool { return false }

// Close implements ledger.Store.
func (s *Store) Close() error {
	if s.pool != nil {
		s.pool.Close()
	}
	return nil
}

var (
	// Each statement sees what was committed before it: the first after the lock
	// sees all that the last holder of the lock did.
	writing = pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	reading = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
)

// Update implements ledger.Store.
func (s *Store) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	return s.run(ctx, writing, func(tx pgx.Tx) error { return fn(s.records(ctx, tx, false)) })
}

// View implements ledger.Store.
func (s *Store) View(ctx context.Context, fn func(ledger.Tx) error) error {
	return s.run(ctx, reading, func(tx pgx.Tx) error { return fn(s.records(ctx, tx, true)) })
}

func (s *Store) records(ctx context.Context, tx pgx.Tx, readOnly bool) *records.Tx {
	return &records.Tx{Conn: &conn{ctx: ctx, tx: tx, s: s, seen: map[string]bool{}}, ReadOnly: readOnly, AllNames: allNames}
}

// run is one transaction. Errors of fn come back as they are; those of the driver
// are explained where they arise.
func (s *Store) run(ctx context.Context, o pgx.TxOptions, fn func(pgx.Tx) error) error {
	tx, err := s.pool.BeginTx(ctx, o)
	if err != nil {
		return s.explain(err)
	}
	defer func() { // also when fn panics; after Commit it does nothing
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = tx.Rollback(late)
	}()
	if o.AccessMode == pgx.ReadWrite {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(advisoryKey)); err != nil {
			return s.explain(err)
		}
	}
	if err := fn(tx); err != nil {
		return err
	}
	return s.explain(tx.Commit(ctx))
}
