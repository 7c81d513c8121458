package sqlite

import (
	"context"
	"database/sql"
	"strings"
)

// allNames jumps from one name of the records to the next: SELECT DISTINCT would read every record.
const allNames = `WITH RECURSIVE recorded(name) AS (
		SELECT min(dataset) FROM @records
		UNION ALL SELECT (SELECT min(dataset) FROM @records WHERE dataset > name) FROM recorded WHERE name IS NOT NULL)
	SELECT dataset FROM @heads UNION SELECT name FROM recorded WHERE name IS NOT NULL ORDER BY 1`

// conn implements records.Conn.
type conn struct {
	ctx      context.Context
	tx       *sql.Tx
	s        *Store
	compiled map[string]*sql.Stmt // questions, which a ledger of many logs asks often; they end with tx
}

// A parameter $1 would have a name here, and ?1 has a number.
var named = strings.NewReplacer("@", "ledger_", "$", "?")

func (c *conn) Exec(statement string, args ...any) error {
	_, err := c.tx.ExecContext(c.ctx, named.Replace(statement), args...)
	return c.s.explain(err)
}

func (c *conn) Each(statement string, row func(scan func(...any) error) error, args ...any) error {
	question := c.compiled[statement]
	if question == nil {
		var err error
		if question, err = c.tx.PrepareContext(c.ctx, named.Replace(statement)); err != nil {
			return c.s.explain(err)
		}
		c.compiled[statement] = question
	}
	rows, err := question.QueryContext(c.ctx, args...)
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

// Has implements records.Conn: a file of an earlier version gets its tables when it is opened.
func (c *conn) Has(string) (bool, error) { return true, nil }
