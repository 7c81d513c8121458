package bound

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pawl/core/dp"
)

// laplaceWorlds draws what a Laplace mechanism of scale 1/epsilon releases about 0 and 1.
func laplaceWorlds(rng *rand.Rand, n int, epsilon float64) Scores {
	draw := func(centre float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = centre + (rng.ExpFloat64()-rng.ExpFloat64())/epsilon
		}
		return x
	}
	return Scores{In: draw(1), Out: draw(0)}
}

// Null hypothesis: the claim is true and tight. Convictions at a confidence of 90 % (so
// that the rate can be measured) in 200 repeats: at most 10 %, and few because the bounds
// are conservative. Power: at half the noise every repeat convicts at 99.9 %.
func TestVerdictRates(t *testing.T) {
	const repeats, n = 200, 2000
	gauss := dp.Gaussian{NoiseMultiplier: 1}
	gaussClaim, err := ClaimOf(gauss, dp.AddOrRemoveOne, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		claim  Claim
		worlds func(rng *rand.Rand, noise float64) Scores
	}{
		{"laplace", Claim{Epsilon: 1}, func(rng *rand.Rand, noise float64) Scores { return laplaceWorlds(rng, n, 1/noise) }},
		{"gaussian", gaussClaim, func(rng *rand.Rand, noise float64) Scores {
			return Scores{In: normals(rng, n, 1/noise), Out: normals(rng, n, 0)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 1))
			honest, broken := 0, 0
			for i := range repeats {
				v, err := Judge(c.worlds(rng, 1), c.claim, 0.9)
				if err != nil {
					t.Fatal(err)
				}
				if v.Convicted {
					honest++
				}
				if i%10 != 0 {
					continue
				}
				half, err := Judge(c.worlds(rng, 0.5), c.claim, Conviction)
				if err != nil {
					t.Fatal(err)
				}
				if half.Convicted {
					broken++
				}
			}
			exceeds(t, "convictions of an honest mechanism", honest, repeats, 0.1)
			if broken < repeats/10 {
				t.Errorf("half the noise: convicted in %d of %d repeats", broken, repeats/10)
			}
		})
	}
}

func TestClaims(t *testing.T) {
	c, err := ClaimOf(dp.Gaussian{NoiseMultiplier: 1}, dp.AddOrRemoveOne, 1e-5)
	if err != nil || math.Abs(c.Epsilon-4.377) > 1e-3 {
		t.Fatalf("claim %+v (%v), want epsilon 4.377", c, err)
	}
	// At FPR 0.5 a Gaussian of μ = 1 allows 0.8413; (4.377, 1e-5) alone would allow 0.994.
	curve, err := c.TruePositiveRate(0.5)
	if err != nil || curve > 0.85 || curve < 0.84 {
		t.Errorf("curve %v (%v), want about 0.8413", curve, err)
	}
	c.Event = nil
	if plain, _ := c.TruePositiveRate(0.5); plain < 0.99 {
		t.Errorf("(ε, δ) alone: %v", plain)
	}
	for name, bad := range map[string]Claim{"infinite": {Epsilon: math.Inf(1)}, "negative": {Epsilon: -1}, "NaN": {Epsilon: math.NaN()}, "delta": {Epsilon: 1, Delta: 1}} {
		if v, err := JudgeCounts(Counts{1, 1, 0, 1}, bad, Conviction); err == nil {
			t.Errorf("%s: %+v and no error", name, v)
		}
	}
	if _, err := ClaimOf(dp.NonPrivate{}, dp.AddOrRemoveOne, 1e-5); err == nil {
		t.Error("a claim of no privacy was accepted")
	}
}

func TestJudgeCounts(t *testing.T) {
	perfect := Counts{100, 100, 0, 100}
	for _, c := range []struct {
		claim               float64
		want, wantSuspected bool
	}{{1, true, true}, {2.4, true, true}, {2.6, false, true}, {4, false, false}} {
		v, err := JudgeCounts(perfect, Claim{Epsilon: c.claim}, Conviction)
		if err != nil || v.Convicted != c.want || v.Suspected != c.wantSuspected {
			t.Errorf("claim %v: %v (%v); the bounds at 95 and 99.9 %% are 3.281 and 2.539", c.claim, v, err)
		}
		if math.Abs(v.Bound.Epsilon-3.281) > 6e-4 {
			t.Errorf("shown %v", v.Bound.Epsilon)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
		if text := v.String(); strings.Contains(text, "not rejected") == c.want || !strings.Contains(text, "3.281") {
			t.Errorf("verdict reads %q", text)
		}
	}
}
