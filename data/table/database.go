package table

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"pawl/data/columnar"
	"pawl/internal/usage"
	"pawl/reader"
	"pawl/store/postgres"
)

// database is a table or a query of a database.
type database struct {
	// address is the URL of a server, with its password, or the path of an SQLite file.
	address string
	server  bool
	shown   string
	// One of them is "". A table may have its schema before a dot.
	table, query string
}

// scheme is that of a database that can be read, in lower case, or "".
func scheme(arg string) string {
	name, rest, ok := strings.Cut(arg, ":")
	switch name = strings.ToLower(name); {
	case name == "sqlite" && ok, (name == "postgres" || name == "postgresql") && strings.HasPrefix(rest, "//"):
		return name
	}
	return ""
}

func isDatabase(arg string) bool { return scheme(arg) != "" }

// NotAddress refuses, without quoting it, what is no file and looks like an address of something
// that cannot be read: it may hold a password.
func NotAddress(arg string) error {
	if isDatabase(arg) || !usage.Address(arg) {
		return nil
	}
	if _, err := os.Stat(arg); err == nil {
		return nil
	}
	return usage.New("neither a file nor the address of a database that pawl reads (not shown here, because it may hold a password)", addresses)
}

const addresses = "example: 'postgres://HOST/DATABASE?table=visits', 'sqlite:FILE?table=visits', or ?query=SELECT … as the last parameter"

// parseDatabase reads postgres://…?table=NAME, sqlite:FILE?table=NAME, and query=SQL instead of
// the table: the last parameter, as it is or percent-encoded. Errors quote nothing of the
// argument, which may hold a password.
func parseDatabase(arg string) (*database, error) {
	d := &database{server: scheme(arg) != "sqlite"}
	before, parameters, _ := strings.Cut(arg, "?")
	if !d.server {
		// A file's name may hold a question mark.
		if at := max(strings.LastIndex(arg, "?table="), strings.Index(arg, "?query=")); at >= 0 {
			before, parameters = arg[:at], arg[at+1:]
		}
		d.address = before[len("sqlite:"):]
	}
	kind := "a PostgreSQL database"
	if !d.server {
		kind = "an SQLite file"
	}
	if at := strings.Index("&"+parameters, "&query="); at >= 0 {
		d.query = parameters[at+len("query="):]
		parameters = strings.TrimSuffix(parameters[:at], "&")
		// SQL has blanks; what is encoded has none.
		if !strings.ContainsAny(d.query, " \t\n") {
			plain, err := url.QueryUnescape(d.query)
			if err != nil {
				return nil, usage.New("the query of "+kind+" is not percent-encoded text", addresses)
			}
			d.query = plain
		}
		d.query = strings.TrimRight(strings.TrimSpace(d.query), "; \t\n")
	}
	values, err := url.ParseQuery(parameters)
	for key := range values {
		if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") != "" { // half of a password that has a question mark
			err = fmt.Errorf("no name")
		}
	}
	if err != nil {
		return nil, usage.New("the parameters of "+kind+" cannot be read", addresses)
	}
	d.table = values.Get("table")
	values.Del("table")
	switch {
	case d.table == "" && d.query == "":
		return nil, usage.New(kind+" needs a table or a query", addresses)
	case d.table != "" && d.query != "":
		return nil, usage.New(kind+" has both a table and a query", "leave out one of them")
	}
	if !d.server {
		for other := range values {
			return nil, usage.New(fmt.Sprintf("an SQLite file has no parameter %q", other), addresses)
		}
		d.shown = "sqlite:" + d.address
	} else {
		u, err := url.Parse(before)
		if err != nil || u.Fragment != "" || u.Opaque != "" {
			return nil, usage.New("the address of a PostgreSQL database cannot be read", addresses+"; letters such as @ and / in a password are percent-encoded")
		}
		u.RawQuery = values.Encode()
		d.address = u.String()
		d.shown = postgres.Redacted(d.address)
	}
	separator := "?"
	if d.server && strings.Contains(d.shown, "?") {
		separator = "&"
	}
	if d.table != "" {
		d.shown += separator + "table=" + d.table
	} else {
		d.shown += separator + "query=…"
	}
	return d, nil
}

// read reads the columns and, unless only they are asked for, all rows, in one read-only
// transaction with one snapshot.
func (d *database) read(columnsOnly bool) (*reader.Rows, error) {
	ctx := context.Background()
	if d.server {
		return d.postgres(ctx, columnsOnly)
	}
	return d.sqlite(ctx, columnsOnly)
}

// statement is the query, or all of the table.
func (d *database) statement() string {
	if d.query != "" {
		return d.query
	}
	parts := strings.SplitN(d.table, ".", 2)
	if !d.server {
		parts = []string{d.table}
	}
	for i, p := range parts {
		parts[i] = `"` + strings.ReplaceAll(p, `"`, `""`) + `"`
	}
	return "SELECT * FROM " + strings.Join(parts, ".")
}

// refuse is one line about the table.
func (d *database) refuse(advice, format string, args ...any) error {
	return usage.New(d.shown+": "+fmt.Sprintf(format, args...), advice)
}

// named refuses columns that cannot be told apart.
func (d *database) named(columns []columnar.Column) error {
	seen := map[string]bool{}
	for i, c := range columns {
		switch {
		case c.Name == "", c.Name == "?column?":
			return d.refuse("name it in the query: expression AS name", "column %d has no name", i+1)
		case seen[c.Name]:
			return d.refuse("name one of them in the query: expression AS name", "two columns have the name %q", c.Name)
		}
		seen[c.Name] = true
	}
	if len(columns) == 0 {
		return d.refuse("write a query that begins with SELECT", "the query gives no columns")
	}
	return nil
}
