package source_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/ledgertest"
	"pawl/core/ledger/pricing"
	"pawl/data/source"
	"pawl/reader"
)

// Whoever books rows of a file books its prints: the same rows under another name, in
// another order, have no budget of their own, though nobody asked whether they are known.
func TestSealedRowsAreRecognised(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	l := ledger.New(ledger.NewMemory(), pricing.Accountant{}, ledger.Options{User: "ann"})
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("%d,%s", i, []string{"no", "yes"}[i%3%2]))
	}
	book := func(name string, lines []string) error {
		write := func(file, text string) string {
			path := filepath.Join(dir, file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		schema := write(name+".yaml", "version: 1\nunit: row\nrows: about 300\ncolumns:\n"+
			"  - {name: n, type: integer, lower: 0, upper: 299}\n  - {name: sick, type: categorical, categories: [\"no\", \"yes\"]}\n")
		table, err := source.OpenTable(write(name+".csv", "n,sick\n"+strings.Join(lines, "\n")+"\n"), schema, "")
		if err != nil {
			t.Fatal(err)
		}
		updated := false
		if err := table.Owned(ctx, l, name+".csv", &source.Copies{}, &updated); err != nil {
			t.Fatal(err)
		}
		key, err := source.ScopeKey(ctx, l, table.Name, table.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := ledgertest.Spend(table.Name, 0.01)
		if q.Rows, err = table.Seal(reader.Refuse, key); err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Reserve(ctx, q)
		return err
	}
	if err := book("patients", lines); err != nil {
		t.Fatal(err)
	}
	for i := range lines[:150] {
		lines[i], lines[299-i] = lines[299-i], lines[i]
	}
	if err := book("other", lines); !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), `its rows are those of the sensitive data set "patients"`) {
		t.Errorf("a copy under another name: %v", err)
	}
}
