package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

const allNames = `SELECT dataset FROM @heads UNION SELECT dataset FROM @records ORDER BY 1`

// conn implements records.Conn.
type conn struct {
	ctx  context.Context
	tx   pgx.Tx
	s    *Store
	seen map[string]bool // tables that are there
}

func named(statement string) string { return strings.ReplaceAll(statement, "@", "pawl_ledger.") }

func (c *conn) Exec(statement string, args ...any) error {
	_, err := c.tx.Exec(c.ctx, named(statement), args...)
	return c.s.explain(err)
}

func (c *conn) Each(statement string, row func(scan func(...any) error) error, args ...any) error {
	rows, err := c.tx.Query(c.ctx, named(statement), args...)
	if err != nil {
		return c.s.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return c.s.explain(err)
		}
	}
	return c.s.explain(rows.Err())
}

// Has asks in every transaction: the owner may make a table while this process runs. It asks before the table
// is used, since an error would end the transaction.
func (c *conn) Has(table string) (bool, error) {
	if !c.seen[table] {
		there, err := hasTable(c.ctx, c.tx, table)
		if err != nil {
			return false, c.s.explain(err)
		}
		c.seen[table] = there
	}
	return c.seen[table], nil
}
