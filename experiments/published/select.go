package published

import (
	"context"
	"errors"

	"pawl/search/evolve"
	"pawl/search/feature"
)

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

// Flat are sets of columns as a cell keeps them: sizes and columns in turn.
func Flat(sets [][]int) (flat []float64) {
	for _, set := range sets {
		flat = append(flat, float64(len(set)))
		for _, j := range set {
			flat = append(flat, float64(j))
		}
	}
	return flat
}

// Sets reads what Flat wrote.
func Sets(values []float64) ([][]int, error) {
	var sets [][]int
	for len(values) > 0 {
		size := int(values[0])
		if size < 0 || size >= len(values) {
			return nil, errors.New("a cell is no list of sets")
		}
		set := make([]int, size)
		for k, v := range values[1 : 1+size] {
			set[k] = int(v)
		}
		sets, values = append(sets, set), values[1+size:]
	}
	return sets, nil
}
