package evolve_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"pawl/search/evolve"
)

// numbered gives the members of the first population the numbers 0, 1, …, which are
// their scores; children are negative.
func numbered() evolve.Problem[int] {
	next := 0
	return evolve.Problem[int]{
		Random:    func(*rand.Rand) int { next++; return next - 1 },
		Crossover: func(*rand.Rand, int, int) (int, int) { return -1, -2 },
		Mutate:    func(*rand.Rand, int) int { return -3 },
		Fitness:   func(_ context.Context, _ int, g int) (float64, error) { return float64(g), nil },
	}
}

func run(t *testing.T, p evolve.Problem[int], o evolve.Options) map[int]int {
	t.Helper()
	r, err := evolve.Run(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[int]int{}
	for _, x := range r.Population {
		counts[x.Genome]++
	}
	return counts
}

func TestParents(t *testing.T) {
	for _, scheme := range []evolve.Scheme{evolve.RetainTop, evolve.CopyOrVary} {
		o := evolve.Options{Scheme: scheme, Population: 200, Generations: 2, Retain: 0.015, Crossover: 1}
		p := numbered()
		pairs := map[[2]int]int{}
		p.Crossover = func(_ *rand.Rand, a, b int) (int, int) { pairs[[2]int{a, b}]++; return -1, -2 }
		children := run(t, p, o)
		// 100 pairs at least: that one of six is missing has chance 6·(5/6)¹⁰⁰ = 7e-8.
		if len(pairs) != 6 {
			t.Errorf("%s: pairs %v, want the best three in all six orders", scheme, pairs)
		}
		for pair := range pairs {
			if pair[0] == pair[1] || min(pair[0], pair[1]) < 197 {
				t.Errorf("%s: parents %v", scheme, pair)
			}
		}
		if want := map[evolve.Scheme]int{evolve.RetainTop: 100, evolve.CopyOrVary: 200}[scheme]; children[-1] != want || children[-1]+children[-2] != 200 {
			t.Errorf("%s: children %v, want %d first ones of 200", scheme, children, want)
		}
		o.KeepParents = true
		if kept := run(t, numbered(), o); kept[197] != 1 || kept[198] != 1 || kept[199] != 1 || kept[-1]+kept[-2] != 197 {
			t.Errorf("%s: parents that stay: %v", scheme, kept)
		}
		o.RandomSurvivors = 1
		if all := run(t, numbered(), o); len(all) != 200 || all[0] != 1 {
			t.Errorf("%s: when all others survive nobody is replaced, got %v", scheme, all)
		}
	}
}

// 10,000 members, of which 9,000 survive with chance 0.1: the count is binomial with
// deviation 28.5; 4.8916 of them are a false alarm of 1e-6.
func TestRandomSurvivorsAndMutations(t *testing.T) {
	o := evolve.Options{Scheme: evolve.RetainTop, Population: 10000, Generations: 2, Retain: 0.1, RandomSurvivors: 0.1, Mutation: 0.2, KeepParents: true, Seed: 4}
	lucky, mutated, children := 0.0, 0.0, 0.0
	for genome, n := range run(t, numbered(), o) {
		switch {
		case genome == -3:
			mutated += float64(n)
			children += float64(n)
		case genome < 0:
			children += float64(n)
		case genome < 9000:
			lucky += float64(n)
		}
	}
	if z := (lucky - 900) / 28.46; z > 4.8916 || z < -4.8916 {
		t.Errorf("%v of 9000 others survived, want about 900", lucky)
	}
	if z := (mutated - 0.2*children) / (0.4 * 90.0); z > 4.8916 || z < -4.8916 { // √(0.16·8100) = 36
		t.Errorf("%v of %v children mutated, want a fifth", mutated, children)
	}
}

func TestTournamentSize(t *testing.T) {
	o := evolve.Options{Scheme: evolve.Tournament, Population: 30, Generations: 2, TournamentSize: 2000}
	if got := run(t, numbered(), o); got[29] != 30 {
		t.Errorf("tournaments of 2000 among 30 are won by the best (chance of a miss 30·(29/30)^2000), got %v", got)
	}
	// The mean rank of the best of s uniform draws from 0..n−1 is about n·s/(s+1).
	for size, want := range map[int]float64{1: 5000, 3: 7500} {
		o.Population, o.TournamentSize = 10000, size
		mean := 0.0
		for g, n := range run(t, numbered(), o) {
			mean += float64(g) * float64(n) / 10000
		}
		// Deviation of the mean below 10000·0.29/√10000 = 29.
		if mean < want-145 || mean > want+145 {
			t.Errorf("tournaments of %d: mean rank %v, want about %v", size, mean, want)
		}
	}
}
