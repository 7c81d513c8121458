package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"pawl/advise"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/dataset"
	"pawl/images"
	"pawl/learn"
	"pawl/model"
	"pawl/optim"
	"pawl/reader"
	"pawl/report"
	"pawl/workflow"
)

// reproducible stands in for the time of a statement that nobody sees.
var reproducible = time.Unix(0, 0)

// defaultImages is the number of images that an audit draws: trainings are repeated.
const defaultImages = 10_000

func (a *app) recipe(ctx context.Context, f miaFlags, m *model.Model, s *report.Statement, seed *uint64, src *entropy.Source) (*recipe, error) {
	if m.Kind == model.Network {
		return a.imageRecipe(ctx, f, m, s, seed, src)
	}
	return a.tableRecipe(ctx, f, m, s, seed, src)
}

// seedOf is the seed of a training, nil where the audit has none.
func seedOf(seed *uint64, number int) *uint64 {
	if seed == nil {
		return nil
	}
	n := entropy.Seeded(*seed).Split("plan", uint64(number)).Uint64()
	return &n
}

func (a *app) tableRecipe(ctx context.Context, f miaFlags, m *model.Model, s *report.Statement, seed *uint64, src *entropy.Source) (*recipe, error) {
	t, err := a.openSource(f.data, f.schema)
	if err != nil {
		return nil, err
	}
	if err := a.ledgersWord(ctx, t); err != nil {
		return nil, err
	}
	if err := publicOnly(t.schema.Public || f.index != "", t.name); err != nil {
		return nil, err
	}
	if err := a.sameData(ctx, s, t.name, t.builtin != nil, bytes.NewReader(t.content)); err != nil {
		return nil, err
	}
	if t.schema.Unit.Column != "" {
		return nil, &usageError{"a unit of these data may own several rows, and the audit tosses a coin for each row", "audit data with one row for each unit"}
	}
	t.schema.SetBuckets(advise.TextBuckets)
	var rows [][]float64
	if err := t.each(reader.Refuse, func(cells []float64, _ string) error { rows = append(rows, cells); return nil }); err != nil {
		return nil, err
	}
	chosen, err := f.some(f.records, len(rows), src)
	if err != nil {
		return nil, err
	}
	target := t.schema.Column(m.Target)
	if target < 0 {
		return nil, &usageError{fmt.Sprintf("the data have no column %q, which the model predicts", m.Target), ""}
	}
	r := &recipe{model: m, statement: s, classes: len(m.Classes()), public: t.schema.Public}
	cells := make([][]float64, len(chosen))
	for i, at := range chosen {
		cells[i] = rows[at]
		r.label = append(r.label, int(rows[at][target]))
	}
	learner, err := learnerOf(s)
	if err != nil && f.index == "" {
		return nil, err
	}
	in := workflow.Input{
		Dataset: t.name, Schema: t.schema, Public: true, Target: m.Target, Epsilon: s.Privacy.EpsilonAsked, Delta: s.Privacy.DeltaAsked,
		AllowLargeDelta: true, Test: workflow.TestFile, Workflow: workflow.PAW, Preset: advise.Balanced, Model: string(learner),
	}
	if sel := s.Choice.Selection; sel != nil && len(sel.LeftOut) > 0 {
		in.Features = s.Choice.Features
	}
	r.plan = func(nominal, number int) (*workflow.Plan, error) {
		in := in
		in.Rows, in.Seed = int64(nominal), seedOf(seed, number)
		return workflow.NewPlan(in)
	}
	r.env = func(_ *workflow.Plan, members, others []int) (workflow.Env, error) {
		b := intake.NewBuilder(t.name, t.schema, [32]byte{1})
		for _, i := range members {
			if err := b.Add(cells[i], ""); err != nil {
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
		p := make([]float64, len(cells)*r.classes)
		for i, row := range cells {
			m.Probabilities(p[i*r.classes:(i+1)*r.classes], row)
		}
		return p
	}
	return r, nil
}

// learnerOf is the learner that a statement names.
func learnerOf(s *report.Statement) (advise.Learner, error) {
	for learner, l := range map[advise.Learner]learn.Learner{
		advise.Descent: &learn.Descent{}, advise.Objective: &learn.Objective{}, advise.NormalEquations: &learn.NormalEquations{},
		advise.Majority: &learn.Majority{}, advise.Mean: &learn.Mean{}, advise.EBM: &learn.EBM{}, advise.NaiveBayes: &learn.NaiveBayes{},
		advise.AdaSSP: &learn.AdaSSP{}, advise.Output: &learn.OutputPerturbation{}, advise.AMP: &learn.MinimaPerturbation{},
	} {
		if l.Name() == s.Choice.Model {
			return learner, nil
		}
	}
	return "", &usageError{"the statement beside the model names no learner that can be trained again", "audit a model of pawl fit or pawl train"}
}

func (a *app) imageRecipe(ctx context.Context, f miaFlags, m *model.Model, s *report.Statement, seed *uint64, src *entropy.Source) (*recipe, error) {
	if _, ok := dataset.Images(f.data); !ok {
		return nil, &usageError{fmt.Sprintf("%s: networks are audited on built-in images", f.data), "pawl data list"}
	}
	t := &trainFlags{}
	trainDefaults(t)
	p, err := a.openPictures(f.data, t)
	if err != nil {
		return nil, err
	}
	if err := publicOnly(p.public, p.name); err != nil {
		return nil, err
	}
	if err := a.sameData(ctx, s, p.name, true, nil); err != nil {
		return nil, err
	}
	in, err := trainingOf(m, s)
	if err != nil {
		return nil, err
	}
	records := f.records
	if records == 0 {
		records = min(defaultImages, p.train.Len())
	}
	chosen, err := f.some(records, p.train.Len(), src)
	if err != nil {
		return nil, err
	}
	set := subset(p.train, chosen)
	r := &recipe{model: m, statement: s, classes: len(set.Classes), public: p.public}
	for _, y := range set.Labels {
		r.label = append(r.label, int(y))
	}
	sc := p.schema()
	in.Dataset, in.Schema, in.Public, in.Target, in.Test = p.name, sc, true, p.target, workflow.Official
	in.Shape, in.Outputs = m.Net.Input(), r.classes
	r.plan = func(nominal, number int) (*workflow.Plan, error) {
		in := in
		in.Rows, in.Seed = int64(nominal), seedOf(seed, number)
		return workflow.NewTrainPlan(in)
	}
	r.env = func(plan *workflow.Plan, members, others []int) (workflow.Env, error) {
		own := *p
		own.train = subset(set, members)
		rows, err := own.seal(plan, sc, [32]byte{1})
		return workflow.Env{Rows: rows, Images: subset(set, others)}, err
	}
	r.answer = func(m *model.Model) []float64 {
		out, input := make([]float64, set.Len()*r.classes), make([]float32, set.Size())
		for i := range set.Len() {
			set.At(i, input)
			m.InputProbabilities(out[i*r.classes:(i+1)*r.classes], input)
		}
		return out
	}
	return r, nil
}

// trainingOf are the settings of a training as its statement holds them.
func trainingOf(m *model.Model, s *report.Statement) (workflow.TrainInput, error) {
	h := s.Choice.Hyperparameters
	number := func(key string) float64 { x, _ := h[key].(float64); return x }
	word := func(key string) string { x, _ := h[key].(string); return x }
	in := workflow.TrainInput{
		Input: workflow.Input{Delta: s.Privacy.DeltaAsked, AllowLargeDelta: true},
		Name:  s.Choice.Model, Layers: m.Layers, Epochs: number("epochs"), SamplingRate: number("sampling_rate"), ClippingNorm: number("clipping_norm"),
		Clipping: gradient.Clipping(word("clipping")), LearningRate: number("learning_rate"), Optimizer: word("optimizer"),
		NoiseMultiplier: number("noise_multiplier"), Average: number("average_of_last"), EMA: number("ema"),
		Schedule: optim.Schedule{Shape: word("schedule"), Warmup: number("warmup")},
		Augment:  workflow.Augment{Variants: int(number("augment"))}, TrainLast: int(number("train_last")),
		Quantile: number("unclipped_share"), Tolerance: number("tolerance"),
	}
	in.KeepAll, _ = h["keep_all"].(bool)
	if in.NonPrivate = in.NoiseMultiplier == 0; in.NonPrivate {
		// Without a price there is no rate to keep: a batch stays as large as it was.
		in.Batch, in.SamplingRate = int(number("batch")), 0
	}
	switch {
	case strings.Contains(word("front_end"), "pca"):
		return in, &usageError{"components that are fitted on rows are not audited here", "audit a model without dp-pca or pca"}
	case in.Augment.Variants > 1:
		shape := m.Net.Input()
		flip, _ := h["flip"].(bool)
		in.Augment.Augmentation = images.Augmentation{Shape: [3]int{shape.Height, shape.Width, shape.Channels}, Shift: int(number("shift")), Flip: flip}
	}
	if in.Epochs == 0 || in.SamplingRate == 0 && in.Batch == 0 {
		return in, &usageError{"the statement beside the model does not hold the settings of a training", "train it again with this version"}
	}
	return in, nil
}

// subset are some images of a set, in the order of the indices.
func subset(s *images.Set, of []int) *images.Set {
	out := &images.Set{Shape: s.Shape, Classes: s.Classes}
	n := s.Size()
	for _, i := range of {
		if s.Bytes != nil {
			out.Bytes = append(out.Bytes, s.Bytes[i*n:(i+1)*n]...)
		} else {
			out.Floats = append(out.Floats, s.Floats[i*n:(i+1)*n]...)
		}
		out.Labels = append(out.Labels, s.Labels[i])
	}
	return out
}
