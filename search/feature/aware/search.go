package aware

import (
	"context"
	"math/rand/v2"
	"slices"

	"pawl/core/entropy"
	"pawl/search/evolve"
	"pawl/search/feature"
)

// Matrix returns the exact symmetrical uncertainties of the training rows, without any
// noise (docs/READING.md, H5): indicators have two levels, others ten equal bins.
func (s *Split) Matrix() (*feature.Matrix, error) {
	d := feature.Domain{Classes: 2, Rows: float64(len(s.Train))}
	codes := make([][]uint16, len(s.Table.Names))
	for j, n := range s.Table.Names {
		levels := feature.DefaultBins
		if s.Table.Indicator[j] {
			levels = 2
		}
		d.Attributes = append(d.Attributes, feature.Attribute{Name: n, Levels: levels})
		codes[j] = make([]uint16, len(s.Train))
		for r, i := range s.Train {
			codes[j][r] = uint16(min(int(s.Table.X[i][j]*float64(levels)), levels-1))
		}
	}
	classes := make([]uint16, len(s.Train))
	for r, i := range s.Train {
		classes[r] = uint16(s.Table.Label[i])
	}
	statistics, err := feature.Tally(d, codes, classes, feature.NeedPairTables)
	if err != nil {
		return nil, err
	}
	return statistics.Matrix(feature.AttributeLevel, feature.MatrixOptions{})
}

// Random draws size columns.
func (s *Split) Random(size int, seed uint64) []int {
	return slices.Sorted(slices.Values(rand.New(rand.NewPCG(seed, 1)).Perm(len(s.Table.Names))[:size]))
}

// Trainer trains repeats models on columns, each with noise of its own, and returns their
// accuracies in percent on the test rows.
type Trainer func(ctx context.Context, columns []int, repeats int, src *entropy.Source) ([]float64, error)

// Perturbed trains by objective perturbation at epsilon (Accuracies).
func (s *Split) Perturbed(epsilon float64) Trainer {
	return func(ctx context.Context, columns []int, repeats int, src *entropy.Source) ([]float64, error) {
		return s.Accuracies(ctx, Fits{Columns: columns, Epsilon: epsilon, Repeats: repeats}, src)
	}
}

// What the paper says of its search on Breast Cancer. The epsilon is for all fits together:
// advanced composition ε√(2c·ln(1/δ)) + cε(e^ε − 1) at ε = 0.1 and δ = 1e-6 gives it for
// c = 2,314 fits; the text says “about 2300”.
const (
	PublishedPopulation  = 600
	PublishedGenerations = 10
	PublishedSubsets     = 2314
	PublishedEpsilon     = 49.63
	publishedSlack       = 1e-6
)

// StatedEpsilon is what the paper's formula gives for so many fits of an epsilon each. It is
// no guarantee: fitness is read from the test rows, and norms from the data.
func StatedEpsilon(fits int, epsilon float64) float64 {
	return feature.AdvancedComposition(float64(fits), epsilon, publishedSlack)
}

// Search is a privacy-aware search (PAFS): a first population of subsets and Generations
// rounds of breeding by tournaments of three with full replacement, crossover with chance
// 0.5, mutation with 0.2. The paper has 600 subsets and 10 rounds, and names no other constant;
// these are the defaults of the library that it used.
type Search struct {
	Population, Generations int
	// Fits is the number of models of a subset whose mean accuracy is its fitness; 0 means 1.
	Fits int
	// Workers bounds the subsets that are scored side by side; 0 means all processors.
	Workers int
	Seed    uint64
	// Progress, where not nil, is told how many rounds are scored.
	Progress func(rounds int)
}

// Found is what a search leaves.
type Found struct {
	// Columns are the best subset of the last population, Accuracy its fitness.
	Columns  []int
	Accuracy float64
	// Subsets is the number of different subsets, each scored once, by Fits models each
	// of which would have to be paid for. Proposed counts the repetitions too.
	Subsets, Proposed int
}

// Aware searches for the subset whose noisy models are best on the test rows. Equal seeds
// find the same, whatever the number of workers.
func (s *Split) Aware(ctx context.Context, train Trainer, o Search) (*Found, error) {
	p := feature.Subsets{Features: len(s.Table.Names)}.Problem()
	src := entropy.Seeded(o.Seed)
	p.Key = feature.Set.Key
	p.Fitness = func(ctx context.Context, trial int, g feature.Set) (float64, error) {
		v, err := train(ctx, g.Indices(), max(o.Fits, 1), src.Split("trial", uint64(trial)))
		sum := 0.0
		for _, a := range v {
			sum += a
		}
		return sum / float64(len(v)), err
	}
	if o.Progress != nil {
		p.Observe = func(round int, _ []evolve.Individual[feature.Set]) { o.Progress(round) }
	}
	options := evolve.Tournaments(o.Population, o.Generations)
	options.Seed, options.Workers = o.Seed, o.Workers
	r, err := evolve.Run(ctx, p, options)
	if err != nil {
		return nil, err
	}
	return &Found{Columns: r.Best.Genome.Indices(), Accuracy: r.Best.Score, Subsets: r.Trials, Proposed: r.Proposed}, nil
}
