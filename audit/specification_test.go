package audit

import (
	"context"
	"testing"

	"pawl/core/entropy"
)

// Null hypothesis: core keeps its specifications. All of their tests together convict it
// with probability 1e-6.
func TestEverySpecification(t *testing.T) {
	all := Specifications()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			c, err := Conform(context.Background(), s, 1e-6/float64(len(all)), entropy.Seeded(3))
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range c.Checks {
				if check.Convicted {
					t.Errorf("%+v", check)
				}
			}
		})
	}
}
