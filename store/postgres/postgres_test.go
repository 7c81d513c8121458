package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
)

var ctx = context.Background()

func opener(ctx context.Context, url string) (ledger.Store, error) { return Open(ctx, url) }

func TestMain(m *testing.M) {
	// A durable commit takes a server longer than memory; -rapid.checks asks for more.
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err)
	}
	ledgertest.Main(m, opener)
}

// server is the URL of a server on which the tests may create databases.
func server(t testing.TB) string {
	t.Helper()
	address := os.Getenv("PAWL_TEST_POSTGRES")
	if address == "" {
		t.Skip("PAWL_TEST_POSTGRES names no server; .ci/with-postgres go test ./store/postgres starts one")
	}
	return address
}

// sql runs statements with the hands of another program.
func sql(t testing.TB, address string, statements ...string) error {
	t.Helper()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database returns the URL of a new database that goes away with the test.
func database(t testing.TB) string {
	t.Helper()
	address := server(t)
	name := fmt.Sprintf("pawl_test_%x", rand.Uint64())
	must(t, sql(t, address, "CREATE DATABASE "+name))
	t.Cleanup(func() { must(t, sql(t, address, "DROP DATABASE "+name+" WITH (FORCE)")) })
	u, err := url.Parse(address)
	must(t, err)
	u.Path = "/" + name
	return u.String()
}

func open(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Open(ctx, address)
	must(t, err)
	return s
}

func TestConforms(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(t *testing.T) ledger.Store { return open(t, database(t)) })
}

// spent leaves a ledger with charges behind.
func spent(t testing.TB) string {
	t.Helper()
	address := database(t)
	s := open(t, address)
	defer s.Close()
	ledgertest.CreateBudget(t, s)
	spend(t, s, "d")
	return address
}

// spend books 3 committed entries, records 3 to 8 of a data set that was created.
func spend(t testing.TB, s *Store, dataset string) {
	t.Helper()
	l := ledgertest.New(s)
	for range 3 {
		p, _, err := l.Reserve(ctx, ledgertest.Spend(dataset, 0.25))
		must(t, err)
		must(t, l.Commit(ctx, p))
	}
}

// Many processes: none is lost, none is locked out, and exactly the budget is spent.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	address := database(t)
	s := open(t, address)
	ledgertest.CreateBudget(t, s)
	s.Close()
	ledgertest.Sized(address).Run(t, opener)
}

// The same with SIGKILL at random points.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		address := database(t)
		s := open(t, address)
		ledgertest.CreateBudget(t, s)
		s.Close()
		p := ledgertest.Sized(address)
		p.Kill, p.Seed = true, seed
		p.Run(t, opener)
	}
}

// Those who meet at an empty database agree on one ledger, and one secret.
func TestRacingCreators(t *testing.T) {
	t.Parallel()
	address := database(t)
	secrets := make(chan string, 8)
	for range cap(secrets) {
		go func() {
			s, err := Open(ctx, address)
			if err != nil {
				secrets <- err.Error()
				return
			}
			defer s.Close()
			var secret []byte
			err = s.View(ctx, func(tx ledger.Tx) (err error) { secret, err = tx.Secret(); return err })
			secrets <- fmt.Sprintf("%x %v", secret, err)
		}()
	}
	first := <-secrets
	for range cap(secrets) - 1 {
		if next := <-secrets; next != first || len(first) != 64+len(" <nil>") {
			t.Errorf("%q and %q", first, next)
		}
	}
}

func TestNobodyGrantsToHimself(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	defer s.Close()
	if _, _, err := ledgertest.New(s).Reserve(ctx, ledgertest.Spend("d", 0.1)); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestReadersCreateNothing(t *testing.T) {
	t.Parallel()
	address := database(t)
	for range 2 {
		if _, err := OpenExisting(ctx, address); !errors.Is(err, ErrNoLedger) || !errors.Is(err, ledger.ErrStore) {
			t.Fatalf("an empty database: %v", err)
		}
	}
	open(t, address).Close()
	s, err := OpenExisting(ctx, address)
	must(t, err)
	s.Close()
}

func TestRecordsAreAppendOnly(t *testing.T) {
	t.Parallel()
	address := spent(t)
	for _, q := range []string{
		`UPDATE pawl_ledger.records SET "user" = 'bob'`,
		`DELETE FROM pawl_ledger.records WHERE seq = 3`,
		`TRUNCATE pawl_ledger.records`,
		`INSERT INTO pawl_ledger.records SELECT dataset, 99, version, kind, time, 'bob', body, prev, hash FROM pawl_ledger.records WHERE seq = 3`,
		`INSERT INTO pawl_ledger.records SELECT * FROM pawl_ledger.records WHERE seq = 3 ON CONFLICT (dataset, seq) DO UPDATE SET "user" = 'bob'`,
		`UPDATE pawl_ledger.heads SET seq = 1`,
		`DELETE FROM pawl_ledger.heads`,
		`TRUNCATE pawl_ledger.heads`,
		`INSERT INTO pawl_ledger.heads VALUES ('e', 2, '')`,
		`UPDATE pawl_ledger.secret SET secret = '\x00'`,
		`DELETE FROM pawl_ledger.secret`,
		`TRUNCATE pawl_ledger.secret`,
	} {
		if err := sql(t, address, q); err == nil {
			t.Errorf("%s was carried out", q)
		}
	}
}

// Whoever takes the triggers away and edits the tables is convicted by the chain.
func TestEditedTablesAreConvicted(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, sql string }{
		{"a byte of a body", `UPDATE pawl_ledger.records SET body = set_byte(body, 20, 65) WHERE seq = 3`},
		{"who", `UPDATE pawl_ledger.records SET "user" = 'bob' WHERE seq = 2`},
		{"when", `UPDATE pawl_ledger.records SET time = '2020-01-01T00:00:00Z' WHERE seq = 2`},
		{"a record removed", `DELETE FROM pawl_ledger.records WHERE seq = 4`},
		{"the last record removed", `DELETE FROM pawl_ledger.records WHERE seq = 8`},
		{"all records removed", `DELETE FROM pawl_ledger.records WHERE true`},
		{"the head removed", `DELETE FROM pawl_ledger.heads WHERE true`},
		{"a short hash", `UPDATE pawl_ledger.records SET hash = substr(hash, 1, 31) WHERE seq = 3`},
		{"a long head", `UPDATE pawl_ledger.heads SET hash = hash || '\x00' WHERE true`},
	}
	address := database(t)
	s := open(t, address)
	defer s.Close()
	for _, c := range cases {
		must(t, ledgertest.New(s).Create(ctx, ledger.Budget{Dataset: c.name, Epsilon: "1", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
		spend(t, s, c.name)
	}
	must(t, sql(t, address, `ALTER TABLE pawl_ledger.records DISABLE TRIGGER ALL`, `ALTER TABLE pawl_ledger.heads DISABLE TRIGGER ALL`))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			must(t, sql(t, address, c.sql+` AND dataset = '`+c.name+`'`))
			l := ledgertest.New(s)
			if err := l.Verify(ctx, c.name); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("Verify: %v", err)
			}
			if _, _, err := l.Reserve(ctx, ledgertest.Spend(c.name, 0.25)); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("Reserve: %v", err)
			}
			if names, err := l.Names(ctx); err != nil || len(names) != len(cases) {
				t.Errorf("names: %v, %v", names, err)
			}
		})
	}
}

func TestReadOnlyDatabaseSaysSo(t *testing.T) {
	t.Parallel()
	address := spent(t)
	u, err := url.Parse(address)
	must(t, err)
	must(t, sql(t, address, "ALTER DATABASE "+u.Path[1:]+" SET default_transaction_read_only = on"))
	// A transaction that says READ WRITE overrides a default; a standby does not let it.
	s := open(t, address)
	defer s.Close()
	if err := s.explain(sql(t, address, `INSERT INTO pawl_ledger.heads VALUES ('e', 1, '')`)); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v", err)
	}
}

// A role without the right to write is told so, and what it may read it can.
func TestRoleWithoutRights(t *testing.T) {
	t.Parallel()
	address := spent(t)
	role := fmt.Sprintf("pawl_reader_%x", rand.Uint64())
	must(t, sql(t, address, "CREATE ROLE "+role+" LOGIN PASSWORD 'S3cret'", "GRANT USAGE ON SCHEMA pawl_ledger TO "+role,
		"GRANT SELECT ON ALL TABLES IN SCHEMA pawl_ledger TO "+role))
	t.Cleanup(func() { must(t, sql(t, server(t), "DROP ROLE "+role)) })
	t.Cleanup(func() { must(t, sql(t, address, "DROP OWNED BY "+role)) })
	u, err := url.Parse(address)
	must(t, err)
	u.User = url.UserPassword(role, "S3cret")
	s := open(t, u.String())
	defer s.Close()
	if _, err := figures.Show(ctx, ledgertest.New(s), "d"); err != nil {
		t.Errorf("show: %v", err)
	}
	if _, _, err := ledgertest.New(s).Reserve(ctx, ledgertest.Spend("d", 0.25)); err == nil || !strings.Contains(err.Error(), "no right") {
		t.Errorf("reserve: %v", err)
	}
	// A worker of searches needs no more than this.
	owner := open(t, address)
	defer owner.Close()
	want, err := ledgertest.New(owner).Courier(ctx)
	must(t, err)
	if got, err := ledgertest.New(s).Courier(ctx); err != nil || got.Name() != want.Name() {
		t.Errorf("courier: %v", err)
	}
	must(t, sql(t, address, "GRANT INSERT ON pawl_ledger.records, pawl_ledger.heads, pawl_ledger.codes TO "+role, "GRANT UPDATE ON pawl_ledger.heads, pawl_ledger.codes TO "+role))
	if _, _, err := ledgertest.New(s).Reserve(ctx, ledgertest.Spend("d", 0.25)); err != nil {
		t.Errorf("reserve with the documented rights: %v", err)
	}
}

// A ledger of before has no table of codes. Until its owner comes, others book without;
// then they have the rights that they had on the heads, in processes that run already too.
func TestOwnerAddsCodes(t *testing.T) {
	t.Parallel()
	address := spent(t)
	role := fmt.Sprintf("pawl_writer_%x", rand.Uint64())
	must(t, sql(t, address, "DROP TABLE pawl_ledger.codes", "CREATE ROLE "+role+" LOGIN PASSWORD 'S3cret'", "GRANT USAGE ON SCHEMA pawl_ledger TO "+role,
		"GRANT SELECT ON ALL TABLES IN SCHEMA pawl_ledger TO "+role,
		"GRANT INSERT ON pawl_ledger.records, pawl_ledger.heads TO "+role, "GRANT UPDATE ON pawl_ledger.heads TO "+role))
	t.Cleanup(func() { must(t, sql(t, server(t), "DROP ROLE "+role)) })
	t.Cleanup(func() { must(t, sql(t, address, "DROP OWNED BY "+role)) })
	u, err := url.Parse(address)
	must(t, err)
	u.User = url.UserPassword(role, "S3cret")
	theirs := open(t, u.String())
	defer theirs.Close()
	l := ledgertest.New(theirs)
	p, _, err := l.Reserve(ctx, ledgertest.Spend("d", 0.0625))
	must(t, err)
	owner := open(t, address)
	defer owner.Close()
	must(t, ledgertest.New(owner).Grant(ctx, "d", "2", "", "more"))
	must(t, l.Commit(ctx, p))
	checked, err := figures.Check(ctx, ledgertest.New(owner), "d")
	must(t, err)
	if !strings.Contains(checked.Codes, "signed") {
		t.Errorf("codes: %s", checked.Codes)
	}
	must(t, sql(t, address, "UPDATE pawl_ledger.codes SET code = 'x' WHERE dataset = 'd'"))
	if err := l.Verify(ctx, "d"); !errors.Is(err, ledger.ErrBroken) {
		t.Errorf("another code: %v", err)
	}
}

func TestLockedLedgerSaysSo(t *testing.T) {
	t.Parallel()
	address := spent(t)
	holder, s := open(t, address), open(t, address)
	defer holder.Close()
	defer s.Close()
	config := s.pool.Config()
	config.ConnConfig.RuntimeParams["lock_timeout"] = "50"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	must(t, err)
	quick := &Store{name: s.name, pool: pool}
	defer quick.Close()
	must(t, holder.Update(ctx, func(ledger.Tx) error {
		began := time.Now()
		_, _, err := ledgertest.New(quick).Reserve(ctx, ledgertest.Spend("d", 0.25))
		if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), "locked") {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		// Readers are not held up.
		if _, err := figures.Show(ctx, ledgertest.New(s), "d"); err != nil {
			t.Errorf("show beside a writer: %v", err)
		}
		return nil
	}))
}
