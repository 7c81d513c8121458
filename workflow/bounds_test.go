package workflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pawl/core/dp"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
)

// boundsEnv has rows of ages, of amounts that are mostly 0, of one number, and of no
// numbers.
func boundsEnv(t *testing.T, rows int, budget string) (BoundsInput, Env) {
	t.Helper()
	header := []string{"age", "amount", "same", "word"}
	s, err := schema.WideOpen("d", header, "row", 0, map[string]bool{"age": true, "amount": true, "same": true, "word": true})
	if err != nil {
		t.Fatal(err)
	}
	in := intake.NewBuilder(key(t, "d"), s)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		amount := 0.0
		if rng.IntN(4) == 0 {
			amount = 1000 * math.Exp(rng.NormFloat64())
		}
		if err := in.Add([]float64{20 + 60*rng.Float64(), amount, 7, math.NaN()}, schema.Record{Raw: []byte(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	l := memoryLedger()
	if err := l.Create(context.Background(), ledger.Budget{Dataset: "d", Epsilon: budget, Delta: "1e-6", Relation: dp.AddOrRemoveOne}); err != nil {
		t.Fatal(err)
	}
	digest, err := l.Digest(context.Background(), strings.NewReader("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(3)
	return BoundsInput{Dataset: "d", Schema: s, Epsilon: "1", Delta: "1e-6", Seed: &seed}, Env{Ledger: l, Rows: in.Seal(), Digest: digest}
}

func TestBoundsAreFound(t *testing.T) {
	for _, delta := range []string{"0", "1e-6"} {
		in, env := boundsEnv(t, 20000, "5")
		in.Delta = delta
		plan, err := NewBoundsPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		if !(plan.Price.Epsilon <= 1 && plan.Price.Epsilon > 0.99) {
			t.Errorf("delta %s: priced at %v", delta, plan.Price.Epsilon)
		}
		out, err := plan.Release(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []Bounds{
			{Name: "age", Found: true, Lower: 20, Upper: 100},
			{Name: "amount", Found: true, Lower: 0, Upper: 10000, HeavyTailed: true},
			{Name: "same"}, {Name: "word"},
		} {
			got := out.Columns[i]
			if got.Found && !(got.Low > 0 && got.Low <= 0.1 && got.High == 1-got.Low) {
				t.Errorf("delta %s: %s between %v and %v", delta, got.Name, got.Low, got.High)
			}
			if got.Low, got.High = 0, 0; got != want {
				t.Errorf("delta %s: got %+v, want %+v", delta, got, want)
			}
		}
		// What was booked is what was priced, and it is there.
		st, err := env.Ledger.Show(context.Background(), "d")
		if err != nil || len(st.Entries) != 1 || st.Entries[0].ID != out.Receipt.ID {
			t.Errorf("delta %s: booked %+v, %v", delta, st.Entries, err)
		}
	}
}

// Without a budget nothing is opened, and little data gives no bounds of noise.
func TestBoundsAreRefused(t *testing.T) {
	in, env := boundsEnv(t, 20000, "0.5")
	plan, err := NewBoundsPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Release(context.Background(), env); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("beyond the budget: %v", err)
	}
	in, env = boundsEnv(t, 50, "5")
	if plan, err = NewBoundsPlan(in); err != nil {
		t.Fatal(err)
	}
	out, err := plan.Release(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range out.Columns {
		if b.Found {
			t.Errorf("bounds of 50 rows at epsilon 1: %+v", b)
		}
	}
	for _, change := range []func(*BoundsInput){
		func(in *BoundsInput) { in.Epsilon = "0" },
		func(in *BoundsInput) { in.Epsilon = "much" },
		func(in *BoundsInput) { in.Delta = "2" },
		func(in *BoundsInput) {
			s := *in.Schema
			s.Columns = []schema.Column{{Name: "age", Type: schema.Ignore}}
			in.Schema = &s
		},
	} {
		bad := in
		change(&bad)
		var usage *UsageError
		if _, err := NewBoundsPlan(bad); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestRoundEdges(t *testing.T) {
	e := roundEdges()
	if !slices.IsSorted(e) || e[0] != -1e15 || e[len(e)-1] != 1e15 || len(slices.Compact(slices.Clone(e))) != len(e) {
		t.Fatalf("edges %v", e)
	}
	for _, want := range []float64{0, 0.02, 100, 5000, -0.001} {
		if !slices.Contains(e, want) {
			t.Errorf("no edge at %v", want)
		}
	}
	plan, err := NewBoundsPlan(BoundsInput{Dataset: "d", Epsilon: "1", Delta: "0", Schema: &schema.Schema{Unit: schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{{Name: "x", Type: schema.Numeric, Lower: -1e15, Upper: 1e15}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := plan.Event.(dp.DiscreteLaplace); !ok {
		t.Errorf("at delta 0 the event is %T", plan.Event)
	}
}
