package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"pawl/core/dp"
	"pawl/core/identity"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/release"
	"pawl/data/images"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
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
	// Prints recognise the data in another form; Different says which sensitive data sets
	// they, or test rows, resemble and are not.
	Prints    []*identity.Print
	Different []ledger.Difference
	Progress  Progress
	// Other holds the public rows that a search on other data looks at.
	Other *intake.Rows
	// Study keeps a search that may be interrupted; Workers bounds its trainings side by
	// side.
	Study   *study.Folder
	Workers int
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
	Found   *Found
	Score   Score
	Receipt ledger.Receipt
	// Components is what became of a net's principal components, nil without any.
	Components *Components
	// Seeded says that the ledger booked the run as a simulation: NOT PRIVATE.
	Seeded bool
	booked booked
}

// Score is a released or exact score in the units of the report.
type Score struct {
	// Value and Baseline are NaN where nothing can be said. Their intervals hold what they
	// are in the population, in 95 % of cases: see release.AccuracyScore and
	// release.ErrorScore, and byUnit for exact scores.
	Value, Baseline            float64
	Interval, BaselineInterval [2]float64
	Exact, ExactBaseline       *float64 // public rows only
	AUROC                      *float64 // public rows only
	Groups                     []GroupScore
	How                        string
	// losses are those of public rows, in order.
	losses byUnit
}

// Reserve books the plan in the ledger. Nothing has touched the rows before it,
// and a crash after it leaves the plan charged.
func (plan *Plan) reserve(ctx context.Context, env Env) (*ledger.Permit, ledger.Receipt, error) {
	q, err := plan.request(env)
	if err != nil {
		return nil, ledger.Receipt{}, err
	}
	return env.Ledger.Reserve(ctx, q)
}

// request is what the ledger is asked for.
func (plan *Plan) request(env Env) (q ledger.Request, err error) {
	p := plan.problem
	names := make([]string, len(plan.Stages))
	for i, s := range plan.Stages {
		names[i] = s.Name
	}
	q = ledger.Request{
		Dataset: p.Dataset, Plan: plan.digest(env.Digest), Event: plan.Event, Stages: names, Relation: p.relation,
		Unit: p.Schema.Unit.Name, RowsPerUnit: p.Schema.Unit.MaxRows, UnitColumn: p.Schema.Unit.Column, Epsilon: p.Epsilon, Delta: p.deltaText,
		Public: p.Public, Rows: env.Rows, Digest: env.Digest, Updated: env.Updated, Seed: p.Seed, Prints: env.Prints, Different: env.Different,
	}
	if p.Seed == nil {
		q.Replay, err = plan.replay(env)
	}
	return q, err
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
		ScoreBy                                                                    string `json:",omitempty"`
	}{p.Dataset, p.Target, p.Epsilon, p.deltaText, string(p.Test), string(p.Workflow), string(p.Preset), p.Model, string(p.Accountant),
		p.Features, plan.ownKey(), p.Rows, p.Schema, data, p.ScoreBy})
	if err != nil {
		panic(err) // strings, numbers and lists always marshal
	}
	return sha256.Sum256(declared)
}

// Run reserves the plan, runs its stages and commits. When a stage fails or ctx
// ends after rows were opened, the reservation stays charged and nothing is
// released; before that it is cancelled. An *UnconfirmedError comes with the outcome, to
// be held back.
func (plan *Plan) Run(ctx context.Context, env Env) (*Outcome, error) {
	if plan.problem.Test != HeldOut && len(env.Test) == 0 && (env.Images == nil || env.Images.Len() == 0) {
		return nil, usage("", "the test file has no rows")
	}
	out := &Outcome{Plan: plan, Recipe: plan.Recipe}
	var err error
	out.Receipt, err = plan.charged(ctx, env, func(permit *ledger.Permit) error {
		if err := out.booked.keep(env.Ledger, permit); err != nil {
			return err
		}
		return plan.stages(ctx, env, permit, out)
	})
	out.Seeded = out.Receipt.NotPrivate
	if unconfirmed := (*UnconfirmedError)(nil); err != nil && !errors.As(err, &unconfirmed) {
		return nil, err
	}
	return out, err
}

// charged reserves the plan, runs work on the permit, and commits. When work fails
// after rows were opened the reservation stays charged; before that it is cancelled.
func (plan *Plan) charged(ctx context.Context, env Env, work func(*ledger.Permit) error) (receipt ledger.Receipt, err error) {
	if err := plan.begin(env); err != nil {
		return receipt, err
	}
	permit, receipt, err := plan.reserve(ctx, env)
	if errors.Is(err, ledger.ErrRefused) || errors.Is(err, ledger.ErrInvalid) {
		// Any other error may have come after the booking: the key is kept.
		return receipt, errors.Join(err, env.Checkpoint.Forget())
	}
	if err != nil {
		return receipt, err
	}
	if err := plan.suits(receipt); err != nil {
		return receipt, errors.Join(err, env.Ledger.Cancel(context.WithoutCancel(ctx), permit), env.Checkpoint.Forget())
	}
	if err := work(permit); err != nil {
		// The stages' own context may have ended; settling must not depend on it.
		if !permit.Opened() {
			return receipt, errors.Join(err, env.Ledger.Cancel(context.WithoutCancel(ctx), permit), env.Checkpoint.Forget())
		}
		return receipt, fmt.Errorf("%w (the rows were opened, so the budget stays charged: entry %s)", err, receipt.ID)
	}
	if err := env.Ledger.Commit(context.WithoutCancel(ctx), permit); err != nil {
		return receipt, &UnconfirmedError{receipt.ID, err}
	}
	// Read again through the address: what is open may be a file that is gone.
	if err := env.Ledger.Confirm(context.WithoutCancel(ctx), permit); err != nil {
		return receipt, &UnconfirmedError{receipt.ID, err}
	}
	return receipt, nil
}

func (plan *Plan) stages(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	p := plan.problem
	nominal := float64(p.Rows)
	if plan.hunt != nil && plan.network == nil {
		if err := plan.seek(ctx, env, permit, out); err != nil {
			return err
		}
		env.Progress.step("score", 0, 0)
		return plan.scoreStage(ctx, env, permit, out)
	}
	if plan.network != nil {
		var err error
		if plan.hunt != nil {
			err = plan.seek(ctx, env, permit, out)
		} else {
			err = plan.trainNetwork(ctx, env, permit, permit.Randomness("train"), out)
		}
		if err != nil {
			return err
		}
		if err := out.Model.Validate(); err != nil {
			// The same numbers would come again.
			return errors.Join(fmt.Errorf("training diverged (a smaller --learning-rate may help): %w", err), env.Checkpoint.Erase())
		}
		env.Progress.step("score", 0, 0)
		return plan.scoreNetwork(ctx, env, permit, out)
	}
	if p.Rows == 0 {
		env.Progress.step("count", 0, 0)
		n, err := release.Count{Scope: dp.WholeScope, NoiseMultiplier: plan.countNoise}.Release(ctx, permit, env.Rows)
		if err != nil {
			return err
		}
		// Zero or fewer rows is the noise's doing; the rules need a positive number.
		n = max(n, 1)
		out.Rows, nominal = &n, float64(n)
	}
	if err := plan.train(ctx, env, permit, nominal, out); err != nil {
		return err
	}
	if err := out.Model.Validate(); err != nil {
		return fmt.Errorf("training diverged: %w", err)
	}
	env.Progress.step("score", 0, 0)
	return plan.scoreStage(ctx, env, permit, out)
}
