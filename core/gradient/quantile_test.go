package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

// quantileTraining releases one count of a lot of the given size.
func quantileTraining(net Network, lot float64) Training {
	tr := training(net, nil)
	tr.Clipping, tr.UnclippedShare, tr.ClippingNorm, tr.ExpectedRows = Quantile, 0.5, 0.5, lot
	return tr
}

// What the share costs is taken from the gradient: the precisions of both parts, in units
// of what a row moves, add up to that of the step's event, at every noise and lot.
func TestQuantileNoisePaysForTheCount(t *testing.T) {
	for _, z := range []float64{1e-3, 0.3, 1, 7, 1e3, 1e6} {
		for _, lot := range []float64{1e-6, 1, 20, 64, 2048, 1e6} {
			gradient, count := splitNoise(z, lot)
			precision := 1/(gradient*gradient) + 1/(2*count*2*count)
			if math.Abs(precision*z*z-1) > 1e-12 || !(gradient >= z) || !(gradient <= 1.155*z) {
				t.Errorf("z %g, lot %g: noise of %g on the gradient and %g on the count amount to %g", z, lot, gradient, count, 1/math.Sqrt(precision))
			}
			if want := lot / 20; z <= want && count != want {
				t.Errorf("z %g, lot %g: noise of %g on the count, published is %g", z, lot, count, want)
			}
		}
	}
	// As published: a lot of 100 and z = 1 leave 1.0051 on the gradient.
	if g, c := splitNoise(1, 100); math.Abs(g-1.0050378) > 1e-7 || c != 5 {
		t.Errorf("noise of %g and %g, want 1.0050378 and 5", g, c)
	}
}

// A row moves the count by 1/2 either way, whether its gradient is short, long, or no
// number, and the sum by the norm of the step at most. So with the noise that each part
// has, neighbours lie 1/z apart at most, and exactly so where the row is clipped.
func TestQuantileNeighboursLieWithinTheEvent(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 1}
	short, long := []float32{0.1, 0, 1}, []float32{3, 4, 2}
	lost := []float32{1, float32(math.NaN()), 1}
	for _, tt := range []struct {
		name  string
		row   []float32
		reach float64 // of the largest distance
	}{{"short", short, 0}, {"at the norm", []float32{0.3, 0.4, 1}, 1}, {"long", long, 1}, {"not finite", lost, 0}} {
		const z, lot = 1.3, 4
		measure := func(inputs ...[]float32) (sum []float64, count float64) {
			tr := quantileTraining(net, lot)
			tr.Follow = func(_, share float64) { count = lot * (share - 0.5) }
			sum = firstSum(t, tr, imageRows(1, true, inputs, make([]float64, len(inputs)), nil, net.Inputs()), make([]float32, 2), entropy.Seeded(1))
			return sum, count
		}
		a, m := measure(short, long, short)
		b, n := measure(short, long, short, tt.row)
		if math.Abs(math.Abs(n-m)-0.5) > 1e-12 {
			t.Errorf("%s: a row moves the count by %g, want 1/2", tt.name, n-m)
		}
		gradient, count := splitNoise(z, lot)
		apart := math.Hypot(distance(a, b)/(gradient*0.5), (n-m)/count)
		if !(apart <= (1+1e-5)/z) || tt.reach == 1 && apart < (1-1e-5)/z {
			t.Errorf("%s: neighbours are %g apart in units of the noise, the event says %g", tt.name, apart, 1/z)
		}
	}
}

// Null: at zero gradient the sum of a step is N(0, (z_Δ·C_t·k)²) in every coordinate, where
// C_t is the norm that was announced, and the count N(0, (σ_b·k)²) about what the rows add,
// rounded to halves; both are twice that under replace-one, and the two are apart. 6·10⁴
// coordinates and 3,000 counts a case: standard errors of the variances of 0.6 % and
// 2.6 %; |z| <= 4.89 is passed with probability 1e-6. Convicts a count whose noise is off
// or halved or not paid for by the gradient (a variance of (z/z_Δ)², 75 % here), that
// forgets k or the relation, noise that does not follow C, noise drawn from one stream.
func TestQuantileNoise(t *testing.T) {
	net := rawNet{t: 1, m: 5, n: 4}
	for _, tt := range []struct {
		name  string
		rel   dp.Relation
		k     int
		apart float64
	}{{"add or remove", dp.AddOrRemoveOne, 1, 1}, {"three rows per unit", dp.AddOrRemoveOne, 3, 3}, {"replace one", dp.ReplaceOne, 1, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			const z, lot, steps = 8, 250, 3
			tr := quantileTraining(net, lot)
			tr.NoiseMultiplier, tr.Steps, tr.Target = z, steps, target
			// Rows of no gradient: within every norm, so each adds 1/2.
			inputs := make([][]float32, 50)
			for i := range inputs {
				inputs[i] = make([]float32, net.Inputs())
			}
			rows := imageRows(tt.k, false, inputs, make([]float64, len(inputs)), nil, net.Inputs())
			gradient, count := splitNoise(z, lot)
			if count != 12.5 {
				t.Fatal(count)
			}
			var sums, counts []float64
			var norm float64
			tr.Follow = func(c, share float64) {
				norm = c
				counts = append(counts, (lot*(share-0.5)-25)/(count*tt.apart))
			}
			tr.Update = func(i int, _, g []float32) {
				sums = append(sums, stattest.Scaled(widen(g), lot/(gradient*norm*tt.apart))...)
			}
			for run := range uint64(1000) {
				if err := Train(context.Background(), permitWith(t, entropy.Seeded(5).Split(tt.name, run), tt.rel, tt.k, tr.Event()), rows, tr, make([]float32, 20)); err != nil {
					t.Fatal(err)
				}
			}
			normal := stattest.Moments{Variance: 1, Kurtosis: 3}
			stattest.Accept(t, stattest.Mean("sums", sums, normal))
			stattest.Accept(t, stattest.Variance("sums", sums, normal))
			stattest.Accept(t, stattest.Mean("counts", counts, normal))
			stattest.Accept(t, stattest.Variance("counts", counts, normal))
			var first []float64
			for i := range counts {
				first = append(first, sums[20*i])
			}
			stattest.Accept(t, stattest.Correlation("sum and count of a step", first, counts))
			stattest.Accept(t, stattest.Correlation("counts of successive steps", counts[1:], counts[:len(counts)-1]))
			stattest.Convict(t, stattest.Variance("count without noise", stattest.Scaled(counts, 0), normal))
			stattest.Convict(t, stattest.Variance("count with half the noise", stattest.Scaled(counts, 0.5), normal))
			stattest.Convict(t, stattest.Variance("count not paid for", stattest.Scaled(sums, z/gradient), normal))
		})
	}
}

// Without noise the norm goes where the share of examples within it is the one that was
// asked for: to the quantile of fixed norms, from far above and below, by at most a
// fifth of the distance in the share at a step.
func TestQuantileFindsTheQuantile(t *testing.T) {
	net := rawNet{t: 1, m: 1, n: 1}
	var inputs [][]float32
	for i := range 100 {
		inputs = append(inputs, []float32{float32(i + 1), 1}) // norms 1 to 100
	}
	for _, share := range []float64{0.1, 0.5, 0.9} {
		for _, start := range []float64{0.01, 40, 1e5} {
			tr := quantileTraining(net, 100)
			tr.UnclippedShare, tr.ClippingNorm, tr.Steps = share, start, 1200
			last := start
			tr.Follow = func(c, b float64) {
				next := tr.NextNorm(c, b)
				if d := math.Abs(math.Log(next / c)); c != last || d > shareRate*max(share, 1-share)+1e-12 || !(b >= 0 && b <= 1) {
					t.Fatalf("a step from %g, said to be %g, to %g at a share of %g", last, c, next, b)
				}
				last = next
			}
			firstSum(t, tr, imageRows(1, true, inputs, make([]float64, 100), nil, 2), make([]float32, 1), entropy.Seeded(1))
			if want := 100 * share; math.Abs(last-want) > 0.03*want+1 {
				t.Errorf("from %g: the norm of share %g is %g, want %g", start, share, last, want)
			}
		}
	}
}

// The price is that of a step without a count: the same permit pays, and none other. A
// share without a meaning, or with another clipping, opens nothing.
func TestQuantileTakesTheEventOfAStep(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	rows := rawRows(1, false, net, 3)
	lots := dp.Repeat{Count: 4, Event: dp.PoissonSampled{Rate: 0.25, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	for _, tt := range []struct {
		name  string
		share float64
		kind  Clipping
		z     float64
		ok    bool
	}{
		{"quantile", 0.5, Quantile, 2, true}, {"per layer", 0, PerLayer, 2, true}, {"less noise", 0.5, Quantile, 1.999, false},
		{"no share", 0, Quantile, 2, false}, {"all", 1, Quantile, 2, false},
		{"NaN", math.NaN(), Quantile, 2, false}, {"negative", -0.5, Quantile, 2, false}, {"a share of flat clipping", 0.5, Flat, 2, false},
		{"NaN of flat clipping", math.NaN(), Flat, 2, false},
	} {
		tr := quantileTraining(net, 4)
		tr.Steps, tr.SamplingRate, tr.NoiseMultiplier, tr.UnclippedShare, tr.Clipping = 4, 0.25, tt.z, tt.share, tt.kind
		p := mustPermit(t, dp.AddOrRemoveOne, 1, lots)
		err := Train(context.Background(), p, rows, tr, make([]float32, 4))
		if (err == nil) != tt.ok || p.Opened() != tt.ok {
			t.Errorf("%s: error %v, opened %v", tt.name, err, p.Opened())
		}
	}
}

// A listener that fails ends the run, and shows nothing.
func TestFollowMayFail(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	tr := quantileTraining(net, 4)
	tr.Follow = func(norm, _ float64) { panic(fmt.Sprint(norm)) }
	p := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
	if err := Train(context.Background(), p, rawRows(1, false, net, 3), tr, make([]float32, 4)); !errors.Is(err, sealed.ErrFault) {
		t.Error(err)
	}
}

// A run that goes on with the norm that it came to makes the bits of one that never
// stopped; without that norm it is refused before anything is opened.
func TestQuantileGoesOn(t *testing.T) {
	net := &tinyNet{t: 5, m: 3, n: 2, bias: true}
	rows := rawRows(1, false, net, 61)
	const steps = 9
	run := func(first int, norm float64, params []float32) (norms []float64, after [][]float32, opened bool, err error) {
		tr := quantileTraining(net, 30)
		tr.Steps, tr.SamplingRate, tr.ExpectedRows, tr.First, tr.FirstNorm = steps, 0.5, 61, first, norm
		tr.Follow = func(c, share float64) { norms = append(norms, tr.NextNorm(c, share)) }
		tr.Update = func(_ int, params, g []float32) {
			kernel.AddScaled(params, g, -0.1)
			after = append(after, slices.Clone(params))
		}
		p := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
		err = Train(context.Background(), p, rows, tr, params)
		return norms, after, p.Opened(), err
	}
	norms, after, _, err := run(0, 0, make([]float32, net.Parameters()))
	if err != nil {
		t.Fatal(err)
	}
	for first := 1; first < steps; first++ {
		params := slices.Clone(after[first-1])
		rest, _, _, err := run(first, norms[first-1], params)
		if err != nil || !slices.Equal(params, after[steps-1]) || !slices.Equal(rest, norms[first:]) {
			t.Errorf("after %d steps: %v, norms %v, want %v", first, err, rest, norms[first:])
		}
	}
	for _, norm := range []float64{0, math.NaN(), -1, math.Inf(1)} {
		if _, _, opened, err := run(3, norm, slices.Clone(after[2])); err == nil || opened {
			t.Errorf("a run goes on with a norm of %g", norm)
		}
	}
	if _, _, opened, err := run(0, 0.5, make([]float32, net.Parameters())); err == nil || opened {
		t.Error("a run begins with the norm of one that goes on")
	}
}
