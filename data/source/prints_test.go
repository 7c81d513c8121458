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
	"pawl/store/memory"
)

// Whoever books rows of a file books its prints: the same rows under another name, in
// another order, have no budget of their own, though nobody asked whether they are known.
func TestSealedRowsAreRecognised(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
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
		if q.Rows, err = table.Seal(t.Context(), reader.Refuse, key); err != nil {
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

// A file that is read by other rules is the same table to the ledger: other delimiters, encodings, marks in numbers
// and headers hide no copy.
func TestOtherWritingsAreRecognised(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("%d.25,%s", 1000+i, []string{"nein", "jä"}[i%3%2]))
	}
	text := strings.Join(lines, "\n") + "\n"
	latin := func(s string) string {
		b := make([]byte, 0, len(s))
		for _, r := range s {
			b = append(b, byte(r))
		}
		return string(b)
	}
	semicolons := strings.ReplaceAll(strings.ReplaceAll(text, ",", ";"), ".", ",")
	grouped := strings.ReplaceAll(semicolons, "\n1", "\n1.")
	quoted := strings.ReplaceAll("'"+strings.NewReplacer(",", "'\t", "\n", "\n'").Replace(strings.TrimSpace(text))+"\n", "\t'", "\t")
	type copied struct{ file, text string }
	original := copied{"", "n,sick\n" + text}
	headless := copied{"{header: false, names: [n, sick]}", text}
	book := func(l *ledger.Ledger, name, ending string, c copied) error {
		declared := "version: 1\nunit: row\nrows: about 300\ncolumns:\n" +
			"  - {name: n, type: numeric, lower: 0, upper: 2000}\n  - {name: sick, type: categorical, categories: [nein, jä]}\n"
		if c.file != "" {
			declared += "file: " + c.file + "\n"
		}
		if strings.Contains(c.file, "[sick, n]") { // the names exchanged
			declared = strings.NewReplacer("name: n,", "name: sick,", "name: sick,", "name: n,").Replace(declared)
		}
		path, schema := filepath.Join(dir, name+ending), filepath.Join(dir, name+".yaml")
		for file, text := range map[string]string{path: c.text, schema: declared} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		table, err := source.OpenTable(path, schema, "")
		if err != nil {
			t.Fatal(err)
		}
		updated := false
		if err := table.Owned(ctx, l, path, &source.Copies{}, &updated); err != nil {
			t.Fatal(err)
		}
		key, err := source.ScopeKey(ctx, l, table.Name, table.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := ledgertest.Spend(table.Name, 0.01)
		if q.Rows, err = table.Seal(t.Context(), reader.Refuse, key); err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		_, _, err = l.Reserve(ctx, q)
		return err
	}
	for _, c := range []struct {
		first copied
		copied
	}{
		{original, copied{`{delimiter: ";"}`, "n;sick\n" + strings.ReplaceAll(text, ",", ";")}},
		{original, copied{`{delimiter: ";", decimal: ","}`, "n;sick\n" + semicolons}},
		{original, copied{`{delimiter: ";", decimal: ",", thousands: "."}`, "n;sick\n1." + grouped[1:]}},
		{original, copied{`{encoding: latin-1}`, latin("n,sick\n" + text)}},
		{original, copied{`{encoding: windows-1252, delimiter: "|"}`, latin("n|sick\n" + strings.ReplaceAll(text, ",", "|"))}},
		{original, headless},
		{headless, original},
		{headless, copied{"{header: false, names: [sick, n]}", text + "\n"}},
		{original, copied{"{skip: 1}", "exported by SECRET\nn,sick\n" + text}},
		{original, copied{"{quote: \"'\", delimiter: tab}", "n\tsick\n" + quoted}},
	} {
		l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
		if err := book(l, "patients", ".csv", c.first); err != nil {
			t.Fatal(err)
		}
		if err := book(l, "other", ".csv", c.copied); !errors.Is(err, ledger.ErrRefused) || !strings.Contains(err.Error(), `its rows are those of the sensitive data set "patients"`) {
			t.Errorf("%s after %s: %v", c.file, c.first.file, err)
		}
	}
}
