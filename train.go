package pawl

import (
	"context"
	"maps"
	"time"

	"pawl/data/source"
	"pawl/internal/request"
	"pawl/internal/usage"
)

// Train asks for one named network by DP-SGD with Poisson sampling and per-example clipping, on
// images, texts or rows of a table. Zero fields follow a rule that looks at public facts only.
type Train struct {
	// Model is a network of pawl models list or a YAML file. Required.
	Model  string
	Target string // as in Fit
	// Budget has the epsilon, from which the noise follows; without it NoiseMultiplier is given
	// and the price follows.
	Budget Budget
	Preset string // as in Fit
	// NoiseMultiplier is the noise's standard deviation over the clipping norm.
	NoiseMultiplier float64
	// Batch is the expected number of examples in a step, SamplingRate the same over the number
	// of rows, in (0, 1]: one of them. Epochs are expected passes over the data.
	Batch                int
	SamplingRate, Epochs float64
	// LearningRate is the step size, ClippingNorm the L2 bound on one example's gradient,
	// Clipping "flat" (the default), "automatic", "per-layer", "quantile", or "none" with
	// NonPrivate. Quantile is the share that clipping by quantile leaves as it is.
	LearningRate, ClippingNorm float64
	Clipping                   string
	Quantile                   float64
	// Optimizer is "momentum" (the default), "sgd", "adam", "adam-wosm" or "adadp", whose
	// Tolerance is the error of a step and KeepAll keeps those above it.
	Optimizer string
	Tolerance float64
	KeepAll   bool
	// Mechanism is "dp-sgd" (the default) or "banded": noise that is correlated over the steps, by Bands
	// coefficients (0 for the number with the least noise). With it Lots are "poisson" (the default) within public
	// groups of units that take turns, or "passes": the groups are the lots, and nothing is amplified.
	Mechanism, Lots string
	Bands           int
	// Schedule is "constant" (the default), "linear" or "cosine", Warmup the share of the steps
	// over which the step size rises.
	Schedule string
	Warmup   float64
	// Average is the share of the last steps whose parameters are averaged: 0 for a quarter,
	// negative for none. EMA is the decay of an exponential average in its place.
	Average, EMA float64
	// Activation is put in place of the model's. AsDrawn keeps activations and dropout that are
	// replaced under noise otherwise. TrainLast trains the last layers only.
	Activation string
	AsDrawn    bool
	TrainLast  int
	// FrontEnd are transforms before the network: "dct:64", "scatter", "dp-pca:K" (which pays).
	FrontEnd string
	// Extractor is a public network in ONNX through which images pass first, Pixels how it takes them ("0..1", the
	// default, "-1..1", "0..255" or "imagenet"), ExtractorOutput the value in it that is taken ("" for its output).
	// You are responsible for ensuring that it is public. Model may then be empty for a linear model.
	Extractor, Pixels, ExtractorOutput string
	// Public are public images of the same size and classes (a built-in name, a folder, or a file with PublicLabels)
	// on which the network is trained first, without noise. You are responsible for ensuring that they are public.
	Public, PublicLabels string
	// Augment is the number of variants of an image whose gradients are averaged, Shift their
	// largest shift in pixels (0 for a default, negative for none), Flip allows mirror images.
	Augment, Shift int
	Flip           bool
	// Features, Encoding ("thermometer" or "linear") and ScoreBy are for rows of a table.
	Features, Encoding, ScoreBy string
	// ClassWeights are as in Fit.
	ClassWeights map[string]float64
	// Memory is the working memory of a step, such as "500MB", without effect on the result.
	Memory string
	// NonPrivate trains without noise and AsPublished allows a front end that looks at rows
	// without paying: both on public data only, and NOT PRIVATE.
	NonPrivate, AsPublished bool
	// Seed and Identity are as in Fit.
	Seed       *uint64
	Identity   Identity
	Checkpoint Checkpoint
}

// Checkpoint keeps a training that may be interrupted, in a file that only its owner may read:
// it holds the key of the noise. It is erased when the run ends.
type Checkpoint struct {
	// File is new, unless Resume says that the run goes on from it, at no cost and to the same
	// result.
	File   string
	Resume bool
	// Every is the time between two savings; 0 saves after every step.
	Every time.Duration
	// Outside is the folder of the released files, in which File must not lie.
	Outside string
}

func (c Checkpoint) request() request.Checkpoint {
	r := request.Checkpoint{Every: c.Every, Outside: c.Outside}
	if c.Resume {
		r.Resume = c.File
	} else {
		r.Create = c.File
	}
	return r
}

func (t Train) request() request.Train {
	r := request.Train{Model: t.Model, Activation: t.Activation, Epsilon: t.Budget.Epsilon, Delta: t.Budget.Delta, AllowLargeDelta: t.Budget.AllowLargeDelta, Anyway: t.Budget.Anyway,
		Accountant: t.Budget.Accountant, Preset: t.Preset, Seed: seed(t.Seed), Optimizer: t.Optimizer, Public: t.Public, PublicLabels: t.PublicLabels, Mechanism: t.Mechanism, Extractor: t.Extractor, Pixels: t.Pixels, ExtractorOutput: t.ExtractorOutput, Lots: t.Lots, Bands: t.Bands, Clipping: t.Clipping, Memory: t.Memory, Target: t.Target,
		Schedule: t.Schedule, FrontEnd: t.FrontEnd, Noise: t.NoiseMultiplier, Rate: t.SamplingRate, Epochs: t.Epochs, LearningRate: t.LearningRate,
		ClippingNorm: t.ClippingNorm, Average: max(t.Average, 0), EMA: t.EMA, Warmup: t.Warmup, Quantile: t.Quantile, Tolerance: t.Tolerance, Batch: t.Batch,
		Augment: t.Augment, Shift: max(t.Shift, 0), TrainLast: t.TrainLast, Flip: t.Flip, NonPrivate: t.NonPrivate, AsDrawn: t.AsDrawn,
		Updated: t.Identity.Updated, AsPublished: t.AsPublished, KeepAll: t.KeepAll, Features: t.Features, Encoding: t.Encoding, ScoreBy: t.ScoreBy,
		Checkpoint: t.Checkpoint.request(), Copies: t.Identity.copies(), ClassWeights: maps.Clone(t.ClassWeights)}
	if t.Average == 0 && t.EMA == 0 {
		r.Average = request.DefaultAverage
	}
	if t.Shift == 0 {
		r.Shift = -1
	}
	return r
}

// sound refuses numbers that would be taken for 0 in silence.
func (t Train) sound() error {
	if t.TrainLast < 0 || t.Augment < 0 {
		return usage.New("TrainLast and Augment must not be negative", "leave them out for the rule")
	}
	return t.Checkpoint.sound()
}

// sound refuses to begin anew where a run was to go on.
func (c Checkpoint) sound() error {
	if c.Resume && c.File == "" {
		return usage.New("a checkpoint to resume from has no File", "name the file, or leave out Resume")
	}
	return nil
}

func (t Train) plan(ctx context.Context, d *request.Desk, data *source.Data) (*request.Job, error) {
	if err := t.sound(); err != nil {
		return nil, err
	}
	r := t.request()
	return d.Train(ctx, data, &r)
}

func (t Train) as(sameAs string) Job { t.Identity.SameAs = sameAs; return t }
