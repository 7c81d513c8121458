package source_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/core/ledger/pricing"
	"pawl/data/source"
	"pawl/reader"
	"pawl/store/memory"
)

// writeForms writes one table in every form that is read, and returns their arguments.
func writeForms(t *testing.T) []string {
	t.Helper()
	var rows []string
	for i := range 300 {
		rows = append(rows, fmt.Sprintf("%d,%s\n", i*37, []string{"no", "yes"}[i%3%2]))
	}
	text := "n,sick\n" + strings.Join(rows, "")
	put := func(name string, content []byte) {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("t.csv", []byte(text))
	var gz, archive bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(text))
	w.Close()
	put("t.csv.gz", gz.Bytes())
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	put("t.csv.zst", z.EncodeAll([]byte(text), nil))
	a := zip.NewWriter(&archive)
	m, _ := a.Create("inside.csv")
	m.Write([]byte(text))
	a.Close()
	put("t.zip", archive.Bytes())
	put("part-2.csv", []byte("n,sick\n"+strings.Join(rows[:100], "")))
	put("part-1.csv", []byte("n,sick\n"+strings.Join(rows[100:], "")))
	db, err := sql.Open("sqlite", "t.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"CREATE TABLE t (sick TEXT, n INTEGER)", "INSERT INTO t VALUES " + "('" + strings.Join(func() (all []string) {
		for _, r := range rows {
			n, sick, _ := strings.Cut(strings.TrimSpace(r), ",")
			all = append(all, sick+"', "+n)
		}
		return all
	}(), "), ('") + ")"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"t.csv", "t.csv.gz", "t.csv.zst", "t.zip", "t.zip#inside.csv", "part-*.csv", "sqlite:t.db?table=t", "sqlite:t.db?query=SELECT n, sick FROM t ORDER BY n DESC"}
}

// Rows have one budget in whatever they are kept: no form of them buys a second one under
// another name, and under their own they go on with no word (--updated). Packed copies have the
// digest of the plain file.
func TestOneTableInEveryForm(t *testing.T) {
	t.Chdir(t.TempDir())
	forms := writeForms(t)
	ctx := context.Background()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	book := func(form, name string) ([]byte, error) {
		declared := "version: 1\ndataset: " + name + "\nunit: row\nrows: about 300\ncolumns:\n" +
			"  - {name: n, type: integer, lower: 0, upper: 20000}\n  - {name: sick, type: categorical, categories: [\"no\", \"yes\"]}\n"
		if err := os.WriteFile("t.yaml", []byte(declared), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := source.OpenTable(form, "t.yaml", "")
		if err != nil {
			t.Fatal(form, err)
		}
		updated := false
		if err := table.Owned(ctx, l, table.Path, &source.Copies{}, &updated); err != nil {
			t.Fatal(err)
		}
		key, err := source.ScopeKey(ctx, l, table.Name, table.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := ledgertest.Spend(table.Name, 0.01)
		if q.Rows, err = table.Seal(t.Context(), reader.Refuse, key); err != nil {
			t.Fatal(form, err)
		}
		if q.Digest, err = l.Digest(ctx, table.Content.Reader()); err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Reserve(ctx, q)
		return q.Digest, err
	}
	plain, err := book("t.csv", "patients")
	if err != nil {
		t.Fatal(err)
	}
	for i, form := range forms {
		if _, err := book(form, "other"); !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), `sensitive data set "patients"`) {
			t.Errorf("%s under another name: %v", form, err)
		}
		digest, err := book(form, "patients")
		if err != nil {
			t.Errorf("%s under its own name: %v", form, err)
		}
		if packed := i < 5; packed != bytes.Equal(digest, plain) {
			t.Errorf("%s: the digest of the plain file: %v", form, !packed)
		}
	}
}

// A form of DATA itself is no test file, nor is a form of any sensitive data set.
func TestNoFormOfDataIsATestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	forms := writeForms(t)
	ctx := context.Background()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	declared := "version: 1\nunit: row\nrows: about 300\ncolumns:\n  - {name: n, type: integer, lower: 0, upper: 20000}\n  - {name: sick, type: categorical, categories: [\"no\", \"yes\"]}\n"
	if err := os.WriteFile("t.yaml", []byte(declared), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range forms[1:] {
		table, err := source.OpenTable("t.csv", "t.yaml", "")
		if err != nil {
			t.Fatal(err)
		}
		updated, copies := false, &source.Copies{}
		if err := table.Owned(ctx, l, table.Path, copies, &updated); err != nil {
			t.Fatal(err)
		}
		_, err = table.OpenTest(ctx, l, form, "", reader.Refuse)
		if err == nil {
			if err = table.Printed(reader.Refuse, reader.InOrder(func([]float64) error { return nil })); err != nil {
				t.Fatal(err)
			}
			_, err = copies.Recognise(ctx, l, table.Found())
		}
		if err == nil || !strings.Contains(err.Error(), "the test file is DATA itself") {
			t.Errorf("%s as test file: %v", form, err)
		}
	}
}

// That the number of rows is far from the declared one is told where a terminal is, and by powers
// of two: 300 rows are told from 127 and from 1024, and whoever tries all numbers learns that they
// are between 256 and 511.
func TestFarRows(t *testing.T) {
	t.Chdir(t.TempDir())
	writeForms(t)
	for declared, far := range map[int]bool{50: true, 127: true, 128: false, 300: false, 1023: false, 1024: true, 90000: true} {
		text := fmt.Sprintf("version: 1\nunit: row\nrows: about %d\ncolumns:\n", declared) +
			"  - {name: n, type: integer, lower: 0, upper: 20000}\n  - {name: sick, type: categorical, categories: [\"no\", \"yes\"]}\n"
		if err := os.WriteFile("t.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := source.OpenTable("t.csv", "t.yaml", "")
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		table.Note = func(text string) { t.Errorf("about %d rows, to everybody: %s", declared, text) }
		table.Far = func(text string) { said = append(said, text) }
		key, err := source.ScopeKey(context.Background(), ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{}), table.Name, table.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Seal(t.Context(), reader.Refuse, key); err != nil {
			t.Fatal(err)
		}
		if (len(said) > 0) != far {
			t.Errorf("about %d rows for 300: told %q", declared, said)
		}
	}
}
