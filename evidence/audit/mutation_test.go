package audit

import (
	"context"
	"math"
	"testing"

	"pawl/core/convex"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/gradient"
	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/core/linear"
	"pawl/core/noise"
	"pawl/core/release"
)

// mutation is a broken mechanism that claims what an honest one of core claims.
type mutation struct {
	name string
	// honest names the mechanism of core whose neighbours and claim are used; it must not
	// be convicted.
	honest string
	// score runs the broken one.
	score func(t *testing.T) func(context.Context, World, *entropy.Source) (float64, error)
	runs  int
}

// TestMutation breaks mechanisms in the ways in which they break, and audits them. Those
// that core can be made to commit by asking for less than is charged run through core;
// the others are written here. Null hypothesis of the honest ones: the claim is true;
// false alarm 1e-6 each. Power: every mutation is convicted at the same confidence, from
// the runs that its line names.
func TestMutation(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			honest := mustFind(t, m.honest)
			acquitted(t, honest)
			broken := honest
			broken.Name, broken.Score = m.name, m.score(t)
			scores, err := Scores(context.Background(), broken, Options{Runs: m.runs, Source: entropy.Seeded(2)})
			if err != nil {
				t.Fatal(err)
			}
			if v := judge(t, broken, scores); !v.Convicted {
				t.Errorf("goes free: %v\n%+v", v, v.Evidence)
			}
		})
	}
}

var mutations = []mutation{
	{"noise off", "count", noiseOff, 1000},
	{"half the noise", "descent", halfNoise, 3000},
	{"half the noise of an objective", "objective perturbation", halfObjective, 6000},
	{"clipping off", "descent", clippingOff, 3000},
	{"clipping of a network off", "training", networkClippingOff, 1000},
	{"sensitivity short of a factor √3", "tables", tablesShort, 15_000},
	{"three releases priced as one", "adaptive sufficient statistics", equationsShort, 12_000},
	{"replaced rows priced as added ones", "input mean", replacedRows, 4000},
	{"a second row of the unit", "count", secondRow, 10_000},
	{"budget of two columns spent on each", "histograms, pure", columnsShort, 10_000},
	{"charged once, run twice", "count", runTwice, 20_000},
	{"everybody in every lot", "descent, sampled", everybody, 6000},
	{"noise from one seed", "count", oneSeed, 1000},
	{"one draw for all cells", "histograms", oneDraw, 1000},
	{"noise rounded before it is added", "input mean", roundedNoise, 1000},
	{"noise cut at two deviations", "descent", cutNoise, 30_000},
	{"divided by the number of rows", "mean", secretDivisor, 50_000},
	{"score without noise", "accuracy", exactScore, 1000},
	{"chosen by a score without noise", "selection", exactChoice, 1000},
	{"number of runs revealed", "selection", runsRevealed, 200_000},
}

type scorer = func(context.Context, World, *entropy.Source) (float64, error)

// plain is a broken mechanism that is written here.
func plain(f func(w World, src *entropy.Source) float64) func(*testing.T) scorer {
	return func(*testing.T) scorer {
		return func(_ context.Context, w World, src *entropy.Source) (float64, error) { return f(w, src), nil }
	}
}

// through is a broken mechanism that core runs; b and err are its bench.
func through(t *testing.T, b *bench, err error, f run) scorer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return b.score(f)
}

func scoreOf(t *testing.T, m Mechanism, err error) scorer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return m.Score
}

var noiseOff = plain(func(w World, _ *entropy.Source) float64 { return 3 + float64(w) })

func descentWith(clip, sigma, rate float64) func(*testing.T) scorer {
	return func(t *testing.T) scorer {
		m, err := descentOf("", "", gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: clip, NoiseMultiplier: sigma, Steps: 1, SamplingRate: rate}, 1)
		return scoreOf(t, m, err)
	}
}

var (
	halfNoise = descentWith(0.25, 0.5, 1)
	// The norm is never reached, and the noise is that of the norm that is claimed.
	clippingOff = descentWith(1, 0.25, 1)
	everybody   = descentWith(0.25, 0.6, 1)
)

func halfObjective(t *testing.T) scorer {
	enc, err := constant()
	if err != nil {
		t.Fatal(err)
	}
	o := convex.Objective{Scope: dp.WholeScope, Epsilon: 2, Regularization: 2, ResidualCap: 1, Encoding: enc, Target: target}
	m, err := fitOf(Mechanism{Event: o.Event()}, 40, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return convex.PerturbObjective(ctx, permit, rows, o)
	})
	return scoreOf(t, m, err)
}

func networkClippingOff(t *testing.T) scorer {
	const never = 100
	n := gradient.Training{
		Privacy:  gradient.Privacy{Scope: dp.WholeScope, ClippingNorm: never, NoiseMultiplier: 0.5 / never, Steps: 1, SamplingRate: 1},
		Clipping: gradient.Flat, Network: scalar{}, Target: target, ExpectedRows: 1, Microbatch: 4, Multiplicity: 1,
		Update: func(_ int, params, g []float32) { params[0] -= g[0] },
	}
	b, err := addOrRemove([]row{{input: []float32{0.1}}}, row{class: 1, input: []float32{5}}, n.Event())
	return through(t, b, err, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
		params := make([]float32, 1)
		err := gradient.Train(ctx, permit, rows, n, params)
		return float64(params[0]), err
	})
}

// Noise of one table on each of three.
func tablesShort(t *testing.T) scorer {
	short := release.Tables{Scope: dp.WholeScope, NoiseMultiplier: 1 / math.Sqrt(3), Levels: []int{classes, 1}, Pairs: [][2]int{{0, 1}, {1, 0}, {0, 0}},
		Codes: func(codes []uint16, cells []float64) { codes[0], codes[1] = uint16(cells[classCell]), 0 }}
	b, err := addOrRemove([]row{{class: 0}, {class: 1}}, one, short.Event())
	return through(t, b, err, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
		v, err := short.Release(ctx, permit, rows)
		if err != nil {
			return 0, err
		}
		return float64(v[0][1] + v[1][1] + v[2][3]), nil
	})
}

// The noise of a single release on each of three.
func equationsShort(t *testing.T) scorer {
	enc, err := constant()
	if err != nil {
		t.Fatal(err)
	}
	a := linear.AdaSSP{Scope: dp.WholeScope, NoiseMultiplier: 1 / math.Sqrt(3), Encoding: enc, Target: sign}
	m, err := fitOf(Mechanism{Event: a.Event()}, 200, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) ([]float64, error) {
		return linear.SolveAdaSSP(ctx, permit, rows, a)
	})
	return scoreOf(t, m, err)
}

func replacedRows(t *testing.T) scorer {
	m := release.InputMean{Scope: dp.WholeScope, NoiseMultiplier: 1, Norm: 2, ExpectedRows: 10}
	b, err := pair{dp.AddOrRemoveOne, 1, nil, []row{{input: []float32{-7}}}, []row{{input: []float32{7}}}}.bench([]dp.Event{m.Event()})
	return through(t, b, err, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
		v, err := m.Release(ctx, permit, rows)
		if err != nil {
			return 0, err
		}
		return v[0], nil
	})
}

// The noise is that of units of one row.
func secondRow(t *testing.T) scorer {
	c := release.Count{Scope: dp.WholeScope, NoiseMultiplier: 1}
	b, err := pair{dp.AddOrRemoveOne, 1, repeat(3, one), nil, repeat(2, one)}.bench([]dp.Event{c.Event()})
	return through(t, b, err, func(ctx context.Context, permit *ledger.Permit, rows *intake.Rows) (float64, error) {
		v, err := c.Release(ctx, permit, rows)
		return float64(v), err
	})
}

func columnsShort(t *testing.T) scorer {
	m, err := histogram("", twoBins(dp.DiscreteLaplace{NoiseMultiplier: 0.5}), 0, func(c int64) float64 { return float64(min(max(c, 1), 2)) })
	return scoreOf(t, m, err)
}

// Two releases where one was charged. The permit of the second is the next one's.
func runTwice(t *testing.T) scorer {
	m, err := count(1)
	once := scoreOf(t, m, err)
	return func(ctx context.Context, w World, src *entropy.Source) (float64, error) {
		a, err := once(ctx, w, src.Split("first"))
		if err != nil {
			return 0, err
		}
		b, err := once(ctx, w, src.Split("second"))
		return clampCount(a) + clampCount(b), err
	}
}

// clampCount keeps the likelihood ratio of a count: it is the same beyond 3 and 4.
func clampCount(c float64) float64 { return min(max(c, 3), 4) }

func oneSeed(t *testing.T) scorer {
	m, err := count(1)
	f := scoreOf(t, m, err)
	return func(ctx context.Context, w World, _ *entropy.Source) (float64, error) {
		return f(ctx, w, entropy.Seeded(7))
	}
}

// The row adds 1 to one of two cells; their difference has no noise.
var oneDraw = plain(func(w World, src *entropy.Source) float64 {
	z := math.Round(noise.Gaussian(src))
	return (1 + float64(w) + z) - (1 + z)
})

// What a sum is beyond the grid of its noise leaves as it is.
var roundedNoise = plain(func(w World, src *entropy.Source) float64 {
	sum := 0.5 + 1.7*float64(w)
	released := sum + math.Round(2*noise.Gaussian(src))
	return released - math.Floor(released)
})

// Beyond two deviations of one world there is only the other.
var cutNoise = plain(func(w World, src *entropy.Source) float64 {
	return float64(w) + min(max(noise.Gaussian(src), -2), 2)
})

// laplace is noise of density exp(−|x|)/2.
func laplace(src *entropy.Source) float64 {
	x := noise.Exponential(src)
	if src.Uint64()>>63 == 1 {
		return -x
	}
	return x
}

// A row of 0 leaves the sum alone and its noise smaller.
var secretDivisor = plain(func(w World, src *entropy.Source) float64 {
	return math.Abs(laplace(src) / (1 + float64(w)))
})

var exactScore = plain(func(w World, _ *entropy.Source) float64 { return (15 + float64(w)) / (315 + float64(w)) })

// The winner is known from exact scores; only the number that goes with it is noisy.
var exactChoice = plain(func(w World, src *entropy.Source) float64 {
	candidate := 0.0
	if 3+float64(w) > 3.5 {
		candidate = 1
	}
	return 1000*candidate + 3 + float64(w) + laplace(src)
})

// The winner of a known number of runs: where all of many fell short, the rows are few.
var runsRevealed = plain(func(w World, src *entropy.Source) float64 {
	const mean = 10
	k, best := 1, math.Inf(-1)
	for !src.Bernoulli(1.0 / mean) {
		k++
	}
	for range k {
		best = max(best, 3+float64(w)+laplace(src))
	}
	if best < 3.5 {
		return -float64(k)
	}
	return 0
})
