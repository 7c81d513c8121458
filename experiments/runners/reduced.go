package runners

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"pawl/compute/nn"
	"pawl/compute/zoo"
	"pawl/data/images"
	"pawl/evidence/lab"
	"pawl/experiments"
	"pawl/experiments/formulas"
	"pawl/search/feature"
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

// reducedScore is the accuracy of a perceptron on the features that a way chooses, as published or honestly.
func reducedScore(ctx context.Context, r *experiments.Run) func(how, way string, epsilon float64, limit, seed int) float64 {
	return func(how, way string, epsilon float64, limit, seed int) float64 {
		s := once(fmt.Sprint(limit, r.DataDir), func() *reduced { return openReduced(r, limit) })
		if how == "honest" {
			return s.honest(ctx, way, epsilon, uint64(seed))
		}
		return s.asPublished(ctx, way, epsilon, uint64(seed))
	}
}

// reduced holds rows to train and to test in units in which the mean square of features is 1 among the images that the
// directions come from, and the public norm in these units.
type reduced struct {
	rows              [2][][]float64
	labels            [2][]int32
	classes           []string
	norm              float64
	distance, student []int // features, best first, on the raw rows
}

func openReduced(r *experiments.Run, limit int) *reduced {
	data := must(lab.OpenImages(reducedSet, r.DataDir, limit, math.MaxInt))
	train, test := numbers(data.Train), numbers(data.Test)
	squares, others := 0.0, test[untouched:]
	for _, x := range others {
		squares += floats.Dot(x, x)
	}
	width := data.Train.Size()
	over := math.Sqrt(squares / float64(len(others)*width))
	s := &reduced{
		rows:    formulas.Each([2][][]float64{train, test[:untouched]}, func(v float64) float64 { return v / over }),
		labels:  [2][]int32{data.Train.Labels, data.Test.Labels[:untouched]},
		classes: data.Train.Classes,
		norm:    math.Sqrt(float64(width)), // the root of the mean square norm
	}
	sums := s.sums(s.rows[0])
	s.distance = formulas.Descending(must(sums.Distances(feature.Sum)))
	s.student = formulas.Descending(tStatistics(sums))
	return s
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
		return formulas.Identity(len(s.rows[0][0]))
	}
	return formulas.Identity(kept)
}

// asPublished is Algorithm 1 and a perceptron on what it puts out.
func (s *reduced) asPublished(ctx context.Context, w string, epsilon float64, seed uint64) float64 {
	both := formulas.Cut(s.rows, s.choose(w))
	stdDev := must(formulas.Published.StdDev(formulas.MaxNorms([2][][]float64{both[0], nil}), formulas.Budget{Epsilon: epsilon, Delta: reducedDelta}))
	noisy := formulas.AddNoise(both, stdDev, rand.New(rand.NewPCG(seed, 1)))
	// One common factor keeps steps of one size useful at every ε.
	factor := 1 / math.Sqrt(1+stdDev*stdDev)
	return s.perceptron(ctx, formulas.Each(noisy, func(v float64) float64 { return factor * v }), nil, seed)
}

// honest pays for the ranking, where there is one, and trains by DP-SGD.
func (s *reduced) honest(ctx context.Context, w string, epsilon float64, seed uint64) float64 {
	features, budget := s.choose(w), formulas.Budget{Epsilon: epsilon, Delta: reducedDelta}
	if w == byD {
		// Basic composition: (ε/4, δ/2) and (3ε/4, δ/2).
		features = s.rankPrivately(formulas.Budget{Epsilon: epsilon / 4, Delta: reducedDelta / 2}, seed)
		budget = formulas.Budget{Epsilon: 3 * epsilon / 4, Delta: reducedDelta / 2}
	}
	return s.perceptron(ctx, formulas.Cut(s.rows, features), &budget, seed)
}

// perceptron trains a network of one hidden layer on the first rows by the plan that the command line runs, without noise
// where there is no budget, and returns its accuracy on the second in percent.
func (s *reduced) perceptron(ctx context.Context, rows [2][][]float64, budget *formulas.Budget, seed uint64) float64 {
	data := &lab.Images{Name: reducedSet, Target: "class", Train: lab.Vectors(rows[0], s.labels[0], s.classes), Test: lab.Vectors(rows[1], s.labels[1], s.classes)}
	net := zoo.Spec{Name: "perceptron", Defaults: zoo.Defaults{Radius: 4}}
	net.Network.Layers = []nn.Layer{{Kind: "dense", Units: 64}, {Kind: "tanh"}, {Kind: "dense"}}
	return 100 * must(data.Fit(ctx, net, seed, func(in *workflow.TrainInput) {
		in.AllowLargeDelta, in.Batch, in.Epochs = true, 2048, 15
		if n := len(rows[0]); n < 10000 {
			in.Batch, in.Epochs = n/4, 2
		}
		if budget != nil {
			in.Epsilon, in.Delta = fmt.Sprint(budget.Epsilon), fmt.Sprint(budget.Delta)
		} else {
			in.NonPrivate, in.Clipping, in.Optimizer, in.Batch, in.LearningRate = true, "none", "sgd", min(256, in.Batch), .1
		}
	}))
}

// sums are those of training rows by class.
func (s *reduced) sums(rows [][]float64) *feature.ClassSums {
	width := len(rows[0])
	c, square := &feature.ClassSums{Counts: make([]float64, len(s.classes))}, make([]float64, width)
	for range s.classes {
		c.Sums, c.Squares = append(c.Sums, make([]float64, width)), append(c.Squares, make([]float64, width))
	}
	for i, x := range rows {
		k := s.labels[0][i]
		c.Counts[k]++
		floats.Add(c.Sums[k], x)
		floats.Add(c.Squares[k], floats.MulTo(square, x, x))
	}
	return c
}

// tStatistics are those of pairs of classes, added up.
func tStatistics(c *feature.ClassSums) []float64 {
	out := make([]float64, len(c.Sums[0]))
	for a := range c.Counts {
		for b := range a {
			pair := feature.ClassSums{Counts: []float64{c.Counts[a], c.Counts[b]}, Sums: [][]float64{c.Sums[a], c.Sums[b]}, Squares: [][]float64{c.Squares[a], c.Squares[b]}}
			floats.Add(out, must(pair.TStatistics()))
		}
	}
	return out
}

// rankPrivately keeps the best features by distance of noisy class sums. Adding or
// removing one image changes one sum by the norm at most; the divisor is the public
// number of rows over the number of classes.
func (s *reduced) rankPrivately(b formulas.Budget, seed uint64) []int {
	multiplier := must(b.AnalyticNoiseMultiplier())
	c := s.sums(formulas.Clip([2][][]float64{s.rows[0], nil}, s.norm)[0])
	rng := rand.New(rand.NewPCG(seed, 2))
	for k := range c.Sums {
		c.Counts[k] = float64(len(s.rows[0])) / float64(len(s.classes))
		for j := range c.Sums[k] {
			c.Sums[k][j] += s.norm * multiplier * rng.NormFloat64()
		}
	}
	return formulas.Descending(must(c.Distances(feature.Sum)))[:kept]
}
