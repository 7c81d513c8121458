package membership

import (
	"context"
	"fmt"
	"strings"

	"pawl/compute/optim"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/data/dataset"
	"pawl/data/images"
	"pawl/data/source"
	"pawl/internal/usage"
	"pawl/model"
	"pawl/report"
	"pawl/workflow"
)

func (r *Recipe) openImages(ctx context.Context) error {
	f, m := r.o, r.model
	p, err := openInputs(f.Data, f.DataDir, m)
	if err != nil {
		return err
	}
	sc := p.Schema()
	if err := source.EffectivePublic(ctx, f.Ledger, p.Name, sc); err != nil {
		return err
	}
	if err := r.sameData(ctx, p.Name, true, nil); err != nil {
		return err
	}
	in, err := trainingOf(m, r.statement)
	if err != nil {
		return err
	}
	records := f.Records
	if records == 0 {
		records = min(defaultImages, p.Train.Len())
	}
	chosen, err := f.some(records, p.Train.Len())
	if err != nil {
		return err
	}
	set := p.Train.Some(chosen)
	r.data, r.classes, r.public, r.declared = p.Name, len(set.Classes), sc.Public, p.Rows.N
	for _, y := range set.Labels {
		r.label = append(r.label, int(y))
	}
	in.Dataset, in.Schema, in.Public, in.Target, in.Test = p.Name, sc, true, p.Target, workflow.Official
	in.Shape, in.Outputs = m.Net.Input(), r.classes
	r.plan = func(nominal, number int) (*workflow.Plan, error) {
		in := in
		in.Rows, in.Seed = int64(nominal), SeedOf(f.Seed, number)
		return workflow.NewTrainPlan(in)
	}
	r.env = func(plan *workflow.Plan, key *intake.Key, members, others []int) (workflow.Env, error) {
		own := *p
		own.Train = set.Some(members)
		rows, err := own.Seal(ctx, plan, sc, key)
		return workflow.Env{Rows: rows, Images: set.Some(others)}, err
	}
	r.answer = func(m *model.Model) []float64 { return m.Answers(set.Len(), set.At) }
	return nil
}

// openInputs opens built-in images, or built-in texts as the numbers that the model takes.
func openInputs(data, dataDir string, m *model.Model) (*source.Images, error) {
	vocabulary, texts := source.VocabularyOf(m.Layers.Layers)
	switch _, images := dataset.Images(data); {
	case texts && m.Vocabulary == nil && source.IsTexts(data):
		return source.ReadTexts(data, dataDir, m.Net.Inputs(), vocabulary)
	case texts:
		return nil, usage.New(fmt.Sprintf("%s: text networks can be audited only on built-in texts, with hashed tokens", data), "use sms-spam; pawl data list shows all")
	case source.IsTexts(data) || !images:
		return nil, usage.New(fmt.Sprintf("%s: image networks can be audited only on built-in images", data), "pawl data list")
	}
	return source.OpenImages(data, dataDir, "", "", "")
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
		return in, usage.New("a model with components computed from rows cannot be audited", "choose a model without dp-pca or pca")
	case in.Augment.Variants > 1:
		shape := m.Net.Input()
		flip, _ := h["flip"].(bool)
		in.Augment.Augmentation = images.Augmentation{Shape: [3]int{shape.Height, shape.Width, shape.Channels}, Shift: int(number("shift")), Flip: flip}
	}
	if in.Epochs == 0 || in.SamplingRate == 0 && in.Batch == 0 {
		return in, usage.New("the statement beside the model has no training settings", "train the model again with this version")
	}
	return in, nil
}
