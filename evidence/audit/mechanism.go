package audit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/evidence/audit/bound"
)

// ErrMechanism is wrapped by a failure of the mechanism under audit.
var ErrMechanism = errors.New("audit: the mechanism failed")

// World is one of two neighbouring data sets.
type World int

const (
	// Out does not hold the unit, or holds another in its place.
	Out World = iota
	// In holds it.
	In
)

// String returns "out" or "in".
func (w World) String() string {
	if w == In {
		return "in"
	}
	return "out"
}

// Mechanism is a mechanism, two neighbours and what to look at.
type Mechanism struct {
	Name string
	// Entry is the function of core that runs, such as "release.Count.Release"; empty
	// for one that is not of core.
	Entry string
	// Neighbours says in words what the worlds are.
	Neighbours string
	// Event is what a run is priced as under Relation, and Delta where its ε is stated.
	Event    dp.Event
	Relation dp.Relation
	Delta    float64
	// Score runs the mechanism in a world and returns a number made of what it released
	// and of nothing else. It draws all randomness from src and may be called by several
	// goroutines at once.
	Score func(ctx context.Context, w World, src *entropy.Source) (float64, error)
}

// Claim is what the mechanism promises.
func (m Mechanism) Claim() (bound.Claim, error) {
	c, err := bound.ClaimOf(m.Event, m.Relation, m.Delta)
	if err != nil {
		return c, fmt.Errorf("audit: what %s claims: %w", m.Name, err)
	}
	return c, nil
}

// Options of an audit.
type Options struct {
	// Runs in each world. A claim of ε is refuted by outcomes of probability e^−ε and
	// less, so it takes a multiple of e^ε; halved noise shows from a few thousand.
	Runs int
	// Source gives every run a stream of its own. A seeded one makes the audit
	// repeatable, which is harmless: rows are made up.
	Source *entropy.Source
	// Confidence of a conviction; 0 means bound.Conviction.
	Confidence float64
}

// Result is an audit.
type Result struct {
	Mechanism  string        `json:"mechanism"`
	Entry      string        `json:"entry,omitempty"`
	Neighbours string        `json:"neighbours"`
	Relation   dp.Relation   `json:"neighboring_relation"`
	Runs       int           `json:"runs_in_each_world"`
	Verdict    bound.Verdict `json:"verdict"`
}

// Run audits a mechanism: Runs runs in each world, from which bound.Judge chooses its
// tests on one half and judges the claim on the other. An honest mechanism is convicted
// with probability 1−Confidence at most.
//
// Errors: fewer runs than bound.Scores accepts, no source, a mechanism that fails
// (ErrMechanism), ctx.Err() when interrupted.
func Run(ctx context.Context, m Mechanism, o Options) (Result, error) {
	claim, err := m.Claim()
	if err != nil {
		return Result{}, err
	}
	if o.Confidence == 0 {
		o.Confidence = bound.Conviction
	}
	scores, err := Scores(ctx, m, o)
	if err != nil {
		return Result{}, err
	}
	verdict, err := bound.Judge(scores, claim, o.Confidence)
	if err != nil {
		return Result{}, fmt.Errorf("audit: %s: %w", m.Name, err)
	}
	return Result{m.Name, m.Entry, m.Neighbours, m.Relation, o.Runs, verdict}, nil
}

// failed is err of the mechanism under audit, or the interrupt that ended it.
func failed(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %s: %w", ErrMechanism, name, err)
}

// Scores runs the mechanism Runs times in each world. The numbers depend on Source
// alone, not on how many processors there are.
func Scores(ctx context.Context, m Mechanism, o Options) (bound.Scores, error) {
	if o.Source == nil {
		return bound.Scores{}, errors.New("audit: a source of randomness is required")
	}
	if o.Runs < 1 {
		return bound.Scores{}, fmt.Errorf("audit: %d runs", o.Runs)
	}
	worlds := [2][]float64{Out: make([]float64, o.Runs), In: make([]float64, o.Runs)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	workers := min(runtime.GOMAXPROCS(0), o.Runs)
	var wait sync.WaitGroup
	for first := range workers {
		wait.Go(func() {
			for i := first; i < o.Runs; i += workers {
				for w := range worlds {
					if ctx.Err() != nil {
						return
					}
					v, err := m.Score(ctx, World(w), o.Source.Split(World(w).String(), uint64(i)))
					if err != nil {
						stop(failed(ctx, m.Name, err))
						return
					}
					worlds[w][i] = v
				}
			}
		})
	}
	wait.Wait()
	return bound.Scores{In: worlds[In], Out: worlds[Out]}, context.Cause(ctx)
}
