package membership

import (
	"context"
	"fmt"
	"time"

	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/internal/usage"
	"pawl/learn"
	"pawl/model"
	"pawl/reader"
	"pawl/report"
	"pawl/workflow"
)

// Reproducible stands in for the time of a statement that nobody sees.
var Reproducible = time.Unix(0, 0)

// defaultImages is the number of images that an audit draws: trainings are repeated.
const defaultImages = 10_000

// SeedOf is the seed of a training, nil where the audit has none.
func SeedOf(seed *uint64, number int) *uint64 {
	if seed == nil {
		return nil
	}
	n := entropy.Seeded(*seed).Split("plan", uint64(number)).Uint64()
	return &n
}

func (r *Recipe) openTable(ctx context.Context) error {
	f, m, s := r.o, r.model, r.statement
	t, err := source.OpenTable(f.Data, f.Schema, f.DataDir)
	if err != nil {
		return err
	}
	if err := source.EffectivePublic(ctx, f.Ledger, t.Name, t.Schema); err != nil {
		return err
	}
	if err := r.sameData(ctx, t.Name, t.Builtin != nil, t.Content.Reader()); err != nil {
		return err
	}
	if t.Schema.Unit.Column != "" {
		return usage.New("the privacy unit of these data may have several rows, but the audit draws members row by row", "audit data with one row per unit")
	}
	t.Schema.SetBuckets(advise.TextBuckets)
	var rows [][]float64
	if err := t.Each(reader.Refuse, func(cells []float64) error { rows = append(rows, cells); return nil }); err != nil {
		return err
	}
	chosen, err := f.some(f.Records, len(rows))
	if err != nil {
		return err
	}
	target := t.Schema.Column(m.Target)
	if target < 0 {
		return usage.New(fmt.Sprintf("the data have no column %q, the target of the model", m.Target), "")
	}
	r.data, r.public = t.Name, t.Schema.Public
	if r.declared, err = t.Rows(); err != nil {
		return err
	}
	cells := make([][]float64, len(chosen))
	for i, at := range chosen {
		cells[i] = rows[at]
		r.label = append(r.label, int(rows[at][target]))
	}
	in := workflow.Input{
		Dataset: t.Name, Schema: t.Schema, Public: true, Target: m.Target, Epsilon: s.Privacy.EpsilonAsked, Delta: s.Privacy.DeltaAsked,
		AllowLargeDelta: true, Test: workflow.TestFile, Workflow: workflow.PAW, Preset: advise.Balanced,
	}
	if sel := s.Choice.Selection; sel != nil && len(sel.LeftOut) > 0 {
		in.Features = s.Choice.Features
	}
	if r.plan, err = planner(in, m, s, f.Seed); err != nil && f.Index == "" {
		return err
	}
	r.env = func(_ *workflow.Plan, key *intake.Key, members, others []int) (workflow.Env, error) {
		b := intake.NewBuilder(key, t.Schema)
		for _, i := range members {
			if err := b.Add(cells[i], schema.Record{}); err != nil {
				return workflow.Env{}, err
			}
		}
		env := workflow.Env{Rows: b.Seal()}
		for _, i := range others {
			env.Test = append(env.Test, cells[i])
		}
		return env, nil
	}
	r.answer = func(m *model.Model) []float64 {
		p, probe := make([]float64, len(cells)*r.classes), m.Prober()
		for i, row := range cells {
			probe(p[i*r.classes:(i+1)*r.classes], row)
		}
		return p
	}
	return nil
}

// planner makes plans of the settings of a model on a table.
func planner(in workflow.Input, m *model.Model, s *report.Statement, seed *uint64) (func(nominal, number int) (*workflow.Plan, error), error) {
	if m.Kind == model.Network {
		net, err := trainingOf(m, s)
		if err != nil {
			return nil, err
		}
		options := m.Encoding.Options
		net.Input, net.Encoding = in, &options
		net.Epsilon = "" // the noise of the training is kept, and its price follows
		return func(nominal, number int) (*workflow.Plan, error) {
			net := net
			net.Rows, net.Seed, net.Outputs = int64(nominal), SeedOf(seed, number), m.Net.Outputs()
			return workflow.NewTrainPlan(net)
		}, nil
	}
	learner, err := learnerOf(s)
	in.Model = string(learner)
	if weights, ok := s.Choice.Hyperparameters["class_weights"].(map[string]any); ok {
		in.ClassWeights = map[string]float64{}
		for name, w := range weights {
			in.ClassWeights[name], _ = w.(float64)
		}
	}
	return func(nominal, number int) (*workflow.Plan, error) {
		in := in
		in.Rows, in.Seed = int64(nominal), SeedOf(seed, number)
		return workflow.NewPlan(in)
	}, err
}

// learnerOf is the learner that a statement names.
func learnerOf(s *report.Statement) (advise.Learner, error) {
	if k, ok := learn.Titled(s.Choice.Model); ok {
		return advise.Learner(k.Name), nil
	}
	return "", usage.New("the statement beside the model names no learner that can be retrained", "choose a model of pawl fit or pawl train")
}
