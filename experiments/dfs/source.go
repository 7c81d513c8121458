// Package dfs draws rows of real data for the study of feature selection by distance.
package dfs

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"pawl/data/dataset"
	"pawl/experiments/formulas"
)

// Rows of each class to train and to test.
const trainRows, testRows = 20, 100

// Source holds rows of norm 1 by class.
type Source struct {
	// All samples have every feature, also those that no row of theirs has: which ones occur is not public.
	All      bool
	features int
	byClass  [][][]dataset.Entry
}

// images is the number of test images that had no part in finding the features.
const images = 2000

// Open reads built-in sparse rows, or images.
func Open(set, dataDir string) (*Source, error) {
	b, ok := dataset.Images(set)
	if !ok {
		train, test, err := dataset.LoadSparse(set, dataDir)
		if err != nil {
			return nil, err
		}
		s := &Source{features: train.Features, byClass: make([][][]dataset.Entry, 2)}
		for _, part := range []*dataset.Sparse{train, test} {
			for i, row := range part.Rows {
				s.add(int(part.Labels[i]), row)
			}
		}
		return s, nil
	}
	test, err := b.Test(dataDir)
	if err != nil {
		return nil, err
	}
	s := &Source{features: test.Size(), byClass: make([][][]dataset.Entry, len(b.Classes))}
	x := make([]float32, test.Size())
	for i := range images {
		test.At(i, x)
		row := make([]dataset.Entry, len(x))
		for j, v := range x {
			row[j] = dataset.Entry{Feature: int32(j), Value: v}
		}
		s.add(int(test.Labels[i]), row)
	}
	return s, nil
}

// add scales a row to norm 1, which looks at that row alone.
func (s *Source) add(class int, row []dataset.Entry) {
	squares := 0.0
	for _, e := range row {
		squares += float64(e.Value) * float64(e.Value)
	}
	scaled := make([]dataset.Entry, len(row))
	for k, e := range row {
		scaled[k] = dataset.Entry{Feature: e.Feature, Value: float32(float64(e.Value) / math.Sqrt(squares))}
	}
	s.byClass[class] = append(s.byClass[class], scaled)
}

// Sample draws two classes and their rows. A point is classified by all its features; a score of 0 is a coin toss.
func (s *Source) Sample(rng *rand.Rand) (*formulas.Sample, error) {
	var rows [2][][]dataset.Entry
	at := map[int32]int{} // columns of features
	for k, class := range rng.Perm(len(s.byClass))[:2] {
		for _, i := range rng.Perm(len(s.byClass[class]))[:trainRows+testRows] {
			rows[k] = append(rows[k], s.byClass[class][i])
		}
		for _, row := range rows[k][:trainRows] {
			for _, e := range row {
				at[e.Feature] = 0
			}
		}
	}
	for j := range s.features {
		if s.All {
			at[int32(j)] = 0
		}
	}
	features := slices.Sorted(maps.Keys(at))
	for i, j := range features {
		at[j] = i
	}
	out := &formulas.Sample{Norm: func(int) float64 { return 1 }}
	for k := range rows {
		for _, row := range rows[k][:trainRows] {
			x := make([]float64, len(features))
			for _, e := range row {
				x[at[e.Feature]] = float64(e.Value)
			}
			out.Rows[k] = append(out.Rows[k], x)
		}
	}
	out.Error = func(f *formulas.Fisher, kept []int, noise float64) float64 {
		weights, center, squares := make([]float64, s.features), 0.0, 0.0
		for i, j := range kept {
			w := f.Weights[i]
			weights[features[j]] = w
			center += w * f.Center[i]
			squares += w * w
		}
		wrong := 0.0
		for k := range rows {
			for _, row := range rows[k][trainRows:] {
				score := noise*math.Sqrt(squares)*rng.NormFloat64() - center // noise of all features together
				for _, e := range row {
					score += float64(e.Value) * weights[e.Feature]
				}
				switch {
				case score == 0:
					wrong += float64(rng.IntN(2))
				case (score > 0) != (k == 0):
					wrong++
				}
			}
		}
		return wrong / (2 * testRows)
	}
	return out, nil
}
