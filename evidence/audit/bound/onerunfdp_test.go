package bound

import (
	"math"
	"math/rand/v2"
	"testing"

	"pawl/core/dp"
)

// noisy are canaries that move by mu in noise of 1.
func noisy(rng *rand.Rand, n int, mu float64) Canaries {
	c := Canaries{Score: make([]float64, n), In: make([]bool, n)}
	for i := range c.Score {
		c.In[i] = rng.IntN(2) == 1
		c.Score[i] = rng.NormFloat64()
		if c.In[i] {
			c.Score[i] += mu
		}
	}
	return c
}

// Null hypothesis: canaries of a Gaussian mechanism whose claim is true; convicted at 95 % in
// 5 % of 300 audits at most (in fact hardly ever). Power: half the noise at a claim of 4 is
// convicted at 99.9 % from 10,000 canaries in most audits.
func TestJudgeAgainstTheCurve(t *testing.T) {
	sigma := 1.132 // ε 4 at δ 1e-5
	event := dp.Gaussian{NoiseMultiplier: sigma}
	claim, err := ClaimOf(event, dp.AddOrRemoveOne, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := CurveOf(event, dp.AddOrRemoveOne, claim.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	alarms := 0
	for range 300 {
		f, err := noisy(rng, 2000, 1/sigma).Judge(curve, 80, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if f.Convicted {
			alarms++
		}
	}
	if alarms > 15 {
		t.Errorf("honest canaries convicted in %d of 300 audits at 95 %%", alarms)
	}
	caught := 0
	for range 10 {
		f, err := noisy(rng, 10_000, 2/sigma).Judge(curve, 400, Conviction)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Power {
			t.Errorf("%+v: a perfect attack has power here", f)
		}
		if f.Convicted {
			caught++
		}
	}
	if caught < 7 {
		t.Errorf("half the noise convicted in %d of 10", caught)
	}
	// Twenty canaries cannot convict a claim of 4, however good the attack.
	f, err := noisy(rng, 20, 100).Judge(curve, 2, Conviction)
	if err != nil || f.Power || f.Convicted {
		t.Errorf("%+v, %v: no power, and not said", f, err)
	}
}

// Null hypothesis: four runs of a Gaussian mechanism whose claim of 4 is true; convicted at 95 %
// in 5 % of 200 audits at most, false alarm 1e-6 at 28. Power: noise that is .71 of what it has to
// be is seen by twelve runs of 5,000 canaries where one alone sees it hardly ever.
func TestRunsArePooled(t *testing.T) {
	sigma := 1.132
	event := dp.Gaussian{NoiseMultiplier: sigma}
	claim, err := ClaimOf(event, dp.AddOrRemoveOne, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := CurveOf(event, dp.AddOrRemoveOne, claim.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	run := func(n int, mu float64) float64 {
		f, err := noisy(rng, n, mu).Judge(curve, max(1, n/25), Conviction)
		if err != nil {
			t.Fatal(err)
		}
		p := curve.PValue(f.Guesses)
		if (p <= 1-Conviction) != f.Convicted {
			t.Errorf("p %v, convicted %v", p, f.Convicted)
		}
		return p
	}
	alarms := 0
	for range 200 {
		if Pool([]float64{run(500, 1/sigma), run(500, 1/sigma), run(500, 1/sigma), run(500, 1/sigma)}, 0.95).Convicted {
			alarms++
		}
	}
	if alarms > 28 {
		t.Errorf("honest runs convicted in %d of 200 audits at 95 %%", alarms)
	}
	alone, pooled := 0, 0
	for range 5 {
		var p []float64
		for range 12 {
			p = append(p, run(5000, 1.4/sigma))
			if p[len(p)-1] <= 1-Conviction {
				alone++
			}
		}
		if Pool(p, Conviction).Convicted {
			pooled++
		}
	}
	t.Logf("alone %d of 60, pooled %d of 5", alone, pooled)
	if pooled < 4 || alone > 12 {
		t.Errorf("alone %d of 60, pooled %d of 5", alone, pooled)
	}
	for _, p := range [][]float64{nil, {0.5, math.NaN()}, {0}, {1.1}} {
		if f := Pool(p, 0.5); f.Convicted || f.PValue != 1 {
			t.Errorf("%v: %+v", p, f)
		}
	}
	if p := Pool([]float64{0.01}, 0.95).PValue; math.Abs(p-0.01) > 1e-12 {
		t.Errorf("one run: %v", p)
	}
}
