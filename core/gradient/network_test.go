package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"pawl/compute/kernel"
	"pawl/core/dp"
	"pawl/core/entropy"
	"pawl/core/internal/sealed"
	"pawl/internal/stattest"
)

func rawRows(maxRows int, public bool, net Network, n int) *sealed.Rows {
	inputs, targets, src := make([][]float32, n), make([]float64, n), entropy.Seeded(12)
	for i := range inputs {
		inputs[i] = make([]float32, net.Inputs())
		for j := range inputs[i] {
			inputs[i][j] = float32(src.Float64() - 0.5)
		}
	}
	return imageRows(maxRows, public, inputs, targets, nil, net.Inputs())
}

// Null: at zero gradient what a step hands to Update, times the public divisor, is
// N(0, (σ·C·k)²) in every coordinate, twice that deviation under replace-one, apart
// from other coordinates and steps. 5·10⁴ draws a case and step: the variance has a
// standard error of 0.6 %; |z| <= 4.89 has a false-alarm rate of 1e-6. Convicts
// noise that is off, halved, drawn once for all steps or from overlapping parts of
// the stream, that forgets k, the relation or C, and noise on the mean.
func TestNoiseOfTraining(t *testing.T) {
	net := rawNet{t: 1, m: 100, n: 10}
	for _, tt := range []struct {
		name   string
		clip   float64
		rel    dp.Relation
		k      int
		rate   float64
		stdDev float64 // in units of σ
	}{
		{"full batch", 0.5, dp.AddOrRemoveOne, 1, 1, 0.5},
		{"three rows per unit", 0.25, dp.AddOrRemoveOne, 3, 1, 0.75},
		{"zero out", 0.5, dp.ZeroOut, 1, 0.5, 0.5},
		{"replace one", 0.5, dp.ReplaceOne, 2, 1, 2},
		{"empty lots", 2, dp.AddOrRemoveOne, 1, 1e-9, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := training(net, nil)
			tr.ClippingNorm, tr.NoiseMultiplier, tr.SamplingRate, tr.ExpectedRows, tr.Steps = tt.clip, 1.5, tt.rate, 250, 3
			tr.Target = noTarget
			if tt.rate < 0.1 {
				tr.Target = target
			}
			var z [3][]float64
			tr.Update = func(i int, _, g []float32) { z[i] = append(z[i], stattest.Scaled(widen(g), tt.rate*250)...) }
			rows := rawRows(tt.k, false, net, 5)
			for run := range uint64(50) {
				if err := Train(context.Background(), permitWith(t, entropy.Seeded(78).Split(tt.name, run), tt.rel, tt.k, tr.Event()), rows, tr, make([]float32, net.Parameters())); err != nil {
					t.Fatal(err)
				}
			}
			sd := 1.5 * tt.stdDev
			normal := stattest.Moments{Variance: sd * sd, Kurtosis: 3}
			for i, x := range z {
				stattest.Accept(t, stattest.Mean(fmt.Sprint("step ", i), x, normal))
				stattest.Accept(t, stattest.Variance(fmt.Sprint("step ", i), x, normal))
				stattest.Accept(t, stattest.Correlation("neighbouring coordinates", x[1:], x[:len(x)-1]))
				stattest.Accept(t, stattest.Correlation("successive runs", x[1000:], x[:len(x)-1000]))
				stattest.Accept(t, stattest.Correlation("successive steps", x, z[(i+1)%3]))
			}
			// No part of the stream comes back, at any distance.
			seen := map[[2]float64]bool{}
			for _, x := range z {
				for j := range 999 {
					pair := [2]float64{x[j], x[j+1]}
					if seen[pair] {
						t.Fatalf("two steps share noise, first at coordinate %d", j)
					}
					seen[pair] = true
				}
			}
			stattest.Convict(t, stattest.Variance("halved", stattest.Scaled(z[0], 0.5), normal))
			stattest.Convict(t, stattest.Variance("3 % less", stattest.Scaled(z[0], 0.97), normal))
			stattest.Convict(t, stattest.Correlation("reused", z[0], z[0]))
		})
	}
}

// Noise is added to the clipped sum of the rows, not put in its place: with the same
// source, rows move what Update sees by their clipped sum over the divisor.
func TestNoiseIsAddedToTheSum(t *testing.T) {
	net := rawNet{t: 1, m: 4, n: 3}
	rows := rawRows(1, false, net, 6)
	step := func(target func([]float64) float64) (g []float64) {
		tr := training(net, &g)
		tr.Target, tr.ExpectedRows = target, 7
		if err := Train(context.Background(), permitWith(t, entropy.Seeded(4), dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, make([]float32, 12)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	with, without := step(target), step(noTarget)
	want := firstSum(t, training(net, nil), rawRows(1, true, net, 6), make([]float32, 12), entropy.Seeded(1))
	for j := range with {
		with[j] = 7 * (with[j] - without[j])
	}
	for j := range with {
		// Each of the two is rounded to a cell of the grid, 2⁻¹² for a deviation of 1.00001.
		if d := math.Abs(with[j] - want[j]); !(d < 0x1p-12+1e-5) || stattest.Norm(want) < 0.1 {
			t.Fatalf("rows move the noisy sum by %v, want %v", with, want)
		}
	}
}

// The divisor is a public number: n equal rows move a step n times as far as one,
// whether they come to the lot or not.
func TestTrainingDivisorIsPublic(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 1}
	for _, rate := range []float64{1, 0.5} {
		for n := range 9 {
			var g []float64
			tr := training(net, &g)
			tr.SamplingRate, tr.ExpectedRows, tr.ClippingNorm = rate, 100/rate, 10
			inputs := make([][]float32, n)
			for i := range inputs {
				inputs[i] = []float32{3, 1, 1}
			}
			if err := TrainPublic(context.Background(), imageRows(1, true, inputs, make([]float64, n), nil, 3), tr, make([]float32, 2), entropy.Seeded(3)); err != nil {
				t.Fatal(err)
			}
			lot := float64(n)
			if rate < 1 {
				lot = float64(len(entropy.Seeded(3).Split("lots").Subset(nil, n, rate)))
			}
			if math.Abs(g[0]-3*lot/100) > 1e-6 || math.Abs(g[1]-lot/100) > 1e-6 {
				t.Errorf("rate %g, a lot of %g of %d rows: %v", rate, lot, n, g)
			}
		}
	}
}

// Rows of a unit join a lot together or not at all.
func TestTrainingDrawsUnits(t *testing.T) {
	net := rawNet{t: 1, m: 1, n: 1}
	inputs, hash := make([][]float32, 12), make([]uint64, 12)
	for i := range inputs {
		// Unit u gives 1 in the base 4 digit u of the sum, for each of its rows.
		inputs[i], hash[i] = []float32{float32(int(1) << (2 * (i % 4))), 1}, uint64(i%4)
	}
	tr := training(net, nil)
	tr.SamplingRate, tr.Steps, tr.ClippingNorm, tr.ExpectedRows = 0.5, 50, 1e4, 2
	seen := map[float32]bool{}
	tr.Update = func(_ int, _, g []float32) { seen[g[0]] = true }
	if err := tr.run(context.Background(), mustOpen(t, imageRows(3, true, inputs, make([]float64, 12), hash, 2)), make([]float32, 1), 0, entropy.Seeded(5)); err != nil {
		t.Fatal(err)
	}
	for sum := range seen {
		for u, v := 0, int(sum); u < 4; u, v = u+1, v/4 {
			if v%4 != 0 && v%4 != 3 {
				t.Fatalf("unit %d joined a lot with %d of its 3 rows", u, v%4)
			}
		}
	}
	if len(seen) < 8 {
		t.Fatalf("50 lots of 4 units at rate ½ were of %d kinds", len(seen))
	}
}

// A null row has no target, or a lot under zero-out would have its gradient in place of another's.
func TestNullRowsTrainNothing(t *testing.T) {
	net := rawNet{t: 1, m: 3, n: 2}
	tr := training(net, nil)
	tr.Update = func(int, []float32, []float32) {}
	for counts, of := range map[bool]func([]float64) float64{false: target, true: func([]float64) float64 { return 1 }} {
		tr.Target = of
		for _, rel := range []dp.Relation{dp.AddOrRemoveOne, dp.ZeroOut} {
			p, refused := mustPermit(t, rel, 1, tr.Event()), counts && rel == dp.ZeroOut
			if err := Train(context.Background(), p, rawRows(1, false, net, 5), tr, make([]float32, net.Parameters())); errors.Is(err, sealed.ErrNullCounts) != refused || !refused && err != nil || p.Opened() == refused {
				t.Errorf("a null row with a target: %v, under %v: %v", counts, rel, err)
			}
		}
	}
}

// What a mask hangs on: the step, the row's unit and its place among the unit's
// rows, and the variant. Not the other rows.
func TestMasksBelongToTheRow(t *testing.T) {
	type key struct {
		step    int
		row     float32
		variant int
	}
	collect := func(rows []int, hash func(int) uint64) map[key]uint64 {
		got, now := map[key]uint64{}, 0
		net := &seedNet{rawNet: rawNet{t: 1, m: 1, n: 1}, see: func(row float32, seed uint64, variant int) {
			k := key{now, row, variant}
			if _, ok := got[k]; ok {
				t.Errorf("row %g passed twice in step %d", row, now)
			}
			got[k] = seed
		}}
		tr := training(net, nil)
		tr.Steps, tr.Multiplicity, tr.Microbatch = 2, 2, 1000
		tr.Augment = func(dst, in []float32, _ uint64) { copy(dst, in) }
		tr.Update = func(int, []float32, []float32) { now++ }
		var inputs [][]float32
		var hashes []uint64
		for _, r := range rows {
			inputs, hashes = append(inputs, []float32{float32(r), 1}), append(hashes, hash(r))
		}
		if err := tr.run(context.Background(), mustOpen(t, imageRows(3, true, inputs, make([]float64, len(rows)), hashes, 2)), make([]float32, 1), 0, entropy.Seeded(5)); err != nil {
			t.Fatal(err)
		}
		return got
	}
	unit := func(r int) uint64 { return uint64(r % 10) } // 3 and 13 are of unit 3
	all := collect([]int{2, 3, 4, 13, 5, 23}, unit)
	for _, less := range [][]int{{3, 13, 23, 5}, {3, 4, 13, 23}, {4, 5}, {2}} {
		for k, seed := range collect(less, unit) {
			if all[k] != seed {
				t.Errorf("among rows %v the seed of %+v is another", less, k)
			}
		}
	}
	seen := map[uint64]key{}
	for k, seed := range all {
		if other, ok := seen[seed]; ok {
			t.Errorf("%+v and %+v have one seed", k, other)
		}
		seen[seed] = k
	}
	if len(all) != 2*6*2 {
		t.Errorf("%d masks for 2 steps of 6 rows in 2 variants", len(all))
	}
}

// seedNet shows the seeds that it was called with.
type seedNet struct {
	rawNet
	see func(row float32, seed uint64, variant int)
	mu  sync.Mutex
}

func (w *seedNet) Backprop(worker int, params, inputs, targets []float32, seeds []uint64, record func(Trace)) {
	w.mu.Lock()
	for i, seed := range seeds {
		w.see(inputs[2*i], seed, i%2)
	}
	w.mu.Unlock()
	w.rawNet.Backprop(worker, params, inputs, targets, seeds, record)
}

// The number of processors changes nothing, noise and lots included.
func TestTrainingDoesNotDependOnProcessors(t *testing.T) {
	net := &tinyNet{t: 5, m: 3, n: 2, bias: true, dropout: true}
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	rows := rawRows(1, false, net, 61)
	var first []float32
	for _, processors := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(processors)
		tr := training(net, nil)
		tr.Steps, tr.SamplingRate, tr.ExpectedRows, tr.Microbatch = 4, 0.5, 61, 4
		tr.Update = func(_ int, params, g []float32) { kernel.AddScaled(params, g, -0.1) }
		params := make([]float32, net.Parameters())
		if err := Train(context.Background(), permitWith(t, entropy.Seeded(9), dp.AddOrRemoveOne, 1, tr.Event()), rows, tr, params); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = params
		}
		if !slices.Equal(first, params) {
			t.Errorf("%d processors change the result", processors)
		}
	}
}

// The event that is taken is that of the run, once; nothing less pays for it, and
// nothing that is refused opens the rows.
func TestTrainTakesItsEvent(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	rows := rawRows(1, false, net, 3)
	half := dp.Scope{Lower: 0, Upper: 0.5}
	full := dp.Repeat{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 2}}
	lots := dp.Repeat{Count: 4, Event: dp.PoissonSampled{Rate: 0.25, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	base := training(net, nil)
	base.Steps = 4
	tests := []struct {
		name string
		held dp.Event
		edit func(tr *Training)
		ok   bool
	}{
		{"the event", full, func(*Training) {}, true},
		{"automatic clipping", full, func(tr *Training) { tr.Clipping = Automatic }, true},
		{"with lots", lots, func(tr *Training) { tr.SamplingRate = 0.25 }, true},
		{"with variants", lots, func(tr *Training) { tr.SamplingRate, tr.Multiplicity, tr.Augment = 0.25, 3, variant }, true},
		{"in small microbatches", lots, func(tr *Training) { tr.SamplingRate, tr.Microbatch = 0.25, 1 }, true},
		{"on its scope", dp.Scoped{Scope: half, Event: full}, func(tr *Training) { tr.Scope = half }, true},
		{"one release that amounts to it", dp.Gaussian{NoiseMultiplier: 1}, func(*Training) {}, true},
		{"less noise", full, func(tr *Training) { tr.NoiseMultiplier = 1.999 }, false},
		{"one step more", full, func(tr *Training) { tr.Steps = 5 }, false},
		{"another scope", dp.Scoped{Scope: half, Event: full}, func(*Training) {}, false},
		{"full batch for lots", lots, func(*Training) {}, false},
		{"a higher rate", lots, func(tr *Training) { tr.SamplingRate = 0.26 }, false},
		{"fewer steps of lots", lots, func(tr *Training) { tr.SamplingRate, tr.Steps = 0.25, 3 }, false},
		{"no clipping", full, func(tr *Training) { tr.Clipping = Unclipped }, false},
		{"clipping not named", full, func(tr *Training) { tr.Clipping = "" }, false},
		{"no noise", full, func(tr *Training) { tr.NoiseMultiplier = 0 }, false},
		{"negative noise", full, func(tr *Training) { tr.NoiseMultiplier = -2 }, false},
		{"NaN noise", full, func(tr *Training) { tr.NoiseMultiplier = math.NaN() }, false},
		{"infinite noise", full, func(tr *Training) { tr.NoiseMultiplier = math.Inf(1) }, false},
		{"NaN clipping norm", full, func(tr *Training) { tr.ClippingNorm = math.NaN() }, false},
		{"infinite clipping norm", full, func(tr *Training) { tr.ClippingNorm = math.Inf(1) }, false},
		{"clipping norm beyond float32", full, func(tr *Training) { tr.ClippingNorm = 1e-40 }, false},
		{"NaN rate", full, func(tr *Training) { tr.SamplingRate = math.NaN() }, false},
		{"no divisor", full, func(tr *Training) { tr.ExpectedRows = 0 }, false},
		{"NaN divisor", full, func(tr *Training) { tr.ExpectedRows = math.NaN() }, false},
		{"a divisor beyond float32", full, func(tr *Training) { tr.ExpectedRows = 1e-60 }, false},
		{"no step", full, func(tr *Training) { tr.Steps = 0 }, false},
		{"no microbatch", full, func(tr *Training) { tr.Microbatch = 0 }, false},
		{"no variant", full, func(tr *Training) { tr.Multiplicity = 0 }, false},
		{"variants of nothing", full, func(tr *Training) { tr.Multiplicity = 2 }, false},
		{"no target", full, func(tr *Training) { tr.Target = nil }, false},
		{"no network", full, func(tr *Training) { tr.Network = nil }, false},
		{"no update", full, func(tr *Training) { tr.Update = nil }, false},
		{"another network", full, func(tr *Training) { tr.Network = rawNet{t: 1, m: 2, n: 3} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := base
			updates := 0
			tr.Update = func(int, []float32, []float32) { updates++ }
			tt.edit(&tr)
			p := mustPermit(t, dp.AddOrRemoveOne, 1, tt.held)
			err := Train(context.Background(), p, rows, tr, make([]float32, 4))
			if (err == nil) != tt.ok || (updates > 0 && updates == tr.Steps) != tt.ok || p.Opened() != tt.ok {
				t.Fatalf("error %v, %d updates, opened %v; want ok %v", err, updates, p.Opened(), tt.ok)
			}
			if tt.ok {
				if err := Train(context.Background(), p, rows, tr, make([]float32, 4)); !errors.Is(err, sealed.ErrNotReserved) {
					t.Fatalf("one reservation paid for two runs (%v)", err)
				}
			}
		})
	}
	if err := TrainPublic(context.Background(), rows, base, make([]float32, 4), entropy.Seeded(1)); !errors.Is(err, sealed.ErrNotReserved) {
		t.Errorf("training without noise opened sensitive rows (%v)", err)
	}
	if err := TrainPublic(context.Background(), rawRows(1, true, net, 3), base, make([]float32, 4), nil); err == nil {
		t.Error("training on public rows went without a source for lots and masks")
	}
}

// An interrupted run stays charged; what it did are whole noisy steps.
func TestInterruptedTrainingStaysCharged(t *testing.T) {
	net := rawNet{t: 1, m: 2, n: 2}
	for _, after := range []int{0, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if after == 0 {
			cancel()
		}
		tr, updates := training(net, nil), 0
		tr.Steps = 100
		tr.Update = func(int, []float32, []float32) { updates++ }
		tr.Progress = func(done, _ int) {
			if done == after {
				cancel()
			}
		}
		p := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
		err := Train(ctx, p, rawRows(1, false, net, 3), tr, make([]float32, 4))
		if !errors.Is(err, context.Canceled) || updates != after || !p.Opened() {
			t.Fatalf("after %d steps: error %v, %d updates, opened %v", after, err, updates, p.Opened())
		}
	}
}

type faultyNet struct {
	rawNet
	fault func()
}

func (w faultyNet) Backprop(int, []float32, []float32, []float32, []uint64, func(Trace)) { w.fault() }

// A callback that fails on a row, in whichever goroutine, ends the run with an error
// that does not show the row, and no goroutine stays behind.
func TestFaultsOfTrainingShowNoRow(t *testing.T) {
	raw := rawNet{t: 1, m: 2, n: 2}
	before := runtime.NumGoroutine()
	for _, tt := range []struct {
		name string
		edit func(tr *Training)
	}{
		{"network", func(tr *Training) { tr.Network = faultyNet{raw, func() { panic("a cell of 424242") }} }},
		{"network that leaves its goroutine", func(tr *Training) { tr.Network = faultyNet{raw, runtime.Goexit} }},
		{"target", func(tr *Training) { tr.Target = func(c []float64) float64 { panic(c[0]) } }},
		{"augmentation", func(tr *Training) { tr.Augment = func(_, x []float32, _ uint64) { panic(x[0]) } }},
		{"update", func(tr *Training) { tr.Update = func(int, []float32, []float32) { panic(424242) } }},
	} {
		for _, n := range []int{1, 40} {
			tr := training(raw, nil)
			updates := 0
			tr.Update = func(int, []float32, []float32) { updates++ }
			tt.edit(&tr)
			p := mustPermit(t, dp.AddOrRemoveOne, 1, tr.Event())
			err := Train(context.Background(), p, rawRows(1, false, raw, n), tr, make([]float32, 4))
			if err != sealed.ErrFault || updates != 0 || !p.Opened() {
				t.Errorf("%s, %d rows: error %v, %d updates, opened %v", tt.name, n, err, updates, p.Opened())
			}
		}
	}
	// One that has done its work may still be counted for a moment.
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
