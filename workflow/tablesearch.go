package workflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/advise"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/learn"
	"pawl/model"
	"pawl/search"
	"pawl/space"
	"pawl/study"
)

// tableDimensions are what a point may say about a model of a table; factors multiply
// what the rules choose.
var tableDimensions = []string{"features", "learner", "encoding", "bins", "clipping_factor", "movement_factor", "regularization_factor"}

// tableSearch are the trials of a search among models of a table.
type tableSearch struct{ input Input }

// NewTableSearchPlan validates the input and prices the strategy. Errors are *UsageError
// or the accountant's.
func NewTableSearchPlan(in Input, settings SearchSettings) (*Plan, error) {
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	switch {
	case settings.AsPublished:
		return nil, usage("leave out --as-published", "no paper publishes a search over models of a table")
	case settings.Strategy.Kind == search.Public:
		return nil, usage("choose another strategy", "searching on other data is offered for images: tables seldom have the same columns")
	case in.Rows == 0:
		return nil, usage("declare rows: about N in the schema", "a search needs a public number of rows: its candidates follow from it")
	}
	if err := settings.check(in.Public); err != nil {
		return nil, err
	}
	for _, name := range settings.Space.Dimensions() {
		if !slices.Contains(tableDimensions, name) {
			return nil, usage("dimensions for tables: "+strings.Join(tableDimensions, ", "), "space %s: nothing reads dimension %s of a table", settings.Space.Name(), name)
		}
	}
	plan := &Plan{problem: p, trainScope: dp.WholeScope, SignalRatio: math.NaN()}
	if p.Test == HeldOut {
		cut := 1 - heldOutShare(p.Rows)
		plan.trainScope, plan.scoreScope = dp.Scope{Lower: 0, Upper: cut}, dp.Scope{Lower: cut, Upper: 1}
	}
	s := &tableSearch{in}
	plan.hunt = &hunt{SearchSettings: settings, trials: s}
	if err := plan.planHunt(); err != nil {
		return nil, err
	}
	plan.SignalRatio = plan.facts(float64(p.Rows)).SignalRatio()
	return plan, s.checkCandidates(plan)
}

// checkCandidates builds some candidates before anything is charged, and sees that what
// is booked for one training pays for each of them.
func (s *tableSearch) checkCandidates(plan *Plan) error {
	h, rng := plan.hunt, rand.New(rand.NewPCG(1, 2))
	for range sampleOfSpace {
		p, err := h.Space.Draw(rng)
		if err != nil {
			return err
		}
		_, learner, err := plan.learnerAt(p, h.scopes.Train, h.quote.Noise)
		if err != nil {
			return usage("leave it out of the space", "candidate %s: %v", p, err)
		}
		if !paidByGaussian(learner.Event(), h.quote.Noise) {
			return usage("leave the learner out of the space", "candidate %s: what %s costs has no bound by the one Gaussian release that every training of a search is booked as", p, learner.Name())
		}
	}
	return nil
}

// paidByGaussian says that an event is full-batch Gaussian releases of no more total
// precision than one of the multiplier.
func paidByGaussian(e dp.Event, noise float64) bool {
	count := 1.0
	if r, ok := e.(dp.Repeat); ok {
		count, e = float64(r.Count), r.Event
	}
	g, ok := e.(dp.Gaussian)
	return ok && count/(g.NoiseMultiplier*g.NoiseMultiplier) <= 1/(noise*noise)
}

func (s *tableSearch) noun() string { return "models" }

func (s *tableSearch) family(plan *Plan) search.Trial {
	return search.Trial{
		Train: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} },
		Score: plan.validationEvents,
	}
}

func (s *tableSearch) ready(*Plan, Env) error { return nil }

// learnerAt is the recipe and the learner of a point on a scope.
func (plan *Plan) learnerAt(p space.Point, scope dp.Scope, noise float64) (*Plan, learn.Learner, error) {
	one := *plan
	one.trainScope, one.noise, one.hunt = scope, noise, nil
	rows := float64(plan.problem.Rows)
	facts := one.facts(rows)
	facts.Learner = advise.Descent
	if name, ok := p.Text("learner"); ok {
		facts.Learner = advise.Learner(name)
	}
	switch name, _ := p.Text("features"); name {
	case "", "all":
	case "without-one-hot":
		if facts.Attributes = withoutOneHot(plan.problem.Schema, plan.problem.Target); facts.Attributes == nil {
			facts.Attributes = plan.problem.Features // no category to leave out
		}
	default:
		return nil, nil, fmt.Errorf("features %q: there are all and without-one-hot", name)
	}
	r, err := advise.Choose(facts)
	if err != nil {
		return nil, nil, err
	}
	if r.Learner == advise.Descent {
		r = r.Scaled(factor(p, "clipping_factor"), factor(p, "movement_factor"))
		r.SamplingRate = 1 // booked as one release
	}
	switch name, _ := p.Text("encoding"); name {
	case "":
	case "thermometer":
		if bins, ok := p.Int("bins"); ok {
			r.Encoding.Bins, r.Encoding.Linear = bins, false
		}
	case "linear":
		r.Encoding.Linear, r.Encoding.Crosses, r.Encoding.Bins = true, false, 0
	default:
		return nil, nil, fmt.Errorf("encoding %q: there are thermometer and linear", name)
	}
	one.Recipe = r
	l, err := one.learner(r, rows)
	if err != nil {
		return nil, nil, err
	}
	if o, ok := l.(*learn.OutputPerturbation); ok {
		o.Regularization *= factor(p, "regularization_factor")
	}
	return &one, l, nil
}

func factor(p space.Point, name string) float64 {
	if x, ok := p.Float(name); ok {
		return x
	}
	return 1
}

func (s *tableSearch) train(ctx context.Context, plan *Plan, env Env, permit *ledger.Permit, p space.Point, scope dp.Scope, noise float64, src *entropy.Source) (trained, error) {
	one, learner, err := plan.learnerAt(p, scope, noise)
	if err != nil {
		return trained{}, err
	}
	m, err := learner.Fit(ctx, permit, env.Rows, src)
	if err != nil {
		return trained{}, err
	}
	return trained{plan: one, model: m, learner: learner}, m.Validate()
}

func (s *tableSearch) work(plan *Plan, env Env) study.Work[space.Point, trained] {
	h := plan.hunt
	return study.Work[space.Point, trained]{
		Try: func(ctx context.Context, permit *ledger.Permit, p space.Point, src *entropy.Source) (trained, float64, error) {
			t, err := s.train(ctx, plan, env, permit, p, h.scopes.Train, h.quote.Noise, src.Split("train"))
			if err != nil {
				return t, 0, err
			}
			score := *plan
			score.validateScope, score.noise = h.scopes.Validate, h.quote.ScoreNoise
			value, err := score.validationScore(ctx, permit, env.Rows, t.model, src.Split("score"))
			return t, value, err
		},
		Finish: func(ctx context.Context, permit *ledger.Permit, p space.Point, src *entropy.Source) (trained, error) {
			noise := h.quote.Noise
			if h.quote.FinalNoise > 0 {
				noise = h.quote.FinalNoise
			}
			return s.train(ctx, plan, env, permit, p, h.scopes.Final, noise, src.Split("train"))
		},
	}
}

func (s *tableSearch) adopt(plan *Plan, winner trained, out *Outcome) {
	out.Model, out.Learner, out.Recipe = winner.model, winner.learner, winner.plan.Recipe
	plan.Recipe = out.Recipe
}

// unsearched runs the job of `pawl fit` on the same public data, booked by itself.
func (s *tableSearch) unsearched(ctx context.Context, _ *Plan, env Env, _ float64, _ *entropy.Source) (*float64, error) {
	plan, err := NewPlan(s.input)
	if err != nil {
		return nil, err
	}
	env.Study, env.Progress = nil, nil
	out, err := plan.Run(ctx, env)
	if err != nil {
		return nil, err
	}
	return out.Score.Exact, nil
}

func (s *tableSearch) ownKey() any { return nil }

// isRegression is said where a gain is a smaller error.
func (plan *Plan) isRegression() bool { return plan.problem.task == model.Regression }
