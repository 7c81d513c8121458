package request

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"pawl/core/ledger"
	"pawl/internal/build"
	"pawl/internal/usage"
	"pawl/search/fleet"
)

// ErrErrand is returned for an errand that a worker could not do.
var ErrErrand = errors.New("a worker could not do it")

// Errands are tasks on public data for workers: no row and no permit travels.
type Errands struct {
	coordinator *fleet.Coordinator
	hangUp      func()
}

// SendErrands opens a queue of errands of a kind, for workers that DoErrands of it. job is what
// all of them have in common.
func SendErrands(ctx context.Context, l *ledger.Ledger, broker fleet.Address, kind string, job any, say func(string)) (*Errands, error) {
	courier, err := l.Courier(ctx)
	if err != nil {
		return nil, err
	}
	software, err := build.Software()
	if err != nil {
		return nil, err
	}
	var name [12]byte
	if _, err := rand.Read(name[:]); err != nil {
		return nil, err
	}
	o := fleet.Order{Study: hex.EncodeToString(name[:]), Name: kind, Kind: kind, Software: software, Kernel: machine(), Say: say}
	if o.Job, err = json.Marshal(job); err != nil {
		return nil, err
	}
	nc, err := fleet.Dial(ctx, broker, "pawl "+kind)
	if err != nil {
		return nil, err
	}
	c, err := fleet.Coordinate(ctx, nc, courier, o, fleet.Pace{})
	if err != nil {
		nc.Close()
		return nil, usage.Newf("start the broker with pawl-broker, or nats-server -js", "--nats %s: %v", broker.URL, err)
	}
	return &Errands{c, nc.Close}, nil
}

// Do has a worker answer a question; both are JSON. It may be called from several goroutines, each
// with another question.
func (e *Errands) Do(ctx context.Context, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	r, err := e.coordinator.Do(ctx, fleet.Task{Trial: string(text), Candidate: text})
	if err != nil {
		return err
	}
	if r.Failed {
		return ErrErrand
	}
	return json.Unmarshal(r.Answer, answer)
}

// Close ends the queue.
func (e *Errands) Close() {
	_ = e.coordinator.Close(true) // the broker forgets it with the last connection
	e.hangUp()
}

// DoErrands makes a worker's Try of errands: do answers a question about the job of the order.
func DoErrands[J, Q, A any](o fleet.Order, do func(ctx context.Context, job J, question Q) (A, error)) (fleet.Try, error) {
	if _, err := alike(o); err != nil {
		return nil, err
	}
	var job J
	if err := json.Unmarshal(o.Job, &job); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	return func(ctx context.Context, t fleet.Task) (fleet.Outcome, error) {
		var question Q
		if err := json.Unmarshal(t.Candidate, &question); err != nil {
			return fleet.Outcome{}, err
		}
		answer, err := do(ctx, job, question)
		if err != nil {
			return fleet.Outcome{}, err
		}
		text, err := json.Marshal(answer)
		return fleet.Outcome{Answer: text}, err
	}, nil
}
