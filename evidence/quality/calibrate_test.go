package quality

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCalibrationIsNotWorse: calibrated probabilities are worse than raw ones by more than .01 of
// log-loss in few scorings, and better by far where scores are too extreme and the counts show it.
func TestCalibrationIsNotWorse(t *testing.T) {
	n := *runs
	if n == 0 {
		n = 60
	}
	rng := rand.New(rand.NewPCG(7, 8))
	better, tried, all := 0.0, 0.0, 0.0
	for _, slope := range []float64{1, .55} {
		for _, epsilon := range []float64{.001, .02, .1, 1} {
			for _, size := range []int{500, 3000, 10000} {
				for _, prevalence := range []float64{.05, .25} {
					s := scoring{n: size, prevalence: prevalence, gap: 1.4, slope: slope, epsilon: epsilon, law: size == 3000}
					var scores []float64
					var truth []bool
					for range 4000 {
						positive := rng.Float64() < prevalence
						scores, truth = append(scores, s.score(rng, positive)), append(truth, positive)
					}
					loss := func(c Calibration) (l, right float64) {
						for i, z := range scores {
							p := c.Probability(z)
							if !truth[i] {
								p = 1 - p
							}
							if l -= math.Log(max(p, 1e-12)); p > .5 {
								right++
							}
						}
						return l / float64(len(scores)), right / float64(len(scores))
					}
					raw, rawRight := loss(None)
					worse, applied, sum, right, worst := 0, 0, 0.0, 0.0, 1.0
					for range n {
						_, _, final, ok := s.release(rng)
						l, r := loss(final)
						sum, right, worst = sum+l/float64(n), right+r/float64(n), min(worst, r)
						if ok {
							applied++
						}
						if l > raw+.01 {
							worse++
						}
					}
					t.Logf("slope %g eps %g n %d prev %g: applied %.2f, worse %.3f, loss %.4f raw %.4f, right %.4f raw %.4f worst %.3f", slope, epsilon, size, prevalence,
						float64(applied)/float64(n), float64(worse)/float64(n), sum, raw, right, rawRight, worst)
					tried, all = tried+float64(n), all+float64(worse)
					if float64(worse) > 0.15*float64(n) {
						t.Errorf("worse by more than .01 in %d of %d", worse, n)
					}
					if slope < 1 && epsilon == 1 && size == 10000 {
						if better += (raw - sum) / 2; sum > raw-.01 {
							t.Errorf("too extreme scores have a loss of %.4f, and %.4f without a calibration", sum, raw)
						}
					}
				}
			}
		}
	}
	if t.Logf("worse by more than .01 in %.4f of all; of 10,000 rows at epsilon 1 with too extreme scores, better by %.4f", all/tried, better); all > .02*tried {
		t.Errorf("worse by more than .01 in %.4f", all/tried)
	}
}
