package audit

import (
	"context"
	"testing"

	"pawl/core/entropy"
)

// An audit of 100,000 runs in each world.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"count", "covariance", "training", "objective perturbation"} {
		m, err := Find(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(context.Background(), m, Options{Runs: 100_000, Source: entropy.Seeded(1)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
