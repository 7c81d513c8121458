package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/internal/sealed"
	"pawl/core/ledger"
	"pawl/store/memory"
)

// moving exports a log from memory, imports it into the store and back into memory,
// and offers the store what it must not take.
func moving(t *testing.T, s ledger.Store) {
	ctx := context.Background()
	from := New(memory.New())
	create(t, from, "whole", "1")
	create(t, from, "scoped", "1")
	spend := func(l *ledger.Ledger, name string, e dp.Event) error {
		q := Spend(name, 0)
		q.Event = e
		p, _, err := l.Reserve(ctx, q)
		if err == nil {
			err = l.Commit(ctx, p)
		}
		return err
	}
	half := dp.Scoped{Scope: dp.Scope{Lower: 0, Upper: 0.5}, Event: dp.Pure{Epsilon: 0.25}}
	must(t, spend(from, "whole", dp.Pure{Epsilon: 0.5}))
	must(t, spend(from, "scoped", half))
	export := func(l *ledger.Ledger, e ledger.Export) []byte {
		t.Helper()
		var b bytes.Buffer
		_, err := l.Export(ctx, &b, e)
		must(t, err)
		return b.Bytes()
	}
	take := func(l *ledger.Ledger, file []byte) ([]ledger.Imported, error) {
		return l.Import(ctx, bytes.NewReader(file))
	}
	both := ledger.Export{Datasets: []string{"whole", "scoped"}}
	open, secret := export(from, both), export(from, ledger.Export{Datasets: both.Datasets, WithSecret: true})
	if bytes.Contains(open, []byte(`"secret"`)) || !bytes.Contains(secret, []byte(`"secret"`)) {
		t.Fatal("the secret is exported exactly when it is asked for")
	}

	to := New(s)
	nothing := func(what string, file []byte, want error) {
		t.Helper()
		if _, err := take(to, file); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if names, err := to.Names(ctx); err != nil || len(names) != 0 {
			t.Errorf("%s: it left %v, %v", what, names, err)
		}
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(secret, []byte("\n")), []byte("\n"))
	without := func(i int) []byte { return bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil) }
	nothing("scopes without the secret", open, ledger.ErrRefused)
	nothing("an empty file", nil, ledger.ErrInvalid)
	nothing("another file", []byte("a,b\n1,2\n"), ledger.ErrInvalid)
	nothing("no header", without(0), ledger.ErrInvalid)
	nothing("a record left out", without(2), ledger.ErrBroken)
	nothing("the last record left out", without(len(lines)-1), ledger.ErrBroken)
	nothing("cut within a line", secret[:len(secret)-30], ledger.ErrBroken)
	nothing("an edited byte", bytes.Replace(secret, []byte("0.25"), []byte("0.15"), 1), ledger.ErrBroken)
	nothing("a newer format", bytes.Replace(secret, []byte(`export":1`), []byte(`export":2`), 1), ledger.ErrNewer)
	nothing("an edited secret", editedSecret(secret), ledger.ErrBroken)

	got, err := take(to, secret)
	must(t, err)
	if len(got) != 2 || got[1].Name != "whole" || got[1].Added == 0 || got[1].Head != headOf(t, from, "whole") {
		t.Errorf("imported %+v", got)
	}
	for _, name := range both.Datasets {
		must(t, to.Verify(ctx, name, headOf(t, from, name).String()))
		a, err := from.Key(ctx, name)
		must(t, err)
		b, err := to.Key(ctx, name)
		must(t, err)
		if sealed.ScopeSecret(a) != sealed.ScopeSecret(b) {
			t.Errorf("%s: units change their scopes", name)
		}
	}
	// Again: nothing is new. Then the log goes on here, and comes back as a longer one.
	got, err = take(to, open)
	if must(t, err); got[0].Added+got[1].Added != 0 {
		t.Errorf("imported twice: %+v", got)
	}
	must(t, spend(to, "scoped", half))
	back := New(memory.New())
	_, err = take(back, secret)
	must(t, err)
	got, err = take(back, export(to, both))
	if must(t, err); got[0].Head != headOf(t, to, "scoped") || got[0].Added == 0 {
		t.Errorf("taken back: %+v", got)
	}
	// Two histories are not added up.
	must(t, spend(from, "scoped", dp.Pure{Epsilon: 0.125}))
	before := headOf(t, to, "scoped")
	_, err = take(to, export(from, both))
	refused(t, err, "a different history")
	if headOf(t, to, "scoped") != before {
		t.Error("a refused import changed the log")
	}
	// Without scopes the secret is not needed, and nothing is lost.
	other := New(memory.New())
	_, err = take(other, export(from, ledger.Export{Datasets: []string{"whole"}}))
	must(t, err)
	if _, err := to.Export(ctx, &bytes.Buffer{}, ledger.Export{Datasets: []string{"none"}}); !errors.Is(err, ledger.ErrUnknownDataset) {
		t.Errorf("export of what is not there: %v", err)
	}
}

func headOf(t *testing.T, l *ledger.Ledger, name string) ledger.Hash {
	t.Helper()
	records, err := l.Records(context.Background(), name)
	must(t, err)
	return records[len(records)-1].Hash
}

func editedSecret(file []byte) []byte {
	text := string(file)
	i := strings.Index(text, `"secret":"`) + len(`"secret":"`)
	digit := "0"
	if text[i] == '0' {
		digit = "1"
	}
	return []byte(text[:i] + digit + text[i+1:])
}
