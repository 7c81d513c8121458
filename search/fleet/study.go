package fleet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"pawl/core/dp"
	"pawl/core/ledger"
	"pawl/search"
	"pawl/search/study"
)

// Remote says where the trials of a study run.
type Remote struct {
	Courier *ledger.Courier
	Pool    Pool
	// Study names the study on the wire, see Order.
	Study string
}

// final is the trial name of a last training, which runs in the process of the study; names of
// trials on public rows begin with outside.
const (
	final   = "final"
	outside = "public "
)

var errFailed = errors.New("the training run failed")

// Run is study.Run with the trials in a pool. The candidates, the journal and the winner are
// those that study.Run would have; what ends a study early is returned as it is, and then
// nothing is released and the study can go on later.
//
// The pool returns scores alone. The winner's model is trained in this process, from the
// permit that its trial had, so it has the noise that its score is of.
func Run[C, M any](ctx context.Context, permit *ledger.Permit, q search.Quote, c study.Candidates[C], w study.Work[C, M], o study.Options, r Remote) (study.Result[C, M], error) {
	var none study.Result[C, M]
	trial, last, err := events(q, o.Published)
	if err != nil {
		return none, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	task := func(permit *ledger.Permit, name string, e dp.Event, candidate C) (Task, error) {
		text := c.Key(candidate)
		token, err := r.Courier.Send(permit, e, r.Study, binding(name, []byte(text)))
		return Task{Trial: name, Candidate: json.RawMessage(text), Permit: token}, err
	}
	far := func(ctx context.Context, permit *ledger.Permit, prefix string, e dp.Event, candidate C) (Task, float64, error) {
		t, err := task(permit, prefix+nameOf(permit), e, candidate)
		var out Result
		if err == nil {
			out, err = r.Pool.Do(ctx, t)
		}
		if err != nil {
			if ctx.Err() == nil { // else the study has ended already, and knows why
				stop(err) // no failed training: the study ends before it could be recorded as one
			}
			return t, math.Inf(-1), err
		}
		if out.Failed {
			return t, math.Inf(-1), errFailed
		}
		return t, out.Score(), nil
	}
	elsewhere := study.Work[C, Task]{
		Try: func(ctx context.Context, permit *ledger.Permit, candidate C) (Task, float64, error) {
			return far(ctx, permit, "", trial, candidate)
		},
		Finish: func(_ context.Context, permit *ledger.Permit, candidate C) (Task, error) {
			return task(permit, final, last, candidate)
		},
		Elsewhere: func(ctx context.Context, permit *ledger.Permit, candidate C) (float64, error) {
			_, score, err := far(ctx, permit, outside, dp.NoOp{}, candidate)
			return score, err
		},
	}
	found, err := study.Run(ctx, permit, q, c, elsewhere, o)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return none, cause
	}
	if err != nil {
		return none, err
	}
	out := study.Result[C, M]{Candidate: found.Candidate, Score: found.Score, Generations: found.Generations, Trials: found.Trials}
	own, err := r.Courier.Receive(found.Model.Permit, r.Study, binding(found.Model.Trial, found.Model.Candidate))
	if err != nil {
		return none, fmt.Errorf("fleet: the winner's permit: %w", err)
	}
	defer own.Close()
	if found.Model.Trial == final {
		out.Model, err = w.Finish(ctx, own, found.Candidate)
	} else {
		var score float64
		if out.Model, score, err = w.Try(ctx, own, found.Candidate); err == nil && math.Float64bits(score) != math.Float64bits(found.Score) {
			err = ErrDiffers // the model would not be the one that was chosen
		}
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// nameOf names a trial by its stream, so that it has the same name when the study goes on and
// the name says nothing of how many there are.
func nameOf(permit *ledger.Permit) string {
	var b [12]byte
	if _, err := permit.Randomness("name of a trial").Read(b[:]); err != nil {
		panic("fleet: " + err.Error()) // a stream never ends
	}
	return hex.EncodeToString(b[:])
}

// events are what one trial and the last training cost, as the strategy was priced.
func events(q search.Quote, published bool) (trial, last dp.Event, err error) {
	if published {
		return dp.NoOp{}, dp.NoOp{}, nil // nothing is paid for
	}
	one := func(e dp.Event) dp.Event {
		if s, ok := e.(dp.Select); ok {
			return s.Event
		}
		return e
	}
	switch e := q.Event.(type) {
	case dp.Select:
		return e.Event, dp.NoOp{}, nil
	case dp.Compose:
		if len(e.Events) == 0 {
			break
		}
		return one(e.Events[0]), e.Events[len(e.Events)-1], nil
	case dp.Scoped:
		return dp.NoOp{}, e, nil
	}
	return nil, nil, fmt.Errorf("fleet: strategy %s has no trials that could run elsewhere", q.Strategy.Kind)
}

// Trying makes a worker's Try of the work of a study. read is the inverse of the candidates'
// Key.
func Trying[C, M any](courier *ledger.Courier, name string, w study.Work[C, M], read func(json.RawMessage) (C, error)) Try {
	return func(ctx context.Context, t Task) (Outcome, error) {
		candidate, err := read(t.Candidate)
		if err != nil {
			return Outcome{}, fmt.Errorf("%w: %w", errTask, err)
		}
		permit, err := courier.Receive(t.Permit, name, binding(t.Trial, t.Candidate))
		if err != nil {
			return Outcome{}, err
		}
		defer permit.Close()
		var out Outcome
		if strings.HasPrefix(t.Trial, outside) {
			out.Score, err = w.Elsewhere(ctx, permit, candidate)
		} else {
			_, out.Score, err = w.Try(ctx, permit, candidate)
		}
		return out, err
	}
}
