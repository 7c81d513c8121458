package table

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pawl/reader"
)

const canary = "CANARY42"

// sqliteFile is a new database after these statements.
func sqliteFile(t *testing.T, statements ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	db, err := sql.Open("sqlite", "clinic.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

func TestSQLite(t *testing.T) {
	sqliteFile(t, `CREATE TABLE visits (id INTEGER, seen DATE, weight REAL, ok BOOLEAN, "a ""name""" TEXT)`,
		`INSERT INTO visits VALUES (7, '2024-01-31', 71.0, 1, 'x'), (8, '2024-02-01 10:00', 0.1, 0, NULL), (NULL, NULL, NULL, NULL, '')`,
		`CREATE TABLE empty (id INTEGER)`, `CREATE TABLE "odd ?table= name" (x)`, `INSERT INTO "odd ?table= name" VALUES (1)`,
		`CREATE TABLE mixed (x, y)`, `INSERT INTO mixed VALUES (1, '`+canary+`'), (2, x'00ff')`, `CREATE VIEW eight AS SELECT id FROM visits WHERE id = 8`)
	want := "id,seen,weight,ok,a \"name\"\n7,2024-01-31,71,1,x\n8,2024-02-01 10:00,0.1,0,\n,,,,\n"
	for _, arg := range []string{"sqlite:clinic.db?table=visits", "sqlite:clinic.db?query=SELECT * FROM visits -- all of it", "sqlite:clinic.db?query=SELECT%20*%20FROM%20visits"} {
		if got, err := cells(t, arg); err != nil || got != want {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
	if got, err := cells(t, "sqlite:clinic.db?query=SELECT id FROM visits WHERE id > 1 ORDER BY id DESC"); err != nil || got != "id\n8\n7\n" {
		t.Errorf("the order of a query: %q, %v", got, err)
	}
	if got, err := cells(t, "sqlite:clinic.db?table=eight"); err != nil || got != "id\n8\n" {
		t.Errorf("a view: %q, %v", got, err)
	}
	if bytesOf(t, "sqlite:clinic.db?table=visits") != bytesOf(t, "sqlite:clinic.db?query=SELECT * FROM visits ORDER BY id") {
		t.Error("the order of rows changes the table")
	}
	if p, err := Propose("sqlite:clinic.db?table=visits", reader.Keys{}, false); err != nil || !slices.Equal(p.Columns, []string{"id", "seen", "weight", "ok", `a "name"`}) {
		t.Errorf("%+v, %v", p, err)
	}
	for arg, want := range map[string]string{
		"sqlite:clinic.db?table=visit":                                                        "sqlite:clinic.db?table=visit: the file has no such table",
		"sqlite:clinic.db?query=SELECT ages FROM visits":                                      "sqlite:clinic.db?query=…: no such column: ages",
		"sqlite:clinic.db?query=DELETE FROM visits":                                           `near "DELETE"`,
		"sqlite:clinic.db?query=SELECT abs(-9223372036854775807 - (id > 0)) AS x FROM visits": "sqlite:clinic.db?query=…: SQLite ended the query (code 1)",
		"sqlite:clinic.db?table=mixed":                                                        `sqlite:clinic.db?table=mixed: row 2: column "y": binary data, which has no text`,
		"sqlite:clinic.db":                                                                    "an SQLite file needs a table or a query",
		"sqlite:clinic.db?table=a&query=SELECT 1":                                             "an SQLite file has both a table and a query",
		"sqlite:clinic.db?table=visits&mode=rw":                                               `an SQLite file has no parameter "mode"`,
		"sqlite:absent.db?table=visits":                                                       "absent.db: no such file",
	} {
		refused(t, arg, want)
	}
	if err := os.WriteFile("text.db", []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "sqlite:text.db?table=visits", "it is not an SQLite database")
	if _, err := os.Stat("absent.db"); err == nil {
		t.Error("reading made a file")
	}
}

// Nothing of an address but host, database, user and table is ever shown.
func TestNoPasswordIsShown(t *testing.T) {
	for _, arg := range []string{
		"postgres://ann:geheim@127.0.0.1:1/clinic?table=visits", "postgres://ann:geheim@no.invalid/clinic?table=visits", "postgres://127.0.0.1:1/clinic?password=geheim&table=visits",
		"postgres://ann:geheim@192.0.2.1/clinic?table=visits&sslmode=disable", "postgres://ann:geheim@127.0.0.1:1/clinic", "postgres://ann:geheim@127.0.0.1:1/clinic?nonsense=1&table=x",
		"postgres://ann:ge%zzheim@127.0.0.1:1/clinic?table=x", "postgres://ann:12#geheim@127.0.0.1:1/clinic?table=x", "postgres://ann:12?geheim@127.0.0.1:1/clinic?table=x", "postgres://ann:geheim/x@127.0.0.1:1/clinic?table=x",
		"postgres://ann:geheim@127.0.0.1:x/clinic?table=x", "postgres://ann:geheim@127.0.0.1:1/clinic?table=x&sslmode=geheim", "postgres://ann:geheim@127.0.0.1:1/clinic?query=SELECT 'geheim' AS x",
		"postgresql://ann:geheim@127.0.0.1:1/clinic?table=x&passfile=/geheim",
	} {
		_, err := Read(arg)
		if err == nil {
			t.Errorf("%s can be read", arg)
			continue
		}
		text := err.Error() + err.(interface{ Hint() string }).Hint() + Shown(arg) + BaseName(arg)
		if strings.Contains(text, "geheim") || strings.Contains(text, "12?") || strings.Contains(text, ":12") || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", arg, text)
		}
	}
	if got := Shown("postgres://ann:geheim@db.example:5433/clinic?table=care.visits&sslmode=require"); got != "postgres://ann@db.example:5433/clinic?table=care.visits" {
		t.Error(got)
	}
}

// server is the URL of a new database that goes away with the test.
func server(t *testing.T, statements ...string) string {
	t.Helper()
	address := os.Getenv("PAWL_TEST_POSTGRES")
	if address == "" {
		t.Skip("PAWL_TEST_POSTGRES names no server; .ci/with-postgres go test ./data/table starts one")
	}
	name := fmt.Sprintf("pawl_test_%x", rand.Uint64())
	run(t, address, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, address, "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	run(t, u.String(), statements...)
	return u.String()
}

func run(t *testing.T, address string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, s := range statements {
		if err := c.Exec(ctx, s).Close(); err != nil {
			t.Fatal(s, err)
		}
	}
}

func TestPostgres(t *testing.T) {
	u := server(t, `CREATE TYPE mood AS ENUM ('good', 'bad')`, `CREATE DOMAIN pounds AS numeric(10,2)`,
		`CREATE TABLE visits (id bigint, small smallint, price pounds, weight real, exact double precision, ok boolean, born date, seen timestamp, zone timestamptz, ward text, code char(3), m mood, u uuid, raw bytea)`,
		`INSERT INTO visits VALUES (1, 2, 1.50, 0.1, 1e300, true, '2024-01-31', '2024-01-31 10:00', '2024-01-31 10:00+02', 'a,"b"', 'x', 'good', '00000000-0000-0000-0000-000000000001', 'x')`,
		`INSERT INTO visits (id, ok, ward) VALUES (2, false, ''), (3, NULL, NULL)`,
		`CREATE TABLE empty (id int)`, `CREATE SCHEMA care`, `CREATE TABLE care."Odd Name" (x int)`, `INSERT INTO care."Odd Name" VALUES (5)`,
		`CREATE TABLE cells (x text)`, `INSERT INTO cells VALUES ('`+canary+`')`, `CREATE TABLE kinds (a jsonb, b int[], c money, d interval, e numeric)`,
		// Settings of a database must not change how cells are written.
		`DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET datestyle = ''German'''; EXECUTE 'ALTER DATABASE ' || current_database() || ' SET timezone = ''Asia/Tokyo'''; EXECUTE 'ALTER DATABASE ' || current_database() || ' SET extra_float_digits = 0'; END $$`)
	at := func(rest string) string { return u + "&" + rest }
	want := "id,small,price,weight,exact,ok,born,seen,zone,ward,code,m,u,raw\n" +
		"1,2,1.50,0.1,1e+300,true,2024-01-31,2024-01-31 10:00:00,2024-01-31 08:00:00+00,a,\"b\",x  ,good,00000000-0000-0000-0000-000000000001,\n" +
		"2,,,,,false,,,,,,,,\n3,,,,,,,,,,,,,\n"
	for _, arg := range []string{at("table=visits"), at("table=public.visits"), at("query=SELECT * FROM visits -- all")} {
		if got, err := cells(t, arg); err != nil || got != want {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
	if bytesOf(t, at("table=visits")) != bytesOf(t, at("query=SELECT * FROM visits ORDER BY id DESC")) {
		t.Error("the order of rows changes the table")
	}
	if got, err := cells(t, at("table=care.Odd Name")); err != nil || got != "x\n5\n" {
		t.Errorf("a table of another schema: %q, %v", got, err)
	}
	if p, err := Propose(at("table=kinds"), reader.Keys{}, false); err != nil || !slices.Equal(p.Columns, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("%+v, %v", p, err)
	}
	for rest, want := range map[string]string{
		"table=visit":                                        "the database has no such table",
		"table=Visits":                                       "the database has no such table",
		"query=SELECT ages FROM visits":                      `column "ages" does not exist`,
		"query=SELECT x::int AS x FROM cells":                "the server ended the query (SQLSTATE 22P02)",
		"query=SELECT 1/(id-2) AS x FROM visits ORDER BY id": "the server ended the query (SQLSTATE 22012)",
		"query=SELECT id, id FROM visits":                    `two columns have the name "id"`,
		"query=SELECT id, 1 + id FROM visits":                "column 2 has no name",
		"query=DELETE FROM visits":                           "the query gives no columns",
		"query=DELETE FROM visits RETURNING id":              "the server ended the query (SQLSTATE 25006)",
		"query=SELECT id FROM visits WHERE id = $1":          "the query has 1 parameters",
		"query=SELECT 1 AS x; SELECT 2 AS y":                 "cannot insert multiple commands into a prepared statement",
	} {
		refused(t, at(rest), want)
		if _, err := Read(at(rest)); err != nil && strings.Contains(err.Error()+err.(interface{ Hint() string }).Hint(), canary) {
			t.Errorf("%s prints a cell: %v", rest, err)
		}
	}
	if got, err := cells(t, at("query=SELECT id FROM visits ORDER BY id DESC")); err != nil || got != "id\n3\n2\n1\n" {
		t.Errorf("a query has changed the table, or its order is lost: %q, %v", got, err)
	}
}

// A table that changes while it is read is read as it was when the transaction began.
func TestPostgresReadsOneSnapshot(t *testing.T) {
	u := server(t, `CREATE TABLE visits AS SELECT 1 AS gen, n FROM generate_series(1, 20000) n`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for gen := 2; gen < 12; gen++ {
			run(t, u, fmt.Sprintf("UPDATE visits SET gen = %d", gen))
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := cells(t, u+"&query=SELECT DISTINCT gen FROM (SELECT gen FROM visits UNION ALL SELECT gen FROM visits) AS all_of_it")
		if err != nil || strings.Count(got, "\n") != 2 {
			t.Fatalf("%q, %v", got, err)
		}
	}
}
