package runners

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"pawl/compute/nn"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/images"
	"pawl/data/schema"
	"pawl/experiments/formulas"
	"pawl/store/memory"
	"pawl/workflow"
)

// perceptron trains a network of one hidden layer on factor·rows by the plan that the
// command line runs, without noise where there is no budget, and returns its accuracy on
// the test rows in percent.
func (s *reduced) perceptron(ctx context.Context, rows, test [][]float64, factor float64, budget *formulas.Budget, seed uint64) (float64, error) {
	width := len(rows[0])
	const label = "class"
	sch := &schema.Schema{
		Version: schema.Version, Dataset: reducedSet, Public: true, NA: schema.DefaultNA, Unit: schema.Unit{Name: "image", MaxRows: 1},
		Rows:    schema.RowCount{Kind: schema.RowsDeclared, N: int64(len(rows))},
		Columns: []schema.Column{{Name: label, Type: schema.Categorical, Categories: s.classes, Missing: schema.MissingRefuse}},
	}
	in := workflow.TrainInput{
		Input: workflow.Input{
			Dataset: reducedSet, Schema: sch, Public: true, Target: label, Rows: int64(len(rows)), Test: workflow.Official,
			Seed: &seed, AllowLargeDelta: true,
		},
		Name: "perceptron", Shape: nn.Vector(width), Outputs: len(s.classes), Radius: 4,
		Layers: nn.Spec{Layers: []nn.Layer{{Kind: "dense", Units: 64}, {Kind: "tanh"}, {Kind: "dense", Units: len(s.classes)}}},
		Batch:  2048, Epochs: 15,
	}
	if len(rows) < 10000 {
		in.Batch, in.Epochs = len(rows)/4, 2
	}
	if budget != nil {
		in.Epsilon, in.Delta = fmt.Sprint(budget.Epsilon), fmt.Sprint(budget.Delta)
	} else {
		in.NonPrivate, in.Clipping, in.Optimizer, in.Batch, in.LearningRate = true, "none", "sgd", min(256, in.Batch), .1
	}
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return 0, err
	}
	b := intake.NewBuilder(intake.SimulationKey(reducedSet, 1), sch)
	for i, x := range rows {
		if err := b.AddFloats([]float64{float64(s.labels[i])}, scaled(nil, x, factor), schema.Record{}); err != nil {
			return 0, err
		}
	}
	points := &images.Set{Shape: [3]int{1, 1, width}, Labels: s.truth, Classes: s.classes}
	for _, x := range test {
		points.Floats = scaled(points.Floats, x, factor)
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	out, err := plan.Run(ctx, workflow.Env{Ledger: l, Rows: b.Seal(), Images: points, Digest: bytes.Repeat([]byte{1}, 32)})
	if err != nil {
		return 0, err
	}
	if out.Score.Exact == nil {
		return 0, errors.New("no exact score of a public set")
	}
	return 100 * *out.Score.Exact, nil
}

func scaled(to []float32, x []float64, factor float64) []float32 {
	for _, v := range x {
		to = append(to, float32(factor*v))
	}
	return to
}
