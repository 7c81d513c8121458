package study_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/ledger/pricing"
	"pawl/core/release"
	"pawl/data/schema"
	"pawl/search"
	"pawl/search/study"
	"pawl/store/memory"
)

// The candidates of these tests are the whole numbers to 99.
var numbers = study.Candidates[int]{
	Draw:  func(rng *rand.Rand) int { return rng.IntN(100) },
	Vary:  func(rng *rand.Rand, c int) int { return (c + rng.IntN(5)) % 100 },
	Cross: func(_ *rand.Rand, a, b int) (int, int) { return (a + b) / 2, b },
	Key:   func(c int) string { return fmt.Sprint(c) },
	All: func() (all []int, err error) {
		for c := range 20 {
			all = append(all, c)
		}
		return all, nil
	},
	Rule: 7,
}

func job() search.Job {
	return search.Job{
		Trial: search.Trial{
			Train: func(x float64) dp.Event { return dp.Gaussian{NoiseMultiplier: x} },
			Score: func(x float64) []dp.Event { return []dp.Event{dp.DiscreteGaussian{NoiseMultiplier: x}} },
		},
		Relation: dp.AddOrRemoveOne, Epsilon: 3, Delta: 1e-5, Accountant: accountant.MethodRDP,
	}
}

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
	case search.PSPoisson:
		s.Mean = 3
	}
	j := job()
	if kind == search.PSPoisson {
		j.Epsilon = 300 // its bound is loose
	}
	j.Scopes = s.Divide(dp.WholeScope)
	q, err := s.Quote(j)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func request(e dp.Event) ledger.Request {
	return ledger.Request{Dataset: "d", Plan: "p", Event: e, Relation: dp.AddOrRemoveOne,
		Unit: "row", RowsPerUnit: 1, Epsilon: "5", Delta: "1e-5", Public: true, Digest: bytes.Repeat([]byte{1}, 32)}
}

func reserve(t testing.TB, q ledger.Request) *ledger.Permit {
	t.Helper()
	l := ledger.New(memory.New(), pricing.Accountant{}, ledger.Options{User: "tester"})
	p, _, err := l.Reserve(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func permit(t testing.TB, e dp.Event, seed uint64) *ledger.Permit {
	t.Helper()
	q := request(e)
	q.Seed = &seed
	return reserve(t, q)
}

// secretPermit is that of a study whose secret is kept.
func secretPermit(t testing.TB, e dp.Event, secret entropy.Secret) *ledger.Permit {
	t.Helper()
	q := request(e)
	q.Replay = &ledger.Replay{Secret: secret, Of: []byte("spec")}
	return reserve(t, q)
}

// rows are none: what is released of them is noise.
func rows(t testing.TB) *intake.Rows {
	t.Helper()
	return intake.NewBuilder(intake.SimulationKey("d", 1), &schema.Schema{Version: 1, Dataset: "d", Public: true, Unit: schema.Unit{Name: "row", MaxRows: 1},
		Columns: []schema.Column{{Name: "x", Type: schema.Boolean}}}).Seal()
}

// noiseOf takes the event of a training and returns the noise of its release.
func noiseOf(ctx context.Context, p *ledger.Permit, r *intake.Rows, scope dp.Scope, multiplier float64) (uint64, error) {
	v, err := release.InputMean{Scope: scope, NoiseMultiplier: multiplier, Norm: 1, ExpectedRows: 1, Features: 4,
		Row: func([]float64, []float64) {}}.Release(context.WithoutCancel(ctx), p, r)
	if err != nil {
		return 0, err
	}
	// Noise lies on a grid, on which two draws of one number may well be equal; those of four are not.
	all := fnv.New64a()
	if err := binary.Write(all, binary.LittleEndian, v); err != nil {
		return 0, err
	}
	return all.Sum64(), nil
}

// model is what a trial makes: a function of its candidate and its randomness.
type model struct {
	candidate int
	value     uint64
}

type bench struct {
	calls  atomic.Int64
	stopAt int64 // cancels the study at this call
	cancel context.CancelFunc
	// taking makes trials take the events of q, and their values noise.
	taking *intake.Rows
	q      search.Quote
	seen   sync.Map // value of a trial by candidate
	// sound keeps trials from failing by their values, for studies that must end whatever these are.
	sound bool
}

func (b *bench) work() study.Work[int, model] {
	one := func(ctx context.Context, c int, value uint64) (model, float64, error) {
		if n := b.calls.Add(1); b.cancel != nil && n == b.stopAt {
			b.cancel()
		}
		if ctx.Err() != nil {
			return model{}, 0, ctx.Err()
		}
		b.seen.Store(c, value)
		m := model{c, value}
		if m.value%5 == 0 && !b.sound {
			return m, 0, errors.New("diverged")
		}
		return m, -math.Abs(float64(c) - 61 + float64(m.value%3)), nil
	}
	value := func(ctx context.Context, p *ledger.Permit, last bool) (uint64, error) {
		if p == nil {
			return 0, errors.New("no permit")
		}
		if b.taking == nil {
			return p.Randomness("value").Uint64(), nil
		}
		scopes, noise := b.q.Strategy.Divide(dp.WholeScope), b.q.Noise
		if !last {
			return noiseOf(ctx, p, b.taking, scopes.Train, noise)
		}
		if b.q.FinalNoise > 0 {
			noise = b.q.FinalNoise
		}
		return noiseOf(ctx, p, b.taking, scopes.Final, noise)
	}
	return study.Work[int, model]{
		Try: func(ctx context.Context, p *ledger.Permit, c int) (model, float64, error) {
			v, err := value(ctx, p, false)
			if err != nil {
				panic(err)
			}
			return one(ctx, c, v)
		},
		Finish: func(ctx context.Context, p *ledger.Permit, c int) (model, error) {
			v, err := value(ctx, p, true)
			if err != nil {
				panic(err)
			}
			return model{c, v}, ctx.Err()
		},
		Elsewhere: func(ctx context.Context, p *ledger.Permit, c int) (float64, error) {
			_, s, err := one(ctx, c, p.Randomness("trial").Uint64())
			return s, err
		},
	}
}

type outcome = study.Result[int, model]

func same(a, b outcome) bool {
	return a.Candidate == b.Candidate && a.Model == b.Model && (a.Score == b.Score || math.IsNaN(a.Score) && math.IsNaN(b.Score)) && len(a.Trials) == len(b.Trials)
}

// Workers and interruptions at any trial change neither the winner, nor its model, nor
// its score.
func TestInterruptedStudiesGoOn(t *testing.T) {
	for _, kind := range search.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			q := quote(t, kind)
			run := func(b *bench, workers int, j study.Journal, secret entropy.Secret) (outcome, error) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				b.cancel, b.taking, b.q = cancel, rows(t), q
				return study.Run(ctx, secretPermit(t, q.Event, secret), q, numbers, b.work(), study.Options{Workers: workers, Journal: j})
			}
			for seed := range uint64(5) {
				dir := filepath.Join(t.TempDir(), fmt.Sprint(seed))
				folder, fresh, err := study.Open(dir)
				if err != nil || !fresh {
					t.Fatal(err, fresh)
				}
				secret, err := folder.Secret()
				if err != nil {
					t.Fatal(err)
				}
				var whole bench
				want, wantErr := run(&whole, 1, nil, secret)
				var two bench
				if got, err := run(&two, 3, nil, secret); !same(got, want) || (err == nil) != (wantErr == nil) {
					t.Fatalf("three workers: %+v (%v), one: %+v (%v)", got, err, want, wantErr)
				}
				// Interrupted again and again, each time two trials further.
				total := int64(0)
				for range 400 {
					part := bench{stopAt: 3}
					got, err := run(&part, 1, folder, secret)
					total += part.calls.Load()
					if errors.Is(err, context.Canceled) {
						if err := folder.Close(); err != nil {
							t.Fatal(err)
						}
						if folder, fresh, err = study.Open(dir); err != nil || fresh {
							t.Fatal(err, fresh)
						}
						if again, err := folder.Secret(); err != nil || !bytes.Equal(again.Save(), secret.Save()) {
							t.Fatal("the secret of a study changed")
						}
						continue
					}
					if !same(got, want) || (err == nil) != (wantErr == nil) {
						t.Fatalf("after interruptions %+v (%v), without %+v (%v)", got, err, want, wantErr)
					}
					break
				}
				if least := whole.calls.Load(); total < least-1 {
					t.Errorf("%d trials after interruptions, %d without", total, least)
				}
				if err := folder.Erase(); err != nil {
					t.Fatal(err)
				}
				if left, _ := os.ReadDir(dir); len(left) != 0 {
					t.Errorf("an erased study left %v", left)
				}
			}
		})
	}
}

// scores is a journal in memory.
type scores map[int]float64

func (s scores) Scores() map[int]float64 { return s }

func (s scores) Put(number int, _ string, score float64, _ time.Duration) error { return nil }

// A trial has the noise that it would have had, whatever ran before it: alone, after an
// interruption, or beside others; and no trial has another's.
func TestTrialsKeepTheirNoise(t *testing.T) {
	q := quote(t, search.Grid)
	secret, err := entropy.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	run := func(workers int, j study.Journal) *bench {
		b := &bench{taking: rows(t), q: q, sound: true}
		if _, err := study.Run(context.Background(), secretPermit(t, q.Event, secret), q, numbers, b.work(), study.Options{Workers: workers, Journal: j}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole := run(1, nil)
	values := map[any]any{}
	whole.seen.Range(func(c, v any) bool {
		for other, w := range values {
			if w == v {
				t.Errorf("trials %v and %v have one noise", c, other)
			}
		}
		values[c] = v
		return true
	})
	if len(values) != 20 {
		t.Fatalf("%d trials", len(values))
	}
	for _, missing := range [][]int{{5}, {0, 19}, {3, 4, 17}} {
		known := scores{}
		for n := range 20 {
			if !slices.Contains(missing, n) {
				known[n] = -1000 // none of them wins, and none is trained again
			}
		}
		for workers := 1; workers <= 3; workers++ {
			b := run(workers, known)
			for _, n := range missing {
				if got, _ := b.seen.Load(n); got != values[n] {
					t.Errorf("trial %d after an interruption has noise %x, before %x", n, got, values[n])
				}
			}
		}
	}
}

// The folder of a study that an earlier version began is read; going on is refused.
func TestEarlierStudiesAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/earlier")); err != nil {
		t.Fatal(err)
	}
	if !study.Earlier(dir) {
		t.Error("the folder is not known as an earlier one")
	}
	f, fresh, err := study.Open(dir)
	if err != nil || fresh {
		t.Fatal(err, fresh)
	}
	defer f.Close()
	if got := f.Scores(); len(got) != 3 || got[0] != 0.5 || got[1] != 0.75 || !math.IsInf(got[2], -1) {
		t.Errorf("scores %v", got)
	}
	if _, err := f.Secret(); !errors.Is(err, study.ErrEarlier) || strings.Contains(err.Error(), "\n") {
		t.Errorf("going on: %v", err)
	}
	own := t.TempDir()
	g, _, err := study.Open(filepath.Join(own, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if study.Earlier(filepath.Join(own, "s")) || study.Earlier(own) {
		t.Error("a study of this version, or none, counts as an earlier one")
	}
}

// What a selection releases is the winner; its scores stay inside.
func TestSelectionsReleaseTheWinnerAlone(t *testing.T) {
	for _, kind := range []search.Kind{search.PS, search.PSPoisson, search.RS, search.LT, search.Split, search.Subset, search.MGRS} {
		q := quote(t, kind)
		var b bench
		out, err := study.Run(context.Background(), permit(t, q.Event, 3), q, numbers, b.work(), study.Options{})
		if errors.Is(err, study.ErrNothing) {
			continue
		}
		if err != nil {
			t.Fatal(kind, err)
		}
		if len(out.Trials) != 0 {
			t.Errorf("%s releases %d trials", kind, len(out.Trials))
		}
	}
}

// As published, the stated number is run and every score read.
func TestPublishedNumbers(t *testing.T) {
	for kind, want := range map[search.Kind]int64{search.RS: 10, search.MGRS: 10} {
		q := quote(t, kind)
		var b bench
		out, err := study.Run(context.Background(), permit(t, q.Event, 3), q, numbers, b.work(), study.Options{Published: true})
		if err != nil || b.calls.Load() != want || int64(len(out.Trials)) != want {
			t.Errorf("%s: %d trainings, %d shown (%v), want %d", kind, b.calls.Load(), len(out.Trials), err, want)
		}
	}
}

// The genetic search trains at most what was booked.
func TestGeneticSearchStaysWithinItsBooking(t *testing.T) {
	for _, retain := range []float64{0, 0.4} {
		for seed := range uint64(20) {
			s, _ := search.New(search.PAAS)
			s.Retain = retain
			j := job()
			j.Scopes = s.Divide(dp.WholeScope)
			q, err := s.Quote(j)
			if err != nil {
				t.Fatal(err)
			}
			var b bench
			if _, err := study.Run(context.Background(), permit(t, q.Event, seed), q, numbers, b.work(), study.Options{Workers: 2}); err != nil {
				t.Fatal(err)
			}
			if int(b.calls.Load()) > q.Most {
				t.Errorf("%d trainings, %d booked", b.calls.Load(), q.Most)
			}
		}
	}
}

type full struct{}

func (full) Scores() map[int]float64 { return nil }
func (full) Put(int, string, float64, time.Duration) error {
	return errors.New("no space left on device")
}

// A study that cannot be recorded stops and releases nothing.
func TestFullDisk(t *testing.T) {
	for _, kind := range []search.Kind{search.PS, search.Grid, search.PAAS} {
		q := quote(t, kind)
		var b bench
		out, err := study.Run(context.Background(), permit(t, q.Event, 3), q, numbers, b.work(), study.Options{Journal: full{}})
		if err == nil || errors.Is(err, context.Canceled) || out.Candidate != 0 || b.calls.Load() > 2 {
			t.Errorf("%s: %v after %d trials", kind, err, b.calls.Load())
		}
	}
}

func TestAllFail(t *testing.T) {
	for _, kind := range []search.Kind{search.PS, search.Grid, search.PAAS, search.MGRS, search.Public} {
		q := quote(t, kind)
		w := study.Work[int, model]{
			Try: func(context.Context, *ledger.Permit, int) (model, float64, error) {
				return model{}, math.NaN(), nil
			},
			Elsewhere: func(context.Context, *ledger.Permit, int) (float64, error) { return 0, errors.New("always") },
		}
		if _, err := study.Run(context.Background(), permit(t, q.Event, 3), q, numbers, w, study.Options{}); !errors.Is(err, study.ErrNothing) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A study runs in one process at a time, and in the next as soon as that has closed it or was killed.
func TestOneProcessRunsAStudy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	first, _, err := study.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := study.Open(dir); !errors.Is(err, study.ErrRuns) {
		t.Errorf("a second process: %v", err)
	}
	if err := first.Put(0, "1", 0.5, 0); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next, fresh, err := study.Open(dir)
	if err != nil || fresh || len(next.Lines()) != 1 {
		t.Fatalf("the next: %v, fresh %v", err, fresh)
	}
	if err := next.Erase(); err != nil {
		t.Error(err)
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f, _, err := study.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := f.Put(i, "c", []float64{1, math.Inf(-1), 3}[i], time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "trials.jsonl")
	for _, name := range []string{journal, filepath.Join(dir, "key")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others (%v)", name, err)
		}
	}
	content, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	open := func(b []byte) (*study.Folder, error) {
		if err := os.WriteFile(journal, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, _, err := study.Open(dir)
		return f, err
	}
	for cut := range 40 {
		f, err := open(content[:len(content)-1-cut]) // a crash in the last line
		if err != nil || len(f.Scores()) != 2 || !math.IsInf(f.Scores()[1], -1) {
			t.Fatalf("cut by %d: %v", cut+1, err)
		}
		if err := f.Put(2, "c", 3, time.Second); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if f, _, err = study.Open(dir); err != nil || f.Scores()[2] != 3 {
			t.Fatalf("after a cut by %d: %v", cut+1, err)
		}
		f.Close()
	}
	edited := append([]byte(nil), content...)
	for i := range edited {
		if edited[i] == '3' {
			edited[i] = '4'
		}
	}
	if _, err := open(edited); !errors.Is(err, study.ErrEdited) {
		t.Errorf("an edited score: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(content); !errors.Is(err, study.ErrEdited) {
		t.Errorf("a cut key: %v", err)
	}
}
