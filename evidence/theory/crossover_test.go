package theory

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// curves draws runs whose mean difference simple − complex is difference(ln ε).
func curves(epsilons []float64, runs int, noise float64, rng *rand.Rand, difference func(logEpsilon float64) float64) []AccuracyRuns {
	grid := make([]AccuracyRuns, len(epsilons))
	for i, epsilon := range epsilons {
		g := AccuracyRuns{Epsilon: epsilon}
		for range runs {
			g.Simple = append(g.Simple, .8+difference(math.Log(epsilon))+noise*rng.NormFloat64())
			g.Complex = append(g.Complex, .8+noise*rng.NormFloat64())
		}
		grid[i] = g
	}
	return grid
}

func logGrid(low, high float64, n int) []float64 {
	grid := make([]float64, n)
	for i := range grid {
		grid[i] = low * math.Pow(high/low, float64(i)/float64(n-1))
	}
	return grid
}

var usual = CrossoverConfig{Bootstrap: Bootstrap{Replicates: 2000, Confidence: .95, Seed: 1}}

func TestCrossoverVerdicts(t *testing.T) {
	grid := logGrid(.1, 10, 9)
	falling := func(x float64) float64 { return -.02 * x } // crosses at ε = 1
	cases := []struct {
		name       string
		difference func(x float64) float64
		noise      float64
		want       CrossoverVerdict
	}{
		{"crossing", falling, .003, CrossingWithin},
		{"simple everywhere", func(x float64) float64 { return .05 - .005*x }, .003, SimpleEverywhere},
		{"complex everywhere", func(x float64) float64 { return -.05 - .005*x }, .003, ComplexEverywhere},
		{"noise only", func(float64) float64 { return 0 }, .01, Undecided},
		{"there and back", func(x float64) float64 { return .05 * math.Cos(1.5*x) }, .003, SeveralCrossings},
		{"the wrong way", func(x float64) float64 { return .02 * x }, .003, Reversed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := EstimateCrossover(curves(grid, 5, c.noise, seeded(3), c.difference), usual)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.want {
				t.Errorf("verdict %q (%+v, %d proven), want %q", got.Verdict, got.Epsilon, got.Proven, c.want)
			}
		})
	}
	got, err := EstimateCrossover(curves(grid, 5, .003, seeded(3), falling), usual)
	if err != nil {
		t.Fatal(err)
	}
	if e := got.Epsilon; !(e.Lower <= 1 && 1 <= e.Upper && e.Lower > .7 && e.Upper < 1.4) {
		t.Errorf("crossover at 1 estimated as %+v", e)
	}
	if first, last := got.Points[0], got.Points[8]; first.SimpleBetter < .999 || last.SimpleBetter > .001 {
		t.Errorf("P(simple better) runs from %v to %v", first.SimpleBetter, last.SimpleBetter)
	}
}

// The definition's edge values, without noise.
func TestCrossoverEdges(t *testing.T) {
	flat := func(differences ...float64) []AccuracyRuns {
		var grid []AccuracyRuns
		for i, d := range differences {
			grid = append(grid, AccuracyRuns{Epsilon: math.Exp(float64(i)), Simple: []float64{.5 + d, .5 + d}, Complex: []float64{.5, .5}})
		}
		return grid
	}
	for _, c := range []struct {
		name        string
		differences []float64
		want        float64
		crossings   int
	}{
		{"never better", []float64{-.1, -.2, -.3}, 0, 0},
		{"never better, equal at first", []float64{0, -.2}, 0, 0},
		{"always better", []float64{.3, .2, .1}, math.Inf(1), 0},
		{"halfway", []float64{.25, -.25}, math.Exp(.5), 1},
		{"to zero on a point", []float64{.25, 0, -.25}, math.E, 1},
		{"violation pooled", []float64{.5, -.25, .5, -.5}, math.Exp(2.2), 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := EstimateCrossover(flat(c.differences...), usual)
			if err != nil {
				t.Fatal(err)
			}
			if e := got.Epsilon; e.Estimate != c.want && !(math.Abs(e.Estimate-c.want) < 1e-9) || e.Lower != e.Estimate || e.Upper != e.Estimate {
				t.Errorf("crossover %+v, want %v", e, c.want)
			}
			if len(got.Crossings) != c.crossings {
				t.Errorf("crossings %v, want %d", got.Crossings, c.crossings)
			}
		})
	}
}

func TestCrossoverIsDeterministicAndUnordered(t *testing.T) {
	runs := curves(logGrid(.1, 10, 8), 5, .02, seeded(8), func(x float64) float64 { return -.01 * x })
	a, err := EstimateCrossover(runs, usual)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(runs)
	b, _ := EstimateCrossover(runs, usual)
	if a.Epsilon != b.Epsilon {
		t.Errorf("%+v, and reversed %+v", a.Epsilon, b.Epsilon)
	}
}

// Runs that share a large common part: pairing must find the crossing that unpaired
// intervals cannot see.
func TestCrossoverPaired(t *testing.T) {
	rng := seeded(5)
	var runs []AccuracyRuns
	for _, epsilon := range logGrid(.1, 10, 9) {
		g := AccuracyRuns{Epsilon: epsilon}
		for range 5 {
			common := .1 * rng.NormFloat64()
			g.Simple = append(g.Simple, .7+common-.02*math.Log(epsilon)+.003*rng.NormFloat64())
			g.Complex = append(g.Complex, .7+common+.003*rng.NormFloat64())
		}
		runs = append(runs, g)
	}
	paired := usual
	paired.Paired = true
	a, err := EstimateCrossover(runs, paired)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := EstimateCrossover(runs, usual)
	if a.Verdict != CrossingWithin || b.Verdict == CrossingWithin && b.Epsilon.Upper/b.Epsilon.Lower < 4*a.Epsilon.Upper/a.Epsilon.Lower {
		t.Errorf("paired %q %+v, unpaired %q %+v", a.Verdict, a.Epsilon, b.Verdict, b.Epsilon)
	}
}

// How often the 95 % interval holds the truth, 5 runs a cell and 8 epsilons: the
// figure in the test is a floor, not a claim of exactness.
// Null: coverage is .90 or more; n = 400; z = −4.8916 below .90 would be .827.
func TestCrossoverCoverage(t *testing.T) {
	const trials = 400
	rng := seeded(11)
	c := usual
	c.Replicates = 400
	covered := 0
	truth := 1.3
	for range trials {
		runs := curves(logGrid(.1, 10, 8), 5, .02, rng, func(x float64) float64 { return -.02 * (x - math.Log(truth)) })
		got, err := EstimateCrossover(runs, c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Epsilon.Lower <= truth && truth <= got.Epsilon.Upper {
			covered++
		}
	}
	t.Logf("%d of %d intervals of 95 %% hold the crossover", covered, trials)
	if covered < 331 {
		t.Errorf("only %d of %d intervals hold the crossover", covered, trials)
	}
}

// The deviation of a drawn mean in standard errors is Student's with n − 1 degrees of
// freedom: t₄ lies beyond ±2.776 in 5 % of draws, a normal deviation in .55 %. Null: 5 %;
// 1e5 draws; 5 standard deviations of the count are 345.
func TestStudentMean(t *testing.T) {
	sample := []float64{1, 2, 4, 8, 5}
	rng := seeded(6)
	mean, se := 4., math.Sqrt(7.5/5)
	beyond, below := 0, 0
	for range 100_000 {
		d := (studentMean(sample, rng) - mean) / se
		if math.Abs(d) > 2.7764451 {
			beyond++
		}
		if d < 0 {
			below++
		}
	}
	if math.Abs(float64(beyond)-5000) > 345 || math.Abs(float64(below)-50_000) > 800 {
		t.Errorf("%d of 100,000 draws beyond the 95 %% interval, %d below the mean", beyond, below)
	}
	if got := studentMean([]float64{3, 3, 3}, rng); got != 3 {
		t.Errorf("equal values have the mean %g", got)
	}
}

// Two runs that agree on who is better prove little.
func TestTwoRunsProveLittle(t *testing.T) {
	runs := []AccuracyRuns{
		{Epsilon: 1, Simple: []float64{.75, .70}, Complex: []float64{.74, .62}},
		{Epsilon: 2, Simple: []float64{.76, .70}, Complex: []float64{.74, .63}},
	}
	c := usual
	c.Paired = true
	got, err := EstimateCrossover(runs, c)
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Points[0]; got.Verdict != Undecided || p.SimpleBetter > .95 || p.SimpleBetter < .6 {
		t.Errorf("%q, simple better in %g", got.Verdict, p.SimpleBetter)
	}
}

// The complex model wins below and the simple one above: that is no crossover, however
// the smoothed curve looks.
func TestReversedCurves(t *testing.T) {
	for name, c := range map[string]struct {
		gaps   []float64
		spread float64
		want   CrossoverVerdict
	}{
		"proven":           {[]float64{-.1, -.1, .1, .1}, .001, Reversed},
		"one against many": {[]float64{-.02, .1, .1, .1}, .001, Reversed},
		"not proven":       {[]float64{-.001, .1, .1, .1}, .02, Undecided},
		"not proven, low":  {[]float64{-.1, -.1, -.1, .001}, .02, Undecided},
		"there and back":   {[]float64{-.1, .1, .1, -.1}, .001, SeveralCrossings},
	} {
		var runs []AccuracyRuns
		for i, gap := range c.gaps {
			g := AccuracyRuns{Epsilon: float64(i + 1)}
			for j := range 6 {
				g.Simple = append(g.Simple, .7+gap+c.spread*float64(j%3-1))
				g.Complex = append(g.Complex, .7)
			}
			runs = append(runs, g)
		}
		got, err := EstimateCrossover(runs, usual)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != c.want {
			t.Errorf("%s: %q, want %q (%+v)", name, got.Verdict, c.want, got.Epsilon)
		}
	}
}

// Isotonic regression: non-increasing, keeps the weighted mean, a fixed point of
// itself, and no other non-increasing sequence at hand is closer.
func TestNonIncreasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, "values")
		weights := rapid.SliceOfN(rapid.Float64Range(.1, 5), n, n).Draw(t, "weights")
		fitted := slices.Clone(values)
		nonIncreasing(fitted, weights, nil)
		sum, distance := 0.0, func(other []float64) float64 {
			d := 0.0
			for i := range values {
				d += weights[i] * (values[i] - other[i]) * (values[i] - other[i])
			}
			return d
		}
		for i := range values {
			sum += weights[i] * (values[i] - fitted[i])
			if i > 0 && fitted[i] > fitted[i-1]+1e-12 {
				t.Fatalf("%v rises", fitted)
			}
		}
		if math.Abs(sum) > 1e-9 {
			t.Errorf("mean moved by %v", sum)
		}
		again := slices.Clone(fitted)
		nonIncreasing(again, weights, nil)
		for i := range again {
			if math.Abs(again[i]-fitted[i]) > 1e-12 {
				t.Errorf("not a fixed point: %v, %v", fitted, again)
			}
		}
		other := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, "other")
		slices.SortFunc(other, func(a, b float64) int { return cmp.Compare(b, a) })
		if distance(other) < distance(fitted)-1e-9 {
			t.Errorf("%v is closer to %v than %v", other, values, fitted)
		}
	})
}

func TestCrossoverRefuses(t *testing.T) {
	good := func() []AccuracyRuns {
		return []AccuracyRuns{{1, []float64{.1, .2}, []float64{.1, .2}}, {2, []float64{.1, .2}, []float64{.1, .2}}}
	}
	for name, change := range map[string]func(runs []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns{
		"one epsilon":      func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { return r[:1] },
		"epsilon twice":    func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { r[1].Epsilon = 1; return r },
		"epsilon zero":     func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { r[1].Epsilon = 0; return r },
		"epsilon infinite": func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { r[1].Epsilon = math.Inf(1); return r },
		"one run":          func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { r[1].Simple = r[1].Simple[:1]; return r },
		"NaN":              func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { r[1].Simple[0] = math.NaN(); return r },
		"few replicates":   func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { c.Replicates = 10; return r },
		"confidence 1":     func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns { c.Confidence = 1; return r },
		"unequal pairs": func(r []AccuracyRuns, c *CrossoverConfig) []AccuracyRuns {
			c.Paired = true
			r[0].Simple = append(r[0].Simple, .3)
			return r
		},
	} {
		c := usual
		if _, err := EstimateCrossover(change(good(), &c), c); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A point whose runs scatter ten times as much must count little in a pooled
// block: −0.3 at the noisy point and +0.1 at the quiet one pool to +0.08 (its variance
// is 100 times the other's), not to −0.1. The quiet variance is below the
// floor of a tenth of the mean, which is 5.05 of the 100.
func TestCrossoverWeighsByVariance(t *testing.T) {
	spread := func(epsilon, mean, deviation float64) AccuracyRuns {
		return AccuracyRuns{Epsilon: epsilon, Simple: []float64{mean - deviation, mean + deviation}, Complex: []float64{0, 0}}
	}
	got, err := EstimateCrossover([]AccuracyRuns{spread(1, -.3, .1), spread(2, .1, .01)}, usual)
	if err != nil {
		t.Fatal(err)
	}
	quiet, noisy := 1/5.05, 1/100.0
	want := (.1*quiet - .3*noisy) / (quiet + noisy)
	for _, p := range got.Points {
		near(t, "pooled difference", p.Smoothed, want, 1e-12)
	}
}
