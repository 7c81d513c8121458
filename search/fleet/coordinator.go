package fleet

import (
	"context"
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

const (
	// maxDeliveries is how many workers may lose one trial before the study stops.
	maxDeliveries = 20
	// outstanding bounds the trials that wait at the broker.
	outstanding = 4096
	// consumer is the name under which all workers of a study share its queue.
	consumer = "workers"
)

// ErrGaveUp is returned where one trial was lost by many workers: the study stops, and what is
// done is kept.
var ErrGaveUp = errors.New("a trial was lost by worker after worker; a training may need more memory or time than a worker has")

// ErrDiffers is returned where two workers computed different scores for one trial.
var ErrDiffers = errors.New("two machines computed different scores for the same trial; one of them is faulty, or they are not of one kind")

// Coordinator is the pool of a study whose trials run on workers.
type Coordinator struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	courier *ledger.Courier
	order   Order
	pace    Pace
	names   names

	mu      sync.Mutex
	waiting map[string]*waiting
	done    map[string]uint64 // what the result of a trial was, for comparison
	broken  error
	failed  chan struct{} // closed when broken is set

	stop context.CancelFunc
	idle sync.WaitGroup
	subs []*nats.Subscription
}

type waiting struct {
	task   Task
	result chan Result // has room for one
}

// names are the subjects of a fleet and of one study of it.
type names struct{ order, ask, work, result, stream string }

func namesOf(fleet, study string) names {
	base := "pawl." + fleet
	return names{order: base + ".order", ask: base + ".ask", work: base + ".work." + study, result: base + ".result." + study, stream: "pawl_" + fleet + "_" + study}
}

// Coordinate opens the queue of a study at the broker and tells workers of it. Close ends it.
func Coordinate(ctx context.Context, nc *nats.Conn, courier *ledger.Courier, order Order, pace Pace) (*Coordinator, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Coordinator{nc: nc, js: js, courier: courier, order: order, pace: pace.complete(), names: namesOf(courier.Name(), order.Study),
		waiting: map[string]*waiting{}, done: map[string]uint64{}, failed: make(chan struct{}), stop: stop}
	// What an earlier run of the study left in the queue is published anew.
	first, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := js.DeleteStream(first, c.names.stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		stop()
		return nil, c.brokerError(err)
	}
	if err := c.open(first); err != nil {
		stop()
		return nil, c.brokerError(err)
	}
	for subject, handle := range map[string]nats.MsgHandler{c.names.result: c.receive, c.names.ask: func(*nats.Msg) { c.announce(false) }} {
		sub, err := nc.Subscribe(subject, handle)
		if err != nil {
			stop()
			return nil, err
		}
		c.subs = append(c.subs, sub)
	}
	c.idle.Add(1)
	go c.watch(run)
	return c, nil
}

func (c *Coordinator) brokerError(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("the broker has no JetStream, which keeps the queue: %w", err)
	}
	return fmt.Errorf("the broker refuses the queue of the study: %w", err)
}

// open makes the queue, in the broker's memory: what is lost there is published again.
func (c *Coordinator) open(ctx context.Context) error {
	_, err := c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: c.names.stream, Subjects: []string{c.names.work}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.WorkQueuePolicy, MaxMsgs: outstanding, Discard: jetstream.DiscardNew})
	if err != nil {
		return err
	}
	_, err = c.js.CreateOrUpdateConsumer(ctx, c.names.stream, jetstream.ConsumerConfig{Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: c.pace.Lease, MaxAckPending: outstanding, MaxDeliver: -1})
	return err
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
	_, err = c.js.Publish(ctx, c.names.work, closed)
	return err
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
func (c *Coordinator) receive(m *nats.Msg) {
	plain, err := c.courier.Open(m.Data, "result "+c.order.Study)
	if err != nil {
		return // of nobody with this ledger
	}
	var r Result
	if json.Unmarshal(plain, &r) != nil {
		return
	}
	c.take(r)
	_ = m.Respond([]byte("ok")) // a worker without an answer asks again
}

// take hands a result to who waits for it. One of an earlier run of the study may be for a
// trial that was not drawn yet: it is computed again, the same.
func (c *Coordinator) take(r Result) {
	bits := r.Bits
	if r.Failed {
		bits = ^uint64(0) // a NaN, which no score is
	}
	c.mu.Lock()
	before, known := c.done[r.Trial]
	w := c.waiting[r.Trial]
	if !known && w != nil && !r.GaveUp {
		c.done[r.Trial] = bits
	}
	c.mu.Unlock()
	switch {
	case r.GaveUp:
		if w != nil { // else it is of an earlier run
			_ = c.fail(ErrGaveUp)
		}
	case known && before != bits:
		_ = c.fail(ErrDiffers)
	case !known && w != nil:
		w.result <- r
	}
}

// announce tells workers of the study.
func (c *Coordinator) announce(done bool) {
	o := c.order
	o.Done = done
	plain, err := json.Marshal(o)
	if err != nil {
		return
	}
	if closed, err := c.courier.Close(plain, "order"); err == nil {
		_ = c.nc.Publish(c.names.order, closed) // the next one may arrive
	}
}

// watch announces the study, and mends the queue when the broker has lost it: where fewer
// trials are queued than waited for, twice in a row, all that is waited for is published
// again. Work that is done twice gives the same result.
func (c *Coordinator) watch(ctx context.Context) {
	defer c.idle.Done()
	beat := time.NewTicker(c.pace.Beat)
	defer beat.Stop()
	short := 0
	for {
		c.announce(false)
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		queued, err := c.queued(ctx)
		missing := c.unanswered()
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

// queued is the number of trials at the broker, whose queue is made again where it is gone.
func (c *Coordinator) queued(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pace.Beat)
	defer cancel()
	s, err := c.js.Stream(ctx, c.names.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, c.open(ctx)
	}
	if err != nil {
		return 0, err
	}
	// After a restart of the broker the queue may be back without its consumer.
	if _, err := s.Consumer(ctx, consumer); errors.Is(err, jetstream.ErrConsumerNotFound) {
		if err := c.open(ctx); err != nil {
			return 0, err
		}
	}
	return int(s.CachedInfo().State.Msgs), nil
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
	for _, s := range c.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
	if done {
		c.announce(true)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.pace.Beat)
	defer cancel()
	err := c.js.DeleteStream(ctx, c.names.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return err
}
