package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
)

var ctx = context.Background()

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConforms(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Store {
		return open(t, filepath.Join(t.TempDir(), "ledger.db"))
	})
}

// spent leaves a closed ledger file with charges behind.
func spent(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	s := open(t, path)
	l := ledgertest.New(s)
	for range 3 {
		p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.25))
		if err == nil {
			err = l.Commit(ctx, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir with ?#%", "ledger.db")
	s := open(t, path)
	defer s.Close()
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestChargesOutliveTheProcess(t *testing.T) {
	path := spent(t)
	s := open(t, path)
	defer s.Close()
	st, err := figures.Show(ctx, ledgertest.New(s), "d")
	if err != nil || st.Spent.Epsilon != 0.75 || st.Left.Epsilon != 0.25 {
		t.Errorf("after reopening: spent %v, left %v, %v", st.Spent.Epsilon, st.Left.Epsilon, err)
	}
}

func TestOpenErrorsAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE mine (x)`)
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	later := spent(t)
	edit(t, later, `UPDATE ledger_version SET version = 2`)
	damaged := spent(t)
	bytes, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < 4096; i++ {
		bytes[i] = 0x5a
	}
	if err := os.WriteFile(damaged, bytes, 0o600); err != nil {
		t.Fatal(err)
	}

	cases := []struct{ name, path, want string }{
		{"directory", dir, "is a directory"},
		{"text file", write("notes.txt", strings.Repeat("not a database\n", 100)), "not a ledger file"},
		{"short text file", write("short.txt", "hello"), "not a ledger file"},
		{"another program's database", foreign, "another program"},
		{"newer version", later, "version 2"},
		{"damaged", damaged, "damaged"},
		{"below a file", filepath.Join(write("file", ""), "ledger.db"), "not a directory"},
		{"no path", "", "no path"},
	}
	if os.Geteuid() != 0 { // root writes everywhere
		readOnly := spent(t)
		os.Chmod(readOnly, 0o400)
		locked := filepath.Join(dir, "locked")
		os.Mkdir(locked, 0o500)
		cases = append(cases, struct{ name, path, want string }{"read-only file", readOnly, "cannot be written"},
			struct{ name, path, want string }{"read-only directory", filepath.Join(locked, "ledger.db"), "cannot create"})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(ctx, c.path)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line that names the path and says %q", err, c.want)
			}
			if newer := c.name == "newer version"; newer != errors.Is(err, ledger.ErrNewer) {
				t.Errorf("%v: is ErrNewer: %v", err, !newer)
			}
		})
	}
}

// edit changes a ledger file behind its back.
func edit(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func TestRecordsAreAppendOnly(t *testing.T) {
	path := spent(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`UPDATE ledger_records SET user = 'bob'`,
		`DELETE FROM ledger_records WHERE seq = 3`,
		`INSERT OR REPLACE INTO ledger_heads SELECT dataset, 1, hash FROM ledger_heads`,
		`UPDATE ledger_heads SET seq = 1`,
		`DELETE FROM ledger_heads`,
		`INSERT OR REPLACE INTO ledger_records SELECT dataset, seq, version, kind, time, 'bob', body, prev, hash FROM ledger_records WHERE seq = 3`,
		`INSERT OR REPLACE INTO ledger_secret VALUES (1, x'00')`,
		`UPDATE ledger_secret SET secret = x'00'`,
		`DELETE FROM ledger_secret`,
	} {
		if _, err := db.Exec(q); err == nil {
			t.Errorf("%s was carried out", q)
		}
	}
}

// Whoever takes the triggers away and edits the tables is convicted by the chain.
func TestEditedFilesAreConvicted(t *testing.T) {
	for _, c := range []struct {
		name string
		sql  []string
	}{
		{"a byte of a body", []string{`UPDATE ledger_records SET body = CAST(replace(CAST(body AS TEXT), '0.25', '0.15') AS BLOB) WHERE seq = 3`}},
		{"who", []string{`UPDATE ledger_records SET user = 'bob' WHERE seq = 2`}},
		{"when", []string{`UPDATE ledger_records SET time = '2020-01-01T00:00:00Z' WHERE seq = 2`}},
		{"a record removed", []string{`DELETE FROM ledger_records WHERE seq = 4`}},
		{"the last record removed", []string{`DELETE FROM ledger_records WHERE seq = (SELECT max(seq) FROM ledger_records)`}},
		{"all records removed", []string{`DELETE FROM ledger_records`}},
		{"the head removed", []string{`DELETE FROM ledger_heads`}},
		{"records swapped", []string{`UPDATE ledger_records SET seq = -seq WHERE seq IN (3, 4)`, `UPDATE ledger_records SET seq = 7 + seq WHERE seq < 0`}},
		{"a short hash", []string{`UPDATE ledger_records SET hash = substr(hash, 1, 31) WHERE seq = 3`}},
		{"a long head", []string{`UPDATE ledger_heads SET hash = hash || x'00'`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := spent(t)
			edit(t, path, append([]string{`DROP TRIGGER ledger_records_no_update`, `DROP TRIGGER ledger_records_no_delete`,
				`DROP TRIGGER ledger_heads_no_delete`, `DROP TRIGGER ledger_heads_forward`}, c.sql...)...)
			s := open(t, path)
			defer s.Close()
			l := ledgertest.New(s)
			if err := l.Verify(ctx, "d"); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("Verify: %v", err)
			}
			if _, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.25)); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("Reserve: %v", err)
			}
			if names, err := l.Names(ctx); err != nil || len(names) != 1 {
				t.Errorf("names: %v, %v", names, err)
			}
		})
	}
}

func TestReadOnlyStoreSaysSo(t *testing.T) {
	s := open(t, spent(t))
	defer s.Close()
	if _, err := s.db.Exec(`PRAGMA query_only = 1`); err != nil {
		t.Fatal(err)
	}
	_, _, err := ledgertest.New(s).Reserve(ctx, ledgertest.Spend("d", 0.25))
	if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}

func TestLockedStoreSaysSo(t *testing.T) {
	path := spent(t)
	holder, s := open(t, path), open(t, path)
	defer holder.Close()
	defer s.Close()
	if _, err := s.db.Exec(`PRAGMA busy_timeout = 50`); err != nil {
		t.Fatal(err)
	}
	s.patience = 50 * time.Millisecond
	err := holder.Update(ctx, func(ledger.Tx) error {
		_, _, err := ledgertest.New(s).Reserve(ctx, ledgertest.Spend("d", 0.25))
		if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), "locked") {
			t.Errorf("got %v", err)
		}
		// Readers are not held up.
		if _, err := figures.Show(ctx, ledgertest.New(s), "d"); err != nil {
			t.Errorf("show beside a writer: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
