package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Computed with 40 digits from the formula (mpmath 1.3.0).
func TestPValueGolden(t *testing.T) {
	for _, c := range []struct {
		guesses              Guesses
		epsilon, delta, want float64
	}{
		{Guesses{1000, 100, 90}, 1, 0, 2.73581280076615e-5},
		{Guesses{1000, 100, 90}, 1, 1e-5, 0.000841288561438531},
		{Guesses{100, 100, 100}, 2, 0, 3.07316954368076e-6},
		{Guesses{5000, 1000, 800}, 1.2, 1e-6, 0.00946939758722772},
		{Guesses{100, 50, 25}, 0, 1e-3, 0.57772896568715},
		{Guesses{1000, 40, 40}, 2.2, 1e-5, 0.0180671925525421},
		{Guesses{10, 5, 0}, 1, 0, 1},
		{Guesses{10, 0, 0}, 1, 0.1, 1},
	} {
		if got := c.guesses.PValue(c.epsilon, c.delta); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v at (%v, %v): %.15g, want %.15g", c.guesses, c.epsilon, c.delta, got, c.want)
		}
	}
	for _, c := range []struct {
		guesses     Guesses
		delta, want float64
	}{{Guesses{1000, 100, 90}, 1e-5, 1.6261434807}, {Guesses{100, 100, 100}, 0, 3.49296543115}, {Guesses{100, 100, 50}, 0, 0}} {
		if got, err := c.guesses.Epsilon(c.delta, 0.95); err != nil || math.Abs(got-c.want) > 1e-7 {
			t.Errorf("%+v at delta %v: %.12g (%v), want %.12g", c.guesses, c.delta, got, err, c.want)
		}
	}
}

func TestPValueProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 300).Draw(t, "m")
		r := rapid.IntRange(0, m).Draw(t, "r")
		g := Guesses{m, r, rapid.IntRange(0, r).Draw(t, "v")}
		d := rapid.SampledFrom([]float64{0, 1e-6, 1e-3}).Draw(t, "delta")
		e := rapid.Float64Range(0, 10).Draw(t, "epsilon")
		p := g.PValue(e, d)
		if !(p >= 0 && p <= 1) {
			t.Fatalf("p = %v", p)
		}
		if g.Right > 0 {
			fewer := g
			fewer.Right--
			if q := fewer.PValue(e, 0); q < g.PValue(e, 0)*(1-1e-9) {
				t.Fatalf("fewer right guesses, smaller p: %v below %v", q, g.PValue(e, 0))
			}
		}
		if q := g.PValue(e, 2*d); q < p*(1-1e-9) {
			t.Fatalf("more delta, smaller p: %v below %v", q, p)
		}
		low, err := g.Epsilon(d, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		// Everything below the bound is refused.
		if low > 0 && g.PValue(low*rapid.Float64Range(0, 1).Draw(t, "below"), d) > 0.05+1e-6 {
			t.Fatalf("an epsilon below the bound %v is not refused", low)
		}
	})
}

// coinWorld is randomised response on each canary: epsilon-DP, and the best attack is
// right with probability e^ε/(1+e^ε).
func coinWorld(rng *rand.Rand, m int, epsilon float64, sign float64) Canaries {
	var c Canaries
	for range m {
		in := rng.Float64() < 0.5
		said := in == (rng.Float64() < 1/(1+math.Exp(-epsilon)))
		score := rng.Float64()
		if !said {
			score = -score
		}
		c.Score, c.In = append(c.Score, sign*score), append(c.In, in)
	}
	return c
}

// Null hypothesis: no canary left a trace. 200 repeats; the bound exceeds 0 in 5 % of
// them at most (see TestNullScoresGiveZero for the size of the alarm).
func TestNullCanariesGiveZero(t *testing.T) {
	for _, m := range []int{50, 500} {
		rng := rand.New(rand.NewPCG(21, uint64(m)))
		const repeats = 200
		zero := 0
		for range repeats {
			r, err := coinWorld(rng, m, 0, 1).Epsilon(1e-5, Printed)
			if err != nil {
				t.Fatal(err)
			}
			if r.Epsilon == 0 {
				zero++
			}
		}
		if zero < repeats*95/100 {
			t.Errorf("m = %d: bound 0 in %d of %d repeats", m, zero, repeats)
		}
	}
}

// Null hypothesis: the truth is ε = 1. 200 repeats; the bound exceeds it in 5 % at
// most. Power: with 2,000 canaries it exceeds 0.7 in most, whichever sign scores have.
func TestOneRunHoldsAtTheTruth(t *testing.T) {
	for name, sign := range map[string]float64{"up": 1, "down": -1} {
		rng := rand.New(rand.NewPCG(22, 1))
		const repeats = 200
		over, informative := 0, 0
		for range repeats {
			r, err := coinWorld(rng, 2000, 1, sign).Epsilon(0, Printed)
			if err != nil {
				t.Fatal(err)
			}
			if r.Epsilon > 1 {
				over++
			}
			if r.Epsilon > 0.7 {
				informative++
			}
		}
		exceeds(t, name+": epsilon above the truth", over, repeats, 0.05)
		if informative < repeats/2 {
			t.Errorf("%s: above 0.7 in %d of %d repeats only", name, informative, repeats)
		}
	}
}

// A few canaries that leave a trace among many that do not: abstaining finds them.
func TestGuesserAbstains(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	c := coinWorld(rng, 4000, 0, 1)
	for i := range c.Score {
		c.Score[i] = rng.NormFloat64()
		if c.In[i] && rng.Float64() < 0.1 {
			c.Score[i] += 6
		}
	}
	r, err := c.Epsilon(1e-6, Printed)
	if err != nil || r.Epsilon < 2 || r.Guesses.Made > 400 {
		t.Errorf("%+v (%v): want few guesses and a bound above 2", r, err)
	}
}

func TestCanariesRefuse(t *testing.T) {
	in := make([]bool, 10)
	for name, c := range map[string]Canaries{
		"lengths": {make([]float64, 9), in}, "few": {make([]float64, 7), in[:7]},
		"NaN": {append(make([]float64, 9), math.NaN()), in}, "infinite": {append(make([]float64, 9), math.Inf(1)), in},
	} {
		if r, err := c.Epsilon(0, 0.95); err == nil {
			t.Errorf("%s: %+v and no error", name, r)
		}
	}
	constant := Canaries{make([]float64, 40), make([]bool, 40)}
	for i := range constant.In {
		constant.In[i] = i%3 == 0 || i%7 == 0
	}
	if r, err := constant.Epsilon(0, 0.95); err != nil || r.Epsilon != 0 {
		t.Errorf("constant scores: %+v (%v)", r, err)
	}
	for _, g := range []Guesses{{0, 0, 0}, {5, 6, 1}, {5, 3, 4}, {5, -1, 0}, {5, 3, -1}} {
		if e, err := g.Epsilon(0, 0.95); err == nil || g.PValue(1, 0) != 1 {
			t.Errorf("%+v: %v and no error", g, e)
		}
	}
}
