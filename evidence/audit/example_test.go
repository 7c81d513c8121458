package audit_test

import (
	"context"
	"fmt"

	"pawl/core/entropy"
	"pawl/evidence/audit"
)

// A noisy count of which 8,000 runs show three quarters of its ε.
func ExampleRun() {
	m, err := audit.Find("count")
	if err != nil {
		panic(err)
	}
	r, err := audit.Run(context.Background(), m, audit.Options{Runs: 8000, Source: entropy.Seeded(1)})
	if err != nil {
		panic(err)
	}
	fmt.Printf("claimed %.2f, at least %.2f, convicted: %v\n", r.Verdict.Claim.Epsilon, r.Verdict.Bound.Epsilon, r.Verdict.Convicted)
	// Output: claimed 1.00, at least 0.92, convicted: false
}
