package ledgertest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pawl/core/identity"
	"pawl/core/ledger"
	"pawl/store/memory"
)

// printRows is the print of n different rows from the number first on, under the ledger's key.
func printRows(t testing.TB, l *ledger.Ledger, first, n int) *identity.Print {
	t.Helper()
	key, err := l.PrintKey(context.Background())
	must(t, err)
	b := identity.New(key, []string{"id", "x"})
	for i := range n {
		row := []string{fmt.Sprintf("id %d", first+i), fmt.Sprint((first + i) % 7)}
		b.Add(row)
	}
	return b.Print()
}

// printVectors is the print of vectors all of whose numbers are scaled.
func printVectors(t testing.TB, l *ledger.Ledger, scale float32) *identity.Print {
	t.Helper()
	key, err := l.PrintKey(context.Background())
	must(t, err)
	b := identity.NewVectors(key)
	for i := range 300 {
		b.AddVector(fmt.Sprint(i), []float32{scale * float32(i), scale})
	}
	return b.Print()
}

// prints keeps prints apart, and recognises by them.
func prints(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	id := func(b byte) (id [32]byte) { id[0] = b; return id }
	stop := errors.New("stop")
	must(t, s.Update(ctx, func(tx ledger.Tx) error {
		must(t, tx.KeepPrint("a", id(2), []byte("two")))
		must(t, tx.KeepPrint("a", id(1), []byte("one")))
		must(t, tx.KeepPrint("b", id(1), []byte("other")))
		return tx.KeepPrint("a", id(1), []byte("again"))
	}))
	if err := s.Update(ctx, func(tx ledger.Tx) error {
		must(t, tx.KeepPrint("a", id(3), []byte("three")))
		return stop
	}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	must(t, s.View(ctx, func(tx ledger.Tx) error {
		kept, err := tx.Prints("a")
		if err != nil || string(bytes.Join(kept, []byte(" "))) != "one two" {
			t.Errorf("kept %q, %v", kept, err)
		}
		if kept, err := tx.Prints("nobody"); err != nil || len(kept) != 0 {
			t.Errorf("of an unknown data set: %q, %v", kept, err)
		}
		if names, err := tx.Names(); err != nil || len(names) != 0 {
			t.Errorf("prints make data sets: %q, %v", names, err)
		}
		return nil
	}))
	// The error ends a transaction of some stores: it comes last.
	if err := s.View(ctx, func(tx ledger.Tx) error { return tx.KeepPrint("a", id(4), []byte("x")) }); !errors.Is(err, ledger.ErrStore) {
		t.Errorf("a print within a view: %v", err)
	}
}

// copies refuses data under another name.
func copies(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	l := New(s)
	for _, name := range []string{"patients", "most", "scans"} {
		create(t, l, name, "2")
	}
	table := printRows(t, l, 0, 1000)
	ask := func(name string, change func(q *ledger.Request)) (ledger.Receipt, error) {
		q := Spend(name, 0.0625)
		if change != nil {
			change(&q)
		}
		p, receipt, err := l.Reserve(ctx, q)
		if err == nil {
			must(t, l.Commit(ctx, p))
		}
		return receipt, err
	}
	having := func(prints ...*identity.Print) func(q *ledger.Request) {
		return func(q *ledger.Request) { q.Prints = prints }
	}
	reserved := func(name string, change func(q *ledger.Request)) ledger.Receipt {
		t.Helper()
		receipt, err := ask(name, change)
		must(t, err)
		return receipt
	}
	kept := func(name string) (n int) {
		must(t, s.View(ctx, func(tx ledger.Tx) error {
			all, err := tx.Prints(name)
			n = len(all)
			return err
		}))
		return n
	}

	// A data set of before has no print until its next use.
	reserved("patients", nil)
	if m, err := l.Recognise(ctx, "copy", table); err != nil || len(m) != 0 {
		t.Errorf("without a print: %v, %v", m, err)
	}
	reserved("patients", having(table))
	reserved("patients", having(table))
	if kept("patients") != 1 {
		t.Errorf("%d prints of one table", kept("patients"))
	}

	// The same rows, and most of them, under another name.
	if m, err := l.Recognise(ctx, "copy", table); err != nil || len(m) != 1 || m[0] != (ledger.Match{Dataset: "patients", Likeness: identity.Equal}) {
		t.Errorf("the same rows: %v, %v", m, err)
	}
	most := printRows(t, l, 20, 990)
	if m, err := l.Recognise(ctx, "", most); err != nil || len(m) != 1 || m[0].Likeness != identity.Similar || m[0].Accepted {
		t.Errorf("most rows: %v, %v", m, err)
	}
	if m, err := l.Recognise(ctx, "patients", table, most); err != nil || len(m) != 0 {
		t.Errorf("a data set is recognised as itself: %v, %v", m, err)
	}
	_, err := ask("copy", having(table))
	refused(t, err, "its rows are those of the sensitive data set")
	_, err = ask("copy", func(q *ledger.Request) { q.Prints, q.Public = []*identity.Print{table}, true })
	refused(t, err, "its rows are those of the sensitive data set")
	_, err = ask("copy", func(q *ledger.Request) { q.Rows = Rows(t, l, "copy", table) })
	refused(t, err, "its rows are those of the sensitive data set")
	_, err = ask("copy", func(q *ledger.Request) {
		q.Prints, q.Different = []*identity.Print{table}, []ledger.Difference{{Other: "patients", Reason: "no"}}
	})
	refused(t, err, "its rows are those of the sensitive data set")
	_, err = ask("most", having(most))
	refused(t, err, "it resembles the sensitive data set")
	if strings.ContainsAny(err.Error(), "0123456789") {
		t.Errorf("the refusal holds a number: %v", err)
	}
	if names, _ := l.Names(ctx); len(names) != 3 {
		t.Errorf("a refusal left %q", names)
	}

	// Somebody's word goes on, is kept with who and why, and holds for both.
	_, err = ask("most", func(q *ledger.Request) {
		q.Prints, q.Different = []*identity.Print{most}, []ledger.Difference{{Other: "patients", Reason: "no", Of: "test"}}
	})
	refused(t, err, "it resembles the sensitive data set")
	receipt := reserved("most", func(q *ledger.Request) {
		q.Prints, q.Different = []*identity.Print{most}, []ledger.Difference{{Other: "patients", Reason: "other hospital"}}
	})
	if d := receipt.Different; len(d) != 1 || d[0].Other != "patients" || d[0].Reason != "other hospital" || d[0].By != "ann" || d[0].At == "" {
		t.Errorf("the receipt says %+v", d)
	}
	if d := reserved("most", having(most)).Different; len(d) != 1 {
		t.Errorf("a later receipt says %+v", d)
	}
	reserved("patients", having(table))
	if d := reserved("patients", func(q *ledger.Request) {
		q.Different = []ledger.Difference{{Other: "patients", Reason: "a test", Of: "test"}}
	}).Different; len(d) != 1 {
		t.Errorf("of test rows: %+v", d)
	}
	if d := reserved("patients", nil).Different; len(d) != 0 {
		t.Errorf("a later run without these test rows says %+v", d)
	}
	if _, err := ask("most", func(q *ledger.Request) { q.Different = []ledger.Difference{{Other: "x"}} }); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("without a reason: %v", err)
	}

	// Public data have no print.
	reserved("open", func(q *ledger.Request) { q.Prints, q.Public = []*identity.Print{printRows(t, l, 5000, 500)}, true })
	if kept("open") != 0 {
		t.Error("a print of public data is kept")
	}
	must(t, l.Keep(ctx, "open", table))
	if kept("open") != 0 {
		t.Error("Keep keeps a print of public data")
	}

	// Other vectors behind the keys want --updated.
	reserved("scans", having(printRows(t, l, 9000, 300), printVectors(t, l, 1)))
	reserved("scans", having(printRows(t, l, 9000, 300), printVectors(t, l, 1)))
	_, err = ask("scans", having(printRows(t, l, 9000, 300), printVectors(t, l, 2)))
	refused(t, err, "vectors behind its keys")
	reserved("scans", func(q *ledger.Request) { q.Prints, q.Updated = []*identity.Print{printVectors(t, l, 2)}, true })
	_, err = ask("others", having(printRows(t, l, 30_000, 300), printVectors(t, l, 2)))
	refused(t, err, "its rows are those of the sensitive data set")

	// No print leaves by an export, and a damaged one is an error.
	var out bytes.Buffer
	names, err := l.Names(ctx)
	must(t, err)
	_, err = l.Export(ctx, &out, ledger.Export{Datasets: names, WithSecret: true})
	must(t, err)
	if text := out.String(); !strings.Contains(text, "other hospital") || strings.Contains(text, hex.EncodeToString(table.Identity[:4])) || strings.Contains(text, string(table.Identity[:4])) {
		t.Error("an export lacks what was said, or holds a print")
	}
	other := ledger.New(memory.New(), Sum{}, ledger.Options{})
	if _, err := other.Import(ctx, bytes.NewReader(out.Bytes())); err != nil {
		t.Error(err)
	}
	if m, err := other.Recognise(ctx, "", table); err != nil || len(m) != 0 {
		t.Errorf("after an import: %v, %v", m, err)
	}
	must(t, s.Update(ctx, func(tx ledger.Tx) error { return tx.KeepPrint("scans", [32]byte{}, []byte("damaged")) }))
	if _, err := l.Recognise(ctx, "", table); !errors.Is(err, ledger.ErrStore) {
		t.Errorf("a damaged print: %v", err)
	}
	if _, err := ask("copy", having(printRows(t, l, 40_000, 300))); !errors.Is(err, ledger.ErrStore) {
		t.Errorf("a damaged print, at a reservation: %v", err)
	}
}
