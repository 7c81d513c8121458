package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"sort"
	"testing"

	"pawl/core/accountant"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/data/schema"
	"pawl/internal/stattest"
)

func TestMain(m *testing.M) { os.Exit(stattest.Main(m)) }

var (
	base = dp.Gaussian{NoiseMultiplier: 2}
	sel  = dp.Select{Runs: dp.TruncatedNegativeBinomial{Eta: 0, Mean: 8}, Event: base}
)

// permitFor is a permit whose noise does not matter.
func permitFor(t testing.TB, e dp.Event) *sealed.Permit { return permitWith(t, entropy.Seeded(1), e) }

func permitWith(t testing.TB, src *entropy.Source, e dp.Event) *sealed.Permit {
	p, err := sealed.NewPermit("id", "d", dp.AddOrRemoveOne, 1, e, src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rowsOf(values ...float64) *sealed.Rows {
	s := &schema.Schema{Version: 1, Unit: schema.Unit{Name: "row", MaxRows: 1}, Columns: []schema.Column{{Name: "x", Type: schema.Numeric, Lower: 0, Upper: 9}}}
	return sealed.New("d", s, values, make([]uint64, len(values)))
}

// pmf is P(K = k), k = 1 … most, from the definition in Papernot and Steinke,
// Definition 1, by gamma functions rather than by the recurrence of the sampler.
func pmf(eta, gamma float64, most int) []float64 {
	p := make([]float64, most)
	for i := range p {
		k := float64(i + 1)
		power := k * math.Log1p(-gamma)
		if eta == 0 {
			p[i] = math.Exp(power) / (k * math.Log(1/gamma))
			continue
		}
		a, signA := math.Lgamma(k + eta)
		b, signB := math.Lgamma(eta)
		c, _ := math.Lgamma(k + 1)
		p[i] = float64(signA*signB) * math.Exp(power+a-b-c) / (math.Pow(gamma, -eta) - 1)
	}
	return p
}

func gammaOf(t testing.TB, law dp.TruncatedNegativeBinomial) float64 {
	g, err := accountant.TNBGamma(law)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Null: K follows D(η, γ) with the γ of the price. 10⁵ draws, chi-square with a
// false-alarm rate of 1e-6. Convicts another mean, another η, a geometric law in
// disguise, and a K that counts from zero.
func TestLawOfTheNumberOfRuns(t *testing.T) {
	const n = 100_000
	for _, law := range []dp.TruncatedNegativeBinomial{{Eta: 0, Mean: 8}, {Eta: 0.5, Mean: 8}, {Eta: 1, Mean: 8}, {Eta: -0.5, Mean: 8}, {Eta: 1e-12, Mean: 8}, {Eta: 0, Mean: 1.01}, {Eta: 3, Mean: 40}} {
		src := entropy.Seeded(4).Split(fmt.Sprint(law))
		gamma := gammaOf(t, law)
		mass := pmf(law.Eta, gamma, 5000)
		if law.Eta == 1e-12 {
			mass = pmf(0, gamma, 5000) // the limit
		}
		total, mean := 0.0, 0.0
		for i, p := range mass {
			total, mean = total+p, mean+float64(i+1)*p
		}
		if math.Abs(total-1) > 1e-9 || math.Abs(mean-law.Mean) > 1e-6*law.Mean {
			t.Fatalf("%+v: the definition has mass %g and mean %g", law, total, mean)
		}
		count := make([]int, len(mass)+1)
		for range n {
			k, err := drawRuns(law, src)
			if err != nil {
				t.Fatal(err)
			}
			count[min(k, len(mass))]++
		}
		judge := func(mass []float64) stattest.Verdict {
			var observed []int
			var expected []float64
			o, e := count[0], 0.0
			for i, p := range mass {
				o, e = o+count[i+1], e+p*n
				if e >= 10 {
					observed, expected = append(observed, o), append(expected, e)
					o, e = 0, 0
				}
			}
			last := len(observed) - 1
			observed[last] += o
			sum := 0.0
			for _, x := range expected[:last] {
				sum += x
			}
			expected[last] = n - sum
			return stattest.ChiSquare(fmt.Sprintf("%+v", law), observed, expected)
		}
		stattest.Accept(t, judge(mass))
		other := dp.TruncatedNegativeBinomial{Eta: law.Eta + 0.5, Mean: law.Mean}
		if law.Mean > 2 {
			stattest.Convict(t, judge(pmf(other.Eta, gammaOf(t, other), 5000)))
		}
		other = dp.TruncatedNegativeBinomial{Eta: math.Round(law.Eta*2) / 2, Mean: 1 + (law.Mean-1)*1.25}
		stattest.Convict(t, judge(pmf(other.Eta, gammaOf(t, other), 5000)))
	}
}

// Null: with scores that are uniform on (0, 1), the winner's is the maximum of K
// of them: P(<= x) = E x^K. Kolmogorov-Smirnov at 1e-6. Convicts runs that are
// skipped, pruned or added, and a winner that is not the best.
func TestWinnerIsTheBestOfK(t *testing.T) {
	const n = 8000
	mass := pmf(0, gammaOf(t, sel.Runs.(dp.TruncatedNegativeBinomial)), 2000)
	cdf := func(x float64) float64 {
		s := 0.0
		for i := len(mass) - 1; i >= 0; i-- {
			s = x * (mass[i] + s)
		}
		return s
	}
	scores := make([]float64, n)
	for i := range scores {
		w, err := run(context.Background(), permitWith(t, entropy.Seeded(6).Split("study", uint64(i)), sel), sel,
			func(src *entropy.Source) float64 { return src.Float64() },
			func(_ context.Context, p *sealed.Permit, c float64) (float64, float64, error) {
				u := p.Randomness("score").Float64()
				return u, u, nil
			})
		if err != nil || w.Score != w.Model {
			t.Fatalf("winner %+v, %v", w, err)
		}
		scores[i] = w.Score
	}
	sort.Float64s(scores)
	stattest.Accept(t, stattest.KS("winner", scores, cdf))
	stattest.Convict(t, stattest.KS("one run only", scores, func(x float64) float64 { return x }))
	stattest.Convict(t, stattest.KS("always eight runs", scores, func(x float64) float64 { return math.Pow(x, 8) }))
}

// Every run has a permit of its own that holds the base event once, and streams
// that no other run or candidate has.
func TestRunsAreFresh(t *testing.T) {
	first := map[uint64]bool{}
	use := func(src *entropy.Source) {
		v := src.Uint64()
		if first[v] {
			t.Fatal("two streams of one study are the same")
		}
		first[v] = true
	}
	p := permitFor(t, sel)
	var children []*sealed.Permit
	rows := rowsOf(1, 2)
	most := 0
	for study := range uint64(30) {
		p = permitWith(t, entropy.Seeded(8).Split("study", study), sel)
		calls := 0
		_, err := run(context.Background(), p, sel,
			func(src *entropy.Source) int { use(src); return 0 },
			func(_ context.Context, child *sealed.Permit, _ int) (int, float64, error) {
				use(child.Randomness("run"))
				calls++
				children = append(children, child)
				if child == p {
					t.Fatal("a run was given the permit of the study")
				}
				if study%2 == 1 {
					return 0, 1, nil // leaves its event unused
				}
				v, err := sealed.Open(rows, child, dp.WholeScope, base)
				if err != nil {
					t.Fatalf("a run cannot open its event: %v", err)
				}
				use(v.Noise())
				if _, err := sealed.Open(rows, child, dp.WholeScope, base); !errors.Is(err, sealed.ErrNotReserved) {
					t.Fatalf("a run opened its event twice (%v)", err)
				}
				if _, err := sealed.Open(rows, child, dp.WholeScope, dp.Gaussian{NoiseMultiplier: 1}); err == nil {
					t.Fatal("a run opened an event that it did not hold")
				}
				return 0, 1, nil
			})
		if err != nil || !p.Opened() {
			t.Fatalf("study: %v, opened %v", err, p.Opened())
		}
		most = max(most, calls)
		// A second study needs a second reservation.
		if _, err := run(context.Background(), p, sel, func(*entropy.Source) int { return 0 }, never(t)); !errors.Is(err, sealed.ErrNotReserved) {
			t.Fatalf("one reservation paid for two studies (%v)", err)
		}
	}
	if most < 2 {
		t.Fatal("thirty studies never had two runs")
	}
	for _, child := range children {
		if _, err := sealed.Open(rows, child, dp.WholeScope, base); err == nil {
			t.Fatal("the permit of a finished run opens rows")
		}
	}
}

func never(t *testing.T) func(context.Context, *sealed.Permit, int) (int, float64, error) {
	return func(context.Context, *sealed.Permit, int) (int, float64, error) {
		t.Error("a run that must not happen")
		return 0, 0, nil
	}
}

// studyOf runs one study whose i-th run gives outcomes[i] (the last one again when
// they run out) and returns the number of runs with the result.
func studyOf(t *testing.T, seed uint64, outcome func(i int) (float64, error)) (int, Winner[int, int], error) {
	i := 0
	drawn := 0
	w, err := run(context.Background(), permitWith(t, entropy.Seeded(seed), sel), sel,
		func(*entropy.Source) int { drawn++; return drawn },
		func(_ context.Context, _ *sealed.Permit, c int) (int, float64, error) {
			s, err := outcome(i)
			i++
			return 10 * c, s, err
		})
	return i, w, err
}

var errFailed = errors.New("a run failed")

// A failed run, a NaN score and −Inf never win and never end the study; the number
// of runs is the same whatever they give.
func TestFailuresCountAndNeverWin(t *testing.T) {
	inf := math.Inf(-1)
	bad := []func() (float64, error){
		func() (float64, error) { return 99, errFailed }, func() (float64, error) { return math.NaN(), nil }, func() (float64, error) { return inf, nil },
	}
	var text string
	for seed := range uint64(40) {
		runs, w, err := studyOf(t, seed, func(int) (float64, error) { return 1, nil })
		if err != nil || w != (Winner[int, int]{Candidate: 1, Model: 10, Score: 1}) {
			t.Fatalf("equal scores: winner %+v (%v), want the first", w, err)
		}
		for _, fail := range bad {
			n, w, err := studyOf(t, seed, func(int) (float64, error) { return fail() })
			if n != runs {
				t.Fatalf("failing runs change their number from %d to %d", runs, n)
			}
			if !errors.Is(err, ErrNothing) || w != (Winner[int, int]{Score: inf}) {
				t.Fatalf("all runs failed: %+v, %v", w, err)
			}
			if text != "" && err.Error() != text {
				t.Fatalf("the error tells studies apart: %q and %q", text, err)
			}
			text = err.Error()
			n, w, err = studyOf(t, seed, func(i int) (float64, error) {
				if i == runs-1 {
					return -7, nil
				}
				return fail()
			})
			if n != runs || err != nil || w != (Winner[int, int]{Candidate: runs, Model: 10 * runs, Score: -7}) {
				t.Fatalf("only the last of %d runs worked: %+v, %v", runs, w, err)
			}
			n, w, err = studyOf(t, seed, func(i int) (float64, error) { return float64(i), nil })
			if n != runs || err != nil || w.Candidate != runs {
				t.Fatalf("rising scores: %+v of %d runs, %v", w, runs, err)
			}
		}
	}
}

// A winner holds what the theorem lets out and nothing else.
func TestNumberOfRunsIsNotReleased(t *testing.T) {
	w := reflect.TypeFor[Winner[int, int]]()
	var names []string
	for i := range w.NumField() {
		names = append(names, w.Field(i).Name)
	}
	if want := []string{"Candidate", "Model", "Score"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("a winner has fields %v, want %v", names, want)
	}
}

// Candidates and their number are fixed before a row is read: other data leave them
// as they are, and drawing them does not touch the permit.
func TestCandidatesDoNotDependOnData(t *testing.T) {
	study := func(rows *sealed.Rows) (seen []uint64) {
		_, err := run(context.Background(), permitWith(t, entropy.Seeded(31), sel), sel,
			func(src *entropy.Source) uint64 { v := src.Uint64(); seen = append(seen, v); return v },
			func(_ context.Context, p *sealed.Permit, _ uint64) (int, float64, error) {
				v, err := sealed.Open(rows, p, dp.WholeScope, base)
				if err != nil {
					t.Fatal(err)
				}
				for range v.Len() * 100 {
					v.Noise().Uint64() // runs that draw more than others
				}
				if v.Len() > 3 {
					return 0, 0, errFailed
				}
				return 0, float64(v.Len()), nil
			})
		if err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		return seen
	}
	want := study(rowsOf())
	for _, rows := range []*sealed.Rows{rowsOf(1), rowsOf(5, 6, 7), rowsOf(1, 2, 3, 4, 5)} {
		if got := study(rows); !reflect.DeepEqual(got, want) {
			t.Fatalf("candidates %v with some data, %v with other data", got, want)
		}
	}
}

// A study that is interrupted, even after a good run, releases nothing and stays
// charged.
func TestInterruptedStudyReleasesNothing(t *testing.T) {
	for seed := range uint64(10) {
		for _, after := range []int{1, 2} {
			ctx, cancel := context.WithCancel(context.Background())
			p := permitWith(t, entropy.Seeded(seed), sel)
			runs := 0
			w, err := run(ctx, p, sel, func(*entropy.Source) int { return 1 },
				func(_ context.Context, _ *sealed.Permit, _ int) (int, float64, error) {
					if runs++; runs == after {
						cancel()
					}
					return 1, 1, nil
				})
			if runs >= after {
				if !errors.Is(err, context.Canceled) || w != (Winner[int, int]{Score: math.Inf(-1)}) {
					t.Fatalf("cancelled in run %d: %+v, %v", after, w, err)
				}
			}
			if !p.Opened() {
				t.Fatal("the permit of an interrupted study claims that no row was read")
			}
			cancel()
		}
	}
}

func TestRunRefuses(t *testing.T) {
	draw := func(*entropy.Source) int { return 0 }
	for _, tt := range []struct {
		name string
		held dp.Event
		sel  dp.Select
	}{
		{"not reserved", base, sel},
		{"fewer runs reserved", sel, dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: 9}, Event: base}},
		{"a cheaper run reserved", sel, dp.Select{Runs: sel.Runs, Event: dp.Gaussian{NoiseMultiplier: 1}}},
		{"a law without a sampler", dp.Select{Runs: dp.PoissonRuns{Mean: 501}, Event: base}, dp.Select{Runs: dp.PoissonRuns{Mean: 501}, Event: base}},
		{"no law", sel, dp.Select{Event: base}},
		{"invalid law", sel, dp.Select{Runs: dp.TruncatedNegativeBinomial{Mean: math.NaN()}, Event: base}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := permitFor(t, tt.held)
			if _, err := run(context.Background(), p, tt.sel, draw, never(t)); err == nil || p.Opened() {
				t.Fatalf("error %v, opened %v", err, p.Opened())
			}
		})
	}
}

// The law is continuous in eta: nothing cancels near the logarithmic law.
func TestSmallEtaIsTheLimit(t *testing.T) {
	for _, eta := range []float64{1e-15, -1e-15, 1e-300, 1e-10} {
		got, want := firstProbability(eta, 0.01), firstProbability(0, 0.01)
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("P(K = 1) at eta %g is %g, want %g", eta, got, want)
		}
	}
}

// run is a Study of one run after another.
func run[C, M any](
	ctx context.Context, permit *sealed.Permit, sel dp.Select,
	draw func(src *entropy.Source) C,
	base func(ctx context.Context, permit *sealed.Permit, candidate C) (M, float64, error),
) (Winner[C, M], error) {
	return Study[C, M]{Select: sel, Draw: draw,
		Base: func(ctx context.Context, permit *sealed.Permit, _ int, candidate C) (M, float64, error) {
			return base(ctx, permit, candidate)
		}}.Run(ctx, permit)
}
