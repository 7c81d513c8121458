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
	if err != nil || strings.Contains(u.Opaque+u.Path+u.RawQuery+u.Fragment, "@") { // the rest of a password that is not percent-encoded
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
	what, kind := reason(err)
	return fmt.Errorf("%w: %s: %w", ledger.ErrStore, s.name, said{what, errors.Join(kind, err)})
}

// said prints a line of its own for errors that it keeps for errors.Is and As.
type said struct {
	text string
	error
}

func (e said) Error() string { return e.text }
func (e said) Unwrap() error { return e.error }

// reason says what went wrong, and which of the ledger's errors it is, if any.
func reason(err error) (string, error) {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return answer(refused)
	}
	var connecting *pgconn.ConnectError
	if text, kind := unreachable(err); text != "" {
		return text, kind
	}
	if errors.As(err, &connecting) {
		return "no connection: " + oneLine(connecting.Unwrap().Error()), ledger.ErrUnavailable
	}
	return oneLine(err.Error()), nil
}

// Unreachable says in a line why a server cannot be used, or "" for any other error. It never
// holds a password, and nothing of a table.
func Unreachable(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		text, _ := admission(refused.Code)
		return text
	}
	text, _ := unreachable(err)
	return text
}

func unreachable(err error) (string, error) {
	var network *net.OpError
	var unknown *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted", nil
	case errors.As(err, &unknown):
		return "there is no such host", nil
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return "the server does not answer in time", ledger.ErrUnavailable
	case errors.As(err, &network):
		return "no server answers there: " + oneLine(network.Err.Error()), ledger.ErrUnavailable
	}
	return "", nil
}

// admission says why a server lets nobody in, by its SQLSTATE.
func admission(code string) (string, error) {
	switch code {
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		return "the server refuses this user: wrong name or password", nil
	case "3D000": // invalid_catalog_name
		return "there is no such database", nil
	case "53300": // too_many_connections
		return "the server has no free connection; try again", ledger.ErrUnavailable
	case "57P01", "57P03": // admin_shutdown, cannot_connect_now
		return "the server is starting up or shutting down; try again", ledger.ErrUnavailable
	}
	return "", nil
}

// answer reads the SQLSTATE of what the server says.
func answer(e *pgconn.PgError) (string, error) {
	if text, kind := admission(e.Code); text != "" {
		return text, kind
	}
	switch e.Code {
	case "55P03": // lock_not_available
		return fmt.Sprintf("another program has locked it for more than %v; try again", LockTimeout), ledger.ErrUnavailable
	case "25006": // read_only_sql_transaction
		return "it is read-only (a standby?), and a charge cannot be recorded there", nil
	case "42501": // insufficient_privilege
		return "this role has no right to it; ask the steward (" + oneLine(e.Message) + ")", nil
	case "53100": // disk_full
		return "the server's disk is full", ledger.ErrUnavailable
	case "42P01", "42703": // undefined_table, undefined_column
		return "its tables are damaged; restore them from a backup", ledger.ErrBroken
	}
	return oneLine(e.Message), nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
