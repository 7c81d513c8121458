package lab

import (
	"bytes"
	"context"
	"runtime"

	"pawl/compute/nn"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/data/schema"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/space/net"
	"pawl/store/memory"
	"pawl/workflow"
)

// Search is one among networks.
type Search struct {
	Space    *space.Space
	Strategy search.Strategy
	// AsPublished reads all scores without paying; ε is then that of each training.
	AsPublished bool
	// Front stands before all networks; Dropout keeps theirs.
	Front   []nn.Layer
	Dropout bool
}

// Search runs it by the plan that the command line would make. change sets a budget, and
// what else differs from the defaults. The outcome's score is exact.
func (s *Images) Search(ctx context.Context, h Search, seed uint64, change func(*workflow.TrainInput)) (*workflow.Outcome, error) {
	n := workflow.NetCandidates{Shape: nn.Shape{Height: s.Train.Shape[0], Width: s.Train.Shape[1], Channels: s.Train.Shape[2]},
		Outputs: len(s.Train.Classes), Front: h.Front, Dropout: h.Dropout}
	bound, err := net.Bind(h.Space, n.Shape, n.Outputs)
	if err != nil {
		return nil, err
	}
	d := s.schema()
	in := workflow.NetSearchInput{
		TrainInput:     workflow.TrainInput{Input: s.input(d, seed), Shape: n.Shape, Outputs: n.Outputs},
		SearchSettings: workflow.SearchSettings{Space: bound, Strategy: h.Strategy},
		Build:          n.Build,
	}
	if in.Rule, err = n.Rule(bound); err != nil {
		return nil, err
	}
	change(&in.TrainInput)
	in.AsPublished = h.AsPublished
	plan, err := workflow.NewNetSearchPlan(in)
	if err != nil {
		return nil, err
	}
	rows, err := s.seal(plan, d, seed)
	if err != nil {
		return nil, err
	}
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "replay"})
	return plan.Run(ctx, workflow.Env{Ledger: l, Rows: rows, Images: s.Test, Digest: bytes.Repeat([]byte{1}, 32), Workers: runtime.GOMAXPROCS(0)})
}

func (s *Images) schema() *schema.Schema {
	return &schema.Schema{
		Version: schema.Version, Dataset: s.Name, Public: true, Unit: schema.Unit{Name: "image", MaxRows: 1},
		Rows:    schema.RowCount{Kind: schema.RowsDeclared, N: int64(s.Train.Len())},
		Columns: []schema.Column{{Name: s.Target, Type: schema.Categorical, Categories: s.Train.Classes, Missing: schema.MissingRefuse}},
	}
}

func (s *Images) input(d *schema.Schema, seed uint64) workflow.Input {
	return workflow.Input{Dataset: s.Name, Schema: d, Public: true, Target: s.Target, Rows: int64(s.Train.Len()), Test: workflow.Official, Seed: &seed}
}

// Search runs a private search over models of the table by the plan that the command line would make, at a total
// (epsilon, delta), and scores the winner exactly on the test rows.
func (t *Table) Search(ctx context.Context, epsilon, delta string, seed uint64, among *space.Space, by search.Strategy) (*workflow.Outcome, error) {
	plan, err := workflow.NewTableSearchPlan(workflow.Input{
		Dataset: t.Name, Schema: t.Schema, Public: true, Target: t.Target, Epsilon: epsilon, Delta: delta,
		Rows: int64(len(t.Rows)), Test: workflow.Official, Seed: &seed,
	}, workflow.SearchSettings{Space: among, Strategy: by})
	if err != nil {
		return nil, err
	}
	return t.run(ctx, plan, seed)
}
