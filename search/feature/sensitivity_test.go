package feature_test

import (
	"math"
	"testing"

	"pawl/search/feature"
)

// partitions visits all ways to write n as a sum of at most parts numbers.
func partitions(n, parts, most int, prefix []float64, visit func([]float64)) {
	if n == 0 {
		visit(prefix)
		return
	}
	if parts == 0 {
		return
	}
	for x := min(n, most); x >= 1; x-- {
		partitions(n-x, parts-1, x, append(prefix, float64(x)), visit)
	}
}

// Every histogram of n rows, every neighbour: the formulas are the largest change of
// entropy.
func TestEntropySensitivitiesByEnumeration(t *testing.T) {
	for n := 1; n <= 14; n++ {
		for _, levels := range []int{2, 3, 5, 14} {
			add, replace := 0.0, 0.0
			partitions(n, levels, n, nil, func(p []float64) {
				counts := make([]float64, levels)
				copy(counts, p)
				h := feature.Entropy(counts)
				for i := range counts {
					counts[i]++
					add = max(add, math.Abs(feature.Entropy(counts)-h))
					for j := range counts {
						if counts[j] >= 1 && j != i {
							counts[j]--
							replace = max(replace, math.Abs(feature.Entropy(counts)-h))
							counts[j]++
						}
					}
					counts[i]--
				}
			})
			if bound := feature.EntropySensitivityReplace(n); !near(replace, bound, 1e-12) {
				t.Errorf("replace, n = %d, %d levels: largest change %v, formula %v", n, levels, replace, bound)
			}
			if bound := feature.EntropySensitivityAddRemove(n); !near(add, bound, 1e-12) {
				t.Errorf("add, n = %d, %d levels: largest change %v, formula %v", n, levels, add, bound)
			}
			if published := feature.EntropySensitivityPublished(float64(n)); published < replace || published < add {
				t.Errorf("n = %d: the published bound %v lies below %v and %v", n, published, replace, add)
			}
		}
	}
}

func TestSensitivityOracles(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{
		{"h₂(1/5), replace-one", feature.EntropySensitivityReplace(5), 0.7219, 5e-5},
		{"h₂(1/12)", feature.EntropySensitivityReplace(12), 0.4138, 5e-5},
		{"h₂(1/20)", feature.EntropySensitivityReplace(20), 0.2864, 5e-5},
		{"h₂(1/6), add one", feature.EntropySensitivityAddRemove(5), 0.6500, 5e-5},
		{"h₂(1/21)", feature.EntropySensitivityAddRemove(20), 0.2762, 5e-5},
		{"published epsilon of [B] Sec. IX-B", feature.PublishedCompositionEpsilon(43, 0.01, 1e-5), 2.306, 5e-4},
		{"published noise at n = 191, bits", feature.PublishedNoiseScale(191, 0.01), 9.74, 5e-3},
	} {
		if !near(c.got, c.want, c.tolerance) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	for name, x := range map[string]float64{
		"replace, no rows": feature.EntropySensitivityReplace(0), "add, negative": feature.EntropySensitivityAddRemove(-1),
		"published, NaN": feature.EntropySensitivityPublished(math.NaN()),
		"scale, ε_H 0":   feature.PublishedNoiseScale(10, 0), "epsilon, δ 0": feature.PublishedCompositionEpsilon(43, 0.01, 0),
		"epsilon, NaN": feature.PublishedCompositionEpsilon(43, math.NaN(), 1e-5),
	} {
		if !math.IsInf(x, 1) {
			t.Errorf("%s: got %v, want +Inf", name, x)
		}
	}
}

func TestAddRemoveSensitivityFallsWithRows(t *testing.T) {
	for n := 1; n < 3000; n++ {
		if a, b := feature.EntropySensitivityAddRemove(n), feature.EntropySensitivityAddRemove(n+1); b > a {
			t.Fatalf("%v at n = %d, %v at the next", a, n, b)
		}
	}
	if feature.EntropySensitivityAddRemove(0) != 0 {
		t.Error("the first row has no entropy")
	}
}
