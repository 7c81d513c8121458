package bound

import (
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
