package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/images"
	"pawl/evidence/advise"
	"pawl/evidence/quality"
	"pawl/learn"
	"pawl/model"
	"pawl/search/fleet"
	"pawl/search/study"
	"pawl/workflow/checkpoint"
)

// Progress is told which stage runs and, where that number is public, how many of
// its steps are done. It may be nil.
type Progress func(stage string, done, steps int)

func (p Progress) step(stage string, done, steps int) {
	if p != nil {
		p(stage, done, steps)
	}
}

// Env is what a run needs beside its plan.
type Env struct {
	Ledger *ledger.Ledger
	Rows   *intake.Rows
	// Test holds the rows of a public test file, parsed by the schema; Images those
	// of a network's. A test row's cell in the unit column tells whose it is: rows of one
	// unit have the same number there, NaN where that is not known.
	Test   [][]float64
	Images *images.Set
	// Digest is the ledger's keyed digest of the file; Updated says that a change
	// of bytes is meant.
	Digest  []byte
	Updated bool
	// Different says which sensitive data sets the rows, or test rows, resemble and are not.
	Different []ledger.Difference
	Progress  Progress
	// Other holds the public rows that a search on other data looks at, or on which a
	// network or a model of a table is trained first.
	Other *intake.Rows
	// Study keeps a search that may be interrupted; Workers bounds its trainings side by
	// side.
	Study   *study.Folder
	Workers int
	// Fleet runs the trainings of a search on other machines, where it is not nil.
	Fleet *fleet.Remote
	// Checkpoint keeps a training that may be interrupted, of this version of the
	// Software.
	Checkpoint *checkpoint.File
	Software   string
}

// Outcome is what a run released.
type Outcome struct {
	Plan    *Plan
	Model   *model.Model
	Learner learn.Learner
	// Recipe is the one that was followed.
	Recipe advise.Recipe
	// Rows is the released number of rows when it was paid for.
	Rows *int64
	// Winner names the candidate of a search or of stw.
	Winner string
	Chosen *float64 // the winner's validation score: used for choosing
	// Found is what a search shows beside.
	Found *Found
	Score Score
	// Components is what became of a net's principal components, nil without any.
	Components *Components
	// network is the training that made the model of a network; norm is the clipping norm of
	// its last step, where that follows a quantile.
	network *training
	norm    float64
	// warnings are about the run, not about the plan.
	warnings []string
	// Of a released score of two classes: how scores spread, and the raw scores above which the
	// halves are labelled as of the second class.
	spread quality.Fine
	cuts   [2]float64
	Booking
}

// Score is a released or exact score in the units of the report.
type Score struct {
	// Value and Baseline are NaN where nothing can be said. Their intervals hold what they
	// are in the population, in 95 % of cases: see release.AccuracyScore and
	// release.ErrorScore, and byUnit for exact scores.
	Value, Baseline            float64
	Interval, BaselineInterval [2]float64
	Exact, ExactBaseline       *float64 // public rows only
	// Gain is over the best constant on the same rows: how many more are right, or by how much
	// errors are smaller.
	Gain quality.Estimate
	// Classes and Numbers are further scores of a classification and a regression.
	Classes *quality.Classification
	Numbers *quality.Regression
	// AUROC is exact, of public rows only.
	AUROC  *quality.Estimate
	Groups []GroupScore
	How    string
	// losses are those of public rows, in order.
	losses byUnit
}

// digest names the computation: everything that its output depends on but the
// randomness. Two plans of equal digest on equal bytes differ by noise only.
func (plan *Plan) digest(data []byte) string {
	sum := plan.wholeDigest(data)
	return hex.EncodeToString(sum[:8])
}

// wholeDigest is digest in full, for what must not be mistaken for another plan.
func (plan *Plan) wholeDigest(data []byte) [sha256.Size]byte {
	p := plan.problem
	declared, err := json.Marshal(struct {
		Dataset, Target, Epsilon, Delta, Test, Workflow, Preset, Model, Accountant string
		Features                                                                   []string
		Network                                                                    any
		Rows                                                                       int64
		Schema                                                                     any
		Data                                                                       []byte
		ScoreBy                                                                    string             `json:",omitempty"`
		ClassWeights                                                               map[string]float64 `json:",omitempty"`
		TargetScale                                                                string             `json:",omitempty"`
		Monotone                                                                   map[string]int     `json:",omitempty"`
		AsPublished                                                                bool               `json:",omitempty"`
		Decision                                                                   *quality.Decision  `json:",omitempty"`
		Calibrate                                                                  bool               `json:",omitempty"`
		Teacher                                                                    *PublicSet         `json:",omitempty"`
	}{p.Dataset, p.Target, p.Epsilon, p.deltaText, string(p.Test), string(p.Workflow), string(p.Preset), p.Model, string(p.Accountant),
		p.Features, plan.job.key(), p.Rows, p.Schema, data, p.ScoreBy, p.ClassWeights, p.TargetScale, p.Monotone, p.AsPublished, p.decisionKey(), p.Calibrate, p.Teacher})
	if err != nil {
		panic(err) // strings, numbers and lists always marshal
	}
	return sha256.Sum256(declared)
}

// Run reserves the plan, runs its stages and commits. When a stage fails or ctx
// ends after rows were opened, the reservation stays charged and nothing is
// released; before that it is cancelled. An *UnconfirmedError comes with the outcome, to
// be held back. A selection of features is run by Choose.
func (plan *Plan) Run(ctx context.Context, env Env) (*Outcome, error) {
	j, ok := plan.job.(modelJob)
	if !ok {
		return nil, errors.New("workflow: a selection of features makes no model; Choose runs it")
	}
	if plan.problem.Test != HeldOut && len(env.Test) == 0 && (env.Images == nil || env.Images.Len() == 0) {
		return nil, usage("", "the test file has no rows")
	}
	if plan.problem.Teacher != nil && env.Other == nil {
		return nil, usage("", "the public rows are missing")
	}
	out := &Outcome{Plan: plan, Recipe: plan.Recipe}
	err := plan.charge(ctx, env, &out.Booking, func(permit *ledger.Permit) error { return j.run(ctx, env, permit, out) })
	if err != nil && !unconfirmed(err) {
		return nil, err
	}
	return out, err
}
