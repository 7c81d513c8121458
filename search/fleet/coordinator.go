package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"pawl/core/ledger"
)

// Pace says how fast silence is noticed; the zero value is right.
type Pace struct {
	// Lease is how long a worker may be silent before its trial goes to another (15 s).
	Lease time.Duration
	// Beat is how often a coordinator shows that its study runs (2 s).
	Beat time.Duration
}

func (p Pace) complete() Pace {
	if p.Lease == 0 {
		p.Lease = 15 * time.Second
	}
	if p.Beat == 0 {
		p.Beat = 2 * time.Second
	}
	return p
}

// Ahead is the number of trials that a study keeps at its broker, unless somebody says
// otherwise: as many workers can be busy. Less than outstanding, so that a second copy of some
// finds room.
const Ahead = 2048

const (
	// maxDeliveries is how many workers may lose one trial before the study stops.
	maxDeliveries = 20
	// outstanding bounds the trials at the broker, and the workers that wait for one.
	outstanding = 4096
	// lonely is how many beats in a row nobody may take a trial before the operator is told.
	lonely = 5
	// consumer is the name under which all workers of a study share its queue.
	consumer = "workers"
)

// ErrGaveUp is returned where one trial was lost by many workers: the study stops, and what is
// done is kept.
var ErrGaveUp = errors.New("several workers in turn lost the same trial; a training run may need more memory or time than a worker has")

// ErrDiffers is returned where two workers computed different scores for one trial.
var ErrDiffers = errors.New("two machines computed different scores for the same trial; one is faulty, or they are of different kinds")

// Coordinator is the pool of a study whose trials run on workers.
type Coordinator struct {
	wire    wire
	courier *ledger.Courier
	order   Order
	pace    Pace
	names   names
	// handover closes rows for workers; nil where they have them.
	handover *handover

	mu      sync.Mutex
	waiting map[string]*waiting
	done    map[string][sha256.Size]byte // what the result of a trial was, for comparison
	broken  error
	failed  chan struct{} // closed when broken is set

	stop context.CancelFunc
	idle sync.WaitGroup
	subs []func()
}

type waiting struct {
	task   Task
	result chan Result // has room for one
}

// Coordinate opens the queue of a study at the broker and tells workers of it. Close ends it.
func Coordinate(ctx context.Context, nc *nats.Conn, courier *ledger.Courier, order Order, pace Pace) (*Coordinator, error) {
	w, err := newJet(nc)
	if err != nil {
		return nil, err
	}
	return coordinate(ctx, w, courier, order, pace)
}

func coordinate(ctx context.Context, w wire, courier *ledger.Courier, order Order, pace Pace) (*Coordinator, error) {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Coordinator{wire: w, courier: courier, order: order, pace: pace.complete(), names: namesOf(courier.Name(), order.Study),
		waiting: map[string]*waiting{}, done: map[string][sha256.Size]byte{}, failed: make(chan struct{}), stop: stop}
	// What an earlier run of the study left in the queue is published anew.
	first, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := w.remove(first, c.names)
	if err == nil {
		err = w.open(first, c.names, c.pace.Lease)
	}
	if err != nil {
		stop()
		return nil, brokerError(err)
	}
	subjects := map[string]func([]byte, func([]byte)){c.names.result: c.receive, c.names.ask: c.welcome}
	if order.Cargo != nil {
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			stop()
			return nil, err
		}
		if c.handover, err = newHandover(secret); err != nil {
			stop()
			return nil, err
		}
		c.order.Rows = &Rows{Key: c.handover.public(), Secret: secret, Size: len(order.Cargo)}
		subjects[c.names.rows] = c.hand
	}
	for subject, handle := range subjects {
		end, err := w.subscribe(subject, handle)
		if err != nil {
			stop()
			return nil, err
		}
		c.subs = append(c.subs, end)
	}
	c.idle.Add(1)
	go c.watch(run)
	return c, nil
}

func brokerError(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("the broker has no JetStream, which keeps the queue: %w", err)
	}
	return fmt.Errorf("the broker refuses the queue of the study: %w", err)
}

// Do implements Pool: it publishes the trial and waits for its result.
func (c *Coordinator) Do(ctx context.Context, t Task) (Result, error) {
	w := &waiting{task: t, result: make(chan Result, 1)}
	c.mu.Lock()
	_, twice := c.waiting[t.Trial]
	if !twice {
		c.waiting[t.Trial] = w
	}
	broken := c.broken
	c.mu.Unlock()
	switch {
	case broken != nil:
		return Result{}, broken
	case twice:
		return Result{}, fmt.Errorf("fleet: trial %s runs already", t.Trial)
	}
	defer func() {
		c.mu.Lock()
		delete(c.waiting, t.Trial)
		c.mu.Unlock()
	}()
	_ = c.publish(ctx, t) // what the broker does not take now, watch publishes later
	select {
	case r := <-w.result:
		return r, nil
	case <-c.failed:
		return Result{}, c.broken
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

func (c *Coordinator) publish(ctx context.Context, t Task) error {
	plain, err := json.Marshal(t)
	if err != nil {
		return c.fail(err)
	}
	closed, err := c.courier.Close(plain, "task "+c.order.Study)
	if err != nil {
		return c.fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.pace.Beat)
	defer cancel()
	return c.wire.put(ctx, c.names, closed)
}

// fail stops the study.
func (c *Coordinator) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
		close(c.failed)
	}
	return err
}

// receive takes the result of a trial and answers, so that the worker can drop it.
func (c *Coordinator) receive(message []byte, answer func([]byte)) {
	plain, err := c.courier.Open(message, "result "+c.order.Study)
	if err != nil {
		return // of nobody with this ledger
	}
	var r Result
	if strictly(plain, &r) != nil {
		return
	}
	c.take(r)
	answer([]byte("ok"))
}

// take hands a result to who waits for it. One of an earlier run of the study may be for a
// trial that was not drawn yet: it is computed again, the same.
func (c *Coordinator) take(r Result) {
	print := r.print()
	c.mu.Lock()
	before, known := c.done[r.Trial]
	w := c.waiting[r.Trial]
	if !known && w != nil && !r.GaveUp {
		c.done[r.Trial] = print
	}
	c.mu.Unlock()
	switch {
	case r.GaveUp:
		if w != nil { // else it is of an earlier run
			_ = c.fail(ErrGaveUp)
		}
	case known && before != print:
		_ = c.fail(ErrDiffers)
	case !known && w != nil:
		w.result <- r
	}
}

// announce tells workers of the study.
func (c *Coordinator) announce(done bool) {
	if closed := c.closedOrder(done); closed != nil {
		_ = c.wire.publish(c.names.order, closed) // the next one may arrive
	}
}

// welcome tells a worker that has come.
func (c *Coordinator) welcome(_ []byte, answer func([]byte)) {
	if closed := c.closedOrder(false); closed != nil {
		answer(closed)
	}
}

func (c *Coordinator) closedOrder(done bool) []byte {
	o := c.order
	o.Done = done
	plain, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	closed, err := c.courier.Close(plain, "order")
	if err != nil {
		return nil
	}
	return closed
}

// watch announces the study, and mends the queue when the broker has lost it: where fewer
// trials are queued than waited for, twice in a row, all that is waited for is published
// again. Work that is done twice gives the same result.
func (c *Coordinator) watch(ctx context.Context) {
	defer c.idle.Done()
	beat := time.NewTicker(c.pace.Beat)
	defer beat.Stop()
	short, quiet := 0, 0
	for {
		c.announce(false)
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		queued, alone, err := c.depth(ctx)
		missing := c.unanswered()
		if quiet++; err != nil || !alone || len(missing) == 0 {
			quiet = 0
		}
		if quiet == lonely && c.order.Say != nil {
			c.order.Say("no worker takes training runs: start one with pawl worker, with the same ledger and broker; a running worker reports why it does not join")
		}
		switch {
		case err != nil || len(missing) <= queued:
			short = 0
			continue
		case queued > 0: // none at all is a lost queue; some may be on their way
			if short++; short < 2 {
				continue
			}
		}
		short = 0
		for _, t := range missing {
			if c.publish(ctx, t) != nil {
				break // the broker is away again
			}
		}
	}
}

func (c *Coordinator) depth(ctx context.Context) (int, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.Beat)
	defer cancel()
	return c.wire.depth(ctx, c.names, c.pace.Lease)
}

func (c *Coordinator) unanswered() (all []Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		if _, done := c.done[w.task.Trial]; !done {
			all = append(all, w.task)
		}
	}
	return all
}

// Close removes the queue. done says that the study has ended for good: workers let go of its
// data at once.
func (c *Coordinator) Close(done bool) error {
	c.stop()
	c.idle.Wait()
	for _, end := range c.subs {
		end()
	}
	if done {
		c.announce(true)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.pace.Beat)
	defer cancel()
	return c.wire.remove(ctx, c.names)
}
