package pawl

import (
	"maps"
	"time"

	"pawl/internal/request"
)

// Train trains one named network by DP-SGD with Poisson sampling and per-example clipping, on
// images, texts or rows of a table. A rule sets zero fields from public facts.
type Train struct {
	// Model is a network listed by pawl models list, or a YAML file. Required.
	Model  string
	Target string // as in Fit
	// Budget holds the epsilon that determines the noise. Without it, NoiseMultiplier is required and
	// determines epsilon.
	Budget Budget
	Preset string // as in Fit
	// NoiseMultiplier is the standard deviation of the noise divided by the clipping norm.
	NoiseMultiplier float64
	// Batch is the expected number of examples in a step, and SamplingRate, in (0, 1], the same divided by
	// the number of rows; give one of them. Epochs is the expected number of passes over the data.
	Batch                int
	SamplingRate, Epochs float64
	// LearningRate is above 0. ClippingNorm is the L2 bound on one example's gradient.
	// Clipping is "flat" (the default), "automatic", "per-layer", "quantile", or with
	// NonPrivate "none". Quantile is the share of examples that clipping by quantile leaves unchanged.
	LearningRate, ClippingNorm float64
	Clipping                   string
	Quantile                   float64
	// Optimizer is "momentum" (the default), "sgd", "adam", "adam-wosm" or "adadp". Tolerance is the
	// largest error of a step of adadp; KeepAll keeps steps above it.
	Optimizer string
	Tolerance float64
	KeepAll   bool
	// Mechanism is "dp-sgd" (the default) or "banded": noise that is correlated over the steps, by Bands
	// coefficients (0 for the number with the least noise). With it, Lots is "poisson" (the default), which
	// samples within public groups of units that take turns, or "passes", where the groups are the lots and
	// sampling amplifies nothing.
	Mechanism, Lots string
	Bands           int
	// Schedule is "constant" (the default), "linear" or "cosine". Warmup is the share of the steps
	// over which the learning rate rises.
	Schedule string
	Warmup   float64
	// Average is the share of the last steps whose parameters are averaged: 0 means a quarter, a
	// negative number none. EMA is the decay of an exponential average instead.
	Average, EMA float64
	// Activation replaces the activations of the model. AsDrawn keeps activations and dropout that are
	// otherwise replaced under noise. TrainLast is the number of last layers to train, 0 for all.
	Activation string
	AsDrawn    bool
	TrainLast  int
	// FrontEnd lists transforms before the network: "dct:64", "scatter", "dp-pca:K" (which is charged).
	FrontEnd string
	// Extractor is a public network in ONNX through which images pass first. Pixels is its scale of pixels ("0..1",
	// the default, "-1..1", "0..255" or "imagenet"), and ExtractorOutput the value in it to use ("" for its
	// output). You are responsible for ensuring that it is public. Model may then be empty for a linear model.
	Extractor, Pixels, ExtractorOutput string
	// Public are public images of the same size and classes (a built-in name, a folder, or a file with PublicLabels)
	// on which the network is trained first, without noise. You are responsible for ensuring that they are public.
	Public, PublicLabels string
	// Augment is the number of variants of each image, whose gradients are averaged. Shift is their
	// largest shift in pixels (0 for the default, negative for none). Flip allows mirror images.
	Augment, Shift int
	Flip           bool
	// Features, Encoding ("thermometer" or "linear") and ScoreBy are for rows of a table.
	Features, Encoding, ScoreBy string
	// ClassWeights are as in Fit.
	ClassWeights map[string]float64
	// Memory is the working memory of a step, such as "500MB". It does not change the result.
	Memory string
	// NonPrivate trains without noise, and AsPublished allows a front end that uses rows
	// without charge: both on public data only and NOT PRIVATE.
	NonPrivate, AsPublished bool
	// Seed and Identity are as in Fit.
	Seed       *uint64
	Identity   Identity
	Checkpoint Checkpoint
}

// Checkpoint saves a training run that may be interrupted. Only the owner can read the file, since
// it holds the key of the noise. The file is erased when the run ends.
type Checkpoint struct {
	// File must be new. With Resume it is the file of an interrupted run, which continues at no cost
	// and with the same result.
	File   string
	Resume bool
	// Every is the time between two saves; 0 saves after every step.
	Every time.Duration
	// Outside is the folder of the released files, which must not contain File.
	Outside string
}

func (t Train) train() request.Train {
	return request.Train{Terms: terms(t.Budget, t.Identity, t.Seed), Model: t.Model, Activation: t.Activation, Preset: t.Preset, Target: t.Target,
		Optimizer: t.Optimizer, Mechanism: t.Mechanism, Lots: t.Lots, Bands: t.Bands, Clipping: t.Clipping, Memory: t.Memory, Schedule: t.Schedule, FrontEnd: t.FrontEnd,
		Extractor: t.Extractor, Pixels: t.Pixels, ExtractorOutput: t.ExtractorOutput, Public: t.Public, PublicLabels: t.PublicLabels,
		Noise: t.NoiseMultiplier, Rate: t.SamplingRate, Epochs: t.Epochs, LearningRate: t.LearningRate, ClippingNorm: t.ClippingNorm, Average: t.Average, EMA: t.EMA,
		Warmup: t.Warmup, Quantile: t.Quantile, Tolerance: t.Tolerance, Batch: t.Batch, Augment: t.Augment, Shift: t.Shift, TrainLast: t.TrainLast, Flip: t.Flip,
		NonPrivate: t.NonPrivate, AsDrawn: t.AsDrawn, AsPublished: t.AsPublished, KeepAll: t.KeepAll, Features: t.Features, Encoding: t.Encoding, ScoreBy: t.ScoreBy,
		Checkpoint: request.Checkpoint(t.Checkpoint), ClassWeights: maps.Clone(t.ClassWeights)}
}

func (t Train) request() request.Asked { r := t.train(); return &r }
