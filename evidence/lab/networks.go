package lab

import (
	"context"

	"pawl/compute/zoo"
	"pawl/data/encode"
	"pawl/workflow"
)

// Train trains a network on the rows by the plan that the command line would make and
// scores it on the test rows. change sets what differs from the defaults: a budget or
// NonPrivate at least.
func (t *Table) Train(ctx context.Context, spec zoo.Spec, encoding encode.Options, seed uint64, change func(*workflow.TrainInput)) (*workflow.Outcome, error) {
	in := workflow.TrainInput{
		Input:    workflow.Input{Dataset: t.Name, Schema: t.Schema, Public: true, Target: t.Target, Rows: int64(len(t.Rows)), Test: workflow.Official, Seed: &seed},
		Encoding: &encoding,
	}
	if err := in.Table(spec); err != nil {
		return nil, err
	}
	change(&in)
	plan, err := workflow.NewTrainPlan(in)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, plan, seed)
}
