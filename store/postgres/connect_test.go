package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
)

func TestOpenErrorsAreOneClearLineWithoutPassword(t *testing.T) {
	t.Parallel()
	later := spent(t)
	must(t, sql(t, later, `UPDATE pawl_ledger.version SET version = 2`))
	damaged := spent(t)
	must(t, sql(t, damaged, `DROP TABLE pawl_ledger.records`))
	missing := strings.Replace(later, "/pawl_test_", "/no_such_", 1)
	for _, c := range []struct{ name, address, want string }{
		{"no server", "postgres://ann:S3cret@127.0.0.1:1/ledger", "no server answers there"},
		{"no host", "postgres://ann:S3cret@no-such-host.invalid/ledger", "host"},
		{"plain text to another machine", "postgres://ann:S3cret@db.example.org/ledger?sslmode=disable", "is not sent without TLS"},
		{"plain text first", "postgres://ann:S3cret@192.0.2.7/ledger?sslmode=allow", "is not sent without TLS"},
		{"no such database", missing, "there is no such database"},
		{"newer version", later, "version 2"},
		{"not a URL", "postgres://ann:S3cret@[::1/ledger", "want postgres://USER@HOST:PORT/DATABASE"},
		{"not a port", "postgres://ann:S3cret@localhost:port/ledger", "want postgres://"},
		{"password in the query", "postgres://127.0.0.1:1/ledger?user=ann&password=S3cret", "no server answers there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(ctx, c.address)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line that says %q", err, c.want)
			}
			if strings.Contains(err.Error(), "S3cret") {
				t.Errorf("the password is shown: %q", err)
			}
			if newer := c.name == "newer version"; newer != errors.Is(err, ledger.ErrNewer) {
				t.Errorf("%v: is ErrNewer: %v", err, !newer)
			}
		})
	}
	s := open(t, damaged)
	defer s.Close()
	if _, err := figures.Show(ctx, ledgertest.New(s), "d"); !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a table is missing: %v", err)
	}
}

// Without a word about TLS in the address, plain text is left to this machine.
func TestNoFallbackToPlainText(t *testing.T) {
	for _, c := range []struct {
		address string
		plain   bool
	}{
		{"postgres://ann@db.example.org/ledger", false},
		{"postgres://ann@db.example.org,localhost/ledger", true},
		{"postgres://ann@db.example.org/ledger?sslmode=prefer", false},
		{"postgres://ann@127.0.0.1/ledger", true},
		{"postgres://ann@[::1]/ledger", true},
		{"postgres://ann@/ledger?host=/run/postgresql", true},
	} {
		config, err := pgx.ParseConfig(c.address)
		must(t, err)
		must(t, encrypt(&config.Config, c.address))
		plain := config.TLSConfig == nil
		for _, f := range config.Fallbacks {
			if f.TLSConfig == nil && f.Host == "db.example.org" {
				t.Errorf("%s: falls back to plain text", c.address)
			}
			plain = plain || f.TLSConfig == nil
		}
		if plain != c.plain {
			t.Errorf("%s: plain text is possible: %v, want %v", c.address, plain, c.plain)
		}
	}
}
