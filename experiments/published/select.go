package published

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"pawl/core/entropy"
	"pawl/evolve"
	"pawl/experiments"
	"pawl/feature"
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

// Search is the size of a privacy-aware search: Population subsets in each of Generations.
type Search struct{ Population, Generations int }

// Aware searches for the subset whose noisy model is best on the test rows: a genetic
// search whose fitness is the accuracy of one noisy fit of every new subset (PAFS). It
// returns the best of the last population and the number of fits, each of which would have to be
// paid for.
func (s *Split) Aware(ctx context.Context, epsilon float64, size Search, seed uint64) (columns []int, fits int, err error) {
	p := feature.Subsets{Features: len(s.Table.Names)}.Problem()
	src := entropy.Seeded(seed)
	p.Key = feature.Set.Key
	p.Fitness = func(ctx context.Context, trial int, g feature.Set) (float64, error) {
		v, err := s.Accuracies(ctx, Fits{Columns: g.Indices(), Epsilon: epsilon, Repeats: 1}, src.Split("trial", uint64(trial)))
		if err != nil {
			return 0, err
		}
		return v[0], nil
	}
	o := evolve.Tournaments(size.Population, size.Generations)
	o.Seed, o.Workers = seed, 1
	result, err := evolve.Run(ctx, p, o)
	if err != nil {
		return nil, 0, err
	}
	return result.Best.Genome.Indices(), result.Trials, nil
}

// Genetic chooses the columns of the largest merit by the published genetic search of
// ten rounds.
func Genetic(ctx context.Context, m *feature.Matrix, population int, seed uint64) ([]int, error) {
	o := evolve.CopyingOrVarying(population, 10)
	// The share of parents is not stated; a fifth finds the best known merit on this data.
	o.Retain, o.Seed, o.Workers = 0.2, seed, 1
	s, err := feature.Genetic{Search: o}.On(ctx, m, feature.Auto)
	if err != nil {
		return nil, err
	}
	return s.Indices(), nil
}

// Random draws size columns.
func (s *Split) Random(size int, seed uint64) []int {
	return slices.Sorted(slices.Values(rand.New(rand.NewPCG(seed, 1)).Perm(len(s.Table.Names))[:size]))
}

// Sets are chosen columns, one set for each of several splits, as a cell keeps them.
func Sets(ctx context.Context, r *experiments.Run, cell string, n int, choose func(ctx context.Context, i int) ([]int, error)) ([][]int, error) {
	values, err := r.Cell(ctx, cell, func() ([]float64, error) {
		sets := make([][]int, n)
		err := Each(ctx, n, func(ctx context.Context, i int) (err error) {
			sets[i], err = choose(ctx, i)
			return err
		})
		var flat []float64
		for _, set := range sets {
			flat = append(flat, float64(len(set)))
			for _, j := range set {
				flat = append(flat, float64(j))
			}
		}
		return flat, err
	})
	if err != nil {
		return nil, err
	}
	var sets [][]int
	for len(values) > 0 {
		size := int(values[0])
		if size < 0 || size >= len(values) {
			return nil, fmt.Errorf("cell %q is not a list of sets", cell)
		}
		set := make([]int, size)
		for k, v := range values[1 : 1+size] {
			set[k] = int(v)
		}
		sets, values = append(sets, set), values[1+size:]
	}
	if len(sets) != n {
		return nil, fmt.Errorf("cell %q holds %d sets, not %d", cell, len(sets), n)
	}
	return sets, nil
}

// Each calls f for 0 to n−1 on all processors and returns the first error.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				if err := f(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
