package feature_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pawl/search/feature"
)

func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 200).Draw(t, "m")
		a := rapid.SliceOf(rapid.IntRange(0, m-1)).Draw(t, "a")
		b := rapid.SliceOf(rapid.IntRange(0, m-1)).Draw(t, "b")
		s, other := feature.NewSet(m, a...), feature.NewSet(m, b...)
		sorted := func(x []int) []int { x = slices.Clone(x); slices.Sort(x); return slices.Compact(x) }
		want := sorted(a)
		if !slices.Equal(s.Indices(), want) || s.Size() != len(want) {
			t.Fatalf("got %v, want %v", s.Indices(), want)
		}
		for i := range m {
			if s.Has(i) != slices.Contains(a, i) {
				t.Fatalf("feature %d: got %v", i, s.Has(i))
			}
		}
		if (s.Key() == other.Key()) != slices.Equal(want, sorted(b)) {
			t.Fatalf("keys %s and %s of %v and %v", s.Key(), other.Key(), a, b)
		}
	})
}

func TestCrossoverAndMutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 150).Draw(t, "m")
		size := rapid.IntRange(0, m).Draw(t, "largest size")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := feature.Subsets{Features: m, EqualSubsets: rapid.Bool().Draw(t, "equal")}.Problem()
		a, b := p.Random(rng), p.Random(rng)
		before := a.Key() + b.Key()
		c, d := p.Crossover(rng, a, b)
		changes := 0
		for i := range m {
			// Feature by feature the children hold what the parents held.
			straight := c.Has(i) == a.Has(i) && d.Has(i) == b.Has(i)
			crossed := c.Has(i) == b.Has(i) && d.Has(i) == a.Has(i)
			if !straight && !crossed {
				t.Fatalf("feature %d is not the parents'", i)
			}
			if i > 0 && (c.Has(i) == a.Has(i)) != (c.Has(i-1) == a.Has(i-1)) && a.Has(i) != b.Has(i) && a.Has(i-1) != b.Has(i-1) {
				changes++
			}
		}
		if changes > 2 {
			t.Fatalf("%d cuts, want at most 2", changes)
		}
		mutated := p.Mutate(rng, a)
		if a.Key()+b.Key() != before {
			t.Fatal("a parent changed")
		}
		limited := feature.Subsets{Features: m, MaxSize: size, FlipChance: 0.5}.Problem()
		for _, s := range []feature.Set{limited.Random(rng), limited.Mutate(rng, mutated)} {
			if size > 0 && s.Size() > size {
				t.Fatalf("%d features, at most %d allowed", s.Size(), size)
			}
			if last := s.Indices(); len(last) > 0 && last[len(last)-1] >= m {
				t.Fatalf("feature %d of %d", last[len(last)-1], m)
			}
		}
	})
}

// Sizes have P(s) = ln(1 + 1/s)/ln(1 + m); given the size every feature has chance s/m.
// 10⁵ draws, |z| ≤ 4.8916: false alarm 1e-6 for each of 2·9 checks.
func TestDrawSubsetDistribution(t *testing.T) {
	const m, n = 9, 100000
	rng := rand.New(rand.NewPCG(5, 5))
	sizes, with := make([]float64, m+1), make([]float64, m)
	for range n {
		s := feature.DrawSubset(rng, m)
		sizes[s.Size()]++
		for _, i := range s.Indices() {
			with[i]++
		}
	}
	share := 0.0 // of the features in a drawn set
	for s := 1; s <= m; s++ {
		p := math.Log1p(1/float64(s)) / math.Log(m+1)
		share += p * float64(s) / m
		if z := (sizes[s] - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > 4.8916 {
			t.Errorf("size %d: %v of %d draws, want a share of %v (z = %.1f)", s, sizes[s], n, p, z)
		}
	}
	for i, c := range with {
		if z := (c - n*share) / math.Sqrt(n*share*(1-share)); math.Abs(z) > 4.8916 {
			t.Errorf("feature %d: in %v of %d draws, want a share of %v (z = %.1f)", i, c, n, share, z)
		}
	}
	if feature.DrawSubset(rng, 1).Size() != 1 {
		t.Error("of one feature, one is drawn")
	}
}
