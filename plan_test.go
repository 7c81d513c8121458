package pawl_test

import (
	"bytes"
	"context"
	"testing"

	"pawl"
)

// A plan keeps what it was made for: what becomes of the caller's map afterwards changes neither what
// runs nor what is stated.
func TestPlansKeepWhatWasAsked(t *testing.T) {
	ctx := context.Background()
	led, done := temporary(ctx)
	defer done()
	data, err := pawl.Open("wdbc", "")
	if err != nil {
		t.Fatal(err)
	}
	seed, weights := uint64(1), map[string]float64{"M": 5}
	plan, err := led.Plan(ctx, data, pawl.Fit{Model: "linear", ClassWeights: weights, Budget: pawl.Budget{Epsilon: "1"}, Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	seed, weights["M"] = 2, 7
	res, err := plan.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(res.Statement, []byte(`"M": 5`)) || !res.NotPrivate {
		t.Errorf("other weights than the plan's: %s", res.Statement)
	}
}
