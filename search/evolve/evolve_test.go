package evolve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pawl/search/evolve"
)

// ones is the usual toy: a word, scored by its number of set bits.
func ones() evolve.Problem[uint32] {
	return evolve.Problem[uint32]{
		Random: func(rng *rand.Rand) uint32 { return rng.Uint32() },
		Crossover: func(rng *rand.Rand, a, b uint32) (uint32, uint32) {
			mask := rng.Uint32()
			return a&mask | b&^mask, b&mask | a&^mask
		},
		Mutate:  func(rng *rand.Rand, g uint32) uint32 { return g ^ 1<<rng.IntN(32) },
		Fitness: func(_ context.Context, _ int, g uint32) (float64, error) { return float64(bits.OnesCount32(g)), nil },
		Key:     func(g uint32) string { return fmt.Sprint(g) },
	}
}

func schemes() *rapid.Generator[evolve.Options] {
	return rapid.Custom(func(t *rapid.T) evolve.Options {
		k, l := rapid.IntRange(5, 24).Draw(t, "k"), rapid.IntRange(1, 6).Draw(t, "l")
		o := rapid.SampledFrom([]evolve.Options{evolve.Retaining(k, l), evolve.CopyingOrVarying(k, l), evolve.Tournaments(k, l)}).Draw(t, "scheme")
		o.KeepParents = o.Scheme != evolve.Tournament && rapid.Bool().Draw(t, "keep parents")
		o.Rescore = rapid.Bool().Draw(t, "rescore")
		o.Seed = rapid.Uint64().Draw(t, "seed")
		return o
	})
}

func TestResultDoesNotDependOnWorkersOrBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := schemes().Draw(t, "options")
		p := ones()
		if rapid.Bool().Draw(t, "no memo") {
			p.Key = nil
		}
		// The score depends on the trial's number: had it moved, the scores would.
		noisy := func(trial int, g uint32) float64 {
			return float64(bits.OnesCount32(g)) + rand.New(rand.NewPCG(1, uint64(trial))).Float64()
		}
		p.Fitness = func(_ context.Context, trial int, g uint32) (float64, error) { return noisy(trial, g), nil }
		var results []*evolve.Result[uint32]
		for _, workers := range []int{1, 2, 7} {
			o.Workers = workers
			r, err := evolve.Run(context.Background(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		p.Fitness = nil
		p.FitnessBatch = func(_ context.Context, first int, genomes []uint32) ([]float64, error) {
			scores := make([]float64, len(genomes))
			for i, g := range genomes {
				scores[i] = noisy(first+i, g)
			}
			return scores, nil
		}
		batched, err := evolve.Run(context.Background(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range append(results[1:], batched) {
			if d := cmp.Diff(results[0], r, cmpopts.IgnoreUnexported(evolve.Individual[uint32]{})); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestPopulationsKeepTheirSizeAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, p := schemes().Draw(t, "options"), ones()
		generations, best := 0, math.Inf(-1)
		p.Observe = func(generation int, population []evolve.Individual[uint32]) {
			if generation != generations || len(population) != o.Population {
				t.Fatalf("generation %d: got number %d with %d members, want %d", generations, generation, len(population), o.Population)
			}
			generations++
			for i, x := range population {
				if want := float64(bits.OnesCount32(x.Genome)); x.Score != want {
					t.Fatalf("member %d scored %v, want %v", i, x.Score, want)
				}
				if i > 0 && x.Score > population[i-1].Score {
					t.Fatalf("member %d is out of order", i)
				}
			}
			if o.KeepParents && population[0].Score < best {
				t.Fatalf("the best parent was lost: %v after %v", population[0].Score, best)
			}
			best = max(best, population[0].Score)
		}
		r, err := evolve.Run(context.Background(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if generations != o.Generations || r.BestEver.Score != best || r.Best.Score != r.Population[0].Score {
			t.Fatalf("got %d generations, best ever %v, best %v; want %d and %v", generations, r.BestEver.Score, r.Best.Score, o.Generations, best)
		}
	})
}

func TestTrials(t *testing.T) {
	constant := ones()
	constant.Random = func(*rand.Rand) uint32 { return 7 }
	constant.Mutate = func(_ *rand.Rand, g uint32) uint32 { return g }
	once := evolve.Retaining(10, 6)
	again := once
	again.Rescore = true
	replaced := once
	replaced.KeepParents = false
	copying := evolve.CopyingOrVarying(10, 5)
	copying.Crossover, copying.Mutation = 0, 0
	for _, c := range []struct {
		name   string
		memo   bool
		o      evolve.Options
		lo, hi int
	}{
		{"equal keys are scored once", true, again, 1, 1},
		{"without keys every member of every population", false, again, 60, 60},
		{"parents keep their score", false, once, 10 + 5*3, 10 + 5*6},
		{"replaced parents leave new members only", false, replaced, 60, 60},
		{"copies keep their score", false, copying, 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := constant
			if !c.memo {
				p.Key = nil
			}
			var calls atomic.Int64
			fitness := p.Fitness
			var seen sync.Map
			p.Fitness = func(ctx context.Context, trial int, g uint32) (float64, error) {
				calls.Add(1)
				if _, twice := seen.LoadOrStore(trial, true); twice {
					t.Errorf("trial %d ran twice", trial)
				}
				return fitness(ctx, trial, g)
			}
			r, err := evolve.Run(context.Background(), p, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Trials != int(calls.Load()) || r.Trials < c.lo || r.Trials > c.hi {
				t.Errorf("got %d trials and %d calls, want %d to %d", r.Trials, calls.Load(), c.lo, c.hi)
			}
			for trial := range r.Trials {
				if _, ok := seen.Load(trial); !ok {
					t.Errorf("trial %d is missing", trial)
				}
			}
		})
	}
}

// Sound engines find 32 of 32 bits; one that ignores scores does not. Under random
// search of 400 words the chance of one with 32 bits is 400·2⁻³² ≈ 1e-7.
func TestSchemesFindTheMaximum(t *testing.T) {
	replaced := evolve.Retaining(40, 30)
	replaced.KeepParents = false
	for name, o := range map[string]evolve.Options{
		"retain, parents stay": evolve.Retaining(40, 30), "retain, parents replaced": replaced,
		"copy or vary": evolve.CopyingOrVarying(40, 30), "tournament": evolve.Tournaments(40, 30),
	} {
		r, err := evolve.Run(context.Background(), ones(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.BestEver.Score < 31 {
			t.Errorf("%s: best of %d trials has %v bits", name, r.Trials, r.BestEver.Score)
		}
	}
	blind := ones()
	blind.Fitness = func(context.Context, int, uint32) (float64, error) { return 0, nil }
	r, err := evolve.Run(context.Background(), blind, evolve.Tournaments(40, 30))
	if err != nil {
		t.Fatal(err)
	}
	if bits.OnesCount32(r.Best.Genome) >= 31 {
		t.Error("an engine without scores should not find the maximum")
	}
}

// Shares of Alg. 4's three branches: with one gene that records its branch, 3·10⁴
// children; |z| ≤ 4.8916 has a false-alarm rate of 1e-6 for each.
func TestCopyOrVaryShares(t *testing.T) {
	const k = 30000
	p := evolve.Problem[byte]{
		Random:    func(*rand.Rand) byte { return 'r' },
		Crossover: func(*rand.Rand, byte, byte) (byte, byte) { return 'c', 'x' },
		Mutate:    func(*rand.Rand, byte) byte { return 'm' },
		Fitness:   func(context.Context, int, byte) (float64, error) { return 0, nil },
	}
	o := evolve.CopyingOrVarying(k, 1)
	r, err := evolve.Run(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[byte]float64{}
	for _, x := range r.Population {
		counts[x.Genome]++
	}
	for branch, share := range map[byte]float64{'c': 0.5, 'm': 0.2, 'r': 0.3} {
		z := (counts[branch] - k*share) / math.Sqrt(k*share*(1-share))
		if math.Abs(z) > 4.8916 {
			t.Errorf("branch %c: got %v of %d, want a share of %v (z = %.1f)", branch, counts[branch], k, share, z)
		}
	}
	if counts['x'] != 0 {
		t.Error("Alg. 4 adds one child of a pair")
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for name, workers := range map[string]int{"one worker": 1, "four workers": 4} {
		t.Run(name, func(t *testing.T) {
			p, o := ones(), evolve.Tournaments(50, 5)
			o.Workers = workers
			p.Fitness = func(ctx context.Context, trial int, _ uint32) (float64, error) {
				if trial == 70 {
					return 0, broken
				}
				return 1, ctx.Err()
			}
			if r, err := evolve.Run(context.Background(), p, o); !errors.Is(err, broken) || r != nil {
				t.Errorf("got %v, %v; want no result and the fitness' own error", r, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := evolve.Run(ctx, ones(), o); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want cancellation", err)
			}
		})
	}
	p := ones()
	p.Fitness = func(_ context.Context, trial int, _ uint32) (float64, error) {
		if trial == 3 {
			return -1, nil
		}
		return math.NaN(), nil
	}
	r, err := evolve.Run(context.Background(), p, evolve.Retaining(10, 1))
	if err != nil || r.Best.Trial != 3 || !math.IsInf(r.Population[9].Score, -1) {
		t.Errorf("NaN must lose: got %+v, %v", r, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name, field string
		change      func(o *evolve.Options)
	}{
		{"sum of chances above 1", "Crossover", func(o *evolve.Options) { o.Crossover, o.Mutation = 0.7, 0.4 }},
		{"chance NaN", "Mutation", func(o *evolve.Options) { o.Mutation = math.NaN() }},
		{"one parent", "Retain", func(o *evolve.Options) { o.Retain = 0.19 }},
		{"one member", "Population", func(o *evolve.Options) { o.Population = 1 }},
		{"no generation", "Generations", func(o *evolve.Options) { o.Generations = 0 }},
		{"unknown scheme", "Scheme", func(o *evolve.Options) { o.Scheme = "best" }},
		{"no tournament", "TournamentSize", func(o *evolve.Options) { o.Scheme = evolve.Tournament }},
		{"tournament with parents", "KeepParents", func(o *evolve.Options) { *o = evolve.Tournaments(4, 1); o.KeepParents = true }},
		{"negative workers", "Workers", func(o *evolve.Options) { o.Workers = -1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := evolve.CopyingOrVarying(10, 2)
			c.change(&o)
			var bad *evolve.OptionError
			if _, err := evolve.Run(context.Background(), ones(), o); !errors.As(err, &bad) || bad.Field != c.field || !errors.Is(err, evolve.ErrOptions) {
				t.Errorf("got %v, want a complaint about %s", err, c.field)
			}
		})
	}
	p := ones()
	p.FitnessBatch = func(context.Context, int, []uint32) ([]float64, error) { return nil, nil }
	if _, err := evolve.Run(context.Background(), p, evolve.Retaining(10, 1)); !errors.Is(err, evolve.ErrOptions) {
		t.Errorf("two fitnesses: got %v", err)
	}
}

func Example() {
	// Which letters make the word? A fitness sees a genome and says how good it is.
	const word, letters = "private", "aeiprtv"
	p := evolve.Problem[string]{
		Random: func(rng *rand.Rand) string {
			g := make([]byte, len(word))
			for i := range g {
				g[i] = letters[rng.IntN(len(letters))]
			}
			return string(g)
		},
		Crossover: func(rng *rand.Rand, a, b string) (string, string) {
			at := rng.IntN(len(word))
			return a[:at] + b[at:], b[:at] + a[at:]
		},
		Mutate: func(rng *rand.Rand, g string) string {
			changed := []byte(g)
			changed[rng.IntN(len(word))] = letters[rng.IntN(len(letters))]
			return string(changed)
		},
		Fitness: func(_ context.Context, _ int, g string) (float64, error) {
			right := 0
			for i := range g {
				if g[i] == word[i] {
					right++
				}
			}
			return float64(right), nil
		},
	}
	r, err := evolve.Run(context.Background(), p, evolve.Retaining(60, 25))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Best.Genome, r.Best.Score)
	// Output: private 7
}
