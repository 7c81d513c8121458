package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/store/postgres"
	"pawl/store/sqlite"
)

// postgresURL is a server on which the tests may create databases; .ci/with-postgres
// starts one.
func postgresURL() string { return os.Getenv("PAWL_TEST_POSTGRES") }

// newDatabase returns the URL of a new database and the function that removes it.
func newDatabase() (address string, drop func() error, err error) {
	ctx := context.Background()
	do := func(statement string) error {
		c, err := pgx.Connect(ctx, postgresURL())
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		_, err = c.Exec(ctx, statement)
		return err
	}
	u, err := url.Parse(postgresURL())
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("pawl_script_%x", rand.Uint64())
	u.Path = "/" + name
	return u.String(), func() error { return do("DROP DATABASE " + name + " WITH (FORCE)") }, do("CREATE DATABASE " + name)
}

// team sets TEAM to the URL of an empty database.
func team(ts *testscript.TestScript, _ bool, _ []string) {
	address, drop, err := newDatabase()
	ts.Check(err)
	ts.Defer(func() {
		if err := drop(); err != nil {
			ts.Logf("%v", err)
		}
	})
	ts.Setenv("TEAM", address)
}

// entryid sets ENTRY to the id of the first entry of a data set.
func entryid(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("pawl", "ledger", "show", args[0], "--json"))
	var s figures.Statement
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
	ts.Setenv("ENTRY", s.Entries[0].ID)
}

// damage writes a copy of a file with a fault: damage FROM TO FAULT.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	switch args[2] {
	case "cut": // in the midst
		text = text[:len(text)/2]
	case "lastline":
		text = text[:1+bytes.LastIndexByte(text[:len(text)-1], '\n')]
	case "byte":
		text = bytes.Replace(text, []byte("yearly"), []byte("yeerly"), 1)
	case "version":
		text = bytes.Replace(text, []byte(`export":1`), []byte(`export":2`), 1)
	default:
		ts.Fatalf("unknown fault %q", args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}

// A ledger that cannot be trusted or used: one clear line, the right exit status,
// nothing on stdout, and no verb decides anything on it.
func TestUnusableLedgers(t *testing.T) {
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"version": 1, "kind": "gaussian", "noise_multiplier": 60}`), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(path string, args ...string) (int, string, string) {
		var out, failure bytes.Buffer
		status := run(context.Background(), append(args, "--ledger", "sqlite:"+path), streams{in: bytes.NewReader(nil), out: &out, err: &failure})
		return status, out.String(), failure.String()
	}
	edit := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, s := range statements {
				if _, err := db.Exec(s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const unlocked = `DROP TRIGGER ledger_records_no_update; DROP TRIGGER ledger_records_no_delete`
	for _, c := range []struct {
		name   string
		harm   func(*testing.T, string)
		status int
		says   string
	}{
		{"file cut short", func(t *testing.T, path string) {
			if err := os.Truncate(path, 9000); err != nil {
				t.Fatal(err)
			}
		}, exitFailed, "damaged or truncated"},
		{"log cut short", edit(unlocked, `DELETE FROM ledger_records WHERE seq = 2`), exitFailed, "the log ends here"},
		{"a byte edited", edit(unlocked, `UPDATE ledger_records SET body = CAST(replace(CAST(body AS TEXT), '"1"', '"9"') AS BLOB) WHERE seq = 1`),
			exitFailed, "do not match its hash"},
		{"a newer format of a record", edit(unlocked, `UPDATE ledger_records SET version = 2 WHERE seq = 2`), exitFailed, "newer version"},
		{"newer tables", edit(`UPDATE ledger_version SET version = 2`), exitFailed, "newer version"},
		{"another program's file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("not a database, but long enough to be one"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, exitUsage, "not a ledger file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			for _, args := range [][]string{{"ledger", "create", "clinic", "--epsilon", "1", "--delta", "1e-6"},
				{"ledger", "book", "clinic", "--event", event, "--reason", "counts"}} {
				if status, _, failure := call(path, args...); status != exitOK {
					t.Fatal(failure)
				}
			}
			c.harm(t, path)
			for _, args := range [][]string{
				{"show", "clinic"}, {"verify", "clinic"}, {"what-if", "clinic", "--epsilon", "0.1"}, {"export", "clinic"},
				{"book", "clinic", "--event", event, "--reason", "r"}, {"freeze", "clinic", "--reason", "r"},
				{"grant", "clinic", "--epsilon", "5", "--reason", "r"}, {"grant", "clinic", "--analyst", "bob", "--epsilon", "0.5", "--reason", "r"},
			} {
				status, out, said := call(path, append([]string{"ledger"}, args...)...)
				if status != c.status || out != "" || !failure.MatchString(said) || !strings.Contains(said, c.says) {
					t.Errorf("%v: exit status %d, want %d; stdout %q, stderr %q, want %q", args, status, c.status, out, said, c.says)
				}
			}
		})
	}
}

// What may be over in a minute is no mistake of the user.
func TestStatusOfStores(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{fmt.Errorf("%w: locked: %w", ledger.ErrStore, ledger.ErrUnavailable), exitOther},
		{fmt.Errorf("%w: no such path", ledger.ErrStore), exitUsage},
		{fmt.Errorf("%w: cut: %w", ledger.ErrStore, ledger.ErrBroken), exitFailed},
		{fmt.Errorf("%w: kind", ledger.ErrUnaccountable), exitFailed},
	} {
		if got := status(c.err); got != c.want {
			t.Errorf("%v: exit status %d, want %d", c.err, got, c.want)
		}
	}
}

// A log goes from a file to a database and back, grows there, and every head is the
// same: what was printed in a report stays in the chain.
func TestLedgerMovesBetweenDatabases(t *testing.T) {
	if postgresURL() == "" {
		t.Skip("PAWL_TEST_POSTGRES names no server; .ci/with-postgres go test ./cmd/pawl starts one")
	}
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) ledger.Store {
		s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), name))
		must(err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	address, drop, err := newDatabase()
	must(err)
	t.Cleanup(func() { must(drop()) })
	database, err := postgres.Open(ctx, address)
	must(err)
	t.Cleanup(func() { database.Close() })

	half := dp.Scoped{Scope: dp.Scope{Lower: 0.5, Upper: 1}, Event: dp.Gaussian{NoiseMultiplier: 20}}
	var heads []string
	var last *ledger.Ledger
	for i, s := range []ledger.Store{file("a.db"), database, file("c.db")} {
		l := ledger.New(s, pricing.Accountant{}, ledger.Options{User: fmt.Sprint("user ünï ", i)})
		if last == nil {
			must(l.Create(ctx, ledger.Budget{Dataset: "Pätienten 1", Epsilon: "1.50", Delta: "1e-6", Relation: dp.AddOrRemoveOne}))
		} else {
			var b bytes.Buffer
			before, err := last.Export(ctx, &b, ledger.Export{Datasets: []string{"Pätienten 1"}, WithSecret: true})
			must(err)
			got, err := l.Import(ctx, io.Reader(&b))
			must(err)
			if got[0].Head != before["Pätienten 1"].Hash {
				t.Errorf("step %d: head %v became %v", i, before["Pätienten 1"].Hash, got[0].Head)
			}
		}
		_, err := l.Book(ctx, ledger.Booking{Dataset: "Pätienten 1", Event: half, Reason: "<run> & \"quoted\" ünï"})
		must(err)
		st, err := figures.Show(ctx, l, "Pätienten 1")
		must(err)
		heads = append(heads, st.Head.String())
		last = l
	}
	must(last.Verify(ctx, "Pätienten 1", heads...))
}
