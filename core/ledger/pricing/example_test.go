package pricing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/core/ledger/figures"
	"pawl/core/ledger/pricing"
	"pawl/store/memory"
)

// A steward grants a budget; a plan is charged before it runs; the next one finds
// what is left.
func Example() {
	ctx := context.Background()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "ann"})
	err := l.Create(ctx, ledger.Budget{Dataset: "patients", Epsilon: "1", Delta: "0", Unit: "patient", Relation: dp.AddOrRemoveOne})
	if err != nil {
		fmt.Println(err)
		return
	}
	digest, err := l.Digest(ctx, strings.NewReader("the bytes of patients.csv"))
	if err != nil {
		fmt.Println(err)
		return
	}
	request := ledger.Request{Dataset: "patients", Plan: "count", Event: dp.DiscreteLaplace{NoiseMultiplier: 1.25},
		Stages: []string{"count"}, Relation: dp.AddOrRemoveOne, Unit: "patient", RowsPerUnit: 1, Digest: digest}
	permit, _, err := l.Reserve(ctx, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	// ... rows are opened under the permit, the noisy count is drawn ...
	if err := l.Commit(ctx, permit); err != nil {
		fmt.Println(err)
		return
	}
	st, err := figures.Show(ctx, l, "patients")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("spent", st.Spent.Epsilon, "left", st.Left.Epsilon, "granted by", st.Granted.By)
	_, _, err = l.Reserve(ctx, request)
	fmt.Println("refused:", errors.Is(err, ledger.ErrExhausted))
	// Output:
	// spent 0.8 left 0.2 granted by ann
	// refused: true
}
