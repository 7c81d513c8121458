package runners

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/dfs"
	"pawl/experiments/formulas"
	"pawl/workflow"
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
	data, err := lab.OpenImages(reducedSet, r.DataDir, limit, math.MaxInt)
	if err != nil {
		return nil, err
	}
	train, test := numbers(data.Train), numbers(data.Test)
	squares, others := 0.0, test[untouched:]
	for _, x := range others {
		for _, v := range x {
			squares += v * v
		}
	}
	width := data.Train.Size()
	s := &reduced{classes: data.Train.Classes, labels: data.Train.Labels, truth: data.Test.Labels[:untouched]}
	s.norm = math.Sqrt(float64(width)) // the root of the mean square norm
	over := math.Sqrt(squares / float64(len(others)*width))
	unit := func(v float64) float64 { return v / over }
	both := formulas.Each([2][][]float64{train, test[:untouched]}, unit)
	s.train, s.test = both[0], both[1]
	s.rank()
	return s, nil
}

// numbers are the rows of a set.
func numbers(s *images.Set) [][]float64 {
	x, out := make([]float32, s.Size()), make([][]float64, s.Len())
	for i := range out {
		s.At(i, x)
		for _, v := range x {
			out[i] = append(out[i], float64(v))
		}
	}
	return out
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
	return s.perceptron(ctx, formulas.Each(noisy, func(v float64) float64 { return factor * v }), nil, seed)
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
	return s.perceptron(ctx, dfs.Cut([2][][]float64{s.train, s.test}, features), &budget, seed)
}

// perceptron trains a network of one hidden layer on the first rows by the plan that the command line runs, without noise
// where there is no budget, and returns its accuracy on the second in percent.
func (s *reduced) perceptron(ctx context.Context, rows [2][][]float64, budget *formulas.Budget, seed uint64) (float64, error) {
	data := &lab.Images{Name: reducedSet, Target: "class", Train: lab.Vectors(rows[0], s.labels, s.classes), Test: lab.Vectors(rows[1], s.truth, s.classes)}
	net := zoo.Spec{Name: "perceptron", Defaults: zoo.Defaults{Radius: 4}, Network: nn.Spec{Layers: []nn.Layer{{Kind: "dense", Units: 64}, {Kind: "tanh"}, {Kind: "dense"}}}}
	share, err := data.Fit(ctx, net, seed, func(in *workflow.TrainInput) {
		in.AllowLargeDelta, in.Batch, in.Epochs = true, 2048, 15
		if n := len(rows[0]); n < 10000 {
			in.Batch, in.Epochs = n/4, 2
		}
		if budget != nil {
			in.Epsilon, in.Delta = fmt.Sprint(budget.Epsilon), fmt.Sprint(budget.Delta)
		} else {
			in.NonPrivate, in.Clipping, in.Optimizer, in.Batch, in.LearningRate = true, "none", "sgd", min(256, in.Batch), .1
		}
	})
	return 100 * share, err
}
