package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pawl/core/ledger"
)

// Redacted returns a URL that may be shown: without password and parameters.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://"
	}
	shown := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	if host := u.Query().Get("host"); host != "" && u.Host == "" {
		shown.RawQuery = "host=" + host
	}
	return shown.String()
}

// explain turns an error of the driver into one line that says what to do.
func (s *Store) explain(err error) error {
	if err == nil || errors.Is(err, ledger.ErrStore) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ledger.ErrStore, s.name, said{s.reason(err), err})
}

// said prints a line of its own for an error that it keeps for errors.Is and As.
type said struct {
	text string
	error
}

func (e said) Error() string { return e.text }
func (e said) Unwrap() error { return e.error }

func (s *Store) reason(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return answer(refused)
	}
	var network *net.OpError
	var unknown *net.DNSError
	var connecting *pgconn.ConnectError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &unknown):
		return "there is no such host"
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return "the server does not answer in time"
	case errors.As(err, &network):
		return "no server answers there: " + oneLine(network.Err.Error())
	case errors.As(err, &connecting):
		return "no connection: " + oneLine(connecting.Unwrap().Error())
	}
	return oneLine(err.Error())
}

// answer reads the SQLSTATE of what the server says.
func answer(e *pgconn.PgError) string {
	switch e.Code {
	case "55P03": // lock_not_available
		return fmt.Sprintf("another program has locked it for more than %v; try again", LockTimeout)
	case "25006": // read_only_sql_transaction
		return "it is read-only (a standby?), and a charge cannot be booked there"
	case "42501": // insufficient_privilege
		return "this role has no right to it; ask the steward (" + oneLine(e.Message) + ")"
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		return "the server refuses this user: wrong name or password"
	case "3D000": // invalid_catalog_name
		return "there is no such database"
	case "53100": // disk_full
		return "the server's disk is full"
	case "53300": // too_many_connections
		return "the server has no connection left; try again"
	case "57P01", "57P03": // admin_shutdown, cannot_connect_now
		return "the server is starting up or shutting down; try again"
	case "42P01", "42703": // undefined_table, undefined_column
		return "its tables are damaged; restore them from a backup"
	}
	return oneLine(e.Message)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
