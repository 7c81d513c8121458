package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"pawl/core/ledger"
)

// Worker takes trials of all studies of a ledger, one study after the other.
type Worker struct {
	Courier *ledger.Courier
	// Prepare opens the data of a study. Its error is told to Say, and the worker goes on to
	// wait for other studies.
	Prepare func(ctx context.Context, o Order) (Try, error)
	// Parallel is the number of trials side by side, at least 1.
	Parallel int
	// Limit is how long one trial may take before it is given back; 0 for no limit.
	Limit time.Duration
	// Say is given lines for the operator.
	Say  func(line string)
	Pace Pace
}

// Run takes trials until ctx ends; a trial that is then under way is given back. It returns
// nil unless the connection is closed for good.
func (w Worker) Run(ctx context.Context, nc *nats.Conn) error {
	over, err := newJet(nc)
	if err != nil {
		return err
	}
	return w.run(ctx, over)
}

func (w Worker) run(ctx context.Context, over wire) error {
	w.Pace = w.Pace.complete()
	all := namesOf(w.Courier.Name(), "")
	orders := make(chan Order, 64)
	hear := func(message []byte) {
		plain, err := w.Courier.Open(message, "order")
		var o Order
		if err != nil || readOrder(plain, &o) != nil {
			return
		}
		select {
		case orders <- o:
		default: // the next beat brings it again
		}
	}
	end, err := over.subscribe(all.order, func(message []byte, _ func([]byte)) { hear(message) })
	if err != nil {
		return err
	}
	defer end()
	end, err = over.inquire(all.ask, hear)
	if err != nil {
		return err
	}
	defer end()
	refused := map[string]bool{}
	for {
		var o Order
		select {
		case <-ctx.Done():
			return nil
		case o = <-orders:
		}
		if o.Done || refused[o.Study] {
			continue
		}
		w.Say("study " + o.Name + ": opening the data")
		o.fetch = func(ctx context.Context) ([]byte, error) { return w.fetch(ctx, over, o) }
		try, err := w.Prepare(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// What was cut off may go through at the next beat; the rest stays as it is.
			refused[o.Study] = !errors.Is(err, ErrCut)
			w.Say(fmt.Sprintf("not joined: %v", err))
			continue
		}
		w.Say("study " + o.Name + ": taking trials")
		if err := w.serve(ctx, over, o, try, orders); err != nil {
			return err
		}
		if ctx.Err() == nil {
			w.Say("study " + o.Name + ": ended or out of reach; waiting for studies")
		}
	}
}

// silence is how many beats a coordinator may miss.
const silence = 15

// serve takes trials of one study until it is done, its coordinator is silent for long, or
// ctx ends.
func (w Worker) serve(ctx context.Context, over wire, o Order, try Try, orders <-chan Order) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var side sync.WaitGroup
	n := namesOf(w.Courier.Name(), o.Study)
	for range max(w.Parallel, 1) {
		side.Go(func() {
			for ctx.Err() == nil {
				w.one(ctx, over, n, o, try)
			}
		})
	}
	defer side.Wait()
	defer stop()
	quiet := time.NewTimer(silence * w.Pace.Beat)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-quiet.C:
			return nil
		case next := <-orders:
			if next.Study == o.Study {
				if next.Done {
					return nil
				}
				quiet.Reset(silence * w.Pace.Beat)
			}
		}
		if over.closed() {
			return errors.New("the connection to the broker is closed")
		}
	}
}

// one waits for a trial, runs it and brings its result to the coordinator.
func (w Worker) one(ctx context.Context, over wire, n names, o Order, try Try) {
	m, err := over.next(ctx, n, max(w.Pace.Beat, time.Second))
	if err != nil {
		if !errors.Is(err, errEmpty) {
			pause(ctx, w.Pace.Beat/4)
		}
		return
	}
	// A message that is given back goes to another worker at once. Errors of acknowledgements
	// change nothing: the lease ends by itself.
	if ctx.Err() != nil {
		_ = m.Nak()
		return
	}
	var t Task
	plain, err := w.Courier.Open(m.Data(), "task "+o.Study)
	if err != nil || strictly(plain, &t) != nil {
		_ = m.Term() // of nobody with this ledger
		return
	}
	result := Result{Trial: t.Trial, GaveUp: true}
	if m.attempts() <= maxDeliveries {
		if result, err = w.compute(ctx, m, try, t); err != nil {
			_ = m.Nak()
			return
		}
	}
	if w.deliver(ctx, over, m, n, o, result) {
		_ = m.Ack()
	} else {
		_ = m.Nak()
	}
}

// compute runs a trial and renews the lease meanwhile.
func (w Worker) compute(ctx context.Context, m delivery, try Try, t Task) (Result, error) {
	if w.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Limit)
		defer cancel()
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		renew := time.NewTicker(w.Pace.Lease / 4)
		defer renew.Stop()
		for {
			select {
			case <-done:
				return
			case <-renew.C:
				_ = m.InProgress()
			}
		}
	}()
	r, err := attempt(ctx, try, t)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		w.Say("a trial took longer than --trial-limit and was given back")
	}
	return r, err
}

// deliver brings a result to the coordinator and waits until it has it: through interruptions
// of the broker, but not longer than a coordinator may be silent.
func (w Worker) deliver(ctx context.Context, over wire, m delivery, n names, o Order, r Result) bool {
	plain, err := json.Marshal(r)
	if err != nil {
		return false
	}
	closed, err := w.Courier.Close(plain, "result "+o.Study)
	if err != nil {
		return false
	}
	// What is computed is not thrown away because the worker is asked to stop now.
	for range silence {
		ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Pace.Beat)
		_, err := over.request(ask, n.result, closed)
		cancel()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		_ = m.InProgress()
		pause(ctx, w.Pace.Beat)
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
