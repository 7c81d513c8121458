package table

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"pawl/data/columnar"
	"pawl/internal/whole"
	"pawl/reader"
)

// sqlite reads from a file that it opens for reading only.
func (d *database) sqlite(ctx context.Context, columnsOnly bool) (*reader.Rows, error) {
	if err := CheckFile(d.address); err != nil {
		return nil, err
	}
	uri, err := whole.URI(d.address, url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(10000)", "trusted_schema(0)"}})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, d.failedFile(err, false)
	}
	defer db.Close()
	// One transaction sees one state of the file.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, d.failedFile(err, false)
	}
	defer tx.Rollback()
	names, err := d.columns(ctx, tx)
	if err != nil {
		return nil, err
	}
	columns := make([]columnar.Column, len(names))
	for i, name := range names {
		columns[i] = columnar.Column{Name: name, Kind: columnar.Text}
	}
	if err := d.named(columns); err != nil {
		return nil, err
	}
	b := reader.NewRows(columns)
	if columnsOnly {
		return b.Unordered()
	}
	// A plus takes from a column its declared type and leaves the value: the driver would make
	// times of texts whose column is declared DATE.
	statement := "SELECT "
	for i, name := range names {
		if i > 0 {
			statement += ", "
		}
		statement += `+"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	rows, err := tx.QueryContext(ctx, statement+" FROM ("+d.statement()+"\n)")
	if err != nil { // the driver has asked for the first row
		return nil, d.failedFile(err, true)
	}
	defer rows.Close()
	cells, into := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, d.failedFile(err, true)
		}
		for _, v := range cells {
			switch v := v.(type) {
			case nil:
				b.Null()
			case int64:
				b.Int(v)
			case float64:
				b.Float(v)
			case string:
				b.Text(v)
			default:
				b.Binary()
			}
		}
		b.End()
	}
	if err := rows.Err(); err != nil {
		return nil, d.failedFile(err, true)
	}
	return b.Unordered()
}

// columns reads no row: LIMIT 0 ends the query before the first.
func (d *database) columns(ctx context.Context, tx *sql.Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT * FROM ("+d.statement()+"\n) LIMIT 0")
	if err == nil {
		defer rows.Close()
		return rows.Columns()
	}
	if d.table != "" && code(err) == codes.SQLITE_ERROR {
		tables, failed := tx.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'ledger\\_%' ESCAPE '\\' ORDER BY name")
		if failed != nil {
			return nil, d.failedFile(failed, false)
		}
		defer tables.Close()
		var names []string
		for tables.Next() {
			var name string
			if err := tables.Scan(&name); err != nil {
				return nil, d.failedFile(err, false)
			}
			names = append(names, name)
		}
		return nil, d.refuse(tablesAdvice(d.table, names), "the file has no such table")
	}
	return nil, d.failedFile(err, false)
}

func code(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// failedFile explains an error. What SQLite says of a statement before it runs quotes the
// statement alone; what it says of one that runs may quote a cell.
func (d *database) failedFile(err error, running bool) error {
	switch c := code(err); {
	case c == codes.SQLITE_NOTADB:
		return d.refuse("name an SQLite file", "it is not an SQLite database, or it is encrypted")
	case c == codes.SQLITE_BUSY || c == codes.SQLITE_LOCKED:
		return d.refuse("try again when it has finished", "another program writes to it")
	case c == codes.SQLITE_CORRUPT:
		return d.refuse("restore it from a copy", "the file is damaged")
	case c == codes.SQLITE_CANTOPEN || c == codes.SQLITE_READONLY:
		return d.refuse("a file in WAL mode needs a folder that may be written to; copy it, or VACUUM INTO another", "it cannot be opened for reading")
	case c == codes.SQLITE_ERROR && !running:
		text := strings.Join(strings.Fields(err.Error()), " ")
		text = strings.TrimPrefix(text, "SQL logic error: ")
		text, _, _ = strings.Cut(text, " (1)")
		return d.refuse("try the query in the sqlite3 shell", "%s", text)
	}
	return d.refuse("its message may quote a cell and is not shown: try the query in the sqlite3 shell", "SQLite ended the query (code %d)", code(err))
}
