package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/report"
	"pawl/search"
	"pawl/search/fleet"
	"pawl/search/space"
	"pawl/search/study"
)

// SearchSettings say what is searched and how. Where Input.AsPublished is set the strategy is
// run as in its paper: Epsilon is that of each training, all scores are read, and nothing is
// claimed.
type SearchSettings struct {
	Space    *space.Space
	Strategy search.Strategy
	// Rule is the candidate that is trained without a search.
	Rule space.Point
	// On names the public data that strategy public searches on, with their number of
	// training rows.
	On     string
	OnRows int64
	// Metric is what candidates are scored by; "" for the task's first (Metrics).
	Metric Metric
	// Rules say why there is a search, where a rule asked for it.
	Rules []advise.Rule
}

func (in *SearchSettings) check(of *Input) error {
	switch {
	case in.Strategy.Kind == search.Public && in.On == "":
		return usage("example: --search-on fashion-mnist", "strategy public searches on other data, which are public")
	case in.Strategy.Kind != search.Public && in.On != "":
		return usage("--strategy public", "--search-on goes with strategy public")
	case in.Strategy.Kind == search.STW && !of.Public:
		return usage("choose another strategy", "strategy stw uses rows without charge: it runs on public data only")
	case of.AsPublished && !of.Public:
		return usage("leave out --as-published", "as published, a search reads scores that are not paid for: it runs on public data only")
	case of.AsPublished && !slices.Contains([]search.Kind{search.PAAS, search.RS, search.MGRS, search.TuneBound}, in.Strategy.Kind):
		return usage("leave out --as-published", "no paper publishes strategy %s", in.Strategy.Kind)
	}
	if of.AsPublished && in.Metric != "" && in.Metric != ByAccuracy {
		return usage("leave out --metric", "as published, a search chooses by accuracy")
	}
	if err := in.Strategy.Check(); err != nil {
		return usage("pawl plan search shows what strategies take", "%v", err)
	}
	return nil
}

// searching is the job of a search.
type searching struct {
	SearchSettings
	trials
	plan        *Plan
	asPublished bool
	quote       search.Quote
	scopes      search.Scopes
}

// newSearching makes a search the job of a plan.
func newSearching(plan *Plan, settings SearchSettings, t trials, asPublished bool) *searching {
	if settings.Metric == Metrics(plan.problem.task)[0] {
		settings.Metric = "" // one name for one computation
	}
	h := &searching{SearchSettings: settings, trials: t, plan: plan, asPublished: asPublished, scopes: settings.Strategy.Divide(plan.trainScope)}
	plan.job, plan.SignalRatio = h, math.NaN()
	return h
}

// trials are the trainings of a search: of networks, or of models of a table. Each makes an
// outcome of its own.
type trials interface {
	noun() string
	family() search.Trial
	preflight(ctx context.Context) error
	ready(env Env) error
	work(env Env) study.Work[space.Point, *Outcome]
	// adopt takes what the winner's training made.
	adopt(winner, out *Outcome)
	score(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error
	unsearched(ctx context.Context, env Env, noise float64, src *entropy.Source) (Score, error)
	ownKey() any
	// seconds is what one training is expected to take on one processor.
	seconds() float64
	lots() bool
	features() features
	complete(s *report.Statement, out *Outcome)
	// parameters is the number of trained parameters of a candidate, 0 where there are none.
	parameters(p space.Point) (int, error)
}

// asked is what the strategy is priced for.
func (h *searching) asked() search.Job {
	p := h.plan.problem
	return search.Job{Trial: h.family(), Scopes: h.scopes, Relation: p.relation, Epsilon: p.target(), Delta: p.delta, Accountant: p.Accountant}
}

// price prices the strategy on the training scope.
func (h *searching) price() (err error) {
	plan, p := h.plan, h.plan.problem
	if p.delta == 0 {
		return usage("give a delta above 0", "a search is offered at delta > 0 only")
	}
	plan.Stages = nil
	if h.asPublished {
		return h.pricePublished()
	}
	if err := CheckMetric(h.Metric, p.task); err != nil {
		return err
	}
	if h.quote, err = h.Strategy.Quote(h.asked()); err != nil {
		var dear *search.TooDearError
		if errors.As(err, &dear) {
			return usage("a larger epsilon, a smaller search, or another strategy: pawl plan search lists them all", "%v", err)
		}
		return err
	}
	what := h.inWords()
	if h.Strategy.Kind == search.Public {
		plan.add("choose", dp.Scope{}, fmt.Sprintf("best of %d candidates on %s, which is public; uses no row of %s", int(h.Strategy.Mean), h.On, p.Dataset))
	}
	if h.Strategy.Kind == search.STW {
		plan.add("choose", dp.Scope{}, fmt.Sprintf("best of %d candidates trained without noise; not paid for", int(h.Strategy.Mean)))
	}
	switch e := h.quote.Event.(type) {
	case dp.Scoped:
		plan.add("train", e.Scope, what, e.Event)
	case dp.Compose:
		if h.quote.FinalNoise > 0 {
			final := e.Events[1].(dp.Scoped)
			plan.add("search", dp.WholeScope, what, e.Events[0])
			plan.add("train", final.Scope, "the winner, trained once more", final.Event)
			break
		}
		plan.add("search and train", dp.WholeScope, what, e.Events...)
	default:
		plan.add("search and train", dp.WholeScope, what, e)
	}
	if err := plan.planScore(); err != nil {
		return err
	}
	return plan.priceAll()
}

// inWords says what the strategy does.
func (h *searching) inWords() string {
	if h.Metric != "" {
		return h.strategyWords() + ", chosen by " + string(h.Metric)
	}
	return h.strategyWords()
}

func (h *searching) strategyWords() string {
	of := fmt.Sprintf("%s of space %s (%s)", h.noun(), h.Space.Name(), h.Space.Size())
	t := h.Strategy
	switch t.Kind {
	case search.None, search.Public, search.STW:
		return "one of the " + h.noun() + " of space " + h.Space.Name()
	case search.Grid:
		return fmt.Sprintf("all %d %s, every score released", t.Candidates, of)
	case search.PAAS, search.TuneBound:
		return fmt.Sprintf("genetic search over %s, %d generations of %d, every score released", of, t.Generations, t.Population)
	case search.MGRS:
		return fmt.Sprintf("private selections over %s in %d generations around the last winner", of, len(t.Sizes))
	case search.LT:
		return fmt.Sprintf("random stopping over %s, a secret number of runs (mean %g at most)", of, t.Mean)
	}
	return fmt.Sprintf("private selection over %s, a secret number of runs (mean %g), the winner released", of, t.Mean)
}

// candidates tells a study how to move in the space.
func (h *searching) candidates() study.Candidates[space.Point] {
	draw := func(rng *rand.Rand) space.Point {
		p, err := h.Space.Draw(rng)
		if err != nil {
			panic(err) // the plan has drawn from the space
		}
		return p
	}
	return study.Candidates[space.Point]{
		Draw:  draw,
		Vary:  func(rng *rand.Rand, p space.Point) space.Point { return h.Space.Mutate(rng, p) },
		Cross: func(rng *rand.Rand, a, b space.Point) (space.Point, space.Point) { return h.Space.Crossover(rng, a, b) },
		Key: func(p space.Point) string {
			b, err := json.Marshal(p) // canonical, and read again by those who export a study
			if err != nil {
				panic(err) // numbers are finite
			}
			return string(b)
		},
		All: func() (all []space.Point, err error) {
			points, err := h.Space.All()
			if err != nil {
				return nil, err
			}
			for p := range points {
				all = append(all, p)
			}
			return all, nil
		},
		Rule: h.Rule,
	}
}

// Trying is what a worker does with one trial of a search whose rows are in env: it trains and
// scores a candidate under the permit that comes with it. study names the search on the wire.
func (plan *Plan) Trying(env Env, courier *ledger.Courier, study string) (fleet.Try, error) {
	h, ok := plan.job.(*searching)
	if !ok {
		return nil, errors.New("workflow: only a search has trials")
	}
	if err := h.ready(env); err != nil {
		return nil, err
	}
	return fleet.Trying(courier, study, h.work(env), func(b json.RawMessage) (space.Point, error) { return h.Space.UnmarshalPoint(b) }), nil
}

// finalNoise is that of the last training.
func (h *searching) finalNoise() float64 {
	if h.quote.FinalNoise > 0 {
		return h.quote.FinalNoise
	}
	return h.quote.Noise
}

// run searches, takes the winner and scores it.
func (h *searching) run(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	if err := h.ready(env); err != nil {
		return err
	}
	stage := "search and train"
	if h.Strategy.Kind == search.None {
		stage = "train"
	}
	env.Progress.step(stage, 0, 0)
	o := study.Options{Workers: env.Workers, Published: h.asPublished}
	if env.Study != nil {
		o.Journal = env.Study
	}
	var r study.Result[space.Point, *Outcome]
	var err error
	if env.Fleet != nil {
		r, err = fleet.Run(ctx, permit, h.quote, h.candidates(), h.work(env), o, *env.Fleet)
	} else {
		r, err = study.Run(ctx, permit, h.quote, h.candidates(), h.work(env), o)
	}
	if err != nil {
		return err
	}
	out.Found, out.Winner = &Found{Winner: r.Candidate, Trials: r.Trials, Generations: r.Generations}, r.Candidate.String()
	if !math.IsNaN(r.Score) && !h.Strategy.Once() {
		out.Chosen = &r.Score
	}
	if err := h.compareUnsearched(ctx, env, permit.Randomness("compare"), out); err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.warnings = append(out.warnings, fmt.Sprintf("whether the search was worth its cost is unknown: the training run by rule failed: %v", err))
	}
	h.adopt(r.Model, out)
	env.Progress.step("score", 0, 0)
	return h.score(ctx, env, permit, out)
}

// Found is what a search may show beside the winner.
type Found struct {
	Winner space.Point
	// Trials are scores that the strategy reads; Generations the winners on the way.
	Trials, Generations []study.Trial[space.Point]
	// Unsearched is the score on the public test set without a search: the rule's
	// candidate with the whole budget. Public data only.
	Unsearched *float64
	alone      Score // that Unsearched is of
}

// compareUnsearched trains, on public data with a public test set, what would have been
// trained without a search: the rule's candidate with the whole budget. Only so can it be
// said whether searching paid.
func (h *searching) compareUnsearched(ctx context.Context, env Env, src *entropy.Source, out *Outcome) error {
	p := h.plan.problem
	if !p.Public || p.Test == HeldOut || h.Strategy.Kind == search.None || h.asPublished {
		return nil
	}
	none := search.Strategy{Kind: search.None}
	j := h.asked()
	j.Scopes = none.Divide(h.plan.trainScope)
	q, err := none.Quote(j)
	if err != nil {
		return err
	}
	env.Progress.step("compare", 0, 0)
	out.Found.alone, err = h.unsearched(ctx, env, q.Noise, src)
	out.Found.Unsearched = out.Found.alone.Exact
	return err
}

// Spec names the computation that a study is: another plan, other bytes, another kernel,
// another program (whose rules may differ) and another seed (or none) are another. Scores that were kept of one say nothing about
// the trials of another, whose randomness is not the same.
func (plan *Plan) Spec(env Env) string {
	seed := "none"
	if s := plan.problem.Seed; s != nil {
		seed = strconv.FormatUint(*s, 10)
	}
	return plan.digest(env.Digest) + " " + kernel.Name() + " " + seed + " " + env.Software
}

// Space is what a search looks in. The plan is of one.
func (plan *Plan) Space() *space.Space { return plan.job.(*searching).Space }

func (h *searching) expected() time.Duration { return h.takes(h.Strategy) }

// takes is the time that a search is expected to take: it follows from the expected number
// of trainings, never from the number that there is.
func (h *searching) takes(s search.Strategy) time.Duration {
	n, _ := s.Trainings()
	return time.Duration(n * h.seconds() / float64(runtime.GOMAXPROCS(0)) * float64(time.Second))
}

// Priced is a strategy in a price list.
type Priced struct {
	search.Quote
	// TotalAtBase is what the whole costs when each training takes the job's epsilon.
	TotalAtBase float64
	Time        time.Duration
	// Err says why the strategy does not fit.
	Err error
}

// PriceList prices every strategy for the job of a search, whose own strategy is none.
func (plan *Plan) PriceList() (all []Priced, job search.Job) {
	h := plan.job.(*searching)
	job = h.asked()
	for _, kind := range search.Kinds() {
		s, err := search.New(kind)
		if err != nil {
			continue
		}
		if kind == search.Grid {
			size := h.Space.Size()
			if size.Continuous || !size.Points.IsInt64() || size.Points.Int64() > 10_000 {
				all = append(all, Priced{Quote: search.Quote{Strategy: s}, TotalAtBase: math.Inf(1),
					Err: fmt.Errorf("space %s has too many candidates to train all of them", h.Space.Name())})
				continue
			}
			s.Candidates = int(size.Points.Int64())
		}
		job.Scopes = s.Divide(plan.trainScope)
		p := Priced{TotalAtBase: math.Inf(1)}
		p.Quote, p.Err = s.Quote(job)
		p.Quote.Strategy = s
		p.Quote.Expected, p.Quote.Most = s.Trainings()
		if at, err := s.At(job, job.Epsilon); err == nil {
			p.TotalAtBase = at.Epsilon
		}
		p.Time = h.takes(s)
		all = append(all, p)
	}
	return all, job
}
