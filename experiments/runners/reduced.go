package runners

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/data/dataset"
	"pawl/experiments"
	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
)

const (
	reducedSet = "cifar10-mobilenet-features"
	// kept is a quarter of the features: the paper keeps 512 of 2048.
	kept = 32
	// untouched is the number of test images that had no part in the features.
	untouched    = 2000
	reducedDelta = 1e-4
	// Ways to choose features; another takes the first ones.
	byT   = "32 features by t-statistic"
	byD   = "32 features by distance (DFS)"
	whole = "all 128 features"
)

// reducing trains a perceptron on chosen features, as published or honestly.
type reducing struct {
	How     string  `json:"how"`
	Way     string  `json:"way"`
	Epsilon float64 `json:"epsilon"`
	Limit   int     `json:"limit"` // of training images
	Runs    int     `json:"runs"`
}

func reduceFeatures(ctx context.Context, r *experiments.Run, a *reducing) ([]float64, error) {
	s, err := once(fmt.Sprint(a.Limit, r.DataDir), func() (*reduced, error) { return openReduced(r, a.Limit) })
	if err != nil {
		return nil, err
	}
	var values []float64
	for seed := range a.Runs {
		once := s.asPublished
		if a.How == "honest" {
			once = s.honest
		}
		v, err := once(ctx, a.Way, a.Epsilon, uint64(seed+1))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// reduced holds the features in units in which their mean square is 1 among the images
// that the directions come from, and the public norm in these units.
type reduced struct {
	train, test       [][]float64
	labels, truth     []int32
	classes           []string
	norm              float64
	distance, student []int // features, best first, on the raw rows
}

func openReduced(r *experiments.Run, limit int) (*reduced, error) {
	b, ok := dataset.Images(reducedSet)
	if !ok {
		return nil, fmt.Errorf("no built-in set %q", reducedSet)
	}
	train, err := b.Train(r.DataDir)
	if err != nil {
		return nil, err
	}
	test, err := b.Test(r.DataDir)
	if err != nil {
		return nil, err
	}
	s := &reduced{classes: b.Classes}
	x := make([]float32, train.Size())
	row := func(at func(int, []float32), i int) []float64 {
		at(i, x)
		out := make([]float64, len(x))
		for j, v := range x {
			out[j] = float64(v)
		}
		return out
	}
	squares, others := 0.0, test.Len()-untouched
	for i := untouched; i < test.Len(); i++ {
		for _, v := range row(test.At, i) {
			squares += v * v
		}
	}
	scale := math.Sqrt(squares / float64(others*len(x)))
	s.norm = math.Sqrt(float64(len(x))) // the root of the mean square norm
	limit = min(train.Len(), limit)
	for i := range limit {
		s.train, s.labels = append(s.train, row(train.At, i)), append(s.labels, train.Labels[i])
	}
	for i := range untouched {
		s.test, s.truth = append(s.test, row(test.At, i)), append(s.truth, test.Labels[i])
	}
	for _, rows := range [][][]float64{s.train, s.test} {
		for _, x := range rows {
			for j := range x {
				x[j] /= scale
			}
		}
	}
	s.rank()
	return s, nil
}

// choose returns the features that a way keeps, on raw rows.
func (s *reduced) choose(w string) []int {
	switch w {
	case byT:
		return s.student[:kept]
	case byD:
		return s.distance[:kept]
	case whole:
		return formulas.Identity(len(s.train[0]))
	}
	return formulas.Identity(kept)
}

// asPublished is Algorithm 1 and a perceptron on what it puts out.
func (s *reduced) asPublished(ctx context.Context, w string, epsilon float64, seed uint64) (float64, error) {
	features := s.choose(w)
	both := dfs.Cut([2][][]float64{s.train, s.test}, features)
	stdDev, err := formulas.Published.StdDev(formulas.MaxNorms([2][][]float64{both[0], nil}), formulas.Budget{Epsilon: epsilon, Delta: reducedDelta})
	if err != nil {
		return 0, err
	}
	noisy := formulas.AddNoise(both, stdDev, rand.New(rand.NewPCG(seed, 1)))
	// One common factor keeps steps of one size useful at every ε.
	factor := 1 / math.Sqrt(1+stdDev*stdDev)
	return s.perceptron(ctx, noisy[0], noisy[1], factor, nil, seed)
}

// honest pays for the ranking, where there is one, and trains by DP-SGD.
func (s *reduced) honest(ctx context.Context, w string, epsilon float64, seed uint64) (float64, error) {
	features, budget := s.choose(w), formulas.Budget{Epsilon: epsilon, Delta: reducedDelta}
	if w == byD {
		// Basic composition: (ε/4, δ/2) and (3ε/4, δ/2).
		var err error
		if features, err = s.rankPrivately(formulas.Budget{Epsilon: epsilon / 4, Delta: reducedDelta / 2}, seed); err != nil {
			return 0, err
		}
		budget = formulas.Budget{Epsilon: 3 * epsilon / 4, Delta: reducedDelta / 2}
	}
	both := dfs.Cut([2][][]float64{s.train, s.test}, features)
	return s.perceptron(ctx, both[0], both[1], 1, &budget, seed)
}
