package workflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/model"
	"pawl/store/memory"
)

// fullDisk is a store that cannot be written any more from some moment on.
type fullDisk struct {
	*memory.Store
	full bool
}

var errFull = fmt.Errorf("%w: the disk is full", ledger.ErrStore)

func (s *fullDisk) Update(ctx context.Context, fn func(ledger.Tx) error) error {
	if s.full {
		return errFull
	}
	return s.Store.Update(ctx, fn)
}

// ring keeps keys in memory.
type ring map[string][]byte

func (r ring) Put(entry string, key []byte) error { r[entry] = key; return nil }
func (r ring) Drop(entry string) error            { delete(r, entry); return nil }

func onDisk() (*fullDisk, *ledger.Ledger) {
	s := &fullDisk{Store: memory.New()}
	return s, ledger.New(s, pricing.Accountant{}, ledger.Options{User: "ann"})
}

// A disk that is full when the run ends: the charge stays as it was booked, what was made
// is held back, and is handed out when there is space, with its entry committed once.
func TestFullDiskAtTheEnd(t *testing.T) {
	ctx := context.Background()
	tab := small(600, nil)
	in := tab.input("1", "1e-6", 3)
	in.Seed = nil
	plan, err := NewPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	disk, l := onDisk()
	env := Env{Ledger: l, Rows: tab.seal(t, 3), Digest: bytes.Repeat([]byte{7}, 32)}
	env.Progress = func(stage string, _, _ int) { disk.full = disk.full || stage == "score" }
	out, err := plan.Run(ctx, env)
	var unconfirmed *UnconfirmedError
	if !errors.As(err, &unconfirmed) || !errors.Is(err, ledger.ErrStore) || out == nil || out.Model == nil {
		t.Fatalf("%v, %v", out, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	o, failed := NewOutput(dir, false)
	if failed != nil {
		t.Fatal(failed)
	}
	s, failed := out.Statement(ctx, env, "test", time.Now())
	if s == nil {
		t.Fatal(failed)
	}
	keys := ring{}
	o.Discard()
	err = Hold(out, dir, s, Safe{Keys: keys}, err)
	var held *HeldError
	if !errors.As(err, &held) || held.Entry != out.Receipt.ID || !strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("held: %v", err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 1 || len(hidden) != 0 {
		t.Errorf("in the directory: %v %v", names, hidden)
	}
	// The charge stands.
	view, err := figures.Show(ctx, l, "small")
	if err != nil || view.Reserved.Epsilon < 0.99 || len(view.Entries) != 1 {
		t.Errorf("%+v, %v", view, err)
	}

	h, err := ReadHeld(held.Path)
	if err != nil {
		t.Fatal(err)
	}
	if h.Held.Entry != held.Entry || h.Epsilon != "1" || h.Held.Unit != "row" || !bytes.Contains(h.Held.Reservation, []byte("gaussian")) || h.Cause != errFull.Error() {
		t.Errorf("header %+v", h.HeldHeader)
	}
	if _, err := h.HandOut(ctx, l, dir, false); err == nil {
		t.Error("handed out while it was sealed")
	}
	if err := h.Open(bytes.Repeat([]byte{1}, 32)); err == nil {
		t.Error("another key opened it")
	}
	if err := h.Open(keys[held.Entry]); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reconcile(ctx, ledger.Reconcile{Reason: "x", Held: &h.Held}); !errors.Is(err, ledger.ErrStore) {
		t.Errorf("reconciled on a full disk: %v", err)
	}
	disk.full = false
	for i, committed := range []bool{true, false} {
		r, err := l.Reconcile(ctx, ledger.Reconcile{Reason: "freed some space", Held: &h.Held})
		if err != nil || r.Booked || r.Committed != committed {
			t.Errorf("time %d: %+v, %v", i, r, err)
		}
	}
	if _, err := h.HandOut(ctx, l, dir, false); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(filepath.Join(dir, ModelDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tab.rows[:50] {
		if a, b := out.Model.Predictor()(row), m.Predictor()(row); a != b {
			t.Fatalf("the model predicts %v, before it was held back %v", b, a)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, ReportFile))
	if err != nil || !bytes.Contains(page, []byte("freed some space")) {
		t.Error("the report does not say it")
	}
	view, err = figures.Show(ctx, l, "small")
	if err != nil || view.Spent.Epsilon < 0.99 || view.Reserved.Epsilon != 0 || len(view.Entries) != 1 {
		t.Errorf("%+v, %v", view, err)
	}
}

// What is staged is not moved into place when the last question is answered with no.
func TestNothingMovesWithoutConfirmation(t *testing.T) {
	tab := small(600, nil)
	out := tab.run(t, tab.input("1", "1e-6", 3))
	dir := filepath.Join(t.TempDir(), "out")
	o, err := NewOutput(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	no := &UnconfirmedError{Entry: "x", Cause: ledger.ErrContradicted}
	o.Confirm = func() error { return no }
	s, err := out.Plan.Statement("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(out.Model, s); !errors.Is(err, no) {
		t.Errorf("write: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

// A schema that was bought is held back as well.
func TestBoughtSchemasAreHeldBack(t *testing.T) {
	ctx := context.Background()
	in, env := inferEnv(t, 5000, "5")
	disk, l := onDisk()
	env.Ledger = l
	plan, err := NewInferPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Create(ctx, ledger.Budget{Dataset: "d", Epsilon: "5", Delta: "1e-6", Relation: 1}); err != nil {
		t.Fatal(err)
	}
	found, err := plan.Release(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Confirm(ctx, l); err != nil {
		t.Errorf("confirm: %v", err)
	}
	// The ledger is another one now.
	disk.Store = memory.New()
	doubt := found.Confirm(ctx, l)
	if !errors.As(doubt, new(*UnconfirmedError)) || !errors.Is(doubt, ledger.ErrContradicted) {
		t.Fatalf("confirm: %v", doubt)
	}
	dir, keys := t.TempDir(), ring{}
	err = found.Hold(dir, time.Now(), "1", "1e-6", map[string][]byte{"d.yaml": []byte("bounds")}, Safe{Keys: keys}, doubt)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatal(err)
	}
	h, err := ReadHeld(held.Path)
	if err == nil {
		err = h.Open(keys[held.Entry])
	}
	if err != nil {
		t.Fatal(err)
	}
	again := ledger.New(disk, pricing.Accountant{}, ledger.Options{User: "ann"})
	if r, err := again.Reconcile(ctx, ledger.Reconcile{Reason: "lost", Held: &h.Held}); err != nil || !r.Booked {
		t.Errorf("%+v, %v", r, err)
	}
	if written, err := h.HandOut(ctx, again, dir, false); err != nil || len(written) != 1 {
		t.Errorf("%v, %v", written, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "d.yaml")); err != nil || string(text) != "bounds" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestReadHeldRefusesOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pawl")
	for _, text := range []string{"", "hello", "{}\n", `{"pawl_held": 2}` + "\n", `{"pawl_held": 1, "more": 1}` + "\n", "{\"pawl_held\": 1}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var bad *UsageError
		if _, err := ReadHeld(path); !errors.As(err, &bad) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
