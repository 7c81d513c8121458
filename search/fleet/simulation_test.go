//go:build unix

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/search"
	"pawl/search/study"
	"pawl/store/memory"
)

// world is a simulated broker with its network. Coordinator, workers, study and encryption are the real ones; the clock
// is that of the test, which jumps to the next event when everybody waits.
type world struct {
	hop time.Duration // of a message, one way

	mu          sync.Mutex
	subscribers map[string][]*subscriber
	queue       *pending
}

type subscriber struct {
	of     *link
	inbox  chan letter
	handle func([]byte, func([]byte))
}

type letter struct {
	message []byte
	due     time.Time
	answer  func([]byte)
}

// pending is the queue of a study.
type pending struct {
	lease   time.Duration
	ready   []*queued
	pulls   []*pull
	waiting int // trials that are ready or on loan
}

type queued struct {
	message []byte
	times   uint64
	lease   *time.Timer
}

type pull struct {
	trial chan *queued
	until time.Time
}

// link connects one process to the world, and counts its messages, either way.
type link struct {
	*world
	room     int // for messages that wait
	messages atomic.Int64
	cut      atomic.Bool // a killed process says nothing more
}

func (l *link) hops() { time.Sleep(l.hop) }

func (l *link) publish(subject string, message []byte) error { return l.send(subject, message, nil) }

func (l *link) send(subject string, message []byte, answer func([]byte)) error {
	if l.cut.Load() {
		return errors.New("cut")
	}
	l.messages.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer != nil && len(l.subscribers[subject]) == 0 {
		return errors.New("no responders")
	}
	for _, s := range l.subscribers[subject] {
		select {
		case s.inbox <- letter{message, time.Now().Add(2 * l.hop), answer}:
		default: // nor does a broker wait for a slow subscriber
		}
	}
	return nil
}

func (l *link) request(ctx context.Context, subject string, message []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	if err := l.send(subject, message, func(text []byte) { answer <- text }); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case text := <-answer:
		l.messages.Add(1)
		time.Sleep(2 * l.hop)
		return text, nil
	}
}

func (l *link) inquire(subject string, handle func([]byte)) (func(), error) {
	inbox := fmt.Sprintf("inbox of %p", l)
	stop, err := l.subscribe(inbox, func(message []byte, _ func([]byte)) { handle(message) })
	if err == nil {
		_ = l.send(subject, nil, func(answer []byte) { _ = l.send(inbox, answer, nil) })
	}
	return stop, err
}

func (l *link) subscribe(subject string, handle func([]byte, func([]byte))) (func(), error) {
	s := &subscriber{of: l, inbox: make(chan letter, l.room), handle: handle}
	l.mu.Lock()
	l.subscribers[subject] = append(l.subscribers[subject], s)
	l.mu.Unlock()
	var side sync.WaitGroup
	side.Go(func() {
		for m := range s.inbox {
			time.Sleep(time.Until(m.due))
			l.messages.Add(1)
			s.handle(m.message, func(answer []byte) {
				l.messages.Add(1)
				m.answer(answer)
			})
		}
	})
	return func() {
		l.mu.Lock()
		all := l.subscribers[subject]
		for i := range all {
			if all[i] == s {
				l.subscribers[subject] = append(all[:i:i], all[i+1:]...)
			}
		}
		l.mu.Unlock()
		close(s.inbox)
		side.Wait()
	}, nil
}

func (l *link) closed() bool { return false }

func (l *link) open(_ context.Context, _ names, lease time.Duration) error {
	l.messages.Add(4)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue == nil {
		l.queue = &pending{lease: lease}
	}
	return nil
}

func (l *link) remove(context.Context, names) error {
	l.messages.Add(2)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = nil
	return nil
}

func (l *link) depth(ctx context.Context, n names, lease time.Duration) (int, bool, error) {
	l.messages.Add(4)
	time.Sleep(4 * l.hop)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue == nil {
		l.queue = &pending{lease: lease}
	}
	return l.queue.waiting, len(l.queue.pulls) == 0 && len(l.queue.ready) == l.queue.waiting, nil
}

func (l *link) put(_ context.Context, _ names, message []byte) error {
	l.messages.Add(2)
	l.hops()
	l.mu.Lock()
	q := l.queue
	if q == nil || q.waiting >= outstanding {
		l.mu.Unlock()
		return errors.New("no room")
	}
	q.waiting++
	q.give(&queued{message: message})
	l.mu.Unlock()
	l.hops()
	return nil
}

// give hands a trial to who has waited longest for one.
func (q *pending) give(t *queued) {
	for len(q.pulls) > 0 {
		p := q.pulls[0]
		q.pulls = q.pulls[1:]
		if time.Now().Before(p.until) {
			p.trial <- t
			return
		}
	}
	q.ready = append(q.ready, t)
}

func (l *link) next(_ context.Context, _ names, wait time.Duration) (delivery, error) {
	l.messages.Add(2)
	l.hops()
	l.mu.Lock()
	q := l.queue
	for q != nil && len(q.pulls) > 0 && !time.Now().Before(q.pulls[0].until) {
		q.pulls = q.pulls[1:] // who no longer waits: all wait equally long
	}
	switch {
	case q == nil:
		l.mu.Unlock()
		return nil, errors.New("no queue")
	case len(q.pulls) >= outstanding:
		l.mu.Unlock()
		return nil, errors.New("too many wait")
	}
	p := &pull{make(chan *queued, 1), time.Now().Add(wait)}
	if len(q.ready) > 0 {
		p.trial <- q.ready[0]
		q.ready = q.ready[1:]
	} else {
		q.pulls = append(q.pulls, p)
	}
	l.mu.Unlock()
	select {
	case t := <-p.trial:
		h := &holding{l, q, t, 0}
		l.mu.Lock()
		t.times++
		h.time = t.times
		t.lease = time.AfterFunc(q.lease, h.expire)
		l.mu.Unlock()
		l.hops()
		return h, nil
	case <-time.After(wait):
		return nil, errEmpty
	}
}

// holding is a trial on loan.
type holding struct {
	*link
	q    *pending
	t    *queued
	time uint64 // of the deliveries
}

func (h *holding) Data() []byte     { return h.t.message }
func (h *holding) attempts() uint64 { return h.time }

func (h *holding) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.time == h.t.times && h.t.lease != nil {
		h.q.give(h.t)
	}
}

// own calls do, unless the trial has gone to another worker or is done.
func (h *holding) own(do func()) error {
	if h.cut.Load() {
		return errors.New("cut")
	}
	h.messages.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.time == h.t.times && h.t.lease != nil {
		do()
	}
	return nil
}

func (h *holding) Ack() error {
	return h.own(func() {
		h.t.lease.Stop()
		h.t.lease = nil
		h.q.waiting--
	})
}
func (h *holding) Nak() error        { return h.own(func() { h.t.lease.Stop(); h.q.give(h.t) }) }
func (h *holding) Term() error       { return h.Ack() }
func (h *holding) InProgress() error { return h.own(func() { h.t.lease.Reset(h.q.lease) }) }

// scenario is what is simulated.
type scenario struct {
	workers, trials int
	training        time.Duration // the mean of a training
	life            time.Duration // the mean of a worker's life, after which it is killed; another takes its place
	line            time.Duration // that the journal takes to record a trial, one after the other
}

// measured is what a simulation shows.
type measured struct {
	took               time.Duration // on the clock of the simulation
	busy               float64       // share of the workers' time in trainings that counted
	killed             int
	lost               int64   // trainings that were cut off
	coordinator, fleet float64 // messages a trial
	cpu                time.Duration
}

func (m measured) String() string {
	return fmt.Sprintf("%v, busy %.3f, %d killed, %d trainings lost; messages a trial: coordinator %.2f, workers %.2f; CPU of the whole simulation %v a trial",
		m.took.Round(time.Second), m.busy, m.killed, m.lost, m.coordinator, m.fleet, m.cpu.Round(100*time.Nanosecond))
}

// lines is a journal whose disk takes its time.
type lines struct {
	disk chan struct{}
	took time.Duration
	seen map[int]int
}

func (l *lines) Scores() map[int]float64 { return nil }

func (l *lines) Put(number int, _ string, _ float64, _ time.Duration) error {
	l.disk <- struct{}{}
	defer func() { <-l.disk }()
	time.Sleep(l.took)
	l.seen[number]++
	return nil
}

func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// duration of a trial's training, log-normal: it follows from the trial's stream, so that it is the same wherever it runs.
func duration(x uint64, mean time.Duration) time.Duration {
	const spread = 0.5
	rng := rand.New(rand.NewPCG(x, 1))
	return time.Duration(float64(mean) * math.Exp(spread*rng.NormFloat64()-spread*spread/2))
}

// simulate runs a study in a world, and checks that every trial was recorded once and has the score that it has in one process.
func simulate(t *testing.T, s scenario) (m measured) {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	courier, err := l.Courier(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secret, err := entropy.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	event := dp.Gaussian{NoiseMultiplier: 2}
	reserve := func() *ledger.Permit {
		own := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
		p, _, err := own.Reserve(t.Context(), ledger.Request{Dataset: "d", Plan: "p", Event: event, Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1,
			Epsilon: "5", Delta: "1e-5", Public: true, Digest: bytes.Repeat([]byte{1}, 32), Replay: &ledger.Replay{Secret: secret, Of: []byte("simulation")}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	numbers := study.Candidates[int]{Draw: func(rng *rand.Rand) int { return rng.IntN(1000) }, Key: strconv.Itoa}
	score := func(p *ledger.Permit, c int) (uint64, float64) {
		x := p.Randomness("value").Uint64()
		return x, float64(c) + float64(x%1000)/1000
	}
	quick := study.Work[int, uint64]{Try: func(_ context.Context, p *ledger.Permit, c int) (uint64, float64, error) {
		x, y := score(p, c)
		return x, y, nil
	}}
	var lost atomic.Int64
	slow := study.Work[int, uint64]{Try: func(ctx context.Context, p *ledger.Permit, c int) (uint64, float64, error) {
		x, y := score(p, c)
		select {
		case <-time.After(duration(x, s.training)):
			return x, y, nil
		case <-ctx.Done():
			lost.Add(1)
			return 0, 0, ctx.Err()
		}
	}}
	read := func(b json.RawMessage) (c int, err error) { return c, json.Unmarshal(b, &c) }

	began, start := cpu(), time.Now()
	w := &world{hop: 500 * time.Microsecond, subscribers: map[string][]*subscriber{}}
	own := &link{world: w, room: 2 * outstanding}
	c, err := coordinate(t.Context(), own, courier, Order{Study: "s", Name: "s", Job: json.RawMessage(`"` + string(bytes.Repeat([]byte{'x'}, 1000)) + `"`)}, Pace{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var staff sync.WaitGroup
	var messages, killed atomic.Int64
	for i := range s.workers {
		staff.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			for ctx.Err() == nil {
				one, kill := context.WithCancel(ctx)
				over := &link{world: w, room: 8}
				if s.life > 0 {
					death := time.AfterFunc(time.Duration(rng.ExpFloat64()*float64(s.life)), func() {
						over.cut.Store(true)
						killed.Add(1)
						kill()
					})
					context.AfterFunc(ctx, func() { death.Stop() })
				}
				if err := (Worker{Courier: courier, Say: func(string) {}, Prepare: func(_ context.Context, o Order) (Try, error) {
					return Trying(courier, o.Study, slow, read), nil
				}}).run(one, over); err != nil {
					t.Error(err)
				}
				messages.Add(over.messages.Load())
				kill()
			}
		})
	}
	journal := &lines{disk: make(chan struct{}, 1), took: s.line, seen: map[int]int{}}
	q := search.Quote{Strategy: search.Strategy{Kind: search.RS, Mean: float64(s.trials)}, Event: event}
	got, err := Run(t.Context(), reserve(), q, numbers, quick, study.Options{Journal: journal, Workers: Ahead, Published: true}, Remote{Courier: courier, Pool: c, Study: "s"})
	if err != nil {
		t.Fatal(err)
	}
	m.took = time.Since(start)
	m.coordinator = float64(own.messages.Load()) / float64(s.trials)
	if err := c.Close(true); err != nil {
		t.Error(err)
	}
	stop()
	staff.Wait()
	m.cpu = (cpu() - began) / time.Duration(s.trials)
	m.killed, m.lost, m.fleet = int(killed.Load()), lost.Load(), float64(messages.Load())/float64(s.trials)

	if len(got.Trials) != s.trials || len(journal.seen) != s.trials {
		t.Fatalf("%d trials, %d in the journal, want %d", len(got.Trials), len(journal.seen), s.trials)
	}
	var useful time.Duration
	best, again := math.Inf(-1), reserve()
	for _, one := range got.Trials {
		p, err := again.Child("trial", uint64(one.Number))
		if err != nil {
			t.Fatal(err)
		}
		x, want := score(p, one.Candidate)
		if one.Score != want || journal.seen[one.Number] != 1 {
			t.Fatalf("trial %d: score %v, want %v; recorded %d times", one.Number, one.Score, want, journal.seen[one.Number])
		}
		useful += duration(x, s.training)
		best = max(best, want)
	}
	if got.Score != best {
		t.Errorf("the winner has %v, the best trial %v", got.Score, best)
	}
	m.busy = useful.Seconds() / m.took.Seconds() / float64(s.workers)
	return m
}

// A fleet of a hundred through 1,000 trials, with workers that are killed: each trial is recorded once, with the score that
// it has in one process, and what a trial costs is bounded.
func TestSimulation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := simulate(t, scenario{workers: 100, trials: 1000, training: 20 * time.Second, life: 10 * time.Minute, line: 4 * time.Millisecond})
		t.Log(m)
		if m.killed == 0 || m.lost == 0 {
			t.Error("no worker was killed in a training")
		}
		// A trial is published, acknowledged, answered and acknowledged; beats and newcomers add less than one message each.
		if m.coordinator > 6 {
			t.Errorf("the coordinator has %.2f messages a trial", m.coordinator)
		}
		// A worker asks for a trial, is given it, renews its lease every 3.75 s, delivers, is answered and acknowledges; it hears
		// an order every 2 s, and asks every 2 s while it has none.
		seconds := m.took.Seconds() * 100 / 1000 // of a worker, for one trial
		if most := 6 + seconds/3.75 + seconds/2 + 2*seconds*(1-m.busy)/2; m.fleet > most {
			t.Errorf("workers have %.2f messages a trial, want at most %.2f", m.fleet, most)
		}
		if m.cpu > 5*time.Millisecond { // with those of all workers, and ten times what was measured
			t.Errorf("the simulation took %v a trial", m.cpu)
		}
	})
}

// TestSimulationOfMany measures the table of docs/CLUSTER.md.
func TestSimulationOfMany(t *testing.T) {
	if os.Getenv("PAWL_FULL") == "" {
		// TestSimulation holds the same bounds on a smaller fleet at every change.
		t.Skip("it takes minutes: set PAWL_FULL")
	}
	const line = 4 * time.Millisecond
	for _, s := range []scenario{
		{workers: 1000, trials: 100_000, training: time.Minute, life: 20 * time.Minute, line: line},
		{workers: 1000, trials: 100_000, training: 10 * time.Second, line: line},
		{workers: 1000, trials: 100_000, training: 5 * time.Second, line: line},
		{workers: 1000, trials: 100_000, training: 2 * time.Second, line: line},
		{workers: 2000, trials: 100_000, training: time.Minute, line: line},
		{workers: 4000, trials: 100_000, training: time.Minute, line: line},
	} {
		t.Run(fmt.Sprintf("workers=%d,training=%v", s.workers, s.training), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { t.Log(simulate(t, s)) })
		})
	}
}

// echo is a broker whose workers answer at once with a failed training.
type echo struct {
	wire
	courier *ledger.Courier
	receive func([]byte, func([]byte))
}

func (e *echo) publish(string, []byte) error                     { return nil }
func (e *echo) open(context.Context, names, time.Duration) error { return nil }
func (e *echo) remove(context.Context, names) error              { return nil }
func (e *echo) depth(context.Context, names, time.Duration) (int, bool, error) {
	return outstanding, false, nil
}

func (e *echo) subscribe(subject string, handle func([]byte, func([]byte))) (func(), error) {
	if subject == namesOf(e.courier.Name(), "s").result {
		e.receive = handle
	}
	return func() {}, nil
}

func (e *echo) put(_ context.Context, _ names, message []byte) error {
	plain, err := e.courier.Open(message, "task s")
	if err != nil {
		return err
	}
	var t Task
	if err := json.Unmarshal(plain, &t); err != nil {
		return err
	}
	if plain, err = json.Marshal(Result{Trial: t.Trial, Bits: 1}); err != nil {
		return err
	}
	if plain, err = e.courier.Close(plain, "result s"); err == nil {
		e.receive(plain, func([]byte) {})
	}
	return err
}

// BenchmarkCoordinator is the processor time of a coordinator a trial, with candidates of a kilobyte and workers that take no time.
func BenchmarkCoordinator(b *testing.B) {
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	courier, err := l.Courier(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	event := dp.Gaussian{NoiseMultiplier: 2}
	permit, _, err := l.Reserve(b.Context(), ledger.Request{Dataset: "d", Plan: "p", Event: event, Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1,
		Epsilon: "5", Delta: "1e-5", Public: true, Digest: bytes.Repeat([]byte{1}, 32)})
	if err != nil {
		b.Fatal(err)
	}
	c, err := coordinate(b.Context(), &echo{courier: courier}, courier, Order{Study: "s"}, Pace{})
	if err != nil {
		b.Fatal(err)
	}
	key := `"` + string(bytes.Repeat([]byte{'x'}, 1000)) + `"`
	candidates := study.Candidates[int]{Draw: func(rng *rand.Rand) int { return rng.Int() }, Key: func(int) string { return key }}
	none := study.Work[int, int]{Try: func(context.Context, *ledger.Permit, int) (int, float64, error) {
		return 0, math.Float64frombits(1), nil
	}}
	began := cpu()
	b.ResetTimer()
	if _, err := Run(b.Context(), permit, search.Quote{Strategy: search.Strategy{Kind: search.RS, Mean: float64(b.N)}, Event: event}, candidates, none,
		study.Options{Workers: Ahead, Published: true}, Remote{Courier: courier, Pool: c, Study: "s"}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64((cpu()-began).Microseconds())/float64(b.N), "cpu-µs/trial")
	if err := c.Close(true); err != nil {
		b.Error(err)
	}
}
