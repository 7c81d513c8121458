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
	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/evidence/advise"
	"pawl/learn"
	"pawl/model"
	"pawl/search"
	"pawl/search/space"
	"pawl/search/study"
)

// SearchSettings say what is searched and how.
type SearchSettings struct {
	Space    *space.Space
	Strategy search.Strategy
	// Rule is the candidate that is trained without a search.
	Rule space.Point
	// AsPublished runs the strategy as its paper does, on public data: Epsilon is then
	// that of each training, all scores are read, and nothing is claimed.
	AsPublished bool
	// On names the public data that strategy public searches on, with their number of
	// training rows.
	On     string
	OnRows int64
	// Rules say why there is a search, where a rule asked for it.
	Rules []advise.Rule
}

func (in *SearchSettings) check(public bool) error {
	switch {
	case in.Strategy.Kind == search.Public && in.On == "":
		return usage("example: --search-on fashion-mnist", "strategy public searches on other data, which are public")
	case in.Strategy.Kind != search.Public && in.On != "":
		return usage("--strategy public", "--search-on goes with strategy public")
	case in.Strategy.Kind == search.STW && !public:
		return usage("choose another strategy", "strategy stw looks at rows without paying: it runs on public data only")
	case in.AsPublished && !public:
		return usage("leave out --as-published", "as published, a search reads scores that are not paid for: it runs on public data only")
	case in.AsPublished && !slices.Contains([]search.Kind{search.PAAS, search.RS, search.MGRS, search.TuneBound}, in.Strategy.Kind):
		return usage("leave out --as-published", "no paper publishes strategy %s", in.Strategy.Kind)
	}
	if err := in.Strategy.Check(); err != nil {
		return usage("pawl plan search shows what strategies take", "%v", err)
	}
	return nil
}

// hunt is the part of a plan that searches.
type hunt struct {
	SearchSettings
	trials
	quote  search.Quote
	scopes search.Scopes
	rows   int64
}

// trials are the trainings of a search: of networks, or of models of a table.
type trials interface {
	noun() string
	family(plan *Plan) search.Trial
	ready(plan *Plan, env Env) error
	work(plan *Plan, env Env) study.Work[space.Point, trained]
	adopt(plan *Plan, winner trained, out *Outcome)
	unsearched(ctx context.Context, plan *Plan, env Env, noise float64, src *entropy.Source) (Score, error)
	ownKey() any
	// seconds is what one training is expected to take on one processor.
	seconds(plan *Plan) float64
}

// job is what the strategy is priced for.
func (plan *Plan) searchJob() search.Job {
	p := plan.problem
	return search.Job{Trial: plan.hunt.family(plan), Scopes: plan.hunt.scopes, Relation: p.relation,
		Epsilon: p.target(), Delta: p.delta, Accountant: p.Accountant}
}

// planHunt prices the strategy on the training scope.
func (plan *Plan) planHunt() (err error) {
	h, p := plan.hunt, plan.problem
	if p.delta == 0 {
		return usage("give a delta above 0", "a search is offered at delta > 0 only")
	}
	h.scopes, h.rows = h.Strategy.Divide(plan.trainScope), p.Rows
	plan.Stages = nil
	if h.AsPublished {
		return plan.planPublishedHunt()
	}
	if h.quote, err = h.Strategy.Quote(plan.searchJob()); err != nil {
		var dear *search.TooDearError
		if errors.As(err, &dear) {
			return usage("a larger epsilon, a smaller search, or another strategy: pawl plan search lists them all", "%v", err)
		}
		return err
	}
	plan.noise = h.quote.Noise
	what := h.inWords()
	if h.Strategy.Kind == search.Public {
		plan.add("choose", dp.Scope{}, fmt.Sprintf("best of %d candidates on %s, which is public; looks at no row of %s", int(h.Strategy.Mean), h.On, p.Dataset))
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

// planPublishedHunt books nothing private: scores of all trainings are read.
func (plan *Plan) planPublishedHunt() (err error) {
	h, p := plan.hunt, plan.problem
	if p.Test == HeldOut {
		return usage("use a data set with a test set", "as published, a search is scored on a public test set only")
	}
	j := plan.searchJob()
	if h.quote, err = h.Strategy.At(j, j.Epsilon); err != nil {
		return err
	}
	plan.noise = h.quote.Noise
	plan.add("search and train", plan.trainScope, h.inWords()+"; as published: scores are read without paying", dp.NonPrivate{})
	if err := plan.planScore(); err != nil {
		return err
	}
	plan.Event = dp.NonPrivate{}
	plan.Price = accountant.Result{Epsilon: math.Inf(1), Method: "none"}
	plan.Epsilon = math.Inf(1)
	plan.Warnings = append(p.warnings, "NOT a privacy guarantee: as published, the search reads the scores of its trainings")
	return nil
}

// inWords says what the strategy does.
func (h *hunt) inWords() string {
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
func (h *hunt) candidates() study.Candidates[space.Point] {
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

// trained is a candidate after its training.
type trained struct {
	plan    *Plan // with what belongs to the candidate
	model   *model.Model
	learner learn.Learner // of tables
}

// seek runs the search and adopts the winner.
func (plan *Plan) seek(ctx context.Context, env Env, permit *ledger.Permit, out *Outcome) error {
	h := plan.hunt
	if err := h.ready(plan, env); err != nil {
		return err
	}
	stage := "search and train"
	if h.Strategy.Kind == search.None {
		stage = "train"
	}
	env.Progress.step(stage, 0, 0)
	o := study.Options{Workers: env.Workers, Published: h.AsPublished}
	if env.Study != nil {
		o.Journal = env.Study
	}
	r, err := study.Run(ctx, permit, h.quote, h.candidates(), h.work(plan, env), o)
	if err != nil {
		return err
	}
	out.Found, out.Winner = &Found{Winner: r.Candidate, Trials: r.Trials, Generations: r.Generations}, r.Candidate.String()
	if !math.IsNaN(r.Score) && !h.Strategy.Once() {
		out.Chosen = &r.Score
	}
	// Before the winner's settings become the plan's: a candidate leaves what it does not
	// say to those of the plan.
	if err := plan.compareUnsearched(ctx, env, permit.Randomness("compare"), out); err != nil {
		if ctx.Err() != nil {
			return err
		}
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("whether the search paid is not known: the training by rule beside it failed: %v", err))
	}
	h.adopt(plan, r.Model, out)
	return nil
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
func (plan *Plan) compareUnsearched(ctx context.Context, env Env, src *entropy.Source, out *Outcome) error {
	h, p := plan.hunt, plan.problem
	if !p.Public || p.Test == HeldOut || h.Strategy.Kind == search.None || h.AsPublished {
		return nil
	}
	none := search.Strategy{Kind: search.None}
	j := plan.searchJob()
	j.Scopes = none.Divide(plan.trainScope)
	q, err := none.Quote(j)
	if err != nil {
		return err
	}
	env.Progress.step("compare", 0, 0)
	out.Found.alone, err = h.unsearched(ctx, plan, env, q.Noise, src)
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

// SpaceName is the name of the space that a search looks in.
func (plan *Plan) SpaceName() string { return plan.hunt.Space.Name() }

// Public says that the data set is public in the ledger.
func (plan *Plan) Public() bool { return plan.problem.Public }

// expected is the time that the search is expected to take: it follows from the
// expected number of trainings, never from the number that there is.
func (h *hunt) expected(plan *Plan) time.Duration {
	n, _ := h.Strategy.Trainings()
	return time.Duration(n * h.seconds(plan) / float64(runtime.GOMAXPROCS(0)) * float64(time.Second))
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

// PriceList prices every strategy for the plan's job; a plan of strategy none has it.
func (plan *Plan) PriceList() (all []Priced, job search.Job) {
	h := plan.hunt
	job = plan.searchJob()
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
		one := *h
		one.Strategy = s
		p.Time = one.expected(plan)
		all = append(all, p)
	}
	return all, job
}

// Space is what a search looks in.
func (plan *Plan) Space() *space.Space { return plan.hunt.Space }
