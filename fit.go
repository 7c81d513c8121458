package pawl

import (
	"context"
	"maps"
	"strconv"

	"pawl/data/source"
	"pawl/evidence/quality"
	"pawl/internal/request"
)

// Job is a [Fit], a [Train], a [Search], a [Select] or a [Describe].
type Job interface {
	request() request.Asked
}

// Budget is the most that a job may cost, everything included. Amounts are decimal texts, because
// the ledger records them exactly.
type Budget struct {
	// Epsilon is above 0 and at most 1e6; 10 or more protects little.
	Epsilon string
	// Delta lies in [0, 1). "" is the delta of the data set's budget in the ledger, or without a budget the
	// largest power of ten up to 1/(10·rows); "0" requests pure epsilon. A delta of 1/rows or more needs AllowLargeDelta.
	Delta           string
	AllowLargeDelta bool
	// Accountant is "min" (the default: the smallest valid bound), "pld" or "rdp".
	Accountant string
	// Anyway runs a job that public rules call hopeless, and the statement records it. Otherwise
	// such a job is refused with [ErrHopeless].
	Anyway bool
}

// Identity declares whose rows a file holds if it resembles a sensitive data set of the ledger. The
// zero value suits all other files.
type Identity struct {
	// SameAs names the data set in the ledger of which this file is another form. That data set's
	// budget is charged.
	SameAs string
	// Different declares that the file holds other units. Reason, required with it, explains why;
	// the ledger and every statement record it.
	Different bool
	Reason    string
	// Updated accepts that the file has changed since it was last used.
	Updated bool
	// Ask is called if neither SameAs nor Different is given and the file resembles the data set alike. It
	// returns the reason why the two differ, "" to refuse the job, or ErrSame. A nil Ask refuses the job.
	Ask func(ctx context.Context, alike string) (reason string, err error)
}

func terms(b Budget, i Identity, seed *uint64) request.Terms {
	t := request.Terms{Epsilon: b.Epsilon, Delta: b.Delta, Accountant: b.Accountant, AllowLargeDelta: b.AllowLargeDelta, Anyway: b.Anyway,
		Updated: i.Updated, Copies: source.Copies{SameAs: i.SameAs, Different: i.Different, Reason: i.Reason, Ask: i.Ask}}
	if seed != nil {
		t.Seed = strconv.FormatUint(*seed, 10)
	}
	return t
}

// Decision chooses the threshold of a classifier of two classes from its released score, at no
// cost. Give a threshold, a recall or costs, not several of them. They refer to the second class in
// the order of the schema: true for a boolean, the last of two categories.
type Decision struct {
	// Threshold, within (0, 1), is the smallest probability of the second class at which it is
	// predicted.
	Threshold float64
	// Recall, within (0, 1), is the share of the second class to be found.
	Recall float64
	// FalseNegative and FalsePositive, above 0, are the costs of missing a row of the second class
	// and of a false alarm. Give both or neither.
	FalseNegative, FalsePositive float64
}

// Fit trains and scores the best model that the budget can buy. Recipe, encoding and noise follow from
// public facts. For images it trains a linear model on data-free features, or a network by name.
type Fit struct {
	// Target is the column to predict; "" is the target of a built-in data set.
	Target string
	Budget Budget
	// Preset is "quick", "balanced" (the default) or "thorough". It changes the running time, not
	// epsilon.
	Preset string
	// Model is "auto" (the default) or one of [Learners]; for images "linear" or
	// the name of a network.
	Model string
	// Features is "auto" (the default), "all", a list of columns and levels separated by commas, or
	// a JSON file of a selection; for images "scatter" or "all".
	Features string
	// ClassWeights are public factors on the losses of the classes, by name; classes without one
	// have 1. They are never computed from the data.
	ClassWeights map[string]float64
	// TargetScale is "auto" (the default), "linear" or "log": the scale on which a model of a numeric
	// target is trained. Predictions and scores are in the target's own units.
	TargetScale string
	// Monotone names columns whose effect on the prediction may only rise (1) or fall (−1).
	Monotone map[string]int
	// Decision sets how a classifier of two classes turns probabilities into labels; the zero
	// value predicts the class of the higher score.
	Decision Decision
	// Workflow is "paw" (the default), or "stw": choose without charge, on public data only.
	Workflow string
	// ScoreBy names a categorical column. Each of its groups is scored too, with part of the
	// score's budget.
	ScoreBy string
	// Public is a public table with the same columns, or public images, to train on first without noise. Extractor,
	// Pixels, ExtractorOutput and PublicLabels are as in [Train], for images. Flip declares that the mirror image
	// of an image has the same class: true for photographs, false for digits. For built-in images it is known.
	Extractor, Pixels, ExtractorOutput string
	Public, PublicLabels               string
	Flip                               bool
	// Search adds a private search around the recommended settings, within the budget.
	Search bool
	// Seed runs a simulation with predictable noise. Every output is marked NOT PRIVATE, and the
	// job is charged all the same.
	Seed     *uint64
	Identity Identity
	// Checkpoint saves the training run of a fit of images.
	Checkpoint Checkpoint
}

func (f Fit) fit() request.Fit {
	return request.Fit{Terms: terms(f.Budget, f.Identity, f.Seed), Target: f.Target, Preset: f.Preset, Workflow: f.Workflow, Model: f.Model, Features: f.Features, ScoreBy: f.ScoreBy,
		Search: f.Search, Extractor: f.Extractor, Pixels: f.Pixels, ExtractorOutput: f.ExtractorOutput, Public: f.Public, PublicLabels: f.PublicLabels, Flip: f.Flip,
		ClassWeights: maps.Clone(f.ClassWeights), TargetScale: f.TargetScale, Monotone: maps.Clone(f.Monotone), Decision: quality.Decision(f.Decision), Checkpoint: request.Checkpoint(f.Checkpoint)}
}

func (f Fit) request() request.Asked { r := f.fit(); return &r }
