package selectionstudy

import (
	"context"
	"math"
	"strconv"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	rules "pawl/core/linear"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/lab"
	"pawl/workflow"
)

// split is one table cut into rows to train and to test.
type split struct {
	*lab.Table
	seed uint64
	rows *intake.Rows
}

func newSplit(t *lab.Table, seed uint64) *split { return &split{t, seed, must(t.Seal(seed))} }

// train trains a learner of a plan on the named columns (nil: all) at the ε of one Gaussian release of this multiplier.
func (s *split) train(ctx context.Context, learner string, columns []string, b budget, multiplier float64, seed uint64) func(cells []float64) float64 {
	return must(s.Fit(ctx, b.epsilonOf(multiplier), strconv.FormatFloat(b.delta, 'f', -1, 64), seed, func(in *workflow.Input) {
		in.Features = columns
		if learner != linear {
			in.Model = learner
		}
	})).Model.Predictor()
}

// plain is objective perturbation with the whole residual on numbers as they are.
func (s *split) plain(ctx context.Context, columns []string, epsilon float64) func(cells []float64) float64 {
	enc := must(encode.New(s.Schema, s.Target, encode.Options{Linear: true, Attributes: columns}))
	at := s.Schema.Column(s.Target)
	o := convex.Objective{
		Scope: dp.WholeScope, Epsilon: epsilon, Regularization: rules.Regularization(enc.Dim, epsilon), ResidualCap: 1, Encoding: enc,
		Target: func(cells []float64) float64 { return cells[at] },
	}
	all := must(convex.PerturbObjectivesPublic(ctx, s.rows, dp.AddOrRemoveOne, []convex.Objective{o}, entropy.Seeded(s.seed).Split("plain")))
	x := make([]float64, enc.Dim)
	return func(cells []float64) float64 {
		enc.Vector(x, cells)
		sum := 0.0
		for j, v := range x {
			sum += v * all[0][j]
		}
		return indicator(sum > 0)
	}
}

// score is the share of test rows that are right in percent, or for a number how much of
// the mean predictor's error is gone.
func score(t *lab.Table, predict func(cells []float64) float64) float64 {
	rows := t.Test
	at := t.Schema.Column(t.Target)
	right, err, mean := 0.0, 0.0, 0.0
	for _, row := range rows {
		mean += row[at] / float64(len(rows))
	}
	deviation := 0.0
	for _, row := range rows {
		p := predict(row)
		right += indicator(p == row[at])
		err += math.Abs(p - row[at])
		deviation += math.Abs(mean - row[at])
	}
	if regression(t) {
		return 100 * (1 - err/deviation)
	}
	return 100 * right / float64(len(rows))
}

// constantScore is that of the most frequent class, or 0 for a number.
func constantScore(t *lab.Table) float64 {
	if regression(t) {
		return 0
	}
	best := 0.0
	for k := range t.Schema.Columns[t.Schema.Column(t.Target)].Levels() {
		best = max(best, score(t, func([]float64) float64 { return float64(k) }))
	}
	return best
}

func regression(t *lab.Table) bool {
	c := &t.Schema.Columns[t.Schema.Column(t.Target)]
	return c.Type == schema.Numeric || c.Type == schema.Integer
}
