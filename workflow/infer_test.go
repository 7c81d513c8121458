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
	"pawl/core/ledger/figures"
	"pawl/data/infer"
	"pawl/data/schema"
)

// inferEnv has rows of ages, of amounts that are mostly 0, of two wards, of answers that are mostly no, and of texts.
func inferEnv(t *testing.T, rows int, budget string) (InferInput, Env) {
	t.Helper()
	header := []string{"age", "amount", "ill", "note", "ward"} // sorted, as records are
	s := schema.Unlooked("d", header, "row", 0, int64(rows), []string{"", "NA"})
	in := intake.NewBuilder(key(t, "d"), s)
	in.KeepTexts(header)
	rng := rand.New(rand.NewPCG(1, 2))
	var asked []infer.Asked
	for _, h := range header {
		asked = append(asked, infer.Asked{Name: h, Levels: true, Numbers: true})
	}
	for i := range rows {
		amount, age, ill, ward := 0.0, fmt.Sprint(20+rng.IntN(60)), "no", "north"
		if rng.IntN(4) == 0 {
			amount = math.Round(1000 * math.Exp(rng.NormFloat64()))
		}
		if rng.IntN(10) == 0 {
			age = "NA"
		}
		if rng.IntN(10) == 0 {
			ill = "yes"
		}
		if rng.IntN(3) == 0 {
			ward = "south"
		} else if i < 3 {
			ward = "of one person: CANARY"
		}
		record := schema.Record{Columns: header, Cells: []schema.Found{{Text: age}, {Text: fmt.Sprint(amount)}, {Text: ill}, {Text: fmt.Sprint("note ", i)}, {Text: ward}}}
		if err := in.Add(make([]float64, len(header)), record); err != nil {
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
	return InferInput{Dataset: "d", Schema: s, Columns: asked, Epsilon: "1", Delta: "1e-6", Granted: 1e-6, Seed: &seed}, Env{Ledger: l, Rows: in.Seal(), Digest: digest}
}

// A schema that is bought has the types, categories and bounds of its columns, and what few hold stays hidden.
func TestSchemasAreBought(t *testing.T) {
	in, env := inferEnv(t, 5000, "5")
	plan, err := NewInferPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if !(plan.Price.Epsilon <= 1 && plan.Price.Epsilon > 0.99) {
		t.Errorf("priced at %v", plan.Price.Epsilon)
	}
	out, err := plan.Release(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(out.Released); strings.Contains(text, "CANARY") || strings.Contains(text, "note 1") {
		t.Error("what one person holds was released")
	}
	got := out.Released.Propose()
	within := func(name string, v, lower, upper float64) {
		if v < lower || v > upper {
			t.Errorf("%s is %g, want %g to %g", name, v, lower, upper)
		}
	}
	for i, want := range []infer.Proposal{
		{Name: "age", Type: schema.Numeric},
		{Name: "amount", Type: schema.Numeric},
		{Name: "ill", Type: schema.Boolean},
		{Name: "note"},
		{Name: "ward", Type: schema.Categorical, Categories: []string{"north", "south"}},
	} {
		if got[i].Name != want.Name || got[i].Type != want.Type || !slices.Equal(got[i].Categories, want.Categories) {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
	within("the lower bound of age", got[0].Lower, -30, 20)
	within("the upper bound of age", got[0].Upper, 79, 160)
	within("the lower bound of amount", got[1].Lower, 0, 0)
	within("the upper bound of amount", got[1].Upper, 8000, 50000)
	dev := 5 * plan.Forecast.LevelDev
	within("missing ages", *out.Released.Columns[0].Missing, 500-dev, 500+dev)
	within("ill", out.Released.Columns[2].Levels[1].Units, 500-dev, 500+dev)
	if out.Released.Columns[2].Bins != nil || out.Released.Columns[4].Bins != nil {
		t.Error("bounds of choices were looked for")
	}
	// What was booked is what was priced, and it is there; the same budget has room for a model.
	st, err := figures.Show(context.Background(), env.Ledger, "d")
	if err != nil || len(st.Entries) != 1 || st.Entries[0].ID != out.Receipt.ID {
		t.Fatalf("booked %+v, %v", st.Entries, err)
	}
	job := dp.Event(dp.Gaussian{NoiseMultiplier: 4.2247}) // epsilon 1
	forecast, err := figures.WhatIf(context.Background(), env.Ledger, "d", "", job)
	if err != nil || !forecast.Admitted || float64(forecast.After.Spent.Epsilon) > 1.6 {
		t.Errorf("after a schema of 1, a job of 1: %+v, %v", forecast.After, err)
	}
}

// Without a budget nothing is opened, and little data shows nothing.
func TestBuyingIsRefused(t *testing.T) {
	in, env := inferEnv(t, 2000, "0.5")
	plan, err := NewInferPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Release(context.Background(), env); !errors.Is(err, ledger.ErrRefused) {
		t.Errorf("beyond the budget: %v", err)
	}
	in, env = inferEnv(t, 40, "5")
	if plan, err = NewInferPlan(in); err != nil {
		t.Fatal(err)
	}
	if !plan.Forecast.Nothing() {
		t.Errorf("the forecast for 40 rows: %+v", plan.Forecast)
	}
	out, err := plan.Release(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Released.Propose() {
		if p.Type != "" {
			t.Errorf("out of 40 rows at epsilon 1: %+v", p)
		}
	}
	for _, change := range []func(*InferInput){
		func(in *InferInput) { in.Epsilon = "0" },
		func(in *InferInput) { in.Epsilon = "much" },
		func(in *InferInput) { in.Delta = "2" },
		func(in *InferInput) { in.Delta = "0" },
		func(in *InferInput) { in.Columns = nil },
	} {
		bad := in
		change(&bad)
		var usage *UsageError
		if _, err := NewInferPlan(bad); !errors.As(err, &usage) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// The numbers that a forecast names: levels come out from so many units on, in one column and in fifty.
func TestForecastOfLevels(t *testing.T) {
	for _, c := range []struct {
		columns int
		granted float64
		most    float64
	}{{1, 0, 130}, {50, 0, 1100}, {1, 1e-6, 140}, {50, 1e-6, 1100}} {
		in := InferInput{Dataset: "d", Schema: schema.Unlooked("d", nil, "row", 0, 5000, nil), Epsilon: "0.2", Delta: "1e-6", Granted: c.granted}
		for i := range c.columns {
			in.Columns = append(in.Columns, infer.Asked{Name: fmt.Sprint(i), Levels: true})
		}
		plan, err := NewInferPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d columns, budget of delta %g: %.1f units come out with a chance of 95 %%", c.columns, c.granted, plan.Forecast.Threshold+1.645*plan.Forecast.LevelDev)
		if got := plan.Forecast.Holds95(); got > c.most {
			t.Errorf("%d columns: a level of %g units is needed, want %g", c.columns, got, c.most)
		}
	}
}
