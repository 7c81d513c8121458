package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// wire is what coordinator and worker need of a broker: messages, which are lost where nobody
// listens, and the queue of a study, which gives each trial to one worker at a time until that
// worker has acknowledged it. A simulation stands in for it.
type wire interface {
	publish(subject string, message []byte) error
	// subscribe calls handle for one message after the other until stop is called.
	subscribe(subject string, handle func(message []byte, answer func([]byte))) (stop func(), err error)
	// request publishes a message and returns the answer of a subscriber.
	request(ctx context.Context, subject string, message []byte) ([]byte, error)
	// inquire publishes an empty message and calls handle for every answer until stop is called.
	inquire(subject string, handle func(answer []byte)) (stop func(), err error)
	// closed reports whether the connection is gone for good.
	closed() bool

	// open makes the queue of a study where there is none, and remove ends it.
	open(ctx context.Context, n names, lease time.Duration) error
	remove(ctx context.Context, n names) error
	// depth is the number of trials in the queue, which is made again where it is gone; alone says
	// that no worker has one or waits for one.
	depth(ctx context.Context, n names, lease time.Duration) (trials int, alone bool, err error)
	put(ctx context.Context, n names, message []byte) error
	// next waits for a trial; errEmpty where none came.
	next(ctx context.Context, n names, wait time.Duration) (delivery, error)
}

// delivery is a trial on loan. Errors of its answers change nothing: the lease ends by itself.
type delivery interface {
	Data() []byte
	// attempts is how often the trial was delivered, this time included.
	attempts() uint64
	Ack() error
	// Nak gives the trial back, and Term takes it out of the queue.
	Nak() error
	Term() error
	// InProgress renews the lease.
	InProgress() error
}

var errEmpty = errors.New("no trial in the queue")

// names are the subjects of a fleet and of one study of it.
type names struct{ order, ask, work, result, rows, stream string }

func namesOf(fleet, study string) names {
	base := "pawl." + fleet
	return names{order: base + ".order", ask: base + ".ask", work: base + ".work." + study, result: base + ".result." + study, rows: base + ".rows." + study, stream: "pawl_" + fleet + "_" + study}
}

// jet is a wire of NATS JetStream.
type jet struct {
	nc *nats.Conn
	js jetstream.JetStream

	mu     sync.Mutex
	queues map[string]jetstream.Consumer // by stream, as long as they answer
}

func newJet(nc *nats.Conn) (*jet, error) {
	js, err := jetstream.New(nc)
	return &jet{nc: nc, js: js, queues: map[string]jetstream.Consumer{}}, err
}

func (j *jet) publish(subject string, message []byte) error { return j.nc.Publish(subject, message) }

func (j *jet) request(ctx context.Context, subject string, message []byte) ([]byte, error) {
	m, err := j.nc.RequestWithContext(ctx, subject, message)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

func (j *jet) subscribe(subject string, handle func([]byte, func([]byte))) (func(), error) {
	sub, err := j.nc.Subscribe(subject, func(m *nats.Msg) {
		handle(m.Data, func(answer []byte) { _ = m.Respond(answer) }) // who gets no answer asks again
	})
	return func() { _ = sub.Unsubscribe() }, err // the connection may be gone
}

func (j *jet) inquire(subject string, handle func([]byte)) (func(), error) {
	inbox := j.nc.NewInbox()
	stop, err := j.subscribe(inbox, func(answer []byte, _ func([]byte)) { handle(answer) })
	if err != nil {
		return nil, err
	}
	return stop, j.nc.PublishRequest(subject, inbox, nil)
}

func (j *jet) closed() bool { return j.nc.IsClosed() }

// open makes the queue in the broker's memory: what is lost there is published again.
func (j *jet) open(ctx context.Context, n names, lease time.Duration) error {
	_, err := j.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: n.stream, Subjects: []string{n.work}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.WorkQueuePolicy, MaxMsgs: outstanding, Discard: jetstream.DiscardNew})
	if err != nil {
		return err
	}
	_, err = j.js.CreateOrUpdateConsumer(ctx, n.stream, jetstream.ConsumerConfig{Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: lease, MaxAckPending: outstanding, MaxWaiting: outstanding, MaxDeliver: -1})
	return err
}

func (j *jet) remove(ctx context.Context, n names) error {
	err := j.js.DeleteStream(ctx, n.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return err
}

func (j *jet) depth(ctx context.Context, n names, lease time.Duration) (int, bool, error) {
	s, err := j.js.Stream(ctx, n.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, false, j.open(ctx, n, lease)
	}
	if err != nil {
		return 0, false, err
	}
	// After a restart of the broker the queue may be back without its consumer.
	queue, err := s.Consumer(ctx, consumer)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return int(s.CachedInfo().State.Msgs), false, j.open(ctx, n, lease)
	}
	if err != nil {
		return 0, false, err
	}
	info := queue.CachedInfo()
	return int(s.CachedInfo().State.Msgs), info.NumWaiting == 0 && info.NumAckPending == 0, nil
}

func (j *jet) put(ctx context.Context, n names, message []byte) error {
	_, err := j.js.Publish(ctx, n.work, message)
	return err
}

func (j *jet) next(ctx context.Context, n names, wait time.Duration) (delivery, error) {
	j.mu.Lock()
	queue := j.queues[n.stream]
	j.mu.Unlock()
	if queue == nil {
		ask, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		var err error
		if queue, err = j.js.Consumer(ask, n.stream, consumer); err != nil {
			return nil, err
		}
		j.mu.Lock()
		j.queues[n.stream] = queue
		j.mu.Unlock()
	}
	m, err := queue.Next(jetstream.FetchMaxWait(wait))
	if errors.Is(err, nats.ErrTimeout) {
		return nil, errEmpty
	}
	if err != nil {
		j.mu.Lock()
		delete(j.queues, n.stream)
		j.mu.Unlock()
		return nil, err
	}
	return loan{m}, nil
}

type loan struct{ jetstream.Msg }

func (l loan) attempts() uint64 {
	meta, err := l.Metadata()
	if err != nil {
		return 1
	}
	return meta.NumDelivered
}
