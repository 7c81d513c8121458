package cli

import (
	"fmt"
	"strconv"
	"strings"

	"pawl/core/accountant"
	"pawl/data/dataset"
	"pawl/data/source"
	"pawl/evidence/advise"
	"pawl/workflow"
)

// training is the fit of images: features and model name a network, and the numbers
// of its training follow from public facts.
func (f *fitFlags) training(data string) (*trainFlags, error) {
	t := &trainFlags{
		epsilon: f.epsilon, delta: f.delta, accountant: f.accountant, preset: f.preset, seed: f.seed, out: f.out,
		target: f.target, updated: f.updated, allowLargeDelta: f.allowLargeDelta, copies: f.copies, classWeights: f.classWeights,
	}
	trainDefaults(t)
	t.checkpoint = f.checkpoint
	if f.epsilon == "" {
		return nil, &usageError{"missing --epsilon", "example: --epsilon 1"}
	}
	for _, c := range []struct {
		given bool
		flag  string
	}{{f.schema != "", "--schema"}, {f.test != "", "--test"}, {f.scoreBy != "", "--score-by"}, {f.embeddings != (source.Vectors{}), "--embeddings"}, {f.workflow == "stw", "--workflow stw"}, {f.badRows != "refuse", "--bad-rows"}} {
		if c.given {
			return nil, &usageError{c.flag + " is for tables, and DATA is a set of images", "leave it out; pawl train has flags for networks"}
		}
	}
	known := f.features == "auto" || f.features == "" || f.features == "scatter" || f.features == "all"
	switch {
	case known && (f.model == "auto" || f.model == "linear"):
		return t, f.linear(data, t)
	case f.features == "auto" || f.features == "all" || f.features == "":
		t.model = f.model
	case f.features == "scatter":
		return nil, &usageError{fmt.Sprintf("features scatter need a linear model, and %q takes pixels", f.model), "use --model linear, or leave out --features"}
	case strings.HasPrefix(f.features, "pca:"):
		return nil, &usageError{"features " + f.features + " would be computed from the rows", "scatter does not depend on the rows; pawl train --front-end dp-pca:K charges for components"}
	default:
		return nil, &usageError{fmt.Sprintf("features %q are not available for images, only scatter and all (pixels)", f.features), "--features scatter"}
	}
	return t, nil
}

// linear makes t the recipe of a linear model.
func (f *fitFlags) linear(data string, t *trainFlags) error {
	b, _ := dataset.Images(data) // isImages has asked
	facts := advise.ImageFacts{Height: b.Shape[0], Width: b.Shape[1], Channels: b.Shape[2], Rows: float64(b.Rows), Preset: advise.Preset(f.preset), Features: f.features}
	// What is no number is refused where epsilon is checked.
	facts.Epsilon, _ = strconv.ParseFloat(f.epsilon, 64)
	facts.Ratio = imageRatio(facts, f.delta)
	r, err := advise.ChooseImages(facts)
	if err != nil {
		return &usageError{err.Error(), "--features auto"}
	}
	t.model, t.batch, t.epochs, t.rules = r.Model, r.Batch, r.Epochs, r.Rules
	return nil
}

// imageRatio is r = n/σ₁(ε, δ), or 0 where ε or δ is none: those are refused elsewhere.
func imageRatio(f advise.ImageFacts, delta string) float64 {
	d, _ := workflow.DefaultDelta(int64(f.Rows))
	if delta != "" {
		var err error
		if d, err = strconv.ParseFloat(delta, 64); err != nil {
			return 0
		}
	}
	noise, err := accountant.GaussianNoiseMultiplier(f.Epsilon, d)
	if err != nil {
		return 0
	}
	return f.Rows / noise
}
