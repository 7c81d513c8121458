package table10

import (
	"testing"

	"pawl/experiments"
)

// shifted makes three splits around a mean.
func shifted(mean float64) []float64 { return []float64{mean - .3, mean, mean + .3} }

// world has method m at base+m·step, for every epsilon.
func world(base, step, majority, honest float64) []columns {
	var all []columns
	for range epsilons {
		c := columns{majority: shifted(majority), honest: map[string][]float64{"All": shifted(honest)}}
		for m := range methods {
			// Splits agree about methods far better than about levels.
			v := shifted(base + float64(m)*step)
			v[0] += .01 * float64(m)
			c.methods = append(c.methods, v)
		}
		all = append(all, c)
	}
	return all
}

func TestClaims(t *testing.T) {
	if len(table) != len(epsilons) {
		t.Fatalf("%d rows, %d epsilons", len(table), len(epsilons))
	}
	for e, row := range table {
		if len(row) != len(methods) {
			t.Fatalf("ε = %g has %d columns", epsilons[e], len(row))
		}
	}
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	for _, c := range []struct {
		name string
		all  []columns
		want [4]experiments.Verdict // PAFS, Random, majority, honest
	}{
		{"methods above All", world(60, 2, 70, 80), [4]experiments.Verdict{r, r, r, r}},
		{"methods below All", world(60, -2, 70, 80), [4]experiments.Verdict{n, n, r, r}},
		{"a weak majority", world(60, 2, 51, 80), [4]experiments.Verdict{r, r, n, r}},
		{"a workflow that wins only where little is left", world(60, 2, 70, 70), [4]experiments.Verdict{r, r, r, s}},
		{"a workflow that loses", world(60, 2, 70, 40), [4]experiments.Verdict{r, r, r, n}},
	} {
		for i, got := range claims(c.all) {
			if got.Verdict != c.want[i] {
				t.Errorf("%s: %q is %q, want %q", c.name, got.Statement, got.Verdict, c.want[i])
			}
		}
	}
}
