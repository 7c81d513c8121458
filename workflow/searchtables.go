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
	"pawl/report"
	"pawl/search"
	"pawl/search/space"
	spacetable "pawl/search/space/table"
	"pawl/search/study"
)

// tableSearch are the trials of a search among models of a table.
type tableSearch struct {
	input Input
	plan  *Plan
	of    *searching
}

// NewTableSearchPlan validates the input and prices the strategy. Errors are *UsageError
// or the accountant's.
func NewTableSearchPlan(in Input, settings SearchSettings) (*Plan, error) {
	if len(in.ClassWeights) > 0 {
		return nil, usage("leave out one of them", "a search and class weights exclude each other")
	}
	p, err := in.check()
	if err != nil {
		return nil, err
	}
	if err := unheld(p.Schema, p.Target, "a search over models"); err != nil {
		return nil, err
	}
	switch {
	case in.AsPublished:
		return nil, usage("leave out --as-published", "no paper publishes a search over models of a table")
	case settings.Strategy.Kind == search.STW:
		return nil, usage("pawl fit --workflow stw", "strategy stw is offered for images")
	case settings.Strategy.Kind == search.Public:
		return nil, usage("choose another strategy", "searching on other data is offered for images: tables seldom have the same columns")
	case in.Rows == 0:
		return nil, usage("declare rows: about N in the schema", "a search needs a public number of rows: its candidates follow from it")
	}
	if err := settings.check(&in); err != nil {
		return nil, err
	}
	s := &tableSearch{input: in, plan: newPlan(p)}
	s.plan.keepCalibration()
	s.of = newSearching(s.plan, settings, s, false)
	if err := s.of.price(); err != nil {
		return nil, err
	}
	note, err := s.settleSpace()
	if err != nil {
		return nil, err
	}
	if settings.Strategy.Kind == search.Grid {
		s.of.Strategy.Candidates = int(s.of.Space.Size().Points.Int64())
	}
	if err := s.of.price(); err != nil { // of the settled space
		return nil, err
	}
	if note != "" {
		s.plan.Warnings = append(s.plan.Warnings, note)
	}
	s.plan.Recipe.Rules, s.plan.SignalRatio = settings.Rules, s.facts().SignalRatio()
	return s.plan, nil
}

// models are those that trainings on a scope with one noise make.
func (s *tableSearch) models(scope dp.Scope, noise float64) tableModels {
	return tableModels{problem: s.plan.problem, scope: scope, noise: noise, left: s.plan.remaining()}
}

// facts are those of a training on all that is not held out to score.
func (s *tableSearch) facts() advise.Facts {
	m := s.models(s.plan.trainScope, s.of.quote.Noise)
	return m.facts(float64(s.plan.problem.Rows))
}

// settleSpace leaves out of the space what does not fit the task, and learners that the
// one Gaussian release that every training is booked as does not pay for. It then builds
// some candidates before anything is charged, and chooses the rule's.
func (s *tableSearch) settleSpace() (note string, err error) {
	h := s.of
	noted := h.Space
	if h.Space, err = spacetable.For(h.Space, s.facts()); err != nil {
		return "", usage("docs/SPACES.md lists what a space of tables may hold", "%v", err)
	}
	others := map[string]bool{}
	for sample := range 2 {
		rng := rand.New(rand.NewPCG(1, 2))
		for range sampleOfSpace {
			p, err := h.Space.Draw(rng)
			if err != nil {
				return "", err
			}
			m := s.models(h.scopes.Train, h.quote.Noise)
			_, learner, err := s.learner(m, p)
			if err != nil {
				return "", usage("leave it out of the space", "candidate %s: %v", p, err)
			}
			if paidByGaussian(learner.Event(), h.quote.Noise) {
				continue
			}
			name, ok := p.Text("learner")
			if !ok || sample > 0 {
				return "", usage("leave it out of the space", "candidate %s: the cost of %s is not bounded by the one Gaussian release that each training run of a search is charged as", p, learner.Name())
			}
			others[name] = true
		}
		if len(others) == 0 {
			break
		}
		var values []space.Value
		for _, name := range slices.Sorted(maps.Keys(others)) { // the space's digest names the study
			values = append(values, space.TextValue(name))
		}
		if h.Space, err = h.Space.Exclude("learner", values...); err != nil {
			return "", usage("name other learners in the space", "no learner of space %s is paid for by a Gaussian release: %v", noted.Name(), err)
		}
	}
	if len(others) > 0 {
		note = fmt.Sprintf("left out of the space: %s, whose training runs have another cost", strings.Join(slices.Sorted(maps.Keys(others)), ", "))
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

func (s *tableSearch) family() search.Trial {
	return search.Trial{
		Train: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} },
		Score: func(x float64) []dp.Event { return s.plan.problem.metricEvents(s.of.Metric, x) },
	}
}

func (s *tableSearch) preflight(context.Context) error { return nil }

func (s *tableSearch) ready(Env) error { return nil }

// learner is the recipe and the learner of a point.
func (s *tableSearch) learner(m tableModels, p space.Point) (advise.Recipe, learn.Learner, error) {
	rows := float64(m.problem.Rows)
	choice, err := spacetable.Recipe(p, m.facts(rows))
	if err != nil {
		return advise.Recipe{}, nil, err
	}
	r := choice.Recipe
	r.SamplingRate = 1 // booked as one release
	l, err := m.learner(r, rows)
	if err != nil {
		return r, nil, err
	}
	if o, ok := l.(learn.Regularized); ok {
		o.ScaleRegularization(choice.RegularizationFactor)
	}
	return r, l, nil
}

func (s *tableSearch) train(ctx context.Context, env Env, permit *ledger.Permit, p space.Point, m tableModels) (*Outcome, error) {
	recipe, learner, err := s.learner(m, p)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Learner: learner, Recipe: recipe}
	if out.Model, err = learner.Fit(ctx, permit, env.Rows); err != nil {
		return nil, err
	}
	return out, out.Model.Validate()
}

func (s *tableSearch) work(env Env) study.Work[space.Point, *Outcome] {
	h := s.of
	return study.Work[space.Point, *Outcome]{
		Try: func(ctx context.Context, permit *ledger.Permit, p space.Point) (*Outcome, float64, error) {
			out, err := s.train(ctx, env, permit, p, s.models(h.scopes.Train, h.quote.Noise))
			if err != nil {
				return nil, 0, err
			}
			of := s.plan.problem
			if h.Metric != "" {
				value, err := of.metricValue(ctx, permit, env.Rows, h.Metric, out.Model, false, h.scopes.Validate, h.quote.ScoreNoise)
				return out, value, err
			}
			value, err := of.validationScore(ctx, permit, env.Rows, out.Model, h.scopes.Validate, h.quote.ScoreNoise)
			return out, value, err
		},
		Finish: func(ctx context.Context, permit *ledger.Permit, p space.Point) (*Outcome, error) {
			return s.train(ctx, env, permit, p, s.models(h.scopes.Final, h.finalNoise()))
		},
	}
}

func (s *tableSearch) adopt(winner, out *Outcome) {
	out.Model, out.Learner, out.Recipe = winner.Model, winner.Learner, winner.Recipe
	out.Recipe.Rules = append(slices.Clone(s.of.Rules), advise.BesideSearch(winner.Recipe.Rules)...)
}

func (s *tableSearch) score(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	return s.plan.scoreRows(ctx, env, permit, out)
}

// unsearched runs the job of `pawl fit` on the same public data, booked by itself.
func (s *tableSearch) unsearched(ctx context.Context, env Env, _ float64, _ *entropy.Source) (Score, error) {
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

func (s *tableSearch) lots() bool { return false }

func (s *tableSearch) features() features {
	return features{how: "by the search, with everything else that it chose", together: true, stages: []string{"search and train", "search"}}
}

func (s *tableSearch) complete(st *report.Statement, out *Outcome) {
	out.fillChoice(&st.Choice)
	m := s.models(s.of.scopes.Final, s.of.finalNoise())
	m.hyperparameters(st.Choice.Hyperparameters, s.plan.SignalRatio, out.Recipe)
	out.warnUseless(st)
}

func (s *tableSearch) parameters(space.Point) (int, error) { return 0, nil }

// seconds takes the linear model of the rules for the mean candidate.
func (s *tableSearch) seconds() float64 {
	m := s.models(s.of.scopes.Train, s.of.quote.Noise)
	r, _, err := s.learner(m, s.of.Rule)
	if err != nil {
		return 0
	}
	return float64(max(r.Steps, 1)) * m.trainingRows(float64(m.problem.Rows)) * float64(len(m.problem.Schema.Columns)) * 2e-8
}
