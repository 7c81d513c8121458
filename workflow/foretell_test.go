package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/report"
	"pawl/store/memory"
)

func planOf(t *testing.T, tab table, epsilon string, seed *uint64) *Plan {
	t.Helper()
	in := tab.input(epsilon, "1e-5", 1)
	in.Seed = seed
	plan, err := NewPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func as(store ledger.Store, user string) *ledger.Ledger {
	return ledger.New(store, pricing.Accountant{}, ledger.Options{User: user})
}

// Run ends as Foretell said, where it costs nothing again too.
func TestForetellIsWhatRunDoes(t *testing.T) {
	ctx, tab, seed := context.Background(), small(1500, nil), uint64(7)
	env := tab.env(t, as(memory.New(), "ann"))
	agree := func(plan *Plan, replayed bool) {
		t.Helper()
		v, foretold := plan.Foretell(ctx, env)
		out, err := plan.Run(ctx, env)
		if fmt.Sprint(foretold) != fmt.Sprint(err) {
			t.Errorf("foretold %v, and the run ends with %v", foretold, err)
		}
		if err == nil && (v.Replayed != replayed || out.Receipt.Replayed != replayed || v.SelfGrant != out.Receipt.SelfGrant) {
			t.Errorf("foretold %+v, booked %+v", v.Receipt, out.Receipt)
		}
	}
	seeded := planOf(t, tab, "1", &seed)
	agree(seeded, false)
	agree(seeded, true)
	agree(planOf(t, tab, "1", nil), false) // nothing is left
	env.Digest[0]++
	agree(seeded, false)
	env.Digest = env.Digest[:5]
	agree(seeded, false)
}

// A plan for public rows is not told that it may run on what the ledger holds as sensitive.
func TestForetellOfAPublicPlanOnSensitiveRows(t *testing.T) {
	ctx, tab := context.Background(), small(1500, func(s *schema.Schema) { s.Public = true })
	env := tab.env(t, as(memory.New(), "ann"))
	if err := env.Ledger.Create(ctx, ledger.Budget{Dataset: tab.name, Epsilon: "5", Delta: "1e-5", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	var usage *UsageError
	if _, err := planOf(t, tab, "1", nil).Foretell(ctx, env); !errors.As(err, &usage) || !strings.Contains(err.Error(), "as sensitive") {
		t.Errorf("foretold %v", err)
	}
}

// The statement of a later run says who ran, who granted, since when, and what marks the
// data set.
func TestStatementNamesPeopleAndMarks(t *testing.T) {
	ctx, tab, seed := context.Background(), small(1500, nil), uint64(7)
	store := memory.New()
	store.Team = true
	steward, ann, bob := as(store, "steward"), as(store, "ann"), as(store, "bob")
	if err := steward.Create(ctx, ledger.Budget{Dataset: tab.name, Epsilon: "9", Delta: "1e-5", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	run := func(l *ledger.Ledger, seed *uint64) *report.Statement {
		t.Helper()
		env := tab.env(t, l)
		out, err := planOf(t, tab, "0.5", seed).Run(ctx, env)
		if err != nil {
			t.Fatal(err)
		}
		s, err := out.Statement(ctx, env, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := report.Validate(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := run(ann, nil)
	if b := first.Budget; b.RunBy != "ann" || b.GrantedBy != "steward" || b.GrantedByRunner || b.Since == "" || b.GrantedAt == "" || !strings.HasSuffix(b.Age, "before this run") || b.Unbounded || len(first.SeededRuns) != 0 {
		t.Errorf("before a seeded run: %+v, %v", b, first.SeededRuns)
	}
	marked := run(ann, &seed)
	later := run(bob, nil)
	if len(later.SeededRuns) != 1 || later.SeededRuns[0].By != "ann" || later.SeededRuns[0].Entry != marked.Budget.Entry || !later.Budget.Unbounded || later.NotPrivate {
		t.Errorf("after a seeded run: %+v, unbounded %v", later.SeededRuns, later.Budget.Unbounded)
	}
	if err := bob.ClearSeeded(ctx, tab.name, "erased"); err != nil {
		t.Fatal(err)
	}
	if err := steward.Grant(ctx, tab.name, "10", "", "more"); err != nil {
		t.Fatal(err)
	}
	if s := run(steward, nil); len(s.SeededRuns) != 0 || s.Budget.Unbounded || len(s.Cleared) != 1 || s.Cleared[0].By != "bob" || s.Cleared[0].Own || !s.Budget.GrantedByRunner {
		t.Errorf("after a clearing: %+v, cleared %+v", s.Budget, s.Cleared)
	}
}
