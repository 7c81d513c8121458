package pawl

import (
	"context"
	"maps"
	"strconv"

	"pawl/data/source"
	"pawl/evidence/quality"
	"pawl/internal/request"
)

// Job is what can be planned: a [Fit], a [Train], a [Search], a [Select] or a [Describe].
type Job interface {
	// plan prices the job; as replaces its identity.
	plan(context.Context, *request.Desk, *source.Data) (*request.Job, error)
	as(sameAs string) Job
}

// Budget is what a job may cost, everything included. Amounts are decimals as text, because
// they are booked exactly.
type Budget struct {
	// Epsilon is above 0 and at most 1e6; 10 and more is little protection.
	Epsilon string
	// Delta lies in [0, 1). "" is that of the data set's budget in the ledger, or without one the
	// largest power of ten up to 1/(10·rows); "0" asks for pure epsilon. A delta of 1/rows or more needs AllowLargeDelta.
	Delta           string
	AllowLargeDelta bool
	// Accountant is "min" (the default: the smallest valid bound), "pld" or "rdp".
	Accountant string
	// Anyway runs a job that public rules call hopeless, which is refused as [ErrHopeless]
	// otherwise; the statement says so.
	Anyway bool
}

// Identity says whose rows a file holds that resembles a sensitive data set of the ledger. The
// zero value is right for everything else.
type Identity struct {
	// SameAs names the data set of the ledger that this is in another form; its budget is
	// charged.
	SameAs string
	// Different says that it holds other units. Reason says why: the ledger and every statement
	// keep it.
	Different bool
	Reason    string
	// Updated says that the bytes changed on purpose since they were last used.
	Updated bool
	// Ask is asked where neither is given and the file resembles another: it returns why they
	// are different, "" to be refused, or ErrSame. Without it the job is refused.
	Ask func(ctx context.Context, alike string) (reason string, err error)
}

func (i Identity) copies() source.Copies {
	return source.Copies{SameAs: i.SameAs, Different: i.Different, Reason: i.Reason, Ask: i.Ask}
}

// Decision chooses the threshold of a classifier of two classes, at no cost, from what its score
// releases. One wish at most is given. The second class in the order of the schema is the one
// that is looked for: true of a boolean, the last of two categories.
type Decision struct {
	// Threshold, within (0, 1), is the smallest probability of the second class at which it is
	// predicted.
	Threshold float64
	// Recall, within (0, 1), is the share of the second class to be found.
	Recall float64
	// FalseNegative and FalsePositive, above 0, are what a missed row of the second class, and a
	// false alarm, cost. Both are given or none.
	FalseNegative, FalsePositive float64
}

// Fit asks for the best model that the budget can buy: recipe, encoding and noise follow from
// public facts. Images have data-free features under a linear model, or a network by name.
type Fit struct {
	// Target is the column to predict; "" for that of a built-in data set.
	Target string
	Budget Budget
	// Preset is "quick", "balanced" (the default) or "thorough": time, never epsilon.
	Preset string
	// Model is "auto" (the default), "linear", "ebm" or another learner; of images "linear" or
	// the name of a network.
	Model string
	// Features is "auto" (the default), "all", columns and levels with commas between them, or
	// a JSON file of a selection; of images "scatter" or "all".
	Features string
	// ClassWeights are public factors on the losses of the classes, by name; 1 for the others.
	// They are never computed from the data.
	ClassWeights map[string]float64
	// TargetScale is "auto" (the default), "linear" or "log": the scale on which a model of a
	// number is trained. Predictions and scores are in the target's own units.
	TargetScale string
	// Monotone names columns whose effect on the prediction may only rise (1) or fall (−1).
	Monotone map[string]int
	// Decision says how a classifier of two classes turns probabilities into labels; the zero
	// value takes the class of the higher score.
	Decision Decision
	// Workflow is "paw" (the default), or "stw": choose without paying, on public data only.
	Workflow string
	// ScoreBy names a categorical column whose groups are scored one by one, paid from the
	// score's share.
	ScoreBy string
	// Search pays for a private search around what the rules choose.
	Search bool
	// Seed makes a simulation: noise can be predicted, every output says NOT PRIVATE, and the
	// charge is booked all the same.
	Seed     *uint64
	Identity Identity
	// Checkpoint keeps the training of a network of images.
	Checkpoint Checkpoint
}

func (f Fit) request() request.Fit {
	return request.Fit{Target: f.Target, Epsilon: f.Budget.Epsilon, Delta: f.Budget.Delta, AllowLargeDelta: f.Budget.AllowLargeDelta, Anyway: f.Budget.Anyway,
		Accountant: f.Budget.Accountant, Preset: f.Preset, Workflow: f.Workflow, Model: f.Model, Features: f.Features, ScoreBy: f.ScoreBy, Search: f.Search,
		ClassWeights: maps.Clone(f.ClassWeights), TargetScale: f.TargetScale, Monotone: maps.Clone(f.Monotone), Decision: quality.Decision(f.Decision), Seed: seed(f.Seed), Updated: f.Identity.Updated, Copies: f.Identity.copies(), Checkpoint: f.Checkpoint.request()}
}

func (f Fit) plan(ctx context.Context, d *request.Desk, data *source.Data) (*request.Job, error) {
	if err := f.Checkpoint.sound(); err != nil {
		return nil, err
	}
	r := f.request()
	return d.Fit(ctx, data, &r)
}

func (f Fit) as(sameAs string) Job { f.Identity.SameAs = sameAs; return f }

func seed(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}
