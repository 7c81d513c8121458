package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// 100 of 100 against 0 of 100: 0.025^(1/100) over its complement, for 97.5 % on either
// rate and 95 % on both.
func TestPerfectSeparation(t *testing.T) {
	perfect := Counts{100, 100, 0, 100}
	p := math.Pow(0.025, 0.01)
	for _, c := range []struct {
		name string
		got  func() (float64, error)
		want float64
	}{
		{"fixed", func() (float64, error) { return perfect.Epsilon(0, 0.95) }, math.Log(p / (1 - p))},
		{"fixed, as printed", func() (float64, error) { return perfect.Epsilon(0, Printed) }, 3.281},
		{"reversed in a fixed direction", func() (float64, error) { return perfect.Reversed().Epsilon(0, 0.95) }, 0},
		{"either direction", func() (float64, error) { return perfect.EpsilonEither(0, 0.95) }, 3.106},
		{"either direction, reversed", func() (float64, error) { return perfect.Reversed().EpsilonEither(0, 0.95) }, 3.106},
		{"with delta", func() (float64, error) { return perfect.Epsilon(0.1, 0.95) }, math.Log((p - 0.1) / (1 - p))},
		{"99.9 %", func() (float64, error) { return perfect.Epsilon(0, Conviction) }, 2.5387},
	} {
		if got, err := c.got(); err != nil || math.Abs(got-c.want) > 6e-4 {
			t.Errorf("%s: %.5f (%v), want %.5f", c.name, got, err, c.want)
		}
	}
}

// The test for "out" is the same test: never saying "in" wrongly is worth as much as
// always saying "in" rightly.
func TestBothWorldsAreHypotheses(t *testing.T) {
	tails := Counts{TruePositives: 1000, Positives: 1000, FalsePositives: 900, Negatives: 1000}
	got, err := tails.Epsilon(0, 0.95)
	if err != nil || got < 3 {
		t.Errorf("outcomes that occur in one world only, 100 of 1000: %v (%v), want more than 3", got, err)
	}
	mirrored := Counts{TruePositives: 100, Positives: 1000, FalsePositives: 0, Negatives: 1000}
	if same, _ := mirrored.Epsilon(0, 0.95); math.Abs(same-got) > 1e-9 {
		t.Errorf("%v and %v for mirrored tests", got, same)
	}
}

func TestCountsRefuse(t *testing.T) {
	for _, c := range []struct {
		counts            Counts
		delta, confidence float64
	}{
		{Counts{0, 0, 0, 5}, 0, 0.95}, {Counts{1, 1, 0, 0}, 0, 0.95}, {Counts{2, 1, 0, 1}, 0, 0.95}, {Counts{-1, 1, 0, 1}, 0, 0.95},
		{Counts{1, 1, 2, 1}, 0, 0.95}, {Counts{1, 1, 0, 1}, -1, 0.95}, {Counts{1, 1, 0, 1}, 1, 0.95}, {Counts{1, 1, 0, 1}, math.NaN(), 0.95},
		{Counts{1, 1, 0, 1}, 0, 1}, {Counts{1, 1, 0, 1}, 0, math.NaN()},
	} {
		for name, f := range map[string]func() (float64, error){
			"epsilon":  func() (float64, error) { return c.counts.Epsilon(c.delta, c.confidence) },
			"either":   func() (float64, error) { return c.counts.EpsilonEither(c.delta, c.confidence) },
			"gaussian": func() (float64, error) { return c.counts.GaussianEpsilon(c.delta, c.confidence) },
		} {
			if v, err := f(); err == nil {
				t.Errorf("%s of %+v: %v and no error", name, c, v)
			}
		}
	}
}

func TestEpsilonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "n")
		m := rapid.IntRange(1, 500).Draw(t, "m")
		c := Counts{rapid.IntRange(0, n).Draw(t, "tp"), n, rapid.IntRange(0, m).Draw(t, "fp"), m}
		delta := rapid.SampledFrom([]float64{0, 1e-5, 0.01, 0.5}).Draw(t, "delta")
		e, err := c.Epsilon(delta, 0.95)
		if err != nil || !(e >= 0) || math.IsInf(e, 0) {
			t.Fatalf("epsilon %v (%v)", e, err)
		}
		if sure, _ := c.Epsilon(delta, 0.999); sure > e {
			t.Fatalf("more confidence, larger bound: %v above %v", sure, e)
		}
		if easy, _ := c.Epsilon(delta/2, 0.95); easy < e {
			t.Fatalf("less delta, smaller bound: %v below %v", easy, e)
		}
		// A bound above 0 says that no (e', δ) with e' < e allows these rates.
		p, q := c.rates(0.05)
		if e > 0 && p < MaxTruePositiveRate(e-1e-6, delta, q) {
			t.Fatalf("(%v, %v)-DP allows TPR %v at FPR %v", e-1e-6, delta, p, q)
		}
		if p > MaxTruePositiveRate(e+1e-6, delta, q) {
			t.Fatalf("(%v, %v)-DP does not allow TPR %v at FPR %v: the bound is loose", e+1e-6, delta, p, q)
		}
	})
}

// Null hypothesis: outcomes are those of randomised response at ε = 1, which is as far
// apart as ε = 1 allows. 2,000 repeats of 400 trials: the bound may exceed 1 in 5 % of
// them. Power: it exceeds 0.5 in most.
func TestBoundHoldsAtTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const repeats, n = 2000, 400
	truth := 1 / (1 + math.Exp(-1))
	over, overEither, informative := 0, 0, 0
	for range repeats {
		c := Counts{Positives: n, Negatives: n}
		for range n {
			if rng.Float64() < truth {
				c.TruePositives++
			}
			if rng.Float64() >= truth {
				c.FalsePositives++
			}
		}
		e, err := c.Epsilon(0, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		either, _ := c.EpsilonEither(0, 0.95)
		if e > 1 {
			over++
		}
		if either > 1 {
			overEither++
		}
		if e > 0.5 {
			informative++
		}
	}
	exceeds(t, "epsilon above the truth", over, repeats, 0.05)
	exceeds(t, "epsilon of either direction above the truth", overEither, repeats, 0.05)
	if informative < repeats/2 {
		t.Errorf("above half of the truth in %d of %d repeats only", informative, repeats)
	}
}

// A Gaussian mechanism of μ = 1 at the median threshold: the bound on μ approaches 1, and
// the ε that it stands for is above what the threshold shows by itself.
func TestGaussianBound(t *testing.T) {
	const n = 1_000_000
	c := Counts{TruePositives: 841345, Positives: n, FalsePositives: n / 2, Negatives: n}
	mu, err := c.Mu(0.95)
	if err != nil || mu > 1 || mu < 0.99 {
		t.Errorf("mu %v (%v), want just below 1", mu, err)
	}
	g, err := c.GaussianEpsilon(1e-5, 0.95)
	if err != nil || g < 4.3 || g > 4.38 {
		t.Errorf("epsilon %v (%v), want just below 4.377", g, err)
	}
	if plain, _ := c.Epsilon(1e-5, 0.95); plain > g {
		t.Errorf("the threshold alone gives %v, more than the curve's %v", plain, g)
	}
	if mu, _ := (Counts{3, 10, 5, 10}).Mu(0.95); mu != 0 {
		t.Errorf("mu %v where nothing was found", mu)
	}
}

func ExampleCounts_Epsilon() {
	e, _ := Counts{TruePositives: 100, Positives: 100, FalsePositives: 0, Negatives: 100}.Epsilon(0, 0.95)
	fmt.Printf("%.3f\n", e)
	// Output: 3.281
}
