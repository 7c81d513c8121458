package cli

import (
	"context"
	"database/sql"
	"encoding/csv"
	"net/url"
	"os"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/rogpeppe/go-internal/testscript"
)

// load writes clinic.csv into a table of a database: load sqlite FILE TABLE, or load postgres
// TABLE, which sets DB to its address without parameters and with a password that a server
// which trusts everybody never asks for.
func load(ts *testscript.TestScript, _ bool, args []string) {
	driver, address, table := "sqlite", "", args[len(args)-1]
	if args[0] == "sqlite" {
		address = ts.MkAbs(args[1])
	} else {
		driver = "pgx"
		var drop func() error
		var err error
		address, drop, err = newDatabase()
		ts.Check(err)
		ts.Defer(func() {
			if err := drop(); err != nil {
				ts.Logf("%v", err)
			}
		})
		u, err := url.Parse(address)
		ts.Check(err)
		u.User = url.UserPassword(u.User.Username(), "geheim")
		ts.Setenv("DB", u.String())
	}
	file, err := os.Open(ts.MkAbs("clinic.csv"))
	ts.Check(err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	ts.Check(err)
	db, err := sql.Open(driver, address)
	ts.Check(err)
	defer db.Close()
	var b strings.Builder
	for i, r := range rows[1:] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("('" + strings.Join(r, "', '") + "')")
	}
	for _, s := range []string{"CREATE TABLE " + table + " (age integer, ward text, smoker text, stay double precision, note text, sick text)", "INSERT INTO " + table + " VALUES " + b.String()} {
		_, err := db.ExecContext(context.Background(), s)
		ts.Check(err)
	}
}
