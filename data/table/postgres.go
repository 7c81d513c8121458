package table

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pawl/data/columnar"
	"pawl/data/schema"
	"pawl/reader"
	"pawl/store/postgres"
)

// How values are written must not follow from the settings of a role or a server, or the same
// rows would be another table. SET LOCAL ends with the transaction.
const settings = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 3; SET LOCAL client_encoding = 'UTF8'`

// postgres reads from a server. The columns of a prepared statement come from the catalogue: no
// row is read for them.
func (d *database) postgres(ctx context.Context, columnsOnly bool) (*reader.Rows, error) {
	config, err := pgconn.ParseConfig(d.address)
	if err != nil {
		// What the parser says may quote the address, and that holds the password.
		return nil, d.refuse("example: postgres://USER@HOST:PORT/DATABASE?table=visits", "the address cannot be read")
	}
	if !postgres.Encrypt(config) {
		return nil, d.refuse("add sslmode=verify-full (or require) to the address", "the server is on another machine, and rows are not sent without TLS")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.RuntimeParams["application_name"] = "pawl"
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		text := postgres.Unreachable(err)
		if text == "" {
			text = "no connection"
		}
		hint := "correct the host and the port of the address, or start the server"
		if errors.As(err, new(*pgconn.PgError)) {
			hint = "the password may be in PGPASSWORD or ~/.pgpass instead of the address"
		}
		return nil, d.refuse(hint, "%s", text)
	}
	defer c.Close(ctx)
	if err := c.Exec(ctx, settings).Close(); err != nil {
		return nil, d.failed(err)
	}
	statement, err := c.Prepare(ctx, "", d.statement(), nil)
	if err != nil {
		return nil, d.unknown(ctx, c, err)
	}
	if n := len(statement.ParamOIDs); n > 0 {
		return nil, d.refuse("write the values into the query", "the query has %d parameters ($1 …) without values", n)
	}
	columns, booleans, err := d.types(ctx, c, statement.Fields)
	if err != nil {
		return nil, err
	}
	b := reader.NewRows(columns)
	if !columnsOnly {
		// The types were asked for by a statement of their own, which took the unnamed one's place.
		rows := c.ExecParams(ctx, d.statement(), nil, nil, nil, nil)
		for rows.NextRow() {
			for i, v := range rows.Values() {
				switch {
				case v == nil || columns[i].Kind == columnar.Unsupported:
					b.Null()
				case booleans[i]:
					b.Text(strconv.FormatBool(string(v) == "t"))
				default:
					b.Bytes(v)
				}
			}
			b.End()
		}
		if _, err := rows.Close(); err != nil {
			return nil, d.failed(err)
		}
	}
	return b.Unordered()
}

// types asks the catalogue what can be read: numbers, booleans, texts, and dates and times,
// which are texts by ISO 8601.
func (d *database) types(ctx context.Context, c *pgconn.PgConn, fields []pgconn.FieldDescription) (columns []columnar.Column, booleans []bool, err error) {
	if len(fields) == 0 {
		return nil, nil, d.named(nil)
	}
	oids := make([]string, len(fields))
	for i, f := range fields {
		oids[i] = strconv.FormatUint(uint64(f.DataTypeOID), 10)
	}
	list := "{" + strings.Join(oids, ",") + "}"
	r := c.ExecParams(ctx, `SELECT oid, typcategory, pg_catalog.format_type(oid, NULL) FROM pg_catalog.pg_type WHERE oid = ANY ($1::pg_catalog.oid[])`,
		[][]byte{[]byte(list)}, nil, nil, nil).Read()
	if r.Err != nil {
		return nil, nil, d.failed(r.Err)
	}
	category, name := map[string]string{}, map[string]string{}
	for _, row := range r.Rows {
		category[string(row[0])], name[string(row[0])] = string(row[1]), string(row[2])
	}
	for i, f := range fields {
		column := columnar.Column{Name: f.Name, Type: name[oids[i]]}
		switch category[oids[i]] {
		case "B":
			column.Kind = columnar.Boolean
		case "N":
			switch column.Kind = columnar.Integer; column.Type { // numeric comes with its exact digits
			case "real", "double precision":
				column.Kind = columnar.Float
			case "money": // written as the server's country does
				column.Kind = columnar.Unsupported
			}
		case "S", "E", "D":
			column.Kind = columnar.Text
		}
		if column.Type == "uuid" {
			column.Kind = columnar.Text
		}
		columns, booleans = append(columns, column), append(booleans, column.Kind == columnar.Boolean)
	}
	return columns, booleans, d.named(columns)
}

// unknown explains a statement that cannot be prepared: no row was read yet, so that what the
// server says of it quotes the query alone.
func (d *database) unknown(ctx context.Context, c *pgconn.PgConn, err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, "42") {
		return d.failed(err)
	}
	if d.table != "" && (refused.Code == "42P01" || refused.Code == "3F000") { // undefined_table, invalid_schema_name
		return d.refuse(d.others(ctx, c), "the database has no such table")
	}
	hint := "try the query in psql"
	if refused.Code == "42501" { // insufficient_privilege
		hint = "the role needs SELECT on it"
	}
	return d.refuse(hint, "%s", strings.Join(strings.Fields(refused.Message), " "))
}

// others names the tables that this role may read.
func (d *database) others(ctx context.Context, c *pgconn.PgConn) string {
	_ = c.Exec(ctx, "ROLLBACK").Close()
	r := c.ExecParams(ctx, `SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN relname ELSE nspname || '.' || relname END
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = relnamespace
		WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema', 'pawl_ledger') AND nspname NOT LIKE 'pg\_%'
		AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY 1`, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return ""
	}
	var names []string
	for _, row := range r.Rows {
		names = append(names, string(row[0]))
	}
	return tablesAdvice(d.table, names)
}

func tablesAdvice(table string, names []string) string {
	if len(names) == 0 {
		return "it has no table that may be read"
	}
	if near := schema.Nearest(table, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "it has " + list(names)
}

// failed explains an error of a running query, without the server's words: they may quote a cell.
func (d *database) failed(err error) error {
	if text := postgres.Unreachable(err); text != "" {
		return d.refuse("", "%s", text)
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return d.refuse("its message may quote a cell and is not shown: try the query in psql", "the server ended the query (SQLSTATE %s)", refused.Code)
	}
	return d.refuse("try again", "the connection broke while rows were read")
}
