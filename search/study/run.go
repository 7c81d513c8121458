package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/core/selection"
	"pawl/search"
	"pawl/search/evolve"
)

// Candidates is how a strategy moves among candidates. None of it sees data; all of it
// may be called from several goroutines at once.
type Candidates[C any] struct {
	Draw  func(rng *rand.Rand) C
	Vary  func(rng *rand.Rand, c C) C
	Cross func(rng *rand.Rand, a, b C) (C, C)
	// Key is equal for candidates that mean the same.
	Key func(c C) string
	// All lists the points of a grid.
	All func() ([]C, error)
	// Rule is the candidate that public facts choose, for a job without a search.
	Rule C
}

// Work is what is done with one candidate. A larger score is better; an error is a
// failed training, which scores −Inf and counts.
type Work[C, M any] struct {
	// Try trains and scores a candidate on the units that choose.
	// The permit has streams of the trial alone.
	Try func(ctx context.Context, permit *ledger.Permit, c C) (M, float64, error)
	// Finish is the last training of strategies that end with one.
	Finish func(ctx context.Context, permit *ledger.Permit, c C) (M, error)
	// Elsewhere trains and scores a candidate on public rows. The permit has streams of the trial
	// alone and pays for nothing.
	Elsewhere func(ctx context.Context, permit *ledger.Permit, c C) (float64, error)
}

// Options are what a run needs beside.
type Options struct {
	// Journal may be nil.
	Journal Journal
	// Workers bounds the trials side by side; 0 means one. It changes no result.
	Workers int
	// Published runs the stated numbers of trials and reads all scores, as the papers do:
	// on public data, without a guarantee.
	Published bool
}

// Trial is a training whose score was read.
type Trial[C any] struct {
	Number     int
	Generation int
	Candidate  C
	Score      float64 // −Inf for a failed one
}

// Result is what a search releases.
type Result[C, M any] struct {
	Candidate C
	Model     M
	// Score is that by which the winner was chosen, so it is optimistic; NaN without a
	// choice.
	Score float64
	// Generations are the winners that were released on the way (mgrs).
	Generations []Trial[C]
	// Trials are all trainings of a strategy that reads all scores, in their order.
	Trials []Trial[C]

	best int // the winner's number, where all scores are read
}

// generation is the distance between the numbers of first trials of generations.
const generation = 1 << 24

// ErrNothing is returned when no candidate could be trained; what was charged stays so.
var ErrNothing = selection.ErrNothing

// Run carries out the strategy of q. permit must hold q.Event. When ctx ends, nothing is
// released and the journal holds what is done.
func Run[C, M any](ctx context.Context, permit *ledger.Permit, q search.Quote, c Candidates[C], w Work[C, M], o Options) (Result[C, M], error) {
	if permit == nil {
		return Result[C, M]{}, errors.New("study: a permit is required")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &runner[C, M]{ctx: ctx, stop: stop, permit: permit, q: q, c: c, w: w, o: o}
	out, err := r.run()
	if r.broken != nil {
		err = r.broken
	}
	if err != nil {
		return Result[C, M]{}, err
	}
	return out, nil
}

type runner[C, M any] struct {
	ctx    context.Context
	stop   context.CancelFunc
	permit *ledger.Permit
	q      search.Quote
	c      Candidates[C]
	w      Work[C, M]
	o      Options

	mu     sync.Mutex
	models map[int]M
	broken error // of the journal
}

func (r *runner[C, M]) run() (Result[C, M], error) {
	s := r.q.Strategy
	switch s.Kind {
	case search.None:
		return r.finish(r.c.Rule, math.NaN())
	case search.Public, search.STW:
		w, err := r.elsewhere(int(math.Round(s.Mean)))
		if err != nil {
			return Result[C, M]{}, err
		}
		out, err := r.finish(w.Candidate, w.Score)
		out.Trials = w.Trials
		return out, err
	case search.Grid:
		all, err := r.c.All()
		if err != nil {
			return Result[C, M]{}, err
		}
		if len(all) > s.Candidates {
			return Result[C, M]{}, fmt.Errorf("study: a grid of %d candidates was priced for %d", len(all), s.Candidates)
		}
		return r.tried(0, all)
	case search.PAAS, search.TuneBound:
		return r.genetic()
	case search.MGRS:
		return r.generations()
	}
	if r.o.Published {
		return r.tried(0, r.drawn(0, int(math.Round(s.Mean)), nil))
	}
	e, err := r.selectionEvents()
	if err != nil {
		return Result[C, M]{}, err
	}
	w, err := r.selected(0, e[0], nil)
	if err != nil {
		return Result[C, M]{}, err
	}
	if s.Kind == search.Split || s.Kind == search.Subset {
		return r.finish(w.Candidate, w.Score)
	}
	return Result[C, M]{Candidate: w.Candidate, Model: w.Model, Score: w.Score}, nil
}

// selectionEvents are the selections of the quote, in their order.
func (r *runner[C, M]) selectionEvents() (all []dp.Select, err error) {
	switch e := r.q.Event.(type) {
	case dp.Select:
		return []dp.Select{e}, nil
	case dp.Compose:
		for _, part := range e.Events {
			if s, ok := part.(dp.Select); ok {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("study: strategy %s was priced without a selection", r.q.Strategy.Kind)
	}
	return all, nil
}

// draw is candidate i of a generation, fresh or a neighbour of the winner before.
func (r *runner[C, M]) draw(before *C) func(src *entropy.Source) C {
	return func(src *entropy.Source) C {
		rng := rand.New(src)
		if before == nil || rng.Float64() < search.FreshShare {
			return r.c.Draw(rng)
		}
		return r.c.Vary(rng, *before)
	}
}

func (r *runner[C, M]) drawn(gen, n int, before *C) (all []C) {
	for i := range n {
		all = append(all, r.draw(before)(r.permit.Randomness("candidate", uint64(gen), uint64(i))))
	}
	return all
}

// selected is one private selection. Of the trials that the journal knows the best is
// trained again, since it may be the winner; the others are only counted.
func (r *runner[C, M]) selected(gen int, e dp.Select, before *C) (selection.Winner[C, M], error) {
	again, _ := r.bestKnown(gen)
	permit, err := r.permit.Child("generation", uint64(gen))
	if err != nil {
		return selection.Winner[C, M]{}, err
	}
	return selection.Study[C, M]{
		Select: e, Workers: r.o.Workers, Draw: r.draw(before),
		Base: func(ctx context.Context, permit *ledger.Permit, run int, c C) (M, float64, error) {
			number := gen*generation + run
			if score, known := r.known(number); known && number != again {
				var none M
				return none, score, nil
			}
			return r.attempt(number, c, func() (M, float64, error) { return r.w.Try(ctx, permit, c) })
		},
	}.Run(r.ctx, permit)
}

func (r *runner[C, M]) generations() (Result[C, M], error) {
	out := Result[C, M]{Score: math.Inf(-1)}
	var events []dp.Select
	if !r.o.Published {
		var err error
		if events, err = r.selectionEvents(); err != nil {
			return out, err
		}
	}
	var before *C
	for gen, mean := range r.q.Strategy.Sizes {
		var w Result[C, M]
		var err error
		if r.o.Published {
			w, err = r.tried(gen, r.drawn(gen, int(math.Round(mean)), before))
		} else {
			var s selection.Winner[C, M]
			s, err = r.selected(gen, events[gen], before)
			w = Result[C, M]{Candidate: s.Candidate, Model: s.Model, Score: s.Score}
		}
		if errors.Is(err, ErrNothing) {
			before = nil
			continue
		}
		if err != nil {
			return out, err
		}
		out.Generations = append(out.Generations, Trial[C]{Generation: gen + 1, Candidate: w.Candidate, Score: w.Score})
		out.Trials = append(out.Trials, w.Trials...)
		before = &w.Candidate
		if w.Score > out.Score {
			out.Candidate, out.Model, out.Score = w.Candidate, w.Model, w.Score
		}
	}
	if len(out.Generations) == 0 {
		return out, ErrNothing
	}
	return out, nil
}

// each trains every one of a list and returns the best; ties go to the first.
func (r *runner[C, M]) each(gen int, all []C, try func(number int, c C) (float64, error)) (Result[C, M], error) {
	scores := make([]float64, len(all))
	best := -1
	var mu sync.Mutex
	kernel.Parallel(max(r.o.Workers, 1), len(all), func(i int) {
		number := gen*generation + i
		if r.ctx.Err() != nil {
			return
		}
		score, err := try(number, all[i])
		if err != nil || math.IsNaN(score) {
			score = math.Inf(-1)
		}
		mu.Lock()
		defer mu.Unlock()
		scores[i] = score
		if !math.IsInf(score, -1) && (best < 0 || score > scores[best] || score == scores[best] && i < best) {
			if best >= 0 {
				r.forget(gen*generation + best)
			}
			best = i
		} else {
			r.forget(number)
		}
	})
	if err := r.ctx.Err(); err != nil {
		return Result[C, M]{}, err
	}
	if best < 0 {
		return Result[C, M]{}, ErrNothing
	}
	out := Result[C, M]{Candidate: all[best], Score: scores[best]}
	for i, c := range all {
		out.Trials = append(out.Trials, Trial[C]{Number: gen*generation + i, Generation: gen + 1, Candidate: c, Score: scores[i]})
	}
	out.best = gen*generation + best
	return out, nil
}

// tried is each on the units that choose, with the winner's model.
func (r *runner[C, M]) tried(gen int, all []C) (Result[C, M], error) {
	out, err := r.each(gen, all, r.try)
	if err == nil {
		out.Model, err = r.model(out.best, out.Candidate)
	}
	return out, err
}

func (r *runner[C, M]) genetic() (Result[C, M], error) {
	s := r.q.Strategy
	o := evolve.Retaining(s.Population, s.Generations)
	o.KeepParents, o.Retain = s.Retain > 0, s.Parents()
	// The stream of breeding is for variation only. Scores are released, so it may as
	// well be known; it is the study's for repeatability.
	o.Seed, o.Workers = r.permit.Randomness("breeding").Uint64(), max(r.o.Workers, 1)
	var trials []Trial[C]
	var mu sync.Mutex
	result, err := evolve.Run(r.ctx, evolve.Problem[C]{
		Random: r.c.Draw, Crossover: r.c.Cross, Mutate: r.c.Vary, Key: r.c.Key,
		Fitness: func(_ context.Context, number int, c C) (float64, error) {
			score, err := r.try(number, c)
			if r.ctx.Err() != nil {
				return 0, r.ctx.Err()
			}
			if err != nil || math.IsNaN(score) {
				score = math.Inf(-1)
			}
			mu.Lock()
			defer mu.Unlock()
			trials = append(trials, Trial[C]{Number: number, Candidate: c, Score: score})
			return score, nil
		},
		Observe: func(g int, population []evolve.Individual[C]) {
			stays := map[int]bool{}
			for _, p := range population {
				stays[p.Trial] = true
			}
			mu.Lock()
			for i := range trials {
				if trials[i].Generation == 0 {
					trials[i].Generation = g + 1
				}
			}
			mu.Unlock()
			// Where parents stay the best of all is always among them, and comes before one of
			// equal score. Else a candidate that left may be bred again and win by the score that
			// it has; a trial is not run twice, so its model must still be there.
			if o.KeepParents {
				r.keepOnly(stays)
			}
		},
	}, o)
	if err != nil {
		return Result[C, M]{}, err
	}
	if math.IsInf(result.Best.Score, -1) {
		return Result[C, M]{}, ErrNothing
	}
	out := Result[C, M]{Candidate: result.Best.Genome, Score: result.Best.Score, Trials: sorted(trials)}
	out.Model, err = r.model(result.Best.Trial, result.Best.Genome)
	return out, err
}

func (r *runner[C, M]) finish(c C, score float64) (Result[C, M], error) {
	permit, err := r.permit.Child("final", 0)
	if err != nil {
		return Result[C, M]{}, err
	}
	m, err := r.w.Finish(r.ctx, permit, c)
	return Result[C, M]{Candidate: c, Model: m, Score: score}, err
}

func (r *runner[C, M]) elsewhere(n int) (Result[C, M], error) {
	return r.each(0, r.drawn(0, max(n, 1), nil), func(number int, c C) (float64, error) {
		_, score, err := r.attempt(number, c, func() (none M, score float64, err error) {
			if score, known := r.known(number); known {
				return none, score, nil
			}
			permit, err := r.permit.Child("public trial", uint64(number))
			if err != nil {
				return none, 0, err
			}
			score, err = r.w.Elsewhere(r.ctx, permit, c)
			return none, score, err
		})
		return score, err
	})
}
