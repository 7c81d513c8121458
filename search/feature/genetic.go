package feature

import (
	"context"
	"fmt"
	"math/rand/v2"

	"pawl/search/evolve"
)

// Subsets are the subsets of Features features as genomes of a genetic search, for the
// merit (Genetic) or for the accuracy of private models (privacy-aware selection).
type Subsets struct {
	Features int
	// MaxSize, where > 0, makes larger subsets lose random members.
	MaxSize int
	// FlipChance is the chance of every feature to be flipped by a mutation; 0 means 0.1.
	FlipChance float64
	// EqualSubsets starts from subsets that take every feature with chance ½, as "randomly
	// selected" may be read. Otherwise sizes are log-uniform (DrawSubset), so that the
	// small subsets among which the best are found stand in the first population.
	EqualSubsets bool
}

// Problem returns the search without its fitness: crossover at two points, mutation by
// flips, and Set.Key for searches that may reuse scores.
func (u Subsets) Problem() evolve.Problem[Set] {
	m, flip := u.Features, u.FlipChance
	if flip == 0 {
		flip = 0.1
	}
	return evolve.Problem[Set]{
		Random: func(rng *rand.Rand) Set {
			if !u.EqualSubsets {
				s := DrawSubset(rng, m)
				shrink(rng, s, u.MaxSize)
				return s
			}
			s := drawEach(rng, m)
			shrink(rng, s, u.MaxSize)
			return s
		},
		Crossover: func(rng *rand.Rand, a, b Set) (Set, Set) {
			c, d := crossTwoPoints(rng, m, a, b)
			shrink(rng, c, u.MaxSize)
			shrink(rng, d, u.MaxSize)
			return c, d
		},
		Mutate: func(rng *rand.Rand, s Set) Set {
			out := flipEach(rng, m, s, flip)
			shrink(rng, out, u.MaxSize)
			return out
		},
		Key: Set.Key,
	}
}

// Genetic searches for the subset of the largest merit ([B] Alg. 4). It chooses the number
// of features itself: with Auto freely, else at most k. An empty subset has merit 0.
type Genetic struct {
	At      Level // AttributeLevel where empty
	Options MatrixOptions
	// Search holds the constants. A zero Population means the published size, 5000 subsets
	// and 10 rounds, with the top fifth as parents: the paper does not state the share. On
	// the 43 columns of Breast Cancer a fifth ended at the best known merit, .1218, under each
	// of three seeds, a half at .113 to .122 (.104 to .107 from EqualSubsets).
	Search evolve.Options
	// FlipChance and EqualSubsets are those of Subsets.
	FlipChance   float64
	EqualSubsets bool
}

func (Genetic) Name() string   { return "cfs-genetic" }
func (g Genetic) Level() Level { return orAttribute(g.At) }
func (Genetic) Need() Need     { return NeedPairTables }

// Select computes the matrix and runs Search on it.
func (g Genetic) Select(ctx context.Context, s *Statistics, k int) (*Selection, error) {
	m, err := s.pairs(ctx, g.Level(), g.Options, k)
	if err != nil {
		return nil, err
	}
	return g.On(ctx, m, k)
}

// On is the search on a given matrix.
func (g Genetic) On(ctx context.Context, m *Matrix, k int) (*Selection, error) {
	if err := checkCount(k, len(m.Columns), true); err != nil {
		return nil, err
	}
	if !m.HasPairs() {
		return nil, fmt.Errorf("%w: %s", ErrMissing, NeedPairTables)
	}
	if !(g.FlipChance >= 0 && g.FlipChance <= 1) {
		return nil, fmt.Errorf("%w: flip chance %v is not within [0, 1]", ErrOption, g.FlipChance)
	}
	options := g.Search
	if options.Population == 0 {
		options = evolve.CopyingOrVarying(5000, 10)
		options.Retain = 0.2
		options.Seed, options.Workers = g.Search.Seed, g.Search.Workers
	}
	p := Subsets{Features: len(m.Columns), MaxSize: max(k, 0), FlipChance: g.FlipChance, EqualSubsets: g.EqualSubsets}.Problem()
	p.Key = nil // a merit takes less time than looking it up
	p.Fitness = func(_ context.Context, _ int, s Set) (float64, error) { return m.Merit(s), nil }
	r, err := evolve.Run(ctx, p, options)
	if err != nil {
		return nil, err
	}
	best := r.Best.Genome
	if !(r.Best.Score > 0) {
		best = NewSet(len(m.Columns)) // of all that say nothing, the smallest
	}
	out := &Selection{Selector: g.Name(), Level: g.Level(), Merit: r.Best.Score}
	for _, i := range best.Indices() {
		without := NewSet(len(m.Columns), best.Indices()...)
		without.flip(i)
		out.Chosen = append(out.Chosen, Choice{i, m.Columns[i], m.Label[i],
			fmt.Sprintf("merit %.4g with it, %.4g without; uncertainty %.4g with the label", out.Merit, m.Merit(without), m.Label[i])})
	}
	if len(out.Chosen) == 0 {
		out.Note = "no feature carries information about the label"
	}
	return out, nil
}
