package theory

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSizeCurveInverse(t *testing.T) {
	c := SizeCurve{1.1, 9000}
	for _, n := range []float64{100, 5e3, 1e6} {
		near(t, "inverse", c.Rows(c.Epsilon(n))/n, 1, 1e-9)
	}
	if !math.IsInf(c.Rows(math.Log(1.1)), 1) || !math.IsInf(c.Rows(.01), 1) || !math.IsInf(c.Epsilon(0), 1) {
		t.Error("at the floor no rows suffice, and no rows leave ε infinite")
	}
}

func sizeRuns(truth SizeCurve, noise float64, repeats int, rng *rand.Rand) []SizeRuns {
	var runs []SizeRuns
	for _, n := range []float64{1e4, 2e4, 5e4, 1e5, 3e5, 1e6} {
		r := SizeRuns{Rows: n, Tried: repeats}
		for range repeats {
			r.Epsilons = append(r.Epsilons, truth.Epsilon(n)*math.Exp(noise*rng.NormFloat64()))
		}
		runs = append(runs, r)
	}
	return runs
}

func TestFitSizes(t *testing.T) {
	truth := SizeCurve{1.1, 21967}
	b := Bootstrap{Replicates: 1000, Confidence: .95, Seed: 1}
	exact, err := FitSizes(sizeRuns(truth, 0, 3, seeded(1)), b)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "α", exact.Alpha, truth.Alpha, 1e-9)
	near(t, "β", exact.Beta/truth.Beta, 1, 1e-9)
	near(t, "rows", exact.RowsInterval(1).Upper, truth.Rows(1), 1e-6*truth.Rows(1))

	noisy, err := FitSizes(sizeRuns(truth, .05, 10, seeded(2)), b)
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]struct {
		Interval
		truth float64
	}{"α": {noisy.AlphaInterval, truth.Alpha}, "β": {noisy.BetaInterval, truth.Beta}, "rows": {noisy.RowsInterval(1), truth.Rows(1)}} {
		if !(i.Lower < i.Estimate && i.Estimate < i.Upper && i.Lower < i.truth && i.truth < i.Upper && i.Upper < 1.3*i.Lower) {
			t.Errorf("%s: %+v, truth %v", name, i.Interval, i.truth)
		}
	}
	if i := noisy.RowsInterval(math.Log(1.01)); !math.IsInf(i.Estimate, 1) {
		t.Errorf("rows below the floor: %+v", i)
	}
}

// Coverage of the 95 % interval for the rows at ε = 1, 10 repeats a size, as in [B].
// n = 300; fewer than 249 of 300 has probability below 1e-6 if coverage is .92.
func TestFitSizesCoverage(t *testing.T) {
	rng := seeded(7)
	truth := SizeCurve{1.1, 9000}
	covered := 0
	for range 300 {
		fit, err := FitSizes(sizeRuns(truth, .05, 10, rng), Bootstrap{300, .95, 1})
		if err != nil {
			t.Fatal(err)
		}
		if i := fit.RowsInterval(1); i.Lower <= truth.Rows(1) && truth.Rows(1) <= i.Upper {
			covered++
		}
	}
	t.Logf("%d of 300 intervals of 95 %% hold the number of rows", covered)
	if covered < 249 {
		t.Errorf("only %d of 300 intervals hold the truth", covered)
	}
}

func TestFitSizesFloorAndFilter(t *testing.T) {
	b := Bootstrap{Replicates: 100, Confidence: .95, Seed: 1}
	// α below 1 in the data: the floor is taken and said.
	fit, err := FitSizes(sizeRuns(SizeCurve{.995, 9000}, 0, 2, seeded(1)), b)
	if err != nil {
		t.Fatal(err)
	}
	if !fit.Floored || fit.Alpha != 1 || math.Abs(fit.Beta/9000-1) > .05 {
		t.Errorf("fit below the floor: %+v", fit.SizeCurve)
	}
	// A size that only 9 of 10 trainings reach does not enter, whatever it says.
	runs := sizeRuns(SizeCurve{1.1, 9000}, 0, 9, seeded(1))
	runs[0].Tried = 10
	for i := range runs[0].Epsilons {
		runs[0].Epsilons[i] = .01
	}
	if fit, err = FitSizes(runs, b); err != nil {
		t.Fatal(err)
	}
	near(t, "α without the unreliable size", fit.Alpha, 1.1, 1e-9)
	if len(fit.Used) != len(runs)-1 {
		t.Errorf("used %v", fit.Used)
	}
}

func TestFitSizesRefuses(t *testing.T) {
	b := Bootstrap{Replicates: 100, Confidence: .95, Seed: 1}
	two := []float64{1, 1.1}
	for name, runs := range map[string][]SizeRuns{
		"one size":         {{1e4, two, 2}},
		"one size twice":   {{1e4, two, 2}, {1e4, two, 2}},
		"no rows":          {{0, two, 2}, {1e4, two, 2}},
		"single run":       {{1e3, two, 2}, {1e4, two[:1], 1}},
		"negative epsilon": {{1e3, two, 2}, {1e4, []float64{-1, 1}, 2}},
		"rising":           {{1e3, []float64{.1, .1}, 2}, {1e4, []float64{3, 3}, 2}},
		"too large":        {{1e3, []float64{900, 900}, 2}, {1e4, []float64{800, 800}, 2}},
	} {
		if _, err := FitSizes(runs, b); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
