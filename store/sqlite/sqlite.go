// Package sqlite keeps a ledger in one SQLite file: the default store of one
// person. Writers of any number of processes are serialised, and what was
// acknowledged survives a power loss (synchronous=FULL). It needs no cgo.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"pawl/core/ledger"
	"pawl/internal/whole"
	"pawl/store/records"
)

// schemaVersion is the version of the tables below. A file of a newer version is
// refused: it may hold charges that this code does not see.
const schemaVersion = 1

// application marks the file as a ledger of pawl, so that no other program's
// database is written into. It is "pawl" in ASCII.
const application = 0x7061776c

// Records are append-only for everybody who goes through SQL, this program
// included. The triggers on INSERT are there for INSERT OR REPLACE, which deletes
// without asking those on DELETE. The head of each log is a row apart: without it a
// log cut at its end would look whole. A ledger takes the secret of another one only
// while it is empty.
const tables = `
CREATE TABLE ledger_version (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL);
CREATE TABLE ledger_secret (only INTEGER PRIMARY KEY CHECK (only = 1), secret BLOB NOT NULL);
CREATE TABLE ledger_records (
	dataset TEXT NOT NULL,
	seq     INTEGER NOT NULL,
	version INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	time    TEXT NOT NULL,
	user    TEXT NOT NULL,
	body    BLOB NOT NULL,
	prev    BLOB NOT NULL,
	hash    BLOB NOT NULL,
	PRIMARY KEY (dataset, seq)
) WITHOUT ROWID;
CREATE TABLE ledger_heads (dataset TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
CREATE TRIGGER ledger_records_next BEFORE INSERT ON ledger_records
	WHEN new.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM ledger_records WHERE dataset = new.dataset)
	BEGIN SELECT RAISE(ABORT, 'ledger records are append-only'); END;
CREATE TRIGGER ledger_records_no_update BEFORE UPDATE ON ledger_records
	BEGIN SELECT RAISE(ABORT, 'ledger records are append-only'); END;
CREATE TRIGGER ledger_records_no_delete BEFORE DELETE ON ledger_records
	BEGIN SELECT RAISE(ABORT, 'ledger records are append-only'); END;
CREATE TRIGGER ledger_heads_once BEFORE INSERT ON ledger_heads
	WHEN new.seq <> 1 OR EXISTS (SELECT 1 FROM ledger_heads WHERE dataset = new.dataset)
	BEGIN SELECT RAISE(ABORT, 'ledger heads only move on'); END;
CREATE TRIGGER ledger_heads_no_delete BEFORE DELETE ON ledger_heads
	BEGIN SELECT RAISE(ABORT, 'ledger heads only move on'); END;
CREATE TRIGGER ledger_heads_forward BEFORE UPDATE ON ledger_heads WHEN new.seq <> old.seq + 1
	BEGIN SELECT RAISE(ABORT, 'ledger heads only move on'); END;
CREATE TRIGGER ledger_secret_once BEFORE INSERT ON ledger_secret WHEN EXISTS (SELECT 1 FROM ledger_secret)
	BEGIN SELECT RAISE(ABORT, 'the ledger secret never changes'); END;
CREATE TRIGGER ledger_secret_no_update BEFORE UPDATE ON ledger_secret WHEN EXISTS (SELECT 1 FROM ledger_records)
	BEGIN SELECT RAISE(ABORT, 'the ledger secret never changes'); END;
CREATE TRIGGER ledger_secret_no_delete BEFORE DELETE ON ledger_secret
	BEGIN SELECT RAISE(ABORT, 'the ledger secret never changes'); END;
`

// Codes lie beside the heads and apart from records. Files of before lack the table and
// get it when they are opened; their version stays, so that nothing else changes.
const codesTable = `CREATE TABLE IF NOT EXISTS ledger_codes (dataset TEXT PRIMARY KEY, code BLOB NOT NULL) WITHOUT ROWID`

// printsTable keeps prints apart from records. Files of before lack it and get it when they
// are opened; their version stays, so that nothing else changes.
const printsTable = `CREATE TABLE IF NOT EXISTS ledger_prints (dataset TEXT NOT NULL, identity BLOB NOT NULL, print BLOB NOT NULL,
	PRIMARY KEY (dataset, identity))`

// BusyTimeout is how long a transaction waits for those of other processes.
const BusyTimeout = 30 * time.Second

// Store is a ledger.Store in one file.
type Store struct {
	// patience is BusyTimeout, and less in a test.
	patience time.Duration
	path     string
	db       *sql.DB     // one connection: writers queue here and not as "locked" errors
	file     os.FileInfo // what the path held when it was opened
}

// Open opens the ledger file at path. A file that is not there is created, with
// mode 0600 in a directory of mode 0700. Errors wrap ledger.ErrStore and name the
// path in one line.
func Open(ctx context.Context, path string) (*Store, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: no path", ledger.ErrStore)
	}
	if err := prepare(path); err != nil {
		return nil, err
	}
	s, err := connect(path)
	if err != nil {
		return nil, err
	}
	err = s.patiently(ctx, s.migrate)
	if err == nil {
		err = s.still(ctx) // the driver opens the path by itself
	}
	if err != nil {
		s.db.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// Same implements ledger.Located.
func (s *Store) Same(context.Context) error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s was deleted while it was open", s.path)
	case err != nil:
		return fmt.Errorf("%s: %w", s.path, cause(err))
	case !os.SameFile(s.file, now):
		return fmt.Errorf("%s is another file than the one that was opened", s.path)
	}
	return nil
}

func (s *Store) still(ctx context.Context) error {
	if err := s.Same(ctx); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrStore, err)
	}
	return nil
}

// Fresh implements ledger.Located. It never opens the file by other means than SQLite's:
// closing such a descriptor would drop the locks that this process holds on the file.
func (s *Store) Fresh(ctx context.Context) (ledger.Store, error) {
	if err := s.still(ctx); err != nil {
		return nil, err
	}
	fresh, err := connect(s.path)
	if err != nil {
		return nil, err
	}
	err = fresh.patiently(ctx, func(ctx context.Context) error {
		ready, err := fresh.inspect(ctx, fresh.db)
		if err == nil && !ready {
			err = fmt.Errorf("%w: %s was emptied while it was open", ledger.ErrStore, s.path)
		}
		return err
	})
	if err == nil {
		err = s.still(ctx)
	}
	if err != nil {
		fresh.db.Close()
		return nil, fresh.explain(err)
	}
	return fresh, nil
}

// connect opens the file that stands at path.
func connect(path string) (*Store, error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ledger.ErrStore, path, cause(err))
	}
	// What is made is made by prepare: a file that was deleted since does not come back.
	pragmas := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", BusyTimeout.Milliseconds()),
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "trusted_schema(OFF)"}}
	uri, err := whole.URI(path, pragmas)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ledger.ErrStore, err)
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ledger.ErrStore, path, err)
	}
	db.SetMaxOpenConns(1)
	return &Store{path: path, db: db, patience: BusyTimeout, file: file}, nil
}

// patiently repeats what makes a ledger while others make it too. SQLite answers
// "busy" at once, without the wait that it was asked for, where waiting could be a
// deadlock: when a journal changes its mode, and when the last to leave clears up.
func (s *Store) patiently(ctx context.Context, f func(context.Context) error) error {
	for end := time.Now().Add(s.patience); ; {
		err := f(ctx)
		var e *driver.Error
		if !errors.As(err, &e) || time.Now().After(end) {
			return err
		}
		if code := e.Code() & 0xff; code != codes.SQLITE_BUSY && code != codes.SQLITE_LOCKED {
			return err
		}
		// Unequal waits, so that two of them do not meet again and again.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(1+mathrand.IntN(20)) * time.Millisecond):
		}
	}
}

// prepare creates what is missing with private modes. SQLite gives its -wal and
// -shm files the mode of the database.
func prepare(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%w: %w", ledger.ErrStore, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR})
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", ledger.ErrStore, path)
	case err == nil:
		// A ledger that cannot be written cannot book a charge. Asked here, since
		// SQLite would say so only at the first reservation.
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("%w: %s cannot be written: %w", ledger.ErrStore, path, cause(err))
		}
		return f.Close()
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s: %w", ledger.ErrStore, path, cause(err))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%w: cannot create the directory of %s: %w", ledger.ErrStore, path, cause(err))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: cannot create %s: %w", ledger.ErrStore, path, cause(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("%w: cannot create %s: %w", ledger.ErrStore, path, cause(err))
	}
	// SQLite flushes what it writes into the file. The names of a file and of a
	// directory that we just made are ours to flush, or a power loss takes the first
	// charges with it. Not every system lets a directory be flushed.
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if d, err := os.Open(dir); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
	return nil
}

func cause(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err // the path is in our line already
	}
	return err
}

// migrate creates the tables in an empty file and refuses files of other programs
// and of newer versions. It looks without the write lock first, so that opening a
// ledger never waits for a writer.
func (s *Store) migrate(ctx context.Context) error {
	if ready, err := s.inspect(ctx, s.db); ready || err != nil {
		if err == nil {
			err = s.addTables(ctx)
		}
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if ready, err := s.inspect(ctx, tx); ready || err != nil { // another process was first
		return err
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{fmt.Sprintf(`PRAGMA application_id = %d`, application), nil},
		{tables, nil},
		{codesTable, nil},
		{printsTable, nil},
		{`INSERT INTO ledger_version VALUES (1, ?)`, []any{schemaVersion}},
		{`INSERT INTO ledger_secret VALUES (1, ?)`, []any{secret}},
	} {
		if _, err := tx.ExecContext(ctx, step.sql, step.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// addTables adds what files of before lack.
func (s *Store) addTables(ctx context.Context) error {
	for name, table := range map[string]string{"ledger_prints": printsTable, "ledger_codes": codesTable} {
		var there int
		if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = ?`, name).Scan(&there); err != nil {
			return err
		}
		if there == 0 {
			if _, err := s.db.ExecContext(ctx, table); err != nil {
				return err
			}
		}
	}
	return nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inspect reports whether the tables are there; false means an empty file.
func (s *Store) inspect(ctx context.Context, q querier) (ready bool, err error) {
	var objects, id, version int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&objects); err != nil || objects == 0 {
		return false, err
	}
	if err := q.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id); err != nil {
		return false, err
	}
	if id != application {
		return false, fmt.Errorf("%w: %s is a database of another program", ledger.ErrStore, s.path)
	}
	if err := q.QueryRowContext(ctx, `SELECT version FROM ledger_version`).Scan(&version); err != nil {
		return false, err
	}
	if version != schemaVersion {
		return false, fmt.Errorf("%w: %w: %s has tables of version %d, this is version %d", ledger.ErrStore, ledger.ErrNewer, s.path, version, schemaVersion)
	}
	return true, nil
}

// PerUser implements ledger.Store: a file belongs to one person.
func (s *Store) PerUser() bool { return true }

// Close implements ledger.Store.
func (s *Store) Close() error { return s.explain(s.db.Close()) }

// Update implements ledger.Store with BEGIN IMMEDIATE: the write lock is taken
// before the first read, so what fn decides on cannot change under it.
func (s *Store) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	return s.run(ctx, nil, fn)
}

// View implements ledger.Store.
func (s *Store) View(ctx context.Context, fn func(ledger.Tx) error) error {
	return s.run(ctx, &sql.TxOptions{ReadOnly: true}, fn)
}

func (s *Store) run(ctx context.Context, o *sql.TxOptions, fn func(ledger.Tx) error) error {
	var tx *sql.Tx
	begin := func(ctx context.Context) (err error) {
		tx, err = s.db.BeginTx(ctx, o)
		return err
	}
	if err := s.patiently(ctx, begin); err != nil {
		return s.explain(err)
	}
	defer tx.Rollback() // also when fn panics; after Commit it does nothing
	if err := fn(&records.Tx{Conn: &conn{ctx: ctx, tx: tx, s: s, compiled: map[string]*sql.Stmt{}}, ReadOnly: o != nil, AllNames: allNames}); err != nil {
		return err
	}
	return s.explain(tx.Commit())
}

// explain turns an error of the driver into one line that says what to do.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, ledger.ErrStore) {
		return err
	}
	what, kind := oneLine(err.Error()), error(nil)
	if e := (*driver.Error)(nil); errors.As(err, &e) {
		switch e.Code() & 0xff {
		case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
			what, kind = fmt.Sprintf("another program has locked it for more than %v; try again", BusyTimeout), ledger.ErrUnavailable
		case codes.SQLITE_READONLY, codes.SQLITE_PERM, codes.SQLITE_CANTOPEN, codes.SQLITE_AUTH:
			what = "it or its directory cannot be written by this user"
		case codes.SQLITE_NOTADB:
			what = "it is not a ledger file"
		case codes.SQLITE_CORRUPT:
			what, kind = "the file is damaged or truncated; restore it from a backup, then charge later runs with pawl ledger book", ledger.ErrBroken
		case codes.SQLITE_FULL:
			what, kind = "the disk is full; free some space, then run the command again", ledger.ErrUnavailable
		case codes.SQLITE_IOERR:
			what, kind = "the disk reports an error", ledger.ErrUnavailable
		}
	}
	return fmt.Errorf("%w: %s: %w", ledger.ErrStore, s.path, said{what, errors.Join(kind, err)})
}

// said prints a line of its own for errors that it keeps for errors.Is and As.
type said struct {
	text string
	error
}

func (e said) Error() string { return e.text }
func (e said) Unwrap() error { return e.error }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
