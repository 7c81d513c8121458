package workflow

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/data/encode"
	"pawl/data/schema"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
)

// Stage is one step of a plan. Its event is fixed before data is read.
type Stage struct {
	Name  string
	Scope dp.Scope
	// Events are what the stage costs on Scope; empty for a stage that touches no
	// sensitive row.
	Events []dp.Event
	What   string
}

// Plan is a priced sequence of stages. Making one spends nothing.
type Plan struct {
	Stages []Stage
	// Event is the composition of all stages, each on its scope.
	Event dp.Event
	// Price is the accountant's view of Event at the plan's delta. Epsilon is its
	// bound rounded up, a decimal that is at most what was asked.
	Price   accountant.Result
	Epsilon float64
	Recipe  advise.Recipe
	// SignalRatio is r = n/σ₁ for the training stage.
	SignalRatio float64
	Warnings    []string

	problem       *problem
	trainScope    dp.Scope
	validateScope dp.Scope // of a choice
	scoreScope    dp.Scope
	// noise is the multiplier of the one Gaussian release that training amounts
	// to; perStep that of each step when lots are sampled.
	noise, perStep float64
	scoreNoise     float64
	groupNoise     float64 // of scores by group
	countNoise     float64
	candidates     []candidate // of stw
	network        *network    // of a plan that trains a network
	hunt           *hunt       // of a plan that searches
	choosing       *choosing   // of a plan that selects features
}

const (
	// countShare of epsilon pays for the number of rows when it is private: noise
	// of 50/ε rows, which moves r = n/σ₁ by a few per cent where a model can be
	// trained at all.
	countShare = 0.02
	// meanRuns is the expected number of trainings of method pafs.
	meanRuns = 8
	// validationShare of the rows chooses, in stw and pafs.
	validationShare = 0.2
)

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

// NewPlan validates the input and prices the job. Errors are *UsageError unless
// the accountant failed.
func NewPlan(in Input) (*Plan, error) {
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	// An accountant may price steps a little above the one release that they amount
	// to and that calibration looked at: a grid's rounding adds up over the steps.
	// The target then moves down by that much.
	shave := 1e-9
	for range 4 {
		var plan *Plan
		var above *tooDearError
		if plan, err = p.plan(); !errors.As(err, &above) {
			return plan, err
		}
		e, _ := p.epsilon.Float64()
		p.margin = 1 - (1-p.margin)*e/above.epsilon*(1-shave)
		shave *= 100 // the price is not quite proportional to the target
	}
	return nil, err
}

// plan chooses and prices the stages of a valid problem.
func (p *problem) plan() (*Plan, error) {
	plan := &Plan{problem: p, trainScope: dp.WholeScope}
	if p.Test == HeldOut {
		cut := 1 - heldOutShare(p.Rows)
		plan.trainScope, plan.scoreScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
	}
	if p.Workflow == STW {
		cut := plan.trainScope.Upper * (1 - validationShare)
		plan.trainScope, plan.validateScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: plan.trainScope.Upper}
	}
	if p.Workflow == STW {
		// The choice is not paid for, so the final training may use its rows too.
		plan.trainScope.Upper = plan.validateScope.Upper
	}
	for _, step := range []func() error{plan.planCount, plan.planTraining, plan.planScore, plan.priceAll} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// target is what the plan may cost, a hair below what was asked so that rounding
// in calibration can never pass it.
func (p *problem) target() float64 {
	e, _ := p.epsilon.Float64()
	return e * (1 - 1e-12) * (1 - p.margin)
}

// tooDearError is a plan whose price is above what was asked.
type tooDearError struct {
	epsilon float64
	asked   string
}

func (e *tooDearError) Error() string {
	return fmt.Sprintf("pricing the plan: its epsilon %.9g is above the %s that was asked", e.epsilon, e.asked)
}

func (plan *Plan) countEvent() dp.Event {
	if plan.countNoise == 0 {
		return dp.NoOp{}
	}
	return dp.DiscreteLaplace{NoiseMultiplier: plan.countNoise}
}

func (plan *Plan) planCount() error {
	if plan.problem.Rows > 0 {
		return nil
	}
	if plan.problem.Schema.Rows.Kind != schema.RowsPrivate {
		return usage("", "the number of rows is declared public but was not given")
	}
	plan.countNoise = 1 / (countShare * plan.problem.target())
	plan.add("count", dp.WholeScope, "number of rows, with discrete Laplace noise; later rules read this number", plan.countEvent())
	return nil
}

func (plan *Plan) add(name string, scope dp.Scope, what string, events ...dp.Event) {
	plan.Stages = append(plan.Stages, Stage{Name: name, Scope: scope, Events: events, What: what})
}

// smallest returns the smallest noise at which the count and event(noise),
// together on one unit, cost at most what was asked.
func (plan *Plan) smallest(event func(noise float64) dp.Event) (float64, error) {
	p := plan.problem
	both := func(x float64) dp.Event {
		if plan.countNoise == 0 {
			return event(x)
		}
		return dp.Compose{Events: []dp.Event{plan.countEvent(), event(x)}}
	}
	x, _, err := accountant.Calibrate(accountant.Target{Epsilon: p.target(), Delta: p.delta}, p.relation, p.Accountant,
		accountant.Search{Event: both, Decreasing: true})
	if err != nil {
		return 0, usage("ask for a larger epsilon or delta", "no amount of noise meets epsilon %s at delta %s: %v", p.Epsilon, p.deltaText, err)
	}
	return plan.refine(x, both), nil
}

// refine spends what calibration left: it looks for a smaller noise, at most a
// thousandth below x, that still meets the target. Any failure keeps x.
func (plan *Plan) refine(x float64, event func(float64) dp.Event) float64 {
	p := plan.problem
	lo, hi := x*0.999, x
	for range 12 {
		mid := (lo + hi) / 2
		r, err := accountant.Epsilon(event(mid), p.relation, p.delta, p.Accountant)
		if err != nil || !(r.Epsilon <= p.target()) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func (plan *Plan) remaining() float64 {
	if plan.countNoise == 0 {
		return plan.problem.target()
	}
	return plan.problem.target() * (1 - countShare)
}

// trainingRows is the nominal number of rows in the training scope.
func (plan *Plan) trainingRows(rows float64) float64 { return rows * plan.trainScope.Fraction() }

func (plan *Plan) facts(rows float64) advise.Facts {
	p := plan.problem
	return advise.Facts{
		Schema: p.Schema, Target: p.Target, Task: p.task, Rows: plan.trainingRows(rows),
		NoiseMultiplier: plan.noise, Epsilon: plan.remaining(), Delta: p.delta,
		Preset: p.Preset, Attributes: p.Features, Learner: advise.Learner(p.Model),
	}
}

func (plan *Plan) planTraining() (err error) {
	p := plan.problem
	if p.delta > 0 {
		if plan.noise, err = plan.smallest(plan.trainingEvent); err != nil {
			return err
		}
	}
	if p.Rows == 0 {
		return plan.planUnknownRows()
	}
	facts := plan.facts(float64(p.Rows))
	plan.SignalRatio = facts.SignalRatio()
	if plan.Recipe, err = advise.Choose(facts); err != nil {
		return usage("use --model auto", "%v", err)
	}
	plan.Recipe = plan.binned(plan.Recipe, float64(p.Rows))
	if p.Workflow == STW {
		if plan.Recipe.Learner != advise.Descent {
			return usage("use --workflow paw: "+plan.Recipe.Rules[0].Rule, "there is nothing to choose at r = %.3g", plan.SignalRatio)
		}
		if plan.candidates, err = plan.listCandidates(facts); err != nil {
			return err
		}
	}
	learner, err := plan.learner(plan.Recipe, float64(p.Rows))
	if err != nil {
		return err
	}
	if plan.Recipe.SamplingRate > 0 && plan.Recipe.SamplingRate < 1 {
		if learner, err = plan.sampled(learner); err != nil {
			return err
		}
	}
	if p.Workflow == STW {
		plan.add("choose", plan.validateScope, fmt.Sprintf("best of %d candidates by exact accuracy on public rows; not paid for", len(plan.candidates)))
	}
	event := learner.Event()
	if p.Workflow == STW {
		// The steps follow from the choice; every full-batch descent that amounts to
		// this release is paid for by it.
		event = dp.Gaussian{NoiseMultiplier: plan.noise}
	}
	plan.add("train", plan.trainScope, learner.Name(), event)
	return nil
}

// trainingEvent is what training with one Gaussian release of multiplier x, or
// steps that amount to it, costs.
func (plan *Plan) trainingEvent(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} }

// planUnknownRows books a training whose steps will follow from the released
// count: every full-batch descent that amounts to one Gaussian of the booked
// multiplier has the same guarantee.
func (plan *Plan) planUnknownRows() error {
	p := plan.problem
	if p.Workflow == STW {
		return usage("declare rows: in the schema", "workflow stw needs a public number of rows")
	}
	switch {
	case p.delta == 0:
		return usage("declare rows: about N in the schema, or give a delta above 0", "pure epsilon needs a public number of rows")
	case p.Model != "" && p.Model != string(advise.Descent):
		return usage("declare rows: about N in the schema", "model %q needs a public number of rows", p.Model)
	}
	plan.SignalRatio = math.NaN()
	plan.Recipe = advise.Recipe{Learner: advise.Descent, Useful: true, SamplingRate: 1, Rules: []advise.Rule{{
		Rule:     "recipe follows from the released number of rows",
		Because:  "the schema keeps the number of rows private",
		Evidence: "the guarantee of full-batch descent depends on its total noise only",
		Changes:  "declaring rows: about N saves the budget of the count",
	}}}
	plan.add("train", plan.trainScope, "linear model by noisy gradient descent", dp.Gaussian{NoiseMultiplier: plan.noise})
	return nil
}

// learner builds the learner of a recipe for a nominal number of rows.
func (plan *Plan) learner(r advise.Recipe, rows float64) (learn.Learner, error) {
	p := plan.problem
	scale := p.scale
	scale.Log = r.LogTarget
	task := learn.Task{Schema: p.Schema, Target: p.Target, Kind: p.task, Scale: scale, Scope: plan.trainScope, ExpectedRows: plan.trainingRows(rows)}
	s := learn.Settings{Task: task, NoiseMultiplier: plan.noise, Epsilon: plan.remaining(), Delta: p.delta, Ratio: plan.facts(rows).SignalRatio(),
		ClippingNorm: r.ClippingNorm, Steps: r.Steps, LearningRate: r.LearningRate, Momentum: r.Momentum}
	var err error
	if s.Encoding, err = encode.New(p.Schema, p.Target, plan.binned(r, rows).Encoding); err != nil {
		return nil, usage("", "%v", err)
	}
	return learn.KindOf(string(r.Learner)).New(s), nil
}

// binned is r with the bins that its learner wants for a nominal number of rows.
func (plan *Plan) binned(r advise.Recipe, rows float64) advise.Recipe {
	if bins := learn.KindOf(string(r.Learner)).Bins; bins != nil {
		r.Encoding.Bins = bins(plan.problem.task, plan.facts(rows).SignalRatio())
	}
	return r
}

// sampled turns a full-batch run whose rows do not fit the time into Poisson lots
// and calibrates its steps anew.
func (plan *Plan) sampled(l learn.Learner) (learn.Learner, error) {
	d := l.(*learn.Descent)
	d.SamplingRate = plan.Recipe.SamplingRate
	x, err := plan.smallest(func(x float64) dp.Event {
		d.NoiseMultiplier = x
		return d.Event()
	})
	if err != nil {
		return nil, err
	}
	d.NoiseMultiplier, plan.perStep = x, x
	plan.Recipe.Rules = append(plan.Recipe.Rules, advise.Rule{
		Rule:     fmt.Sprintf("Poisson lots: every row joins a step with probability %.3g", d.SamplingRate),
		Because:  "full-batch steps over so many rows do not fit the time of the preset",
		Evidence: "sampling changes the noise by its own account and nothing else",
		Changes:  "--preset thorough",
	})
	return d, nil
}

func (plan *Plan) planScore() error {
	p := plan.problem
	if p.Test != HeldOut {
		what := "exact score on a public test file"
		if p.Test == Official {
			what = "exact score on the official public test set"
		}
		plan.add("score", dp.Scope{}, what)
		return plan.planGroups()
	}
	if err := plan.calibrateScore(); err != nil {
		return err
	}
	plan.add("score", plan.scoreScope, "score and baseline on rows that chose nothing, from one noisy table of counts", plan.scoreEvents(plan.scoreNoise)...)
	return plan.planGroups()
}

// scoreEvents splits a score's budget: a regression first pays a fifth for the
// mean that its baseline predicts.
func (plan *Plan) scoreEvents(x float64) []dp.Event {
	switch {
	case plan.problem.delta == 0:
		return []dp.Event{dp.DiscreteLaplace{NoiseMultiplier: x}}
	case plan.problem.task == model.Regression:
		return plan.absoluteError(x).Events()
	}
	return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}}
}

func (plan *Plan) priceAll() error {
	p := plan.problem
	var events []dp.Event
	for _, s := range plan.Stages {
		for _, e := range s.Events {
			events = append(events, dp.Scoped{Scope: s.Scope, Event: e})
		}
	}
	plan.Event = dp.Compose{Events: events}
	price, err := accountant.Epsilon(plan.Event, p.relation, p.delta, p.Accountant)
	if err != nil {
		return fmt.Errorf("pricing the plan: %w", err)
	}
	shown, ok := roundUp(price.Epsilon, p.epsilon)
	if !ok {
		return &tooDearError{price.Epsilon, p.Epsilon}
	}
	plan.Price, plan.Epsilon, plan.Warnings = price, shown, p.warnings
	return nil
}

// roundUp rounds ε up to six decimals, or to what was asked when that is less
// and still an upper bound. It reports whether the result is at most asked, as
// decimals.
func roundUp(epsilon float64, asked *big.Rat) (float64, bool) {
	exact := new(big.Rat)
	if exact.SetFloat64(epsilon) == nil || exact.Cmp(asked) > 0 {
		return epsilon, false
	}
	million := big.NewRat(1_000_000, 1)
	scaled := new(big.Rat).Mul(exact, million)
	up := new(big.Int).Div(scaled.Num(), scaled.Denom())
	if new(big.Rat).SetInt(up).Cmp(scaled) < 0 {
		up.Add(up, big.NewInt(1))
	}
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(up), million)
	if rounded.Cmp(asked) > 0 {
		rounded = asked
	}
	f, _ := rounded.Float64()
	return f, true
}

// Expected is the time that training is expected to take, from public numbers.
func (plan *Plan) Expected() time.Duration {
	if h := plan.hunt; h != nil {
		return h.expected(plan)
	}
	if n := plan.network; n != nil {
		// Six operations per parameter and use, at a speed that two cores exceed.
		work := 6 * float64(n.steps) * float64(n.Batch) * float64(n.uses())
		return time.Duration(work / 60e9 * float64(time.Second))
	}
	if c := plan.choosing; c != nil {
		return c.expected(plan)
	}
	r := plan.Recipe
	rows := plan.trainingRows(float64(max(plan.problem.Rows, 10_000)))
	runs := 1.0
	if plan.problem.Workflow == STW {
		runs = float64(len(plan.candidates)) + 1
	}
	rate := max(r.SamplingRate, 0.01)
	seconds := runs * float64(max(r.Steps, 1)) * rows * rate * float64(len(plan.problem.Schema.Columns)) * 4e-9
	return time.Duration(seconds * float64(time.Second))
}
