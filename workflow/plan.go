package workflow

import (
	"context"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/report"
)

// Stage is one step of a plan. Its event is fixed before data is read.
type Stage struct {
	Name  string
	Scope dp.Scope
	// Events are what the stage costs on Scope, or on the part of it that an event names; empty
	// for a stage that touches no sensitive row.
	Events []dp.Event
	What   string
}

// placed is an event of the stage with its scope.
func (s Stage) placed(e dp.Event) dp.Event {
	if part, ok := e.(dp.Scoped); ok {
		return part
	}
	return dp.Scoped{Scope: s.Scope, Event: e}
}

// Plan is a priced sequence of stages. Making one spends nothing, and running one
// changes nothing of it.
type Plan struct {
	Stages []Stage
	// Event is the composition of all stages, each on its scope.
	Event dp.Event
	// Price is the accountant's view of Event at the plan's delta. Epsilon is its
	// bound rounded up, a decimal that is at most what was asked.
	Price   accountant.Result
	Epsilon float64
	// Recipe is what a fit follows where the number of rows is public; of other jobs it
	// holds the rules only.
	Recipe advise.Recipe
	// SignalRatio is r = n/σ₁ for the training stage of a table's model, NaN elsewhere.
	SignalRatio float64
	Warnings    []string

	job        job
	problem    *problem
	trainScope dp.Scope
	scoreScope dp.Scope // not valid where the scored rows are public
	scoring    scoring
	// calibration are training rows that calibrate where the scored rows are public, or not valid.
	calibration dp.Scope
	countNoise  float64 // of a number of rows that is paid for, else 0
	// free: no row is looked at, and the ledger is not asked.
	free bool
}

// job is what a plan is for: a fit of a table's model, the training of a network, a search
// or a selection of features. Each is made with its plan, holds it, and is not changed after.
type job interface {
	describe() description
	// key is what the computation depends on beside the plan's own input.
	key() any
	// expected is the time that the trainings are expected to take, from public numbers.
	expected() time.Duration
	preflight(ctx context.Context) error
}

// modelJob is a job that makes a model, and scores it.
type modelJob interface {
	job
	run(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error
	// complete names the command in the statement and adds what the run released.
	complete(s *report.Statement, out *Outcome)
}

// description is what a job states before it runs.
type description struct {
	choice   report.Choice
	search   *report.Search // of a search, else nil
	features features
	// uncovered are sentences about what the claim does not cover.
	uncovered []string
	lots      bool   // Poisson lots are drawn
	sampling  string // in place of what lots says, "" for none
	// unprotected: no noise protects the rows, or they are looked at without paying.
	unprotected bool
	// asPublished: a published procedure is replayed that leaves choices unpaid. claimed is
	// what it claims, where it claims an epsilon; that is no guarantee.
	asPublished bool
	claimed     *float64
	warning     string // beside it
}

// features say how the attributes of a table are chosen.
type features struct {
	none  bool     // of networks, whose inputs are no attributes
	how   string   // "" for the plan's input
	among []string // nil for all attributes
	// columns of an encoding are chosen, of which none is left out by name.
	columns          bool
	unpaid, together bool
	stages           []string // the first of them that is booked pays for the choice
}

// newPlan is a plan without stages.
func newPlan(p *problem) *Plan {
	plan := &Plan{problem: p}
	plan.trainScope, plan.scoreScope = holdOut(p.Test, p.Rows)
	return plan
}

// holdOut divides the rows: where there is no public test set, some that choose nothing score.
func holdOut(test TestKind, rows int64) (train, score dp.Scope) {
	if test != HeldOut {
		return dp.WholeScope, dp.Scope{}
	}
	cut := 1 - heldOutShare(rows)
	return dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
}

// validationShare of the rows that train chooses, in stw and pafs.
const validationShare = 0.2

// heldOutShare is the share of rows that chooses nothing and scores, by the
// public number of rows. Small tables need more for an interval of any use.
func heldOutShare(rows int64) float64 {
	switch {
	case rows > 0 && rows < 1000:
		return 1.0 / 3
	case rows >= 100_000:
		return 0.1
	}
	return 0.2
}

// Expected is the time that training is expected to take, from public numbers.
func (plan *Plan) Expected() time.Duration { return plan.job.expected() }

// Preflight runs two training steps without noise on synthetic rows, and predicts with
// the result. It touches no data and spends nothing; it finds what would otherwise fail after
// the budget was charged.
func (plan *Plan) Preflight(ctx context.Context) error { return plan.job.preflight(ctx) }

// Relation is the one that the plan's guarantee is under.
func (plan *Plan) Relation() dp.Relation { return plan.problem.relation }

// Public says that the data set is public in the ledger.
func (plan *Plan) Public() bool { return plan.problem.Public }

// AsPublished says that the plan replays a published procedure that leaves choices
// unpaid; what it claims is no guarantee.
func (plan *Plan) AsPublished() bool { return plan.job.describe().asPublished }
