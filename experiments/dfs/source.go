package dfs

import (
	"math"

	"pawl/data/dataset"
)

// Source holds rows of norm 1 by class.
type Source struct {
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
