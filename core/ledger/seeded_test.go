package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/ledgertest"
	"pawl/store/memory"
)

func user(store ledger.Store, name string) *ledger.Ledger {
	return ledger.New(store, ledgertest.Sum{}, ledger.Options{User: name})
}

func marks(t *testing.T, l *ledger.Ledger, name string) int {
	t.Helper()
	st, err := figures.Show(context.Background(), l, name)
	must(t, err)
	return len(st.SeededRuns)
}

func TestSeededRunsMarkUntilCleared(t *testing.T) {
	ctx, store := context.Background(), memory.New()
	l := user(store, "ann")
	must(t, l.Create(ctx, budget("d", "9")))
	fresh := uint64(100)
	// A seed of 0 stands for one that was not used before.
	spend := func(seeded bool, seed uint64) *ledger.Permit {
		t.Helper()
		q := ledgertest.Spend("d", 0.125)
		if seeded && seed == 0 {
			fresh++
			seed = fresh
		}
		if seeded {
			q.Seed = &seed
		}
		p, _, err := l.Reserve(ctx, q)
		must(t, err)
		return p
	}
	want := func(n int, when string) {
		t.Helper()
		// From the log, as another process reads it.
		if got := marks(t, user(store, "bob"), "d"); got != n {
			t.Errorf("%s: %d marks, want %d", when, got, n)
		}
	}
	must(t, l.Commit(ctx, spend(false, 0)))
	want(0, "no seeded run")
	refused(t, l.ClearSeeded(ctx, "d", "why"), "no seeded run marks it", "")

	must(t, l.Cancel(ctx, spend(true, 0)))
	want(0, "a cancelled run")

	killed := spend(true, 0)
	want(1, "a run that is reserved")
	must(t, l.Commit(ctx, spend(true, 7)))
	want(2, "a run that is committed")
	must(t, l.Commit(ctx, spend(false, 0)))
	want(2, "a later run without a seed")

	for _, reason := range []string{"", " \n"} {
		if err := l.ClearSeeded(ctx, "d", reason); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("cleared for the reason %q: %v", reason, err)
		}
	}
	must(t, l.ClearSeeded(ctx, "d", "the folder was erased"))
	want(0, "cleared")
	st, err := figures.Show(ctx, l, "d")
	must(t, err)
	if c := st.Cleared; len(c) != 1 || c[0].By != "ann" || c[0].Reason != "the folder was erased" || c[0].At == "" || len(c[0].Entries) != 2 || !c[0].Own {
		t.Errorf("cleared: %+v", c)
	}

	// What is put out after the steward's word is not covered by it.
	must(t, l.Commit(ctx, killed))
	want(1, "a run that committed after it was cleared")
	must(t, l.ClearSeeded(ctx, "d", "erased too"))
	spend(true, 7)
	want(1, "a run that was repeated after it was cleared")
	must(t, l.ClearSeeded(ctx, "d", "erased again"))
	spend(true, 0)
	want(1, "a new run")

	if f, err := figures.WhatIf(ctx, l, "d", "", ledgertest.Spend("d", 0.125).Event); err != nil || len(f.SeededRuns) != 1 {
		t.Errorf("a what-if shows %+v, %v", f.SeededRuns, err)
	}
	must(t, l.DeclarePublic(ctx, "d", "published"))
	want(0, "declared public")
}

func TestPublicDataIsNotMarked(t *testing.T) {
	ctx, l := context.Background(), user(memory.New(), "ann")
	q := ledgertest.Spend("adult", 1)
	q.Public, q.Seed = true, new(uint64)
	_, _, err := l.Reserve(ctx, q)
	must(t, err)
	if n := marks(t, l, "adult"); n != 0 {
		t.Errorf("%d marks on public rows", n)
	}
}

func TestNobodyClearsHisOwnOnATeamsLedger(t *testing.T) {
	ctx, store := context.Background(), memory.New()
	store.Team = true
	ann, bob, steward := user(store, "ann"), user(store, "bob"), user(store, "steward")
	must(t, steward.Create(ctx, budget("d", "9")))
	q := ledgertest.Spend("d", 1)
	q.Seed = new(uint64)
	_, _, err := ann.Reserve(ctx, q)
	must(t, err)
	refused(t, ann.ClearSeeded(ctx, "d", "trust me"), "nobody can clear his own", "steward or a colleague")
	// Bob runs the same again: its output is his as well.
	_, _, err = bob.Reserve(ctx, q)
	must(t, err)
	refused(t, bob.ClearSeeded(ctx, "d", "trust me"), "nobody can clear his own", "steward or a colleague")
	must(t, steward.ClearSeeded(ctx, "d", "seen to be erased"))
	st, err := figures.Show(ctx, ann, "d")
	must(t, err)
	if len(st.SeededRuns) != 0 || len(st.Cleared) != 1 || st.Cleared[0].Own {
		t.Errorf("marks %+v, cleared %+v", st.SeededRuns, st.Cleared)
	}
}

// A clearing is part of the log: an export carries it.
func TestClearingsMove(t *testing.T) {
	ctx, from := context.Background(), user(memory.New(), "ann")
	must(t, from.Create(ctx, budget("d", "9")))
	for _, clear := range []bool{true, false} {
		q := ledgertest.Spend("d", 1)
		q.Seed = new(uint64)
		*q.Seed = uint64(len(q.Dataset)) + map[bool]uint64{true: 1}[clear]
		_, _, err := from.Reserve(ctx, q)
		must(t, err)
		if clear {
			must(t, from.ClearSeeded(ctx, "d", "erased"))
		}
	}
	must(t, from.Verify(ctx, "d"))
	var b bytes.Buffer
	_, err := from.Export(ctx, &b, ledger.Export{Datasets: []string{"d"}, WithSecret: true})
	must(t, err)
	if !strings.Contains(b.String(), `"clear_seeded"`) {
		t.Error("the export holds no clearing")
	}
}
