package curves

import (
	"strings"
	"testing"

	"pawl/experiments"
)

// falling is a curve that loses so much with every ε against flat.
func falling(by float64) (simple, complex Curve) {
	for k := range 5 {
		var a, b []float64
		for seed := range 5 {
			shared := float64(seed)
			a, b = append(a, 80+shared-by*float64(k-2)+.01*float64((seed*k)%3)), append(b, 80+shared)
		}
		simple, complex = append(simple, a), append(complex, b)
	}
	return simple, complex
}

func TestRowOfACrossover(t *testing.T) {
	epsilons := []float64{.01, .1, 1, 10, 100}
	for _, c := range []struct {
		name      string
		by        float64
		low, high float64
		want      experiments.Verdict
		words     string
	}{
		{"within the printed range", 1, .5, 2, experiments.Reproduced, "the curves cross within the interval"},
		{"elsewhere", 1, 20, 30, experiments.SameSign, "crossover 1"},
		{"nothing printed", 1, 0, 0, experiments.Unpublished, "crossover 1"},
		{"the other way round", -1, .5, 2, experiments.Not, "crossover above 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			simple, complex := falling(c.by)
			found, err := Cross(epsilons, simple, complex)
			if err != nil {
				t.Fatal(err)
			}
			row := Row{Name: "x", Data: "y", Low: c.low, High: c.high, Runs: 5, Honest: found}.Row()
			// A curve that is worse at small ε and better at large is several crossings, or
			// one that the definition does not describe: it must not count as reproduced.
			if c.by < 0 {
				if row.Verdict == experiments.Reproduced && row.Honest.Mean < 2 {
					t.Errorf("verdict %q of %+v", row.Verdict, row.Honest)
				}
				return
			}
			if row.Verdict != c.want || !strings.Contains(row.Why, c.words) {
				t.Errorf("verdict %q (%s), want %q and %q", row.Verdict, row.Why, c.want, c.words)
			}
		})
	}
}

func TestFalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		values [][]float64
		points float64
		want   experiments.Verdict
	}{
		{"best in the middle", [][]float64{{70, 71}, {80, 81}, {60, 61}}, 5, experiments.Reproduced},
		{"largest best", [][]float64{{70, 71}, {80, 81}, {90, 91}}, 5, experiments.Not},
		{"not clear", [][]float64{{70, 71}, {80, 90}, {79, 71}}, 5, experiments.SameSign},
		{"too little", [][]float64{{70, 71}, {80, 81}, {79, 80}}, 5, experiments.Not},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Falls("x", c.values, c.points); got.Verdict != c.want {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

func TestParametersOfHiddenLayers(t *testing.T) {
	if got := Parameters(64, 10, 2048, 256, 64); got != 674762 {
		t.Errorf("got %d, want 674762 (Table IX)", got)
	}
	if got := Parameters(300, 10, 64); got != 19914 {
		t.Errorf("got %d, want 19914 (Table I)", got)
	}
}
