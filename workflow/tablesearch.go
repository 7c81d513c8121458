package workflow

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"pawl/search"
	"pawl/search/space"
	spacetable "pawl/search/space/table"
	"pawl/search/study"
)

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
	case settings.Strategy.Kind == search.STW:
		return nil, usage("pawl fit --workflow stw", "strategy stw is offered for images")
	case settings.Strategy.Kind == search.Public:
		return nil, usage("choose another strategy", "searching on other data is offered for images: tables seldom have the same columns")
	case in.Rows == 0:
		return nil, usage("declare rows: about N in the schema", "a search needs a public number of rows: its candidates follow from it")
	}
	if err := settings.check(in.Public); err != nil {
		return nil, err
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
	note, err := s.settleSpace(plan)
	if err != nil {
		return nil, err
	}
	if settings.Strategy.Kind == search.Grid {
		plan.hunt.Strategy.Candidates = int(plan.hunt.Space.Size().Points.Int64())
	}
	if err := plan.planHunt(); err != nil { // of the settled space
		return nil, err
	}
	if note != "" {
		plan.Warnings = append(plan.Warnings, note)
	}
	plan.Recipe.Rules = settings.Rules
	return plan, nil
}

// SearchAdvised says whether the rules want a search between kinds of model in place of
// the plan's one training.
func (plan *Plan) SearchAdvised() (advise.Rule, bool) {
	p := plan.problem
	if p.Rows == 0 || p.delta == 0 || p.Workflow != PAW || p.Features != nil || p.ScoreBy != "" {
		return advise.Rule{}, false
	}
	return advise.SearchRule(plan.facts(float64(p.Rows)))
}

// settleSpace leaves out of the space what does not fit the task, and learners that the
// one Gaussian release that every training is booked as does not pay for. It then builds
// some candidates before anything is charged, and chooses the rule's.
func (s *tableSearch) settleSpace(plan *Plan) (note string, err error) {
	h := plan.hunt
	noted := h.Space
	if h.Space, err = spacetable.For(h.Space, plan.facts(float64(plan.problem.Rows))); err != nil {
		return "", usage("docs/SPACES.md says what a space of tables may hold", "%v", err)
	}
	others := map[string]bool{}
	for sample := range 2 {
		rng := rand.New(rand.NewPCG(1, 2))
		for range sampleOfSpace {
			p, err := h.Space.Draw(rng)
			if err != nil {
				return "", err
			}
			_, learner, err := plan.learnerAt(p, h.scopes.Train, h.quote.Noise)
			if err != nil {
				return "", usage("leave it out of the space", "candidate %s: %v", p, err)
			}
			if paidByGaussian(learner.Event(), h.quote.Noise) {
				continue
			}
			name, ok := p.Text("learner")
			if !ok || sample > 0 {
				return "", usage("leave it out of the space", "candidate %s: what %s costs has no bound by the one Gaussian release that every training of a search is booked as", p, learner.Name())
			}
			others[name] = true
		}
		if len(others) == 0 {
			break
		}
		var values []space.Value
		for name := range others {
			values = append(values, space.TextValue(name))
		}
		if h.Space, err = h.Space.Exclude("learner", values...); err != nil {
			return "", usage("name other learners in the space", "no learner of space %s is paid for by a Gaussian release: %v", noted.Name(), err)
		}
	}
	if len(others) > 0 {
		note = fmt.Sprintf("left out of the space: %s, whose trainings cost otherwise than the others'", strings.Join(slices.Sorted(maps.Keys(others)), ", "))
	}
	h.Rule, err = s.rule(h.Space)
	return note, err
}

// rule is the point that departs least from the rules: factors of 1, all attributes, the
// linear model.
func (s *tableSearch) rule(of *space.Space) (best space.Point, err error) {
	least, rng := math.Inf(1), rand.New(rand.NewPCG(2, 11))
	for range 512 {
		p, err := of.Draw(rng)
		if err != nil {
			return best, err
		}
		departs := 0.0
		for name, v := range p.All() {
			switch {
			case strings.HasSuffix(name, "_factor"):
				departs += math.Abs(math.Log(v.Float()))
			case name == "learner" && v.Text() != string(advise.Descent):
				departs += 4
			case name == "features" && v.Text() != "all", name == "encoding" && v.Text() == "linear":
				departs++
			case name == "bins":
				departs += 0.1 * math.Abs(math.Log(v.Float()/64))
			}
		}
		if departs < least {
			best, least = p, departs
		}
	}
	return best, nil
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
	choice, err := spacetable.Recipe(p, one.facts(rows))
	if err != nil {
		return nil, nil, err
	}
	r := choice.Recipe
	r.SamplingRate = 1 // booked as one release
	one.Recipe = r
	l, err := one.learner(r, rows)
	if err != nil {
		return nil, nil, err
	}
	if o, ok := l.(learn.Regularized); ok {
		o.ScaleRegularization(choice.RegularizationFactor)
	}
	return &one, l, nil
}

func (s *tableSearch) train(ctx context.Context, plan *Plan, env Env, permit *ledger.Permit, p space.Point, scope dp.Scope, noise float64) (trained, error) {
	one, learner, err := plan.learnerAt(p, scope, noise)
	if err != nil {
		return trained{}, err
	}
	m, err := learner.Fit(ctx, permit, env.Rows)
	if err != nil {
		return trained{}, err
	}
	return trained{plan: one, model: m, learner: learner}, m.Validate()
}

func (s *tableSearch) work(plan *Plan, env Env) study.Work[space.Point, trained] {
	h := plan.hunt
	return study.Work[space.Point, trained]{
		Try: func(ctx context.Context, permit *ledger.Permit, p space.Point) (trained, float64, error) {
			t, err := s.train(ctx, plan, env, permit, p, h.scopes.Train, h.quote.Noise)
			if err != nil {
				return t, 0, err
			}
			score := *plan
			score.validateScope, score.noise = h.scopes.Validate, h.quote.ScoreNoise
			value, err := score.validationScore(ctx, permit, env.Rows, t.model)
			return t, value, err
		},
		Finish: func(ctx context.Context, permit *ledger.Permit, p space.Point) (trained, error) {
			noise := h.quote.Noise
			if h.quote.FinalNoise > 0 {
				noise = h.quote.FinalNoise
			}
			return s.train(ctx, plan, env, permit, p, h.scopes.Final, noise)
		},
	}
}

func (s *tableSearch) adopt(plan *Plan, winner trained, out *Outcome) {
	out.Model, out.Learner, out.Recipe = winner.model, winner.learner, winner.plan.Recipe
	out.Recipe.Rules = append(slices.Clone(plan.hunt.Rules), advise.BesideSearch(out.Recipe.Rules)...)
	plan.Recipe = out.Recipe
}

// unsearched runs the job of `pawl fit` on the same public data, booked by itself.
func (s *tableSearch) unsearched(ctx context.Context, _ *Plan, env Env, _ float64, _ *entropy.Source) (Score, error) {
	plan, err := NewPlan(s.input)
	if err != nil {
		return Score{}, err
	}
	env.Study, env.Progress = nil, nil
	out, err := plan.Run(ctx, env)
	if err != nil {
		return Score{}, err
	}
	return out.Score, nil
}

func (s *tableSearch) ownKey() any { return nil }

// isRegression is said where a gain is a smaller error.
func (plan *Plan) isRegression() bool { return plan.problem.task == model.Regression }

// seconds takes the linear model of the rules for the mean candidate.
func (s *tableSearch) seconds(plan *Plan) float64 {
	one, _, err := plan.learnerAt(plan.hunt.Rule, plan.hunt.scopes.Train, plan.hunt.quote.Noise)
	if err != nil {
		return 0
	}
	return float64(max(one.Recipe.Steps, 1)) * one.trainingRows(float64(plan.problem.Rows)) * float64(len(plan.problem.Schema.Columns)) * 2e-8
}
