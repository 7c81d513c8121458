// Package evolve is one genetic engine for every search of this module. It knows a
// genome only through the functions of a Problem, and it knows neither privacy nor
// features: what a fitness costs, and whether a score may be used twice, is the
// caller's business (see Problem.Key and Options.Rescore).
//
// Three ways of breeding cover the published searches:
//
//   - RetainTop: Bao, Bauer and Bindschaedler, Alg. 2 (their architecture search);
//   - CopyOrVary: the same paper's Alg. 4 (correlation-based selection);
//   - Tournament: tournaments and full replacement, the usual loop of genetic libraries.
//
// Breeding draws from one PCG stream in one goroutine and scoring draws nothing, so
// under a seed the result does not depend on the number of workers. The stream is
// for mutation and crossover only; it is no source of privacy noise.
package evolve

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Problem says what a genome is.
type Problem[G any] struct {
	// Random draws a genome of the first population.
	Random func(rng *rand.Rand) G
	// Crossover returns two children and leaves its arguments as they are.
	// CopyOrVary uses the first child only.
	Crossover func(rng *rand.Rand, a, b G) (G, G)
	// Mutate returns a changed copy.
	Mutate func(rng *rand.Rand, g G) G
	// Fitness scores one genome; larger is better, NaN counts as −Inf. It runs in
	// several goroutines. trial numbers the evaluations of a run from 0 in an order that
	// does not depend on scheduling: derive from it whatever randomness a fitness needs.
	// An error ends the run; a candidate that merely failed scores −Inf.
	Fitness func(ctx context.Context, trial int, genome G) (float64, error)
	// FitnessBatch takes the place of Fitness where a whole generation is scored at
	// once, say on several machines: genomes[i] is trial first+i. It returns one score
	// for each.
	FitnessBatch func(ctx context.Context, first int, genomes []G) ([]float64, error)
	// Key, where not nil, makes the engine reuse the score of an equal key. A nil Key
	// scores every new genome: what a selection with fresh, independent runs demands.
	Key func(genome G) string
	// Observe, where not nil, sees every scored population, best first. It must not keep
	// or change the slice.
	Observe func(generation int, population []Individual[G])
}

// Individual is a genome with its score.
type Individual[G any] struct {
	Genome G
	Score  float64
	// Trial is the evaluation that the score comes from.
	Trial  int
	scored bool
}

// Result is what a run leaves.
type Result[G any] struct {
	// Best is the best of the last population, which is always scored. The lowest
	// position in it wins a tie.
	Best Individual[G]
	// BestEver is the best of all populations; the earliest wins a tie. With a noisy
	// fitness its score is the more optimistic of the two.
	BestEver Individual[G]
	// Population is the last one, best first.
	Population []Individual[G]
	// Trials is the number of evaluations. Proposed counts the genomes that were not
	// carried over unchanged; it is larger than Trials where Key found a score to reuse.
	Trials, Proposed int
}

// Run evolves a population. On error it returns no result, since the part that was
// scored may hold what the caller does not want released.
func Run[G any](ctx context.Context, p Problem[G], o Options) (*Result[G], error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x65766f6c7665)) // the second word only tells this stream from others under one seed
	population := make([]Individual[G], o.Population)
	for i := range population {
		population[i].Genome = p.Random(rng)
	}
	s := scorer[G]{problem: p, workers: o.workers(), memo: map[string]Individual[G]{}}
	r := &Result[G]{}
	for generation := 0; ; generation++ {
		if err := s.score(ctx, population); err != nil {
			return nil, err
		}
		rank(population)
		if generation == 0 || population[0].Score > r.BestEver.Score {
			r.BestEver = population[0]
		}
		if p.Observe != nil {
			p.Observe(generation, population)
		}
		if generation == o.Generations-1 {
			break
		}
		population = breed(rng, p, o, population)
		if o.Rescore {
			for i := range population {
				population[i].scored = false
			}
		}
	}
	r.Best, r.Population = population[0], population
	r.Trials, r.Proposed = s.trials, s.proposed
	return r, nil
}

// rank sorts best first; equal scores keep their order, so that a run can be repeated.
func rank[G any](population []Individual[G]) {
	slices.SortStableFunc(population, func(a, b Individual[G]) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
}

func (p Problem[G]) check() error {
	switch {
	case p.Random == nil:
		return &OptionError{"Random", "a problem needs a way to draw genomes"}
	case p.Crossover == nil:
		return &OptionError{"Crossover", "a problem needs a crossover; one that returns its arguments will do"}
	case p.Mutate == nil:
		return &OptionError{"Mutate", "a problem needs a mutation; one that returns its argument will do"}
	case (p.Fitness == nil) == (p.FitnessBatch == nil):
		return &OptionError{"Fitness", "a problem needs exactly one of Fitness and FitnessBatch"}
	}
	return nil
}

// number maps NaN to −Inf: a score that is no number must not win.
func number(score float64) float64 {
	if math.IsNaN(score) {
		return math.Inf(-1)
	}
	return score
}
