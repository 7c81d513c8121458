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

// reducedScore is the accuracy of a perceptron on the features that a way chooses, as published or honestly.
func reducedScore(ctx context.Context, r *experiments.Run) func(how, way string, epsilon float64, limit, seed int) (float64, error) {
	return func(how, way string, epsilon float64, limit, seed int) (float64, error) {
		s, err := once(fmt.Sprint(limit, r.DataDir), func() (*reduced, error) { return openReduced(r, limit) })
		if err != nil {
			return 0, err
		}
		if how == "honest" {
			return s.honest(ctx, way, epsilon, uint64(seed))
		}
		return s.asPublished(ctx, way, epsilon, uint64(seed))
	}
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
	both := formulas.Cut([2][][]float64{s.train, s.test}, features)
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
	return s.perceptron(ctx, formulas.Cut([2][][]float64{s.train, s.test}, features), &budget, seed)
}

// perceptron trains a network of one hidden layer on the first rows by the plan that the command line runs, without noise
// where there is no budget, and returns its accuracy on the second in percent.
func (s *reduced) perceptron(ctx context.Context, rows [2][][]float64, budget *formulas.Budget, seed uint64) (float64, error) {
	data := &lab.Images{Name: reducedSet, Target: "class", Train: lab.Vectors(rows[0], s.labels, s.classes), Test: lab.Vectors(rows[1], s.truth, s.classes)}
	net := zoo.Spec{Name: "perceptron", Defaults: zoo.Defaults{Radius: 4}}
	net.Network.Layers = []nn.Layer{{Kind: "dense", Units: 64}, {Kind: "tanh"}, {Kind: "dense"}}
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

// sums are sums and sums of squares of features by class.
type sums struct {
	count         []float64
	first, second [][]float64
}

func (s *reduced) sums(rows [][]float64) sums {
	out := sums{count: make([]float64, len(s.classes))}
	for range s.classes {
		out.first, out.second = append(out.first, make([]float64, len(rows[0]))), append(out.second, make([]float64, len(rows[0])))
	}
	for i, x := range rows {
		k := s.labels[i]
		out.count[k]++
		for j, v := range x {
			out.first[k][j] += v
			out.second[k][j] += v * v
		}
	}
	return out
}

// rank orders the features on raw rows, by the distance between class means and by the
// t-statistic, each summed over pairs of classes.
func (s *reduced) rank() {
	m := s.sums(s.train)
	distance, student := make([]float64, len(m.first[0])), make([]float64, len(m.first[0]))
	for a := range m.count {
		for b := range a {
			for j := range distance {
				d := math.Abs(m.first[a][j]/m.count[a] - m.first[b][j]/m.count[b])
				distance[j] += d
				student[j] += d / math.Sqrt(m.variance(a, j)/m.count[a]+m.variance(b, j)/m.count[b])
			}
		}
	}
	s.distance, s.student = formulas.Descending(distance), formulas.Descending(student)
}

func (m sums) variance(k, j int) float64 {
	mean := m.first[k][j] / m.count[k]
	return (m.second[k][j] - m.count[k]*mean*mean) / (m.count[k] - 1)
}

// rankPrivately keeps the best features by distance of noisy class sums. Adding or
// removing one image changes one sum by the norm at most; the divisor is the public
// number of rows over the number of classes.
func (s *reduced) rankPrivately(b formulas.Budget, seed uint64) ([]int, error) {
	multiplier, err := b.AnalyticNoiseMultiplier()
	if err != nil {
		return nil, err
	}
	m := s.sums(formulas.Clip([2][][]float64{s.train, nil}, s.norm)[0])
	rng := rand.New(rand.NewPCG(seed, 2))
	share := float64(len(s.train)) / float64(len(s.classes))
	for k := range m.first {
		for j := range m.first[k] {
			m.first[k][j] = (m.first[k][j] + s.norm*multiplier*rng.NormFloat64()) / share
		}
	}
	distance := make([]float64, len(m.first[0]))
	for a := range m.first {
		for b := range a {
			for j := range distance {
				distance[j] += math.Abs(m.first[a][j] - m.first[b][j])
			}
		}
	}
	return formulas.Descending(distance)[:kept], nil
}
