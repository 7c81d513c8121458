package postgres

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pawl/core/ledger"
)

func encrypt(c *pgconn.Config, name string) error {
	if !Encrypt(c) {
		return fmt.Errorf("%w: %s: the server is on another machine, and the ledger's secret is not sent without TLS; use sslmode=verify-full (or require)", ledger.ErrStore, name)
	}
	return nil
}

// Encrypt leaves only connections that are encrypted or stay on this machine; it is false where
// none is left. The driver would fall back to plain text when a server, or somebody between,
// says that it has no TLS, and the secret key of a ledger, or rows, would travel in the clear.
func Encrypt(c *pgconn.Config) bool {
	c.Fallbacks = slices.DeleteFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil && !local(f.Host) })
	return c.TLSConfig != nil || local(c.Host)
}

// local reports whether a host is this machine: a socket or a loopback address.
func local(host string) bool {
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || net.ParseIP(host).IsLoopback()
}
