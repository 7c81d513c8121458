package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/search"
	"pawl/search/fleet"
	"pawl/search/fleet/broker"
	"pawl/search/study"
	"pawl/store/memory"
)

// The candidates of these tests are the whole numbers to 99.
var numbers = study.Candidates[int]{
	Draw:  func(rng *rand.Rand) int { return rng.IntN(100) },
	Vary:  func(rng *rand.Rand, c int) int { return (c + rng.IntN(5)) % 100 },
	Cross: func(_ *rand.Rand, a, b int) (int, int) { return (a + b) / 2, b },
	Key:   func(c int) string { return strconv.Itoa(c) },
	All: func() (all []int, err error) {
		for c := range 20 {
			all = append(all, c)
		}
		return all, nil
	},
	Rule: 7,
}

func read(b json.RawMessage) (c int, err error) { return c, json.Unmarshal(b, &c) }

// quick notices silence in the time of a test.
var quick = fleet.Pace{Lease: 600 * time.Millisecond, Beat: 100 * time.Millisecond}

func quote(t testing.TB, kind search.Kind) search.Quote {
	t.Helper()
	s, err := search.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	switch kind {
	case search.RS:
		s.Mean = 10
	case search.MGRS:
		s.Sizes = []float64{6, 4}
	case search.Grid:
		s.Candidates = 20
	}
	j := search.Job{
		Trial: search.Trial{
			Train: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} },
			Score: func(x float64) []dp.Event { return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}} },
		},
		Relation: dp.AddOrRemoveOne, Epsilon: 3, Delta: 1e-5, Accountant: accountant.MethodRDP, Scopes: s.Divide(dp.WholeScope),
	}
	q, err := s.Quote(j)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// house is what coordinator and workers share.
type house struct {
	ledger  *ledger.Ledger
	courier *ledger.Courier
}

func newHouse(t testing.TB) house {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	c, err := l.Courier(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return house{l, c}
}

// permit is that of a study whose secret is kept: a study that goes on has its streams again.
func permit(t testing.TB, e dp.Event, secret entropy.Secret) *ledger.Permit {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	p, _, err := l.Reserve(context.Background(), ledger.Request{Dataset: "d", Plan: "p", Event: e, Relation: dp.AddOrRemoveOne, Unit: "row", RowsPerUnit: 1,
		Epsilon: "5", Delta: "1e-5", Public: true, Digest: bytes.Repeat([]byte{1}, 32), Replay: &ledger.Replay{Secret: secret, Of: []byte("spec")}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type model struct {
	Candidate int
	Value     uint64
}

// work trains nothing: a trial's value and score follow from its stream and its candidate, and
// every fifth training fails.
func work(took time.Duration, calls *atomic.Int64) study.Work[int, model] {
	one := func(ctx context.Context, p *ledger.Permit, c int) (model, float64, error) {
		if calls != nil {
			calls.Add(1)
		}
		select {
		case <-ctx.Done():
			return model{}, 0, ctx.Err()
		case <-time.After(took):
		}
		m := model{c, p.Randomness("value").Uint64()}
		if m.Value%5 == 0 {
			return m, 0, errors.New("diverged")
		}
		return m, -math.Abs(float64(c) - 61 + float64(m.Value%3)), nil
	}
	return study.Work[int, model]{
		Try: one,
		Elsewhere: func(ctx context.Context, p *ledger.Permit, c int) (float64, error) {
			_, score, err := one(ctx, p, c+3)
			return score, err
		},
		Finish: func(_ context.Context, p *ledger.Permit, c int) (model, error) {
			return model{c, p.Randomness("value").Uint64()}, nil
		},
	}
}

func newSecret(t testing.TB) entropy.Secret {
	t.Helper()
	s, err := entropy.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type outcome = study.Result[int, model]

func same(t testing.TB, got, want outcome, err, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) || got.Candidate != want.Candidate || got.Model != want.Model || len(got.Trials) != len(want.Trials) ||
		got.Score != want.Score && !(math.IsNaN(got.Score) && math.IsNaN(want.Score)) {
		t.Fatalf("%+v (%v), in one process %+v (%v)", got, err, want, wantErr)
	}
	for i := range want.Trials {
		if got.Trials[i] != want.Trials[i] {
			t.Fatalf("trial %d: %+v, in one process %+v", i, got.Trials[i], want.Trials[i])
		}
	}
}

func start(t testing.TB, port int) *broker.Broker {
	t.Helper()
	b, err := broker.Start(broker.Options{Listen: "127.0.0.1:" + strconv.Itoa(port)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dial(t testing.TB, port int) *nats.Conn {
	t.Helper()
	var nc *nats.Conn
	var err error
	for range 40 { // a broker may be restarting
		if nc, err = fleet.Dial(context.Background(), fleet.Address{URL: fmt.Sprintf("nats://127.0.0.1:%d", port)}, "test"); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// hire runs a worker until fire is called or the test ends.
func hire(t testing.TB, h house, port int, w study.Work[int, model], limit time.Duration) (fire func()) {
	t.Helper()
	nc := dial(t, port)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	worker := fleet.Worker{Courier: h.courier, Parallel: 2, Pace: quick, Say: func(string) {}, Limit: limit,
		Prepare: func(_ context.Context, o fleet.Order) (fleet.Try, error) {
			return fleet.Trying(h.courier, o.Study, w, read), nil
		}}
	go func() { done <- worker.Run(ctx, nc) }()
	var once sync.Once
	fire = func() {
		once.Do(func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(fire)
	return fire
}

// remote opens the queue of a study.
func remote(t testing.TB, h house, port int, name string) (*fleet.Coordinator, fleet.Remote) {
	t.Helper()
	c, err := fleet.Coordinate(context.Background(), dial(t, port), h.courier, fleet.Order{Study: name, Name: name}, quick)
	if err != nil {
		t.Fatal(err)
	}
	return c, fleet.Remote{Courier: h.courier, Pool: c, Study: name}
}

// One conformance suite for both pools: the winner, its model, its score and all trials that
// may be shown are those of a study in one process, for every strategy.
func TestPoolsConform(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	for range 2 {
		hire(t, h, b.Port(), work(0, nil), 0)
	}
	for i, kind := range []search.Kind{search.None, search.Grid, search.PS, search.RS, search.MGRS, search.PAAS, search.Split, search.LT, search.Public, search.STW} {
		t.Run(string(kind), func(t *testing.T) {
			q, secret := quote(t, kind), newSecret(t)
			want, wantErr := study.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 1})
			local := fleet.Remote{Courier: h.courier, Study: "local", Pool: fleet.Local{Try: fleet.Trying(h.courier, "local", work(0, nil), read)}}
			got, err := fleet.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 3}, local)
			same(t, got, want, err, wantErr)
			c, far := remote(t, h, b.Port(), fmt.Sprint("conform", i))
			got, err = fleet.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 8}, far)
			if err := c.Close(true); err != nil {
				t.Error(err)
			}
			same(t, got, want, err, wantErr)
		})
	}
}

// A study through deaths: workers come and go all the time, the coordinator is stopped twice
// and goes on from its journal, the broker loses everything once. Every trial is done, none is
// recorded twice, and the winner is that of an undisturbed run.
func TestStudySurvivesDeaths(t *testing.T) {
	h := newHouse(t)
	q, secret := quote(t, search.Grid), newSecret(t)
	want, wantErr := study.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 1})

	b := start(t, 0)
	port := b.Port()
	done := make(chan struct{})
	var chaos sync.WaitGroup
	chaos.Go(func() {
		for i := 0; ; i++ {
			fire := hire(t, h, port, work(40*time.Millisecond, nil), 0)
			select {
			case <-done:
				fire()
				return
			case <-time.After(300 * time.Millisecond):
				fire()
			}
		}
	})
	chaos.Go(func() {
		time.Sleep(250 * time.Millisecond)
		b.Stop()
		time.Sleep(100 * time.Millisecond)
		b = start(t, port)
	})
	dir := filepath.Join(t.TempDir(), "s")
	var got outcome
	var err error
	for life := range 10 {
		folder, _, openErr := study.Open(dir)
		if openErr != nil {
			t.Fatal(openErr)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if life < 2 {
			time.AfterFunc(350*time.Millisecond, cancel)
		}
		c, errOpen := fleet.Coordinate(ctx, dial(t, port), h.courier, fleet.Order{Study: "deaths", Name: "deaths"}, quick)
		if errOpen == nil {
			got, err = fleet.Run(ctx, permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 8, Journal: folder},
				fleet.Remote{Courier: h.courier, Pool: c, Study: "deaths"})
			_ = c.Close(err == nil)
		} else {
			err = errOpen
		}
		cancel()
		lines := folder.Lines()
		if closeErr := folder.Close(); closeErr != nil {
			t.Fatal(closeErr)
		}
		seen := map[int]bool{}
		for _, l := range lines {
			if seen[l.Number] {
				t.Errorf("trial %d was recorded twice", l.Number)
			}
			seen[l.Number] = true
		}
		if err == nil {
			if len(seen) != 20 {
				t.Errorf("%d trials were recorded, want 20", len(seen))
			}
			break
		}
	}
	close(done)
	chaos.Wait()
	b.Stop()
	same(t, got, want, err, wantErr)
}

// A worker gives a trial back when it is told to stop, and when the trial takes longer than
// its limit; a study whose trial nobody finishes stops, and records no failed training.
func TestTrialsThatNobodyFinishes(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	hire(t, h, b.Port(), work(time.Hour, nil), 20*time.Millisecond)
	c, far := remote(t, h, b.Port(), "poison")
	q := quote(t, search.Grid)
	folder, _, err := study.Open(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	_, err = fleet.Run(t.Context(), permit(t, q.Event, newSecret(t)), q, numbers, work(0, nil), study.Options{Workers: 1, Journal: folder}, far)
	if !errors.Is(err, fleet.ErrGaveUp) {
		t.Errorf("a trial that no worker finishes: %v", err)
	}
	if n := len(folder.Lines()); n != 0 {
		t.Errorf("%d trials were recorded", n)
	}
	if err := c.Close(false); err != nil {
		t.Error(err)
	}
}

// full is a journal whose disk has room for three trials.
type full struct{ lines atomic.Int64 }

func (f *full) Scores() map[int]float64 { return nil }

func (f *full) Put(int, string, float64, time.Duration) error {
	if f.lines.Add(1) > 3 {
		return syscall.ENOSPC
	}
	return nil
}

// Where a trial cannot be recorded the study stops and says why, though others are on workers.
func TestFullDisk(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	hire(t, h, b.Port(), work(2*time.Millisecond, nil), 0)
	c, far := remote(t, h, b.Port(), "full")
	q := quote(t, search.Grid)
	_, err := fleet.Run(t.Context(), permit(t, q.Event, newSecret(t)), q, numbers, work(0, nil), study.Options{Workers: 8, Journal: new(full)}, far)
	if !errors.Is(err, study.ErrUnrecorded) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if err := c.Close(false); err != nil {
		t.Error(err)
	}
}

// Where nobody takes trials the operator is told so, once, and the study goes on when a worker comes.
func TestNobodyTakesTrials(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	told := make(chan string, 8)
	c, err := fleet.Coordinate(t.Context(), dial(t, b.Port()), h.courier, fleet.Order{Study: "alone", Name: "alone", Say: func(line string) { told <- line }}, quick)
	if err != nil {
		t.Fatal(err)
	}
	q := quote(t, search.Grid)
	done := make(chan error, 1)
	go func() {
		_, err := fleet.Run(t.Context(), permit(t, q.Event, newSecret(t)), q, numbers, work(0, nil), study.Options{Workers: 8}, fleet.Remote{Courier: h.courier, Pool: c, Study: "alone"})
		done <- err
	}()
	if line := <-told; !strings.Contains(line, "no worker takes training runs") {
		t.Errorf("told %q", line)
	}
	time.Sleep(3 * quick.Beat)
	hire(t, h, b.Port(), work(0, nil), 0)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := c.Close(true); err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("told again: %q", <-told)
	}
}

// Two workers that compute differently are noticed where both answer for one trial.
func TestWorkersThatDiffer(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	c, _ := remote(t, h, b.Port(), "differ")
	defer c.Close(true)
	nc := dial(t, b.Port())
	answer := func(bits uint64) {
		plain, _ := json.Marshal(fleet.Result{Trial: "a", Bits: bits})
		closed, err := h.courier.Close(plain, "result differ")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Request("pawl."+h.courier.Name()+".result.differ", closed, time.Second); err != nil {
			t.Error(err)
		}
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		answer(1)
	}()
	if r, err := c.Do(t.Context(), fleet.Task{Trial: "a"}); err != nil || r.Bits != 1 {
		t.Fatal(r, err)
	}
	answer(1) // the same again is nothing
	if _, err := c.Do(expired(t), fleet.Task{Trial: "b"}); errors.Is(err, fleet.ErrDiffers) {
		t.Error("an equal second result stopped the study")
	}
	answer(2)
	if _, err := c.Do(t.Context(), fleet.Task{Trial: "c"}); !errors.Is(err, fleet.ErrDiffers) {
		t.Errorf("two results of one trial: %v", err)
	}
}

func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// Whoever has another ledger, or none, learns nothing and changes nothing: his results are
// passed over, his orders and tasks too.
func TestStrangersChangeNothing(t *testing.T) {
	h, stranger := newHouse(t), newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	if h.courier.Name() == stranger.courier.Name() {
		t.Fatal("two ledgers have one name")
	}
	c, far := remote(t, h, b.Port(), "own")
	defer c.Close(true)
	nc := dial(t, b.Port())
	base := "pawl." + h.courier.Name()
	forged, _ := json.Marshal(fleet.Result{Trial: "x", GaveUp: true})
	closed, _ := stranger.courier.Close(forged, "result own")
	for _, m := range [][]byte{forged, closed, nil, []byte("x")} {
		for _, subject := range []string{".result.own", ".work.own", ".order", ".ask"} {
			if err := nc.Publish(base+subject, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	var leaked atomic.Bool
	tap, err := nc.Subscribe(">", func(m *nats.Msg) {
		for _, word := range []string{"candidate", "permit", "max_rows", "software"} {
			if strings.Contains(string(m.Data), `"`+word+`"`) {
				leaked.Store(true)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tap.Unsubscribe() }()
	hire(t, h, b.Port(), work(0, nil), 0)
	q, secret := quote(t, search.Grid), newSecret(t)
	want, wantErr := study.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 1})
	got, err := fleet.Run(t.Context(), permit(t, q.Event, secret), q, numbers, work(0, nil), study.Options{Workers: 4}, far)
	same(t, got, want, err, wantErr)
	if leaked.Load() {
		t.Error("a message can be read on the wire")
	}
}

// A worker that would compute something else says so, once, and takes no trial.
func TestMismatchesAreRefused(t *testing.T) {
	h := newHouse(t)
	b := start(t, 0)
	defer b.Stop()
	var calls atomic.Int64
	var mu sync.Mutex
	var said []string
	nc := dial(t, b.Port())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- fleet.Worker{Courier: h.courier, Pace: quick, Say: func(line string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, line)
		}, Prepare: func(_ context.Context, o fleet.Order) (fleet.Try, error) {
			calls.Add(1)
			return nil, &fleet.MismatchError{What: "kernel", Study: o.Name, There: "avx512", Here: "generic"}
		}}.Run(ctx, nc)
	}()
	c, _ := remote(t, h, b.Port(), "mismatch")
	defer c.Close(true)
	time.Sleep(6 * quick.Beat)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if calls.Load() != 1 || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "avx512") && strings.Contains(s, "generic") }) {
		t.Errorf("prepared %d times, said %q", calls.Load(), said)
	}
}

func TestAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"nats://127.0.0.1:4222": "", "nats://localhost:4222": "", "nats://[::1]:4222": "",
		"nats://10.0.0.1:4222": "must be encrypted", "tls://10.0.0.1:4222": "needs --nats-key", "http://127.0.0.1:1": "unknown scheme",
		"127.0.0.1:4222": "malformed", "nats://127.0.0.1": "malformed", "tls://user:hunter2@h:1": "name or a password", "nats://h:1/hunter2?x": "malformed", "": "malformed",
	} {
		err := fleet.Address{URL: url}.Check()
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", url, err, want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error shows a password", url)
		}
	}
	if _, err := fleet.Dial(t.Context(), fleet.Address{URL: "nats://127.0.0.1:1"}, "x"); err == nil || !strings.Contains(err.Error(), "no broker answers") {
		t.Errorf("nobody listens: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := fleet.Dial(t.Context(), fleet.Address{URL: "nats://" + silent.Addr().String()}, "x"); err == nil || !strings.Contains(err.Error(), "no broker answers") {
		t.Errorf("nobody speaks: %v", err)
	}
}

// A broker with a list of keys lets in whom it lists, and tells the others what to do.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	listed, stranger := filepath.Join(dir, "listed.key"), filepath.Join(dir, "stranger.key")
	public, _, err := broker.MakeKey(listed)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := broker.MakeKey(stranger); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(dir, "keys.txt")
	if err := os.WriteFile(keys, []byte("# machines\n"+public+" # desk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := broker.Start(broker.Options{Listen: "127.0.0.1:0", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	url := fmt.Sprintf("nats://127.0.0.1:%d", b.Port())
	for key, want := range map[string]string{listed: "", stranger: "refuses these credentials", "": "refuses these credentials"} {
		nc, err := fleet.Dial(t.Context(), fleet.Address{URL: url, Key: key}, "test")
		if err == nil {
			nc.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("key %q: %v, want %q", filepath.Base(key), err, want)
		}
	}
	if _, err := fleet.Dial(t.Context(), fleet.Address{URL: strings.Replace(url, "nats:", "tls:", 1), Key: listed}, "test"); err == nil || !strings.Contains(err.Error(), "disagree on encryption") {
		t.Errorf("tls to a broker without a certificate: %v", err)
	}
	for text, want := range map[string]string{"": "lists no key", "SUAKEY\n": "keys.txt:1: not a public key"} {
		if err := os.WriteFile(keys, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := broker.Start(broker.Options{Listen: "127.0.0.1:0", Keys: keys}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			if err == nil {
				b.Stop()
			}
		}
	}
}

// The clocks of two machines may differ by any time, because none is read: leases, beats and limits are
// durations.
func TestNoClockIsRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"time.Now", "time.Since", "time.Until", "WithDeadline"} {
			if !strings.HasSuffix(name, "_test.go") && bytes.Contains(text, []byte(word)) {
				t.Errorf("%s: %s", name, word)
			}
		}
	}
}
