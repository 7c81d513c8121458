package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// Null: the number of runs follows the law that was priced. 10⁵ draws, chi-square with
// a false-alarm rate of 1e-6. Convicts another mean and a law without its hard stop.
func TestLawsOfPoissonAndStopping(t *testing.T) {
	const n = 100_000
	poisson := func(mean float64) (p []float64) {
		for k := range 200 {
			l, _ := math.Lgamma(float64(k) + 1)
			p = append(p, math.Exp(float64(k)*math.Log(mean)-mean-l))
		}
		return p
	}
	stopping := func(gamma float64, most int) []float64 {
		p := make([]float64, most+1)
		for k := 1; k < most; k++ {
			p[k] = gamma * math.Pow(1-gamma, float64(k-1))
		}
		p[most] = math.Pow(1-gamma, float64(most-1))
		return p
	}
	for _, tt := range []struct {
		law   dp.Runs
		mass  []float64
		other []float64
	}{
		{dp.PoissonRuns{Mean: 3}, poisson(3), poisson(3.2)},
		{dp.PoissonRuns{Mean: 40}, poisson(40), poisson(39)},
		{dp.RandomStopping{Gamma: 0.1, Delta2: 0.3}, stopping(0.1, 13), stopping(0.1, 14)},
		{dp.RandomStopping{Gamma: 0.5, Delta2: 1e-6}, stopping(0.5, 28), stopping(0.52, 28)},
		{dp.RandomStopping{Gamma: 1, Delta2: 0.5}, stopping(1, 1), nil},
	} {
		src := entropy.Seeded(4).Split(fmt.Sprint(tt.law))
		count := make([]int, 300)
		for range n {
			k, err := drawRuns(tt.law, src)
			if err != nil {
				t.Fatal(err)
			}
			count[k]++
		}
		if tt.other == nil {
			if count[1] != n {
				t.Errorf("%+v: not always one run", tt.law)
			}
			continue
		}
		judge := func(mass []float64) stattest.Verdict {
			var observed []int
			var expected []float64
			o, e := 0, 0.0
			for k, c := range count {
				o += c
				if k < len(mass) {
					e += mass[k] * n
				}
				if e >= 10 {
					observed, expected = append(observed, o), append(expected, e)
					o, e = 0, 0
				}
			}
			last := len(observed) - 1
			observed[last] += o
			expected[last] += e
			return stattest.ChiSquare(fmt.Sprintf("%+v", tt.law), observed, expected)
		}
		stattest.Accept(t, judge(tt.mass))
		stattest.Convict(t, judge(tt.other))
	}
}

// The number of workers changes neither the winner nor what any run is given.
func TestWorkersChangeNothing(t *testing.T) {
	type seen struct {
		run, candidate int
		value          uint64
	}
	study := func(seed uint64, workers int) (Winner[int, uint64], []seen) {
		var mu sync.Mutex
		var all []seen
		w, err := Study[int, uint64]{Select: sel, Workers: workers,
			Draw: func(src *entropy.Source) int { return int(src.Uint64n(5)) },
			Base: func(_ context.Context, p *sealed.Permit, run, c int) (uint64, float64, error) {
				v := p.Randomness("value").Uint64()
				mu.Lock()
				all = append(all, seen{run, c, v})
				mu.Unlock()
				if v%7 == 0 {
					return 0, 0, errFailed
				}
				return v, float64(c), nil // ties
			}}.Run(context.Background(), permitWith(t, entropy.Seeded(seed), sel))
		if err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b seen) int { return a.run - b.run })
		return w, all
	}
	for seed := range uint64(20) {
		w, all := study(seed, 1)
		for _, workers := range []int{2, 5, 50} {
			w2, all2 := study(seed, workers)
			if w != w2 || !slices.Equal(all, all2) {
				t.Fatalf("%d workers: %+v, one: %+v", workers, w2, w)
			}
		}
	}
}

// A panic in a run reaches the caller, whatever the number of workers.
func TestPanicGoesOn(t *testing.T) {
	for _, workers := range []int{1, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d workers: the panic was lost", workers)
				}
			}()
			_, _ = Study[int, int]{Select: sel, Workers: workers, Draw: func(*entropy.Source) int { return 0 },
				Base: func(context.Context, *sealed.Permit, int, int) (int, float64, error) { panic("fault") },
			}.Run(context.Background(), permitWith(t, entropy.Seeded(1), sel))
		}()
	}
}

func TestNoPermit(t *testing.T) {
	if _, err := run(context.Background(), nil, sel, func(*entropy.Source) int { return 0 }, never(t)); err == nil {
		t.Error("a selection ran without a permit")
	}
}

// drawRuns draws the number of runs from its law.
func drawRuns(law dp.Runs, src *entropy.Source) (int, error) {
	draw, err := sampler(law)
	if err != nil {
		return 0, err
	}
	return draw(src), nil
}
