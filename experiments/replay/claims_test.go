package replay

import (
	"testing"

	"pawl/experiments"
)

func TestClaims(t *testing.T) {
	r, s, n := experiments.Reproduced, experiments.SameSign, experiments.Not
	base := []float64{90, 91, 92}
	shifted := func(by, spread float64) []float64 { return []float64{90 + by - spread, 91 + by, 92 + by + spread} }
	for _, c := range []struct {
		name           string
		a, b           []float64
		better, within experiments.Verdict // within a point
	}{
		{"above on every seed", shifted(2, .1), base, r, r},
		{"above on average only", shifted(.5, 3), base, s, s},
		{"equal", base, base, n, r},
		{"half a point below", shifted(-.5, .1), base, n, r},
		{"far below", shifted(-3, .1), base, n, n},
		{"one run above", []float64{91}, []float64{90}, s, s},
		{"one run below", []float64{80}, []float64{90}, n, n},
	} {
		if got := Better("", c.a, c.b).Verdict; got != c.better {
			t.Errorf("%s: better is %q, want %q", c.name, got, c.better)
		}
		if got := Within("", c.a, c.b, 1).Verdict; got != c.within {
			t.Errorf("%s: within is %q, want %q", c.name, got, c.within)
		}
	}
}
